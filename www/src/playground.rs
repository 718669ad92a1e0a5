//! The playground: a page where every option of the form can be tried, and what its script asks of the shop. The page
//! is `www/index.html`, which `trunk serve` shows too while somebody works on the form.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tillgate_shared::language::LANGUAGES;
use tillgate_shared::options::{Callback, FormOption, Group, Kind, THEME};

use crate::gateway::{Fields, GatewayError};
use crate::order::new_reference;
use crate::routes::{App, ICON, SHEET, Shared, typed};
use crate::{policy, resource_path};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// What a visitor may say about a checkout, and what holds where nothing is said. Everything else is the shop's.
const CHECKOUT: [(&str, &str, &str); 4] = [
    ("amount", "92.00", "What is paid, with two decimals."),
    ("currency", "EUR", "Its currency, by the code of ISO 4217."),
    ("paymentType", "DB", "`DB` takes the money, `PA` reserves it."),
    (
        "customParameters[forceResultCode]",
        "",
        "The result that the simulator is asked for: `800.100.151` is a decline, `000.200.000` stays pending.",
    ),
];

/// Not a parameter: asks for a checkout of a customer who has stored cards.
const STORED_CARDS: &str = "stored cards";

/// Those cards: brand, a number of the simulator's, and the month of 2035 in which it expires.
const CARDS: [(&str, &str, &str); 2] = [("VISA", "4200000000000000", "05"), ("MASTER", "5454545454545454", "11")];

