//! What browsers load: the loader script, the frame documents with a checkout's configuration, and the static files.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tillgate_shared::brand::{Brand, Kind};

use super::reply::wire_time;
use super::{Edge, client, relay, shopper_page};
use crate::domain::checkout::{Checkout, State as CheckoutState};
use crate::domain::id::EntityId;
use crate::form::{Bundle, Document, Encoded, HTML};
use crate::gateway::{Failure, order};

/// A year, and the browser need not ask again: the address carries the content's hash.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// The query of the loader and of the frame document. Pages write it, so it is read as it comes: of a name that comes
/// twice the later counts, and what is not known is left alone.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct FormQuery(HashMap<String, String>);

impl FormQuery {
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The checkout's id, without what asks for its tokenisation form.
    pub(super) fn checkout(&self) -> &str {
        let id = self.get("checkoutId");
        id.strip_suffix("/registration").unwrap_or(id)
    }
}

/// As long as a checkout lives: what it is pinned to does not change meanwhile.
const CHECKOUT: &str = "private, max-age=1800";

/// `paymentWidgets.js`: the bytes of the build that the checkout is pinned to. They do not depend on the checkout
/// otherwise, so an unknown checkout gets the current build, and the form then says what is wrong.
pub(super) async fn loader(
    State(edge): State<Arc<Edge>>,
    Query(query): Query<FormQuery>,
    headers: HeaderMap,
) -> Response {
    let pinned = edge.gateway.checkout_for_shopper(query.checkout()).ok().map(|checkout| checkout.build);
    match pinned.and_then(|build| edge.builds.get(&build)) {
        Some(bundle) => encoded(&bundle.loader, &headers, CHECKOUT),
        None => encoded(&edge.builds.current().loader, &headers, "no-cache"),
    }
}

