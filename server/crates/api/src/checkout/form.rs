//! Files that browsers load: the loader script, the frame documents with a checkout's configuration, and static files.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::html;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tillgate_domain::checkout::{Checkout, CheckoutState};
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_gateway::Failure;
use tillgate_net::page_headers::{INTEGRITY_POLICY, SCRIPTS_WITH_HASH};
use tillgate_shared::frame_messages::FrameField;
use tillgate_wire::checkout::{DocumentFields, DocumentHeaderFields};

use crate::app_state::AppState;
use crate::checkout::form_config::Shopper;
use crate::checkout::form_config::closed_checkout_config;
use crate::checkout::form_config::describe_brands;
use crate::checkout::form_config::named_brands;
use crate::checkout::form_config::offers_registrations;
use crate::checkout::form_config::open_checkout_config;
use crate::checkout::form_config::paid_checkout_config;
use crate::checkout::form_config::relay_config;
use crate::form::{Bundle, DocumentTemplate, HTML};
use crate::html_page::HtmlPage;
use crate::served_file::{file_response, header_value};
use crate::{client, html_page};

/// One year without revalidation, because the address contains the content's hash.
const IMMUTABLE_CACHE: &str = "public, max-age=31536000, immutable";

/// Query parameters of the loader and of the frame documents. Merchants' pages write them, so they are not validated:
/// the last value of a repeated name wins, and unknown names are ignored.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct FormQuery(HashMap<String, String>);

impl FormQuery {
    /// Returns the value of a parameter, empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the checkout's id, without the suffix that requests the tokenisation form.
    pub(crate) fn checkout_id(&self) -> &str {
        let id = self.get("checkoutId");
        id.strip_suffix("/registration").unwrap_or(id)
    }
}

/// Lifetime of a checkout in seconds (30 minutes): the build that it is pinned to does not change meanwhile.
const CHECKOUT_CACHE: &str = "private, max-age=1800";

/// Serves `paymentWidgets.js` from the build that the checkout is pinned to. The bytes do not depend on the checkout
/// otherwise. An unknown checkout gets the current build, whose form then shows the error.
pub(crate) async fn serve_loader(
    State(state): State<Arc<AppState>>,
    Query(query): Query<FormQuery>,
    headers: HeaderMap,
) -> Response {
    let checkout = state.gateway.load_checkout(query.checkout_id()).ok();
    match find_pinned_build(&state, checkout.as_ref()).await {
        Some(bundle) => file_response(&bundle.loader, &headers, CHECKOUT_CACHE),
        None => file_response(&state.builds.current_build().loader, &headers, "no-cache"),
    }
}

