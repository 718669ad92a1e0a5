//! The HTTP API, with one file per resource, and the builds of the form that it serves.
//!
//! It decodes, authenticates, calls the gateway, and encodes. It knows no SQL and no command line, and never decides
//! about money.

mod access;
mod access_log;
mod app_state;
mod checkout;
mod client;
mod dispute;
mod draining;
mod error_response;
mod extract;
pub mod form;
mod heavy_requests;
mod html_page;
mod idempotency;
mod in_flight;
mod line_stream;
mod merchant_response;
mod meta;
mod payment;
mod received;
pub mod reference;
mod registration;
mod report;
mod response;
mod review;
mod risk;
mod schedule;
mod served_file;
mod settlement;
mod three_ds;
pub mod webhook_payload;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{delete, get, post};
use tillgate_gateway::registry;
use tower::ServiceBuilder;
use tower::util::MapResponseLayer;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

pub use app_state::AppState;
pub use checkout::host_names::{FieldsUrl, PagesHost};
pub use checkout::report_limiter::ReportLimiter;
pub use draining::Draining;
pub use heavy_requests::build_service;
pub use in_flight::InFlight;
pub use payment::response_cache::ResponseCache;
pub use response::BUILD_NUMBER;
pub use tillgate_net::wrong_credentials::WrongCredentials;

/// Maximum size of a request body, in bytes.
const BODY_LIMIT: usize = 1024 * 1024;

/// Builds every route of the service, and nests further pages under a path. [`reference::ROUTES`] describes all but the
/// pages, which are inside the same layers: the log, the limits, and the rule that the host of the card frames has only
/// routes of its own.
fn build_router(state: Arc<AppState>, pages: Option<(&str, Router)>) -> Router {
    // Compression is safe here: a client that requests a frame document already knows its only secret, the checkout's
    // id, so the compressed length reveals nothing.
    let compressed = CompressionLayer::new().quality(CompressionLevel::Precise(5));
    Router::new()
        .merge(build_payment_routes())
        .merge(build_form_routes(compressed))
        .merge(build_risk_routes())
        .merge(build_schedule_routes())
        .merge(build_dispute_routes())
        .route("/v1/policyReports", get(checkout::policy_reports::list))
        .route(
            "/v1/policyReports/{id}",
            post(checkout::policy_reports::receive_report).options(checkout::policy_reports::respond_to_preflight),
        )
        .route("/v1/clock/{advance}", post(schedule::clock::advance))
        .route("/v1/resultcodes", get(meta::list_result_codes))
        .route("/openapi.json", get(reference::serve_openapi))
        .route("/reference", get(reference::serve_reference))
        .route("/health", get(meta::read_health))
        .merge(build_sandbox_routes())
        .merge(nest_pages(pages))
        .fallback(error_response::no_such_endpoint)
        .method_not_allowed_fallback(error_response::method_not_allowed)
        // One combined layer, because the router would box each of several. The first is the outermost. Each
        // middleware function clones everything below it for each request, so there are few.
        .layer(
            ServiceBuilder::new()
                .layer(middleware::from_fn(access_log::log_request))
                .layer(middleware::from_fn(response::with_request_clock))
                .layer(CatchPanicLayer::custom(error_response::panic_response))
                .layer(MapResponseLayer::new(set_default_headers))
                .layer(DefaultBodyLimit::max(BODY_LIMIT))
                .layer(middleware::from_fn_with_state(Arc::clone(&state), enforce_access_rules)),
        )
        .with_state(state)
}

/// Nests pages that have a state of their own under their path.
fn nest_pages(pages: Option<(&str, Router)>) -> Router<Arc<AppState>> {
    match pages {
        Some((path, router)) => Router::new().nest(path, router.with_state(())),
        None => Router::new(),
    }
}