/// `/v1/static/{build}/{path}`: never changes, may be kept for a year.
pub(super) async fn file(
    State(edge): State<Arc<Edge>>,
    Path((build, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    match edge.builds.get(&build).and_then(|bundle| bundle.file(&path)) {
        Some(file) => encoded(file, &headers, IMMUTABLE),
        None => super::error::no_such_endpoint().await,
    }
}

/// `/v1/static/{build}/frame/{path}`: the same for the files of the frames.
pub(super) async fn frame_file(
    state: State<Arc<Edge>>,
    Path((build, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    file(state, Path((build, format!("frame/{path}"))), headers).await
}

/// `wpwl.d.ts`: what TypeScript has to know of the form. As plain text, so that a browser shows it.
pub(super) async fn declarations() -> Response {
    let mut response = Response::new(Body::from(tillgate_shared::options::DECLARATIONS));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// A file in the best encoding that the browser takes.
fn encoded(file: &Encoded, headers: &HeaderMap, cache: &'static str) -> Response {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let takes = |coding: &str| {
        accepted.split(',').any(|offer| {
            let (name, weight) = offer.split_once(';').unwrap_or((offer, ""));
            name.trim().eq_ignore_ascii_case(coding) && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    };
    let (body, coding) = match (&file.brotli, &file.gzip) {
        (Some(brotli), _) if takes("br") => (brotli.clone(), Some("br")),
        (_, Some(gzip)) if takes("gzip") => (gzip.clone(), Some("gzip")),
        _ => (file.identity.clone(), None),
    };
    let mut response = Response::new(Body::from(body));
    let answer = response.headers_mut();
    answer.insert(header::CONTENT_TYPE, value(&file.media_type));
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    answer.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    answer.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    if let Some(coding) = coding {
        answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

/// The document of a frame with a field of the card, with the checkout's configuration inside it.
pub(super) async fn frame(State(edge): State<Arc<Edge>>, Query(query): Query<FormQuery>, request: Request) -> Response {
    let is_text = matches!(query.get("field"), "card.holder" | "card.expiry");
    configured(
        &edge,
        &query,
        request,
        |bundle| if is_text { &bundle.text } else { &bundle.frame },
        |checkout, now| match query.get("field") {
            // The page hears everything from the number's frame.
            "card.cvv" | "card.holder" | "card.expiry" => Map::new(),
            _ => {
                let mut about = open(&edge, checkout, query.get("brands"), now);
                // Whether there is more to show than cards; what that is, the relay knows.
                if relay::offers_registrations(checkout) {
                    about.insert("registrations".to_owned(), true.into());
                }
                about
            }
        },
    )
}

/// The document of the hidden frame that forms without a card number are told by and send by (contract, 2.2).
pub(super) async fn relay(State(edge): State<Arc<Edge>>, Query(query): Query<FormQuery>, request: Request) -> Response {
    configured(
        &edge,
        &query,
        request,
        |bundle| &bundle.relay,
        |checkout, now| {
            let mut about = open(&edge, checkout, query.get("brands"), now);
            about.extend(relay::about(&edge, checkout));
            // The wallet's sheet is a page of another origin then.
            if let (Some(_), Some(public)) = (&edge.fields_url, &edge.public_url) {
                about.insert("pages".to_owned(), public.as_str().into());
            }
            about
        },
    )
}

/// A document with a checkout's configuration: what `about` says of one that is open, or why it cannot be paid.
fn configured(
    edge: &Edge,
    query: &FormQuery,
    request: Request,
    which: impl FnOnce(&Bundle) -> &Document,
    about: impl FnOnce(&Checkout, Timestamp) -> Map<String, Value>,
) -> Response {
    let (parts, _) = request.into_parts();
    let base = client::public_url(edge, &parts);
    let (status, bundle, checkout, about) = match edge.gateway.checkout_for_shopper(query.checkout()) {
        // The page makes its checkout when the shopper pays. Whose it will be is not known before, so any merchant's page may
        // show the frame; which page it was, the frame tells with the submit.
        Err(Failure::Refused(_)) if query.checkout().is_empty() => {
            let brands = json!({ "brands": described(named(query.get("brands"))) });
            let about = brands.as_object().cloned().unwrap_or_default();
            (StatusCode::OK, edge.builds.current(), None, about)
        }
        Ok(checkout) => {
            let now = edge.gateway.now_of_id(&checkout.entity);
            let about = match checkout.state(now) {
                CheckoutState::Open => about(&checkout, now),
                // Its shopper has come back from the brand's page, and may take another brand.
                CheckoutState::Paid if edge.gateway.is_pending(&checkout) => about(&checkout, now),
                CheckoutState::Paid if checkout.is_tokenisation() => closed("This account has been stored already."),
                CheckoutState::Paid => paid(),
                CheckoutState::Expired => closed("This checkout has expired. Please start again."),
            };
            (StatusCode::OK, edge.builds.pinned(&checkout.build), Some(checkout), about)
        }
        Err(Failure::Refused(_)) => {
            (StatusCode::NOT_FOUND, edge.builds.current(), None, closed("This checkout does not exist."))
        }
        Err(error) => {
            tracing::error!(%error, "frame document");
            let about = closed("The payment form is not available at the moment. Please try again.");
            (StatusCode::SERVICE_UNAVAILABLE, edge.builds.current(), None, about)
        }
    };
    let (document, ancestors) = (which(bundle), ancestors(edge, checkout.as_ref()));
    let reports = checkout.as_ref().map(|checkout| checkout.id.as_str());
    if query.get("field") == "card.cvv"
        && let Some(code) = &bundle.code
    {
        return framed(status, document, &ancestors, reports, encoded(code, &parts.headers, "no-store"));
    }
    let mut configuration = Map::new();
    configuration.insert("version".to_owned(), 1.into());
    configuration.insert("base".to_owned(), base.into());
    configuration.insert("build".to_owned(), bundle.id.as_str().into());
    configuration.extend(about);
    // Inside a script element only `<` could end it.
    let configuration = Value::Object(configuration).to_string().replace('<', "\\u003c");
    let (before, after) = &document.text;
    let mut response = Response::new(Body::from([before.as_str(), &configuration, after.as_str()].concat()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    framed(status, document, &ancestors, reports, response)
}

/// Who may show a page of ours in a frame, as the directive `frame-ancestors` lists them: the merchant's origins where it
/// has named them.
pub(super) fn ancestors(edge: &Edge, checkout: Option<&Checkout>) -> String {
    match checkout {
        Some(checkout) => ancestors_of(edge, &checkout.entity),
        None => sources(&edge.gateway.directory.origins()),
    }
}

/// The same for the pages of an entity.
pub(super) fn ancestors_of(edge: &Edge, entity: &EntityId) -> String {
    sources(&edge.gateway.directory.origins_of(entity))
}

/// Any page may show ours in a frame.
pub(super) const ANYBODY: &str = "*";

fn sources(origins: &[String]) -> String {
    if origins.is_empty() { ANYBODY.to_owned() } else { origins.join(" ") }
}

/// What the form has to know of an open checkout.
fn open(edge: &Edge, checkout: &Checkout, brands: &str, now: Timestamp) -> Map<String, Value> {
    let get = |name: &str| checkout.parameters.get(name);
    // As it is charged, whatever way the merchant wrote it.
    let amount = order::amount(&checkout.parameters).map(|amount| amount.to_string()).ok();
    let live = edge.gateway.directory.entity(&checkout.entity).is_some_and(|entity| entity.live);
    let offered = edge.gateway.offered(checkout, named(brands));
    let mut brands = described(offered.iter().copied());
    for wallet in offered.iter().filter(|brand| brand.kind == Kind::Wallet) {
        // Whether a simulation stands in for the wallet.
        brands[wallet.code]["sheet"] = edge.gateway.has_wallet_sheet(checkout, wallet).into();
    }
    let fields = json!({
        "checkout": {
            "id": checkout.id.as_str(),
            "amount": amount,
            "currency": get("currency"),
            "resourcePath": checkout.resource_path(),
            "shopperResultUrl": get("shopperResultUrl"),
        },
        "test": !live,
        "ndc": checkout.id.as_str(),
        "timestamp": wire_time(now),
        "brands": brands,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// What the form has to know of a brand; of one that is no card also which form it has. `flow` is told before anything is
/// sent, for a popup has to be opened while the browser still knows that the shopper clicked.
fn about_brand(brand: &Brand) -> Value {
    let mut about = json!({ "kind": brand.kind.as_str(), "name": brand.name, "flow": brand.flow.as_str() });
    if brand.kind != Kind::Card {
        about["form"] = brand.form.as_str().into();
        about["fields"] = brand.fields.into();
        if !brand.extras.is_empty() {
            about["extras"] = brand.extras.into();
        }
    }
    about
}

/// The brands that a page names, each once: a form for each is part of the answer.
pub(super) fn named(brands: &str) -> impl Iterator<Item = &'static Brand> {
    let mut known = Vec::new();
    brands.split([' ', '+', ',']).filter_map(Brand::find).filter(move |brand| {
        let is_new = !known.contains(&brand.code);
        if is_new {
            known.push(brand.code);
        }
        is_new
    })
}

/// What the form is told of its brands.
fn described(brands: impl IntoIterator<Item = &'static Brand>) -> Map<String, Value> {
    brands.into_iter().map(|brand| (brand.code.to_owned(), about_brand(brand))).collect()
}

/// A checkout that cannot be paid, and why, for the shopper.
fn closed(message: &str) -> Map<String, Value> {
    Map::from_iter([("error".to_owned(), json!({ "name": "InvalidCheckoutIdError", "message": message }))])
}

/// A checkout that has been paid: who reads that it is merely closed might pay again in another.
fn paid() -> Map<String, Value> {
    let mut about = closed("This checkout has been paid already.");
    about["error"]["paid"] = true.into();
    about
}

/// A document's answer with the policy under which it runs.
fn framed(
    status: StatusCode,
    document: &Document,
    ancestors: &str,
    reports: Option<&str>,
    mut response: Response,
) -> Response {
    let policy = policy(document, ancestors, reports);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, value(&policy));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    response
}

/// The headers of the frames' documents, for the inventory of scripts.
pub(super) fn policies(edge: &Edge) -> Value {
    let current = edge.builds.current();
    let documents = [
        ("/v1/pciIframe.html?field=card.number", &current.frame),
        ("/v1/pciIframe.html?field=card.cvv", &current.frame),
        ("/v1/pciIframe.html?field=card.holder", &current.text),
        ("/v1/pciIframe.html?field=card.expiry", &current.text),
        ("/v1/internalRequestIframe.html", &current.relay),
    ];
    let described = documents.map(|(path, document)| {
        let policy = policy(document, "ORIGINS", Some("CHECKOUT"));
        let headers = json!({
            "content-security-policy": policy, "cache-control": "no-store", "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff", "cross-origin-resource-policy": "cross-origin",
        });
        json!({ "path": path, "headers": headers })
    });
    described.to_vec().into()
}

/// The policy of a document. Violations are reported under the id `reports`, by the directive that every browser knows and that
/// reports at once.
fn policy(document: &Document, ancestors: &str, reports: Option<&str>) -> String {
    let Document { scripts, styles, .. } = document;
    let reports = shopper_page::reports("", reports);
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {scripts}; style-src {styles}; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}{reports}"
    )
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}
