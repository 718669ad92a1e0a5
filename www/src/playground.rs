//! The playground: a page on which every option of the form can be tried, and the requests of its script. The page is
//! `www/index.html`, which `trunk serve` also shows during work on the form.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tillgate_shared::form_options::rows::METHOD_LAYOUT;
use tillgate_shared::form_options::{Callback, FormOption, OptionGroup, OptionType, THEME};
use tillgate_shared::language::LANGUAGES;

use crate::gateway::{CallFields, GatewayError};
use crate::order::new_reference;
use crate::pages::BRANDS;
use crate::routes::{ICON, STYLE_SHEET, SharedState, ShopState, with_content_type};
use crate::{policy, resource_path};

const JAVASCRIPT_TYPE: &str = "text/javascript; charset=utf-8";
const CSS_TYPE: &str = "text/css; charset=utf-8";

/// Parameters of a checkout that a visitor may set, with their defaults. The shop sets all others.
const CHECKOUT: [(&str, &str, &str); 4] = [
    ("amount", "92.00", "Amount of the payment, with two decimals."),
    ("currency", "EUR", "Its currency, by the code of ISO 4217."),
    ("paymentType", "DB", "`DB` takes the money, `PA` reserves it."),
    (
        "customParameters[forceResultCode]",
        "",
        "The result that the simulator is asked for: `800.100.151` is a decline, `000.200.000` stays pending.",
    ),
];

/// A switch of the page, not a parameter: prepares the checkout for a customer with stored cards.
const STORED_CARDS: &str = "stored cards";

/// The stored cards: brand, a number of the simulator, and the month of 2035 in which it expires.
const CARDS: [(&str, &str, &str); 2] = [("VISA", "4200000000000000", "05"), ("MASTER", "5454545454545454", "11")];

/// Serves `/playground`, with a policy that also allows requests to the shop.
pub async fn show_page(State(app): SharedState) -> Response {
    let mut response = with_content_type("text/html; charset=utf-8", include_str!("../index.html"));
    let policy = policy::playground_policy(&app.shop.gateway_public, app.shop.gateway_fields.as_deref());
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // The page shows the form also without the hash of the loader, for builds that live reload replaces.
    response.headers_mut().insert(policy::INTEGRITY_POLICY, HeaderValue::from_static("blocked-destinations=()"));
    response
}