/// Builds the routes of checkouts, payments and registrations, and the pages that their shoppers visit.
fn build_payment_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/v1/checkouts", post(checkout::checkouts::create))
        .route("/v1/checkouts/{id}", post(checkout::checkouts::update))
        .route(
            "/v1/checkouts/{id}/payment",
            get(checkout::checkouts::read_status).post(checkout::checkouts::submit_payment),
        )
        .route("/v1/checkouts/{id}/confirm", post(checkout::checkouts::confirm_payment))
        .route("/v1/checkouts/{id}/state", get(checkout::checkouts::read_state))
        .route("/v1/payments", post(payment::payments::create))
        .route("/v1/payments/{id}", get(payment::payments::read).post(payment::payments::modify))
        .route("/reports/v1/totals", get(report::reports::report_totals))
        .route("/reports/v1/transactions", get(report::transactions::report_transactions))
        .route("/reports/v1/authorizations", get(report::reports::report_authorizations))
        .route("/reports/v1/chargebacks", get(report::reports::report_chargebacks))
        .route("/reports/v1/settlements", get(settlement::reports::report_settlements))
        .route("/reports/v1/fees", get(settlement::reports::report_fees))
        .route("/ledger/v1/balances", get(settlement::reports::list_balances))
        .route("/reports/v1/reconciliations/aggregations", get(settlement::reconciliations::report_aggregations))
        .route("/reconciliations/v1/files", get(settlement::reconciliations::list_files))
        .route("/reconciliations/v1/files/{name}", get(settlement::reconciliations::send_file))
        .route("/reconciliations/v1/records", get(settlement::reconciliations::list_records))
        .route("/v1/query", get(payment::query::query_payments))
        .route("/v1/query/{id}", get(payment::query::query_by_id))
        .route("/v3/query", get(payment::query::query_payments))
        .route("/v3/query/{id}", get(payment::query::query_by_id))
        .route(
            "/v1/return/{id}",
            get(checkout::shopper_return::show_outcome).post(checkout::shopper_return::show_outcome),
        )
        .route("/v1/threeDSecure/{id}", get(three_ds::handle_visit).post(three_ds::handle_challenge_result))
        .route("/v1/threeDSecure/{id}/method", get(three_ds::issuer::show_method).post(three_ds::issuer::end_method))
        .route("/v1/threeDSecure/{id}/challenge", post(three_ds::issuer::end_challenge))
        .route("/v1/threeDSecure/{id}/result", post(three_ds::issuer::receive_result))
        .route("/v1/threeDSecure.js", get(three_ds::serve_script))
        .route(
            "/v1/checkouts/{id}/registration",
            get(checkout::checkouts::read_registration_status).post(checkout::checkouts::submit_registration),
        )
        .route("/v1/registrations", post(registration::registrations::create))
        .route(
            "/v1/registrations/{id}",
            get(registration::registrations::read).delete(registration::registrations::delete),
        )
        .route("/v1/registrations/{id}/extendlife", post(registration::registrations::extend))
        .route("/v1/registrations/{id}/payments", post(registration::registrations::pay_by_registration))
}

/// Builds the routes of the form: its loader, documents and files. `compressed` compresses documents.
fn build_form_routes(compressed: CompressionLayer) -> Router<Arc<AppState>> {
    Router::new()
        .route("/v1/paymentWidgets.js", get(checkout::form::serve_loader))
        .route("/v1/checkouts/{id}/registrations/{registration}", delete(checkout::form_config::delete_registration))
        .route("/v1/pciIframe.html", get(checkout::form::serve_frame).layer(compressed.clone()))
        .route("/v1/static/{build}/img/brand.png", get(checkout::sprite::serve_sheet))
        .route("/v1/internalRequestIframe.html", get(checkout::form::serve_relay).layer(compressed))
        .route("/v1/plainForm.html", get(checkout::plain_form::show_form).post(checkout::plain_form::submit_form))
        .route("/v1/wpwl.d.ts", get(checkout::form::serve_declarations))
        .route("/v1/static/{build}/frame/{*path}", get(checkout::form::serve_frame_file))
        .route("/v1/static/{build}/{*path}", get(checkout::form::serve_file))
        .route("/v1/paymentWidgets/img/brand.png", get(checkout::sprite::serve_sheet))
        .route("/v1/scripts", get(checkout::scripts::serve_inventory))
}