/// Serves `/v1/static/{build}/{path}`, or 404 if the build or the path is unknown. The content never changes and may be
/// cached for a year.
pub(crate) async fn serve_file(
    State(state): State<Arc<AppState>>,
    Path((build, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let bundle = find_build(&state, &build).await;
    match bundle.as_ref().and_then(|bundle| bundle.static_file(&path)) {
        Some(file) => file_response(file, &headers, IMMUTABLE_CACHE),
        None => crate::error_response::no_such_endpoint().await,
    }
}

/// Returns a build of the form by its id. `None` if it is not served.
async fn find_build(state: &AppState, id: &str) -> Option<Arc<Bundle>> {
    state.builds.find(id, &state.gateway.store, &state.gateway.vault).await
}

/// Returns the build that a checkout is pinned to. `None` without a checkout, or if the build is not served.
async fn find_pinned_build(state: &AppState, checkout: Option<&Checkout>) -> Option<Arc<Bundle>> {
    find_build(state, &checkout?.build).await
}

/// Serves the files of the frames in the same way: `/v1/static/{build}/frame/{path}`.
pub(crate) async fn serve_frame_file(
    state: State<Arc<AppState>>,
    Path((build, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    serve_file(state, Path((build, format!("frame/{path}"))), headers).await
}

/// Serves `wpwl.d.ts`, the TypeScript declarations of the form, as plain text so that a browser shows it.
pub(crate) async fn serve_declarations() -> Response {
    let mut response = Response::new(Body::from(tillgate_shared::form_options::DECLARATIONS));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// Serves the document of a frame with one field of the card, including the checkout's configuration: the field that
/// the query names, or the card number if it names none. The frames of the other fields get only the part that every
/// frame needs. Responds 404 to an unknown field, because the frame would ask the shopper for the card number.
pub(crate) async fn serve_frame(
    State(state): State<Arc<AppState>>,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    let Some(field) = query.0.get("field").map_or(Some(FrameField::Number), |name| FrameField::parse(name)) else {
        return render_unknown_field(&state);
    };
    serve_configured_document(
        &state,
        &query,
        request,
        |bundle| match field {
            FrameField::Holder | FrameField::Expiry => &bundle.text,
            FrameField::Number | FrameField::Code => &bundle.frame,
        },
        |checkout, shopper| {
            // The merchant's page gets the whole configuration from the frame of the card number.
            if field != FrameField::Number {
                return Map::new();
            }
            let mut config = open_checkout_config(&state, checkout, query.get("brands"), shopper);
            // Set if there are stored accounts to choose from. The relay frame provides them.
            if offers_registrations(checkout) {
                config.insert("registrations".to_owned(), true.into());
            }
            config
        },
    )
    .await
}

/// Renders the page in place of the frame of an unknown field. It has no script.
fn render_unknown_field(state: &AppState) -> Response {
    let title = "There is no such field";
    let main = html! { h1 { (title) } p { "Please go back to the shop." } };
    let ancestors = &checkout_ancestors(state, None);
    let directives = "form-action 'none'";
    let style = html_page::STYLE;
    let page = HtmlPage { title, language: "en", rtl: false, style, head: html! {}, main, directives, ancestors };
    page.render_response(StatusCode::NOT_FOUND)
}

/// Serves the document of the hidden relay frame: forms without a card number get their configuration from it and
/// submit through it (contract, 2.2).
pub(crate) async fn serve_relay(
    State(state): State<Arc<AppState>>,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    serve_configured_document(
        &state,
        &query,
        request,
        |bundle| &bundle.relay,
        |checkout, shopper| {
            let mut config = open_checkout_config(&state, checkout, query.get("brands"), shopper);
            config.extend(relay_config(&state, checkout, shopper));
            // The wallet's sheet is then a page of another origin than the frame.
            if let (Some(_), Some(public)) = (&state.fields_url, &state.public_url) {
                config.insert("pages".to_owned(), public.as_str().into());
            }
            config
        },
    )
    .await
}

/// Serves a document with a checkout's configuration: the result of `build_config` if the checkout is open or its
/// payment is pending, otherwise the reason why it cannot be paid (404 for an unknown one, 503 if the store fails).
/// Without a checkout's id, the configuration has only the brands that the page names.
async fn serve_configured_document(
    state: &AppState,
    query: &FormQuery,
    request: Request,
    select_template: impl FnOnce(&Bundle) -> &DocumentTemplate,
    build_config: impl FnOnce(&Checkout, &Shopper) -> Map<String, Value>,
) -> Response {
    let (parts, _) = request.into_parts();
    let base = client::public_url(state, &parts);
    let ConfiguredDocument { status, checkout, mut config } = select_config(state, query, &parts, build_config);
    let pinned = find_pinned_build(state, checkout.as_ref()).await;
    let bundle = pinned.as_ref().unwrap_or_else(|| state.builds.current_build());
    if let Some(owner) = document_owner(query, checkout.as_ref()) {
        config.insert("owner".to_owned(), owner.into());
    }
    let (document, ancestors) = (select_template(bundle), checkout_ancestors(state, checkout.as_ref()));
    let reports = checkout.as_ref().map(|checkout| checkout.id.as_str());
    let response = render_configuration(document, &base, bundle, config);
    set_document_headers(status, document, &ancestors, reports, response)
}

/// Returns a hash of the checkout and the entity of a document: frames exchange card data only with frames of the same
/// owner, because any page can put a frame with another checkout beside a form. It is a hash because browsers do not
/// learn the merchant's entity. Returns an empty text without a checkout's id, and `None` for a checkout that does not
/// exist.
fn document_owner(query: &FormQuery, checkout: Option<&Checkout>) -> Option<String> {
    match checkout {
        Some(checkout) => {
            let owner = format!("frames of {} of {}", checkout.id.as_str(), checkout.entity);
            Some(to_hex(&Sha256::digest(owner)[..16]))
        }
        None => query.checkout_id().is_empty().then(String::new),
    }
}

/// The configuration of a document, with the status of its response.
struct ConfiguredDocument {
    status: StatusCode,
    /// The checkout whose build the document is from. `None` for the current build.
    checkout: Option<Checkout>,
    config: Map<String, Value>,
}

/// Selects the configuration of a document by the state of its checkout, as [`serve_configured_document`] describes.
fn select_config(
    state: &AppState,
    query: &FormQuery,
    parts: &Parts,
    build_config: impl FnOnce(&Checkout, &Shopper) -> Map<String, Value>,
) -> ConfiguredDocument {
    match state.gateway.load_checkout(query.checkout_id()) {
        // The page creates its checkout when the shopper pays. Its merchant is unknown until then, so any merchant's
        // page may show the frame. The submit contains the page.
        Err(Failure::Refused(_)) if query.checkout_id().is_empty() => {
            let brands = json!({ "brands": describe_brands(named_brands(query.get("brands"))) });
            let config = brands.as_object().cloned().unwrap_or_default();
            ConfiguredDocument { status: StatusCode::OK, checkout: None, config }
        }
        Ok(checkout) => {
            let address = client::resolve_address(state, parts);
            let shopper = Shopper { address, now: state.gateway.now_of_id(&checkout.entity) };
            let config = match checkout.state_at(shopper.now) {
                CheckoutState::Open => build_config(&checkout, &shopper),
                // The shopper has come back from the brand's page, and may choose another brand.
                CheckoutState::Paid if state.gateway.is_pending(&checkout) => build_config(&checkout, &shopper),
                CheckoutState::Paid if checkout.is_tokenisation() => {
                    closed_checkout_config("This account has been stored already.")
                }
                CheckoutState::Paid => paid_checkout_config(),
                CheckoutState::Expired => closed_checkout_config("This checkout has expired. Please start again."),
            };
            ConfiguredDocument { status: StatusCode::OK, checkout: Some(checkout), config }
        }
        Err(Failure::Refused(_)) => ConfiguredDocument {
            status: StatusCode::NOT_FOUND,
            checkout: None,
            config: closed_checkout_config("This checkout does not exist."),
        },
        Err(error) => {
            tracing::error!(%error, "building a frame document failed");
            let config = closed_checkout_config("The payment form is not available at the moment. Please try again.");
            ConfiguredDocument { status: StatusCode::SERVICE_UNAVAILABLE, checkout: None, config }
        }
    }
}

/// Renders a document with its configuration: address and build, and `config`.
fn render_configuration(
    document: &DocumentTemplate,
    base: &str,
    bundle: &Bundle,
    config: Map<String, Value>,
) -> Response {
    let mut configuration = Map::new();
    configuration.insert("version".to_owned(), 1.into());
    configuration.insert("base".to_owned(), base.into());
    configuration.insert("build".to_owned(), bundle.id.as_str().into());
    configuration.extend(config);
    // Inside a script element, only `<` could end it.
    let configuration = Value::Object(configuration).to_string().replace('<', "\\u003c");
    let (before, after) = &document.parts;
    let mut response = Response::new(Body::from([before.as_str(), &configuration, after.as_str()].concat()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    response
}

/// Returns the pages that may show one of our pages in a frame, as a list for the directive `frame-ancestors`: the
/// merchant's origins, without a checkout those of all merchants. Any page if a merchant in question has configured
/// none.
pub(crate) fn checkout_ancestors(state: &AppState, checkout: Option<&Checkout>) -> String {
    match checkout {
        Some(checkout) => entity_ancestors(state, &checkout.entity),
        None => source_list(&state.gateway.directory.merchant_origins()),
    }
}

/// Returns the same list for the pages of an entity: its origins, or those of its merchant.
pub(crate) fn entity_ancestors(state: &AppState, entity: &EntityId) -> String {
    source_list(&state.gateway.directory.frame_origins(entity))
}

/// Allows every page to show ours in a frame.
pub(crate) const ANY_ORIGIN: &str = "*";

/// Joins origins for a directive. An empty list means any origin.
fn source_list(origins: &[String]) -> String {
    if origins.is_empty() { ANY_ORIGIN.to_owned() } else { origins.join(" ") }
}

/// Sets the status and the content security policy of a document's response. `reports` is the checkout's id.
fn set_document_headers(
    status: StatusCode,
    document: &DocumentTemplate,
    ancestors: &str,
    reports: Option<&str>,
    mut response: Response,
) -> Response {
    let policy = content_security_policy(document, ancestors, reports);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, header_value(&policy));
    let (integrity, endpoints) = integrity_headers(document, reports);
    headers.insert(INTEGRITY_POLICY, HeaderValue::from_static(integrity));
    if let Some(endpoints) = endpoints {
        headers.insert(html_page::REPORTING_ENDPOINTS, header_value(&endpoints));
    }
    response
}

/// Returns the values of `Integrity-Policy` and `Reporting-Endpoints` of a document. The documents of earlier builds
/// load scripts without CORS, which the policy would refuse, so their policy refuses nothing.
fn integrity_headers(document: &DocumentTemplate, reports: Option<&str>) -> (&'static str, Option<String>) {
    if !document.scripts_with_hash {
        return ("blocked-destinations=()", None);
    }
    match reports.map(|checkout| html_page::integrity_reports("", checkout)) {
        Some((policy, endpoints)) => (policy, Some(endpoints)),
        None => (SCRIPTS_WITH_HASH, None),
    }
}

/// Returns path and headers of each of the frames' documents, for the inventory of scripts. `ORIGINS` and `CHECKOUT`
/// stand for the values of a checkout.
pub(crate) fn list_document_headers(state: &AppState) -> Vec<DocumentFields> {
    let current = state.builds.current_build();
    let documents = [
        ("/v1/pciIframe.html?field=card.number", &current.frame),
        ("/v1/pciIframe.html?field=card.cvv", &current.frame),
        ("/v1/pciIframe.html?field=card.holder", &current.text),
        ("/v1/pciIframe.html?field=card.expiry", &current.text),
        ("/v1/internalRequestIframe.html", &current.relay),
    ];
    let describe = |(path, document)| DocumentFields {
        path,
        headers: DocumentHeaderFields {
            integrity_policy: integrity_headers(document, Some("CHECKOUT")).0,
            reporting_endpoints: integrity_headers(document, Some("CHECKOUT")).1,
            content_security_policy: content_security_policy(document, "ORIGINS", Some("CHECKOUT")),
            cache_control: "no-store",
            referrer_policy: "no-referrer",
            x_content_type_options: "nosniff",
            cross_origin_resource_policy: "cross-origin",
            cross_origin_embedder_policy: "require-corp",
            permissions_policy: tillgate_net::refused_permissions!(),
        },
    };
    documents.map(describe).into()
}

/// Returns the content security policy of a document. Violations are reported under the id `reports`, if there is one,
/// with `report-uri`, which every browser supports and which reports immediately.
fn content_security_policy(document: &DocumentTemplate, ancestors: &str, reports: Option<&str>) -> String {
    let DocumentTemplate { scripts, styles, .. } = document;
    let reports = html_page::report_directive("", reports);
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {scripts}; style-src {styles}; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}{reports}"
    )
}
