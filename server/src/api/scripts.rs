//! `/v1/scripts`: the inventory of every script that the gateway puts into payment pages and frames, each with why it is
//! there and its hash, and of the headers of the documents (PCI DSS 4.0.1, 6.4.3 and 11.6.1).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tillgate_shared::result::codes;

use super::fields::{Field, Fields};
use super::reply::{fresh_ndc, reply, result};
use super::{Edge, FieldsUrl, form};

/// Reasons of files, by the beginning of their path; the first that fits counts.
const PURPOSES: &[(&str, &str)] = &[
    ("paymentWidgets.js", "Puts the payment form into the merchant's page and the card's fields into frames"),
    ("static/js/static.min.js", "Checks the fields of the page, shows errors, and asks the frames to send"),
    ("static/js/plain/", "The same as js/static.min.js where WebAssembly is forbidden"),
    ("static/js/forms.min.js", "Forms of brands other than cards, stored accounts, 3-D Secure challenges, wallets"),
    ("static/js/forms-", "Texts of js/forms.min.js in one language"),
    ("static/js/locale-", "Texts of the card form in one language"),
    ("static/frame/frame.wasm", "Checks of card number and code in their frames"),
    ("static/frame/frame.js", "Loads frame.wasm, and sends card data from the frame to the gateway"),
    ("static/frame/plain.js", "The same as frame.js where WebAssembly is forbidden"),
    ("pciIframe.html", "Document of the frame in which the card number is typed"),
    ("codeIframe.html", "Document of the frame in which the security code is typed"),
    ("textIframe.html", "Document of the frames in which holder and expiry date are typed"),
    ("internalRequestIframe.html", "Document of the hidden frame that sends forms without a card number"),
];

/// The inventory, for everybody: it tells nothing that a browser does not load.
pub(super) async fn inventory(State(edge): State<Arc<Edge>>) -> Response {
    let scripts: Vec<Value> = edge
        .builds
        .inventory()
        .iter()
        .map(|entry| {
            let reason =
                PURPOSES.iter().find(|(path, _)| entry.path.starts_with(path)).map_or("", |(_, reason)| reason);
            json!({
                "path": entry.path, "address": address(&edge, &entry.path), "reason": reason,
                "sha256": entry.sha256, "integrity": entry.integrity, "bytes": entry.bytes,
            })
        })
        .collect();
    let signed = edge.builds.manifest();
    let fields = Fields::default()
        .with("result", result(codes::REQUEST_SUCCEEDED))
        .with("build", edge.builds.current().id.as_str())
        .with("fieldsUrl", Field::Value(json!(edge.fields_url.as_ref().map(FieldsUrl::base))))
        .with("scripts", Field::Value(scripts.into()))
        .with("documents", Field::Value(form::policies(&edge)))
        .with("manifest", signed.text.as_str())
        .with("signature", Field::Value(json!(signed.signature)));
    let mut response = reply(StatusCode::OK, fields, &fresh_ndc(None));
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// The path under which browsers load a file; `None` for one that is served as a part of another.
fn address(edge: &Edge, path: &str) -> Option<String> {
    if let Some(file) = path.strip_prefix("static/") {
        return Some(format!("/v1/static/{}/{file}", edge.builds.current().id));
    }
    (path == "paymentWidgets.js").then(|| "/v1/paymentWidgets.js".to_owned())
}