/// Serves `/playground/{file}`, or 404 for an unknown file. All files of the page are in one folder, so that trunk's
/// proxy needs one line for them.
pub async fn serve_file(Path(file): Path<String>) -> Response {
    match file.as_str() {
        "page.js" => with_content_type(JAVASCRIPT_TYPE, include_str!("../playground/page.js")),
        "page.css" => with_content_type(CSS_TYPE, include_str!("../playground/page.css")),
        "shop.css" => with_content_type(CSS_TYPE, STYLE_SHEET),
        "icon.svg" => with_content_type("image/svg+xml", ICON),
        "options.json" => Json(control_groups()).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Returns a text control. Its tuple is name, default value and meaning.
fn text_control(part: &str, (name, value, meaning): (&str, &str, &str)) -> Value {
    json!({ "part": part, "name": name, "kind": "text", "value": value, "meaning": meaning })
}

/// Returns a switch that is off by default.
fn switch_control(part: &str, name: &str, meaning: &str) -> Value {
    json!({ "part": part, "name": name, "kind": "switch", "default": false, "meaning": meaning })
}

/// Returns the controls in their groups, in the format of the page's script: checkout and page, the options, the theme.
/// An empty group of options is left out.
fn control_groups() -> Value {
    let mut first: Vec<Value> = CHECKOUT.into_iter().map(|row| text_control("checkout", row)).collect();
    first.push(switch_control("checkout", STORED_CARDS, "The customer has stored two cards: `registrations[n].id`."));
    first.push(text_control("page", ("brands", BRANDS, "The brands that the page offers: `data-brands`.")));
    first.push(switch_control(
        "page",
        "dark page",
        "The page around the form is dark; the form follows its text colour.",
    ));
    let mut groups = vec![json!({ "title": "Checkout and page", "rows": first })];
    for group in OptionGroup::ALL {
        let rows: Vec<Value> = group.options().map(option_control).collect();
        if !rows.is_empty() {
            groups.push(json!({ "title": group.title(), "rows": rows }));
        }
    }
    let theme = THEME.iter().map(|property| {
        let (name, example, meaning) = (property.name, property.default, property.meaning);
        json!({ "part": "theme", "name": name, "kind": "text", "example": example, "meaning": meaning })
    });
    groups.push(json!({ "title": "Theme", "rows": theme.collect::<Vec<_>>() }));
    Value::Array(groups)
}

/// Returns the control of an option; its format depends on the option's type.
fn option_control(option: &FormOption) -> Value {
    let mut row = match option.kind {
        OptionType::Boolean(on) => json!({ "kind": "switch", "default": on }),
        OptionType::Text => json!({ "kind": "text" }),
        OptionType::OneOf(values) | OptionType::Suggested(values) => json!({ "kind": "choice", "values": values }),
        OptionType::Locale => {
            let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
            json!({ "kind": "choice", "values": names })
        }
        OptionType::Brands => json!({ "kind": "brands" }),
        OptionType::Texts(section) => {
            let example =
                section.keys_and_texts().next().map(|(key, text)| format!("{key} = {}", text.trim_matches('"')));
            json!({ "kind": "words", "example": example })
        }
        OptionType::Object(_, example) => json!({ "kind": "object", "example": example }),
        OptionType::Function(Callback { decides: true, .. }) => {
            json!({ "kind": "choice", "values": ["go on", "stop", "stop after a second"] })
        }
        OptionType::Function(Callback { returns: "void", .. }) => json!({ "kind": "switch", "default": true }),
        // This option changes how the form is loaded.
        OptionType::Function(_) => json!({ "kind": "switch", "default": false }),
    };
    let is_callback = matches!(option.kind, OptionType::Function(_));
    row["part"] = if is_callback { "callback" } else { "option" }.into();
    row["name"] = option.name.into();
    row["meaning"] = option.meaning.into();
    if option.name == METHOD_LAYOUT.name {
        // The page begins with the layout of the shop's checkout.
        row["value"] = "accordion".into();
    }
    row
}

/// Prepares a new checkout, in the same way as a merchant's server, and returns its id and data as JSON. Missing
/// parameters have their defaults. A parameter that visitors may not set, or that the gateway refuses, is 400; a
/// gateway that does not respond, or does not store the cards, is 502.
pub async fn create_checkout(State(app): SharedState, body: Bytes) -> Response {
    let Ok(reference) = new_reference() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let mut sent: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    let with_cards = sent.iter().any(|(name, value)| name == STORED_CARDS && value == "true");
    sent.retain(|(name, _)| name != STORED_CARDS);
    if let Some((name, _)) = sent.iter().find(|(name, _)| !CHECKOUT.iter().any(|(known, ..)| known == name)) {
        return json_error(StatusCode::BAD_REQUEST, &format!("{name} is not for visitors to set"));
    }
    let value = |name: &str| sent.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.clone());
    let mut fields: CallFields = CHECKOUT
        .into_iter()
        .map(|(name, default, _)| (name, value(name).unwrap_or_else(|| default.to_owned())))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    fields.push(("integrity", "true".to_owned()));
    fields.push(("merchantTransactionId", reference));
    let ids = match ensure_stored_cards(&app, with_cards).await {
        Ok(ids) => ids,
        Err(error) => return json_error(StatusCode::BAD_GATEWAY, &error.to_string()),
    };
    let names: Vec<String> = (0..ids.len()).map(|n| format!("registrations[{n}].id")).collect();
    fields.extend(names.iter().map(String::as_str).zip(ids.iter().cloned()));
    if with_cards {
        fields.extend(CARDHOLDER_INITIATED.map(|(name, value)| (name, value.to_owned())));
    }
    match app.gateway.prepare_checkout(&fields).await {
        Ok(checkout) => Json(json!({
            "checkoutId": checkout.id,
            "integrity": checkout.integrity,
            "gateway": app.shop.gateway_public,
            "registrations": ids,
        }))
        .into_response(),
        Err(error @ GatewayError::Refused { .. }) => json_error(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error) => json_error(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

/// Parameters that mark a payment with stored data as cardholder-initiated.
const CARDHOLDER_INITIATED: [(&str, &str); 3] = [
    ("standingInstruction.source", "CIT"),
    ("standingInstruction.mode", "REPEATED"),
    ("standingInstruction.type", "UNSCHEDULED"),
];

/// Returns the ids of the stored cards, or none without `with_cards`. The first call stores the cards at the gateway;
/// if that fails, the next call tries again.
async fn ensure_stored_cards(app: &ShopState, with_cards: bool) -> Result<Vec<String>, GatewayError> {
    if !with_cards {
        return Ok(Vec::new());
    }
    let register = async || {
        let mut ids = Vec::new();
        for (brand, number, month) in CARDS {
            let card = [
                ("paymentBrand", brand),
                ("card.number", number),
                ("card.holder", "Jane Jones"),
                ("card.expiryMonth", month),
                ("card.expiryYear", "2035"),
                ("card.cvv", "123"),
            ];
            ids.push(app.gateway.register_account(&card.map(|(name, value)| (name, value.to_owned())).to_vec()).await?);
        }
        Ok(ids)
    };
    app.stored_card_ids.get_or_try_init(register).await.cloned()
}

/// Query parameters that the form adds to the page's address.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusQuery {
    resource_path: String,
}

/// Returns the status of a checkout unchanged. The checkout's id is a secret, so its owner may see the status. Any
/// other path is 400, an unreadable response 502.
pub async fn show_status(State(app): SharedState, Query(query): Query<StatusQuery>) -> Response {
    if resource_path::checkout_id(&query.resource_path).is_none() {
        return json_error(StatusCode::BAD_REQUEST, "this is no resourcePath of a checkout");
    }
    match app.gateway.read_raw_status(&query.resource_path).await {
        Ok(status) => Json(status).into_response(),
        Err(error) => json_error(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

fn json_error(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}
