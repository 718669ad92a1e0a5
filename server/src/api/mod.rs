//! The HTTP edge: one file a resource. Decodes, authenticates, calls the gateway, encodes. No rules about money here.

mod access_log;
mod browsers;
mod checkouts;
mod client;
mod clock;
mod credentials;
pub mod docs;
mod error;
pub(crate) mod event;
mod extract;
mod fields;
mod fields_host;
mod form;
mod idempotency;
mod kept;
mod meta;
mod payments;
mod plain;
mod policy_reports;
mod query;
mod received;
mod registrations;
mod relay;
mod reply;
mod scripts;
mod shopper_page;
mod simulator;
mod sprite;
mod state;
mod three_d_secure;
mod transport;
mod view;
mod wallet_sheet;
mod wrong_credentials;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, Uri, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{delete, get, post};
use ipnet::IpNet;
use tower::ServiceBuilder;
use tower::util::MapResponseLayer;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::form::Builds;
use crate::gateway::Gateway;
use crate::outgoing::Outgoing;
pub use fields_host::FieldsUrl;
pub use idempotency::UnderWay;
pub use kept::Kept;
pub use policy_reports::ReportLimiter;
pub use wrong_credentials::WrongCredentials;

/// Longest request body that is read.
const BODY_LIMIT: usize = 1024 * 1024;

/// What every request may need.
pub struct Edge {
    /// The use cases.
    pub gateway: Gateway,
    /// Requests to merchants.
    pub outgoing: Outgoing,
    /// The builds of the hosted form that are served.
    pub builds: Builds,
    /// Answers that are ready to be sent again.
    pub kept: Kept,
    /// Names of requests that are being worked on.
    pub under_way: UnderWay,
    /// Bounds how often browsers may report violations of policies.
    pub report_limiter: ReportLimiter,
    /// The address that shoppers' browsers reach, with a slash at its end; derived from each request when absent.
    pub public_url: Option<String>,
    /// The address of the card frames, if they have a host of their own.
    pub fields_url: Option<FieldsUrl>,
    /// Limit on wrong credentials.
    pub wrong_credentials: WrongCredentials,
    /// Networks whose `X-Forwarded-For`, `-Host` and `-Proto` are believed.
    pub trusted_proxies: Vec<IpNet>,
}