/// `/playground`.
pub async fn page(State(app): Shared) -> Response {
    let mut response = typed("text/html; charset=utf-8", include_str!("../index.html"));
    let policy = policy::with_own_requests(&app.shop.gateway_public, app.shop.gateway_fields.as_deref());
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// `/playground/{file}`: all that the page loads, in one folder, so that one line of trunk's proxy brings it.
pub async fn file(Path(file): Path<String>) -> Response {
    match file.as_str() {
        "page.js" => typed(SCRIPT, include_str!("../playground/page.js")),
        "page.css" => typed(CSS, include_str!("../playground/page.css")),
        "shop.css" => typed(CSS, SHEET),
        "icon.svg" => typed("image/svg+xml", ICON),
        "options.json" => Json(controls()).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn text(part: &str, (name, value, meaning): (&str, &str, &str)) -> Value {
    json!({ "part": part, "name": name, "kind": "text", "value": value, "meaning": meaning })
}

fn switch(part: &str, name: &str, meaning: &str) -> Value {
    json!({ "part": part, "name": name, "kind": "switch", "default": false, "meaning": meaning })
}

/// The controls in their groups, each as the page's script needs it.
fn controls() -> Value {
    let mut first: Vec<Value> = CHECKOUT.into_iter().map(|row| text("checkout", row)).collect();
    first.push(switch("checkout", STORED_CARDS, "The customer has stored two cards: `registrations[n].id`."));
    first.push(text("page", ("brands", "VISA MASTER AMEX", "The brands that the page offers: `data-brands`.")));
    first.push(switch("page", "dark page", "The page around the form is dark; the form follows its text colour."));
    let mut groups = vec![json!({ "title": "Checkout and page", "rows": first })];
    for group in Group::ALL {
        let rows: Vec<Value> = group.options().map(control).collect();
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

/// The control of an option.
fn control(option: &FormOption) -> Value {
    let mut row = match option.kind {
        Kind::Switch(on) => json!({ "kind": "switch", "default": on }),
        Kind::Text => json!({ "kind": "text" }),
        Kind::OneOf(values) | Kind::Open(values) => json!({ "kind": "choice", "values": values }),
        Kind::Locale => {
            let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
            json!({ "kind": "choice", "values": names })
        }
        Kind::Brands => json!({ "kind": "brands" }),
        Kind::Words(section) => {
            let example = section.keys().next().map(|(key, text)| format!("{key} = {}", text.trim_matches('"')));
            json!({ "kind": "words", "example": example })
        }
        Kind::Object(_, example) => json!({ "kind": "object", "example": example }),
        Kind::Function(Callback { decides: true, .. }) => {
            json!({ "kind": "choice", "values": ["go on", "stop", "stop after a second"] })
        }
        Kind::Function(Callback { returns: "void", .. }) => json!({ "kind": "switch", "default": true }),
        // It changes how the form is loaded.
        Kind::Function(_) => json!({ "kind": "switch", "default": false }),
    };
    let is_callback = matches!(option.kind, Kind::Function(_));
    row["part"] = if is_callback { "callback" } else { "option" }.into();
    row["name"] = option.name.into();
    row["meaning"] = option.meaning.into();
    row
}

/// A fresh checkout, prepared as a merchant's server does it.
pub async fn checkout(State(app): Shared, body: Bytes) -> Response {
    let Ok(reference) = new_reference() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let mut said: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    let with_cards = said.iter().any(|(name, value)| name == STORED_CARDS && value == "true");
    said.retain(|(name, _)| name != STORED_CARDS);
    if let Some((name, _)) = said.iter().find(|(name, _)| !CHECKOUT.iter().any(|(known, ..)| known == name)) {
        return trouble(StatusCode::BAD_REQUEST, &format!("{name} is not for visitors to set"));
    }
    let value = |name: &str| said.iter().find(|(said, _)| said == name).map(|(_, value)| value.clone());
    let mut fields: Fields = CHECKOUT
        .into_iter()
        .map(|(name, default, _)| (name, value(name).unwrap_or_else(|| default.to_owned())))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    fields.push(("integrity", "true".to_owned()));
    fields.push(("merchantTransactionId", reference));
    let ids = match stored(&app, with_cards).await {
        Ok(ids) => ids,
        Err(error) => return trouble(StatusCode::BAD_GATEWAY, &error.to_string()),
    };
    let names: Vec<String> = (0..ids.len()).map(|n| format!("registrations[{n}].id")).collect();
    fields.extend(names.iter().map(String::as_str).zip(ids.iter().cloned()));
    if with_cards {
        fields.extend(CUSTOMER_IS_THERE.map(|(name, value)| (name, value.to_owned())));
    }
    match app.gateway.prepare(&fields).await {
        Ok(checkout) => Json(json!({
            "checkoutId": checkout.id,
            "integrity": checkout.integrity,
            "gateway": app.shop.gateway_public,
            "registrations": ids,
        }))
        .into_response(),
        Err(error @ GatewayError::Refused { .. }) => trouble(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error) => trouble(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

/// What a payment with stored data says of itself.
const CUSTOMER_IS_THERE: [(&str, &str); 3] = [
    ("standingInstruction.source", "CIT"),
    ("standingInstruction.mode", "REPEATED"),
    ("standingInstruction.type", "UNSCHEDULED"),
];

/// The ids of the stored cards where they are `wanted`. They are stored once in the life of the shop.
async fn stored(app: &App, wanted: bool) -> Result<Vec<String>, GatewayError> {
    if !wanted {
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
            ids.push(app.gateway.register(&card.map(|(name, value)| (name, value.to_owned())).to_vec()).await?);
        }
        Ok(ids)
    };
    app.stored.get_or_try_init(register).await.cloned()
}

/// What the form brought back to the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Returned {
    resource_path: String,
}

/// What became of a checkout, in the gateway's words. Who knows its id, a secret, may know that.
pub async fn status(State(app): Shared, Query(returned): Query<Returned>) -> Response {
    if resource_path::checkout_id(&returned.resource_path).is_none() {
        return trouble(StatusCode::BAD_REQUEST, "this is no resourcePath of a checkout");
    }
    match app.gateway.status_as_it_is(&returned.resource_path).await {
        Ok(status) => Json(status).into_response(),
        Err(error) => trouble(StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

fn trouble(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}