/// Builds the routes of risk rules, risk checks and reviews.
fn build_risk_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/v2/riskScreen", post(risk::screen::screen_order))
        .route("/v2/registrations/{id}/riskScreen", post(risk::screen::screen_registration))
        .route("/v2/risk/audit", get(risk::decision_log::list_changes))
        .route("/v2/risk/rules", post(risk::rules::add_rules).get(risk::rules::list_versions))
        .route("/v2/risk/rules/{version}", get(risk::rules::read_rules))
        .route("/v2/risk/rules/{version}/activate", post(risk::rules::activate))
        .route("/v2/risk/rules/{version}/shadow", post(risk::rules::shadow))
        .route("/v2/risk/rules/{version}/dryRun", post(risk::dry_run::dry_run))
        .route(
            "/v2/risk/lists",
            get(risk::lists::list_entries).post(risk::lists::add_entry).delete(risk::lists::remove_entry),
        )
        .route("/v2/reviewDecisions/{id}", post(review::decisions::receive))
        .route("/v2/reviews", get(review::reviews::list_reviews))
        .route("/v2/reviews/{id}", get(review::reviews::read_review))
        .route("/v2/reviews/{id}/claim", post(review::reviews::claim))
        .route("/v2/reviews/{id}/release", post(review::reviews::release))
        .route("/v2/reviews/{id}/note", post(review::reviews::add_note))
        .route("/v2/reviews/{id}/approve", post(review::reviews::approve))
        .route("/v2/reviews/{id}/cancel", post(review::reviews::cancel))
        .route("/v2/reviews/{id}/pend", post(review::reviews::pend))
}

/// Builds the routes of schedules.
fn build_schedule_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/scheduling/v1/schedules", post(schedule::schedules::create))
        .route("/scheduling/v1/schedules/{id}", get(schedule::schedules::read).delete(schedule::schedules::deschedule))
        .route("/scheduling/v1/schedules/{id}/reschedule", post(schedule::schedules::reschedule))
        .route("/scheduling/v1/schedules/{id}/deschedule", post(schedule::schedules::deschedule))
}

/// Builds the routes of disputes and their evidence.
fn build_dispute_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/v1/disputes", get(dispute::disputes::list_disputes).post(dispute::disputes::open_dispute))
        .route("/v1/disputes/{id}", get(dispute::disputes::read_dispute))
        .route("/v1/disputes/{id}/advance", post(dispute::disputes::advance_dispute))
        .route("/v1/disputes/{id}/accept", post(dispute::disputes::accept_dispute))
        .route("/v1/disputes/{id}/representment", post(dispute::disputes::represent_dispute))
        .route("/v1/disputes/{id}/evidence", post(dispute::disputes::add_evidence))
        .route("/v1/evidence/{id}", get(dispute::disputes::send_evidence))
}

/// Builds the sandbox pages that replace those of brands and wallets, for every connector that has them.
fn build_sandbox_routes() -> Router<Arc<AppState>> {
    let brand_pages = registry::all_sandboxes()
        .filter_map(|sandbox| sandbox.brand_page.as_ref())
        .map(payment::brand_page::build_router);
    let sheets = registry::all_sandboxes()
        .filter_map(|sandbox| sandbox.wallet_sheet.as_ref())
        .map(payment::wallet_sheet::build_router);
    brand_pages.chain(sheets).fold(Router::new(), Router::merge)
}

/// Sets the clock of a request about a checkout. Responds 404 to a route that the requested host does not have, refuses
/// a plain HTTP request about a checkout or payment page of a live entity, and a request that a browser may not make.
/// Passes on all others, but the fields of a form that another site has posted to one of our pages.
async fn enforce_access_rules(State(state): State<Arc<AppState>>, mut request: Request, next: Next) -> Response {
    if !checkout::fields_host::has_route(&state, &request) {
        return error_response::no_such_endpoint().await;
    }
    access::transport::set_checkout_clock(&state, &mut request).await;
    if let Some(response) = access::transport::refuse_insecure_request(&state, &mut request).await {
        return response;
    }
    match access::browsers::admit_browser_request(&state, request) {
        Ok(request) => next.run(request).await,
        Err(response) => response,
    }
}

/// Adds `no-store`, `nosniff` and `no-referrer` headers, and `Retry-After` to a response 503, each unless the handler
/// has set that header. Also adds those for pages with cross-origin isolation, and those of documents.
fn set_default_headers(mut response: Response) -> Response {
    const DEFAULTS: [(HeaderName, HeaderValue); 3] = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    for (name, value) in DEFAULTS {
        response.headers_mut().entry(name).or_insert(value);
    }
    // Pages for people do not know the fault behind a failure. Most such faults end with a failover of the database.
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(HeaderValue::from_static("2"));
    }
    checkout::isolation::add_isolation_headers(response.headers_mut());
    checkout::isolation::add_page_headers(response.headers_mut());
    response
}