/// Every route of the service. What each is for stands in [`docs::ROUTES`].
pub fn router(edge: Arc<Edge>) -> Router {
    // Whoever can ask for a frame document knows the one secret in it, the checkout's id: its length tells nothing.
    let compressed = CompressionLayer::new().quality(CompressionLevel::Precise(5));
    Router::new()
        .route("/v1/checkouts", post(checkouts::create))
        .route("/v1/checkouts/{id}", post(checkouts::update))
        .route("/v1/checkouts/{id}/payment", get(checkouts::status).post(checkouts::submit))
        .route("/v1/checkouts/{id}/confirm", post(checkouts::confirm))
        .route("/v1/checkouts/{id}/state", get(checkouts::state))
        .route("/v1/payments", post(payments::create))
        .route("/v1/payments/{id}", get(payments::read).post(payments::refer))
        .route("/v1/query", get(query::many))
        .route("/v1/query/{id}", get(query::one))
        .route("/v3/query", get(query::many))
        .route("/v3/query/{id}", get(query::one))
        .route("/v1/simulator/{id}", get(simulator::page).post(simulator::answer))
        .route("/v1/simulator.js", get(simulator::script))
        .route("/v1/threeDSecure/{id}", get(three_d_secure::page).post(three_d_secure::answer))
        .route("/v1/threeDSecure/{id}/method", get(three_d_secure::method))
        .route("/v1/threeDSecure.js", get(three_d_secure::script))
        .route("/v1/simulator/wallet/{id}", get(wallet_sheet::page).post(wallet_sheet::answer))
        .route("/v1/simulator/wallet.js", get(wallet_sheet::script))
        .route("/v1/checkouts/{id}/registration", get(checkouts::registration_status).post(checkouts::register))
        .route("/v1/registrations", post(registrations::create))
        .route("/v1/registrations/{id}", get(registrations::read).delete(registrations::delete))
        .route("/v1/registrations/{id}/extendlife", post(registrations::extend))
        .route("/v1/registrations/{id}/payments", post(registrations::pay))
        .route("/v1/paymentWidgets.js", get(form::loader))
        .route("/v1/checkouts/{id}/registrations/{registration}", delete(relay::delete))
        .route("/v1/pciIframe.html", get(form::frame).layer(compressed.clone()))
        .route("/v1/static/{build}/img/brand.png", get(sprite::sheet))
        .route("/v1/internalRequestIframe.html", get(form::relay).layer(compressed.clone()))
        .route("/v1/plainForm.html", get(plain::show).post(plain::pay))
        .route("/v1/wpwl.d.ts", get(form::declarations))
        .route("/v1/static/{build}/frame/{*path}", get(form::frame_file))
        .route("/v1/static/{build}/{*path}", get(form::file))
        .route("/v1/paymentWidgets/img/brand.png", get(sprite::sheet))
        .route("/v1/scripts", get(scripts::inventory))
        .route("/v1/policyReports", get(policy_reports::list))
        .route("/v1/policyReports/{id}", post(policy_reports::add).options(policy_reports::ask_first))
        .route("/v1/clock/{advance}", post(clock::advance))
        .route("/v1/resultcodes", get(meta::result_codes))
        .route("/openapi.json", get(docs::openapi).layer(compressed.clone()))
        .route("/reference", get(docs::reference).layer(compressed))
        .route("/health", get(meta::health))
        .fallback(error::no_such_endpoint)
        .method_not_allowed_fallback(error::method_not_allowed)
        // One layer made of all: the router would box every one of several. The first is the outermost. Each middleware that
        // is a function clones everything below it for each request, so there are few.
        .layer(
            ServiceBuilder::new()
                .layer(middleware::from_fn(access_log::log))
                .layer(CatchPanicLayer::custom(error::panicked))
                .layer(MapResponseLayer::new(set_default_headers))
                .layer(DefaultBodyLimit::max(BODY_LIMIT))
                .layer(middleware::from_fn_with_state(Arc::clone(&edge), admit)),
        )
        .with_state(edge)
}

/// Refuses a request that asks the wrong host, that came over plain HTTP for a live entity, or that a browser may not make.
async fn admit(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    if !fields_host::has_route(&edge, &request) {
        return error::no_such_endpoint().await;
    }
    if let Some(response) = transport::refuse(&edge, &mut request).await {
        return response;
    }
    if let Some(response) = browsers::refuse(&edge, &request) {
        return response;
    }
    next.run(request).await
}

/// Sets the headers of a response that its handler has not set itself.
fn set_default_headers(mut response: Response) -> Response {
    const DEFAULTS: [(HeaderName, HeaderValue); 3] = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    for (name, value) in DEFAULTS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// `//v1/checkouts` is `/v1/checkouts`: merchants join a base address that ends with a slash and a resourcePath that
/// begins with one.
pub fn merge_slashes<B>(mut request: axum::http::Request<B>) -> axum::http::Request<B> {
    let uri = request.uri();
    if uri.path().contains("//") {
        let mut path = String::with_capacity(uri.path().len());
        for character in uri.path().chars() {
            if character != '/' || !path.ends_with('/') {
                path.push(character);
            }
        }
        if let Some(query) = uri.query() {
            path.push('?');
            path.push_str(query);
        }
        if let Ok(merged) = path.parse::<Uri>() {
            *request.uri_mut() = merged;
        }
    }
    request
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_merged_in_the_path_and_left_alone_in_the_query() {
        let request = axum::http::Request::builder().uri("//v1///payments/8a?url=a//b").body(()).unwrap();
        assert_eq!(merge_slashes(request).uri().to_string(), "/v1/payments/8a?url=a//b");
    }
}
