//! `/v1/scripts`: inventory of every script that the gateway puts into payment pages and frames, each with its purpose
//! and its hash, and of the headers of the documents (PCI DSS 4.0.1, 6.4.3 and 11.6.1).

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use tillgate_wire::ResultFields;
use tillgate_wire::checkout::{ScriptFields, ScriptsFields};

use crate::app_state::AppState;
use crate::checkout::form;
use crate::checkout::host_names::FieldsUrl;
use crate::response::{build_response, new_ndc};

/// Purposes of files by path prefix; the first match wins.
const PURPOSES: &[(&str, &str)] = &[
    ("paymentWidgets.js", "Puts the payment form into the merchant's page and the card's fields into frames"),
    ("static/js/static.min.js", "Shows and checks all forms, and asks the frames to send"),
    ("static/js/plain/", "The same as js/static.min.js where WebAssembly is forbidden"),
    ("static/js/locale-", "Texts of the form in one language"),
    ("static/js/later-", "Further texts in one language, for other forms and what a card form says later"),
    ("static/js/choice.js", "Shows several ways to pay as one choice, where the merchant's page asks for it"),
    ("static/js/fault.js", "Explains a form that cannot be used, and leads back to the shop"),
    (
        "static/js/parts.js",
        "Opens issuers' pages and wallets, watches brands' windows, and draws the merchant's spinner",
    ),
    ("static/js/fonts.js", "Hands fonts of the merchant's page to the frames, where the page asks for it"),
    (
        "static/js/focusNextField.js",
        "Moves the focus on from a whole number or date, where the merchant's page asks for it",
    ),
    ("static/js/debit.js", "Groups and checks the IBAN in forms of direct debits"),
    ("static/frame/frame.wasm", "Checks of card number and code in their frames"),
    ("static/frame/frame.js", "Loads frame.wasm, and sends card data from the frame to the gateway"),
    ("static/frame/plain.js", "The same as frame.js where WebAssembly is forbidden"),
    ("pciIframe.html", "Document of the frame for the card number"),
    ("textIframe.html", "Document of the frames for holder and expiry date"),
    ("internalRequestIframe.html", "Document of the hidden frame that sends forms without a card number"),
];

/// Serves the inventory of the current build: scripts, headers of documents, and the manifest with its signature (null
/// if it is not signed). It is public, because every browser can load these scripts anyway.
pub(crate) async fn serve_inventory(State(state): State<Arc<AppState>>) -> Response {
    let builds = &state.builds;
    let find_reason =
        |path: &str| PURPOSES.iter().find(|(prefix, _)| path.starts_with(prefix)).map_or("", |(_, reason)| *reason);
    let scripts = builds.inventory().iter().map(|entry| ScriptFields {
        path: &entry.path,
        address: public_path(&state, &entry.path),
        reason: find_reason(&entry.path),
        sha256: &entry.sha256,
        integrity: &entry.integrity,
        bytes: entry.bytes,
    });
    let manifest = builds.manifest();
    let fields = ScriptsFields {
        result: ResultFields::success(),
        build: &builds.current_build().id,
        fields_url: state.fields_url.as_ref().map(FieldsUrl::as_str),
        scripts: scripts.collect(),
        documents: form::list_document_headers(&state),
        manifest: &manifest.text,
        signature: manifest.signature.as_deref(),
    };
    let mut response = build_response(StatusCode::OK, fields, &new_ndc(None));
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Returns the path under which browsers load a file of the current build, or `None` for a document, which is served
/// with a configuration.
fn public_path(state: &AppState, path: &str) -> Option<String> {
    if let Some(file) = path.strip_prefix("static/") {
        return Some(format!("/v1/static/{}/{file}", state.builds.current_build().id));
    }
    (path == "paymentWidgets.js").then(|| "/v1/paymentWidgets.js".to_owned())
}
