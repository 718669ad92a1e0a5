//! Pages around those of an issuer: its method page and its challenge are in a frame of a page of ours, so that a
//! shop's page need not allow the issuer's origin. The policy of such a page allows the origin of this transaction and
//! no other.
//!
//! Both end with a post of the issuer's page to a page of ours in the same frame. Its content passes through the
//! browser unsigned, so it is not read: the pages around it only go on, and the gateway asks the 3DS server.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;
use tillgate_connector::http::signature::{DATE, IDEMPOTENCY_KEY, SIGNATURE};
use tillgate_connector::three_ds::message::field::url_origin;
use tillgate_connector::three_ds::message::{CReq, MESSAGE_LIMIT, MessageVersion, MethodData, encode_browser_message};
use tillgate_domain::payment::Payment;
use tillgate_domain::three_ds::{IssuerChallenge, ThreeDsSession};
use tillgate_gateway::payment::challenge::{ResultReply, ResultRequest};

use super::{CHALLENGE_ENDED, OVER, Placement, SCRIPT, render_document, render_error, render_summary};
use crate::app_state::AppState;
use crate::extract::PathId;
use crate::html_page::script_tag;
use crate::received::read_limited_body;

/// Name of the frame with the issuer's page.
const FRAME: &str = "issuer";
/// Time that the shopper has to return after the result of a challenge. Afterwards the payment continues without the
/// shopper, who may have closed the page.
const RETURN_TIME: Duration = Duration::from_secs(10);

/// Handles GET of the method page: posts the method data to the issuer's page in a frame. Without a foreign page, runs
/// the simulated one. 404 if no payment has this page.
pub(crate) async fn show_method(State(state): State<Arc<AppState>>, PathId(id): PathId) -> Response {
    let payment = match state.gateway.load_three_ds_payment(&id) {
        Ok(payment) => payment,
        Err(failure) => return render_error(&state, &failure),
    };
    let session = payment.three_ds_session();
    let url = session.and_then(|session| session.server.as_ref()?.method_url.as_deref());
    let (Some(session), Some(url)) = (session, url) else { return super::complete_method(&state, &id).await };
    // The page is at the address to which the issuer posts, so its own address is that of the payment's page.
    let page_url = payment.redirect.as_ref().map_or("", |redirect| redirect.url.as_str());
    let data = MethodData {
        server_transaction_id: session.transaction.clone(),
        notification_url: Some(format!("{page_url}/method")),
    };
    let data = encode_browser_message(&data).unwrap_or_default();
    let head = script_tag("../../threeDSecure.js", SCRIPT);
    let main = html! {
        form #issuer method="post" action=(url) target=(FRAME) data-auto {
            input type="hidden" name="threeDSMethodData" value=(data);
        }
        iframe name=(FRAME) hidden title="Method" {}
    };
    render_document(&state, Some(&payment), (StatusCode::OK, "Method"), head, main, url_origin(url).as_deref())
}

/// Handles POST of the method page, by which the issuer says that it has run: records that, and tells the pages around
/// it. 404 if no payment has this page.
pub(crate) async fn end_method(State(state): State<Arc<AppState>>, PathId(id): PathId) -> Response {
    match state.gateway.record_method_completion(&id).await {
        Ok(()) => render_notice(&state, &id, "method", super::METHOD_TIMED_OUT),
        Err(failure) => render_error(&state, &failure),
    }
}

/// Handles the browser's return from a challenge: tells the pages around it to go on. Changes nothing, whatever is
/// posted. 404 if no payment has this page.
pub(crate) async fn end_challenge(State(state): State<Arc<AppState>>, PathId(id): PathId) -> Response {
    match state.gateway.load_three_ds_payment(&id) {
        Ok(_) => render_notice(&state, &id, "challenge", CHALLENGE_ENDED),
        Err(failure) => render_error(&state, &failure),
    }
}

/// Renders a page in the issuer's frame that tells the pages of ours around it which step has ended.
fn render_notice(state: &AppState, id: &str, step: &str, parameter: &str) -> Response {
    let payment = state.gateway.load_three_ds_payment(id).ok();
    let url = format!("../{id}?{parameter}={OVER}");
    let main = html! {
        p role="status" { "One moment, please" }
        p { a #left href=(url) target="_parent" data-step=(step) { "Continue" } }
    };
    let head = script_tag("../../threeDSecure.js", SCRIPT);
    render_document(state, payment.as_ref(), (StatusCode::OK, "One moment, please"), head, main, None)
}

/// Renders the challenge of an issuer in a frame. `was_left`: the shopper has come back from it without a result, so it
/// does not begin again by itself.
pub(super) fn render_issuer_challenge(
    state: &AppState,
    payment: &Payment,
    (session, challenge): (&ThreeDsSession, &IssuerChallenge),
    place: Placement,
    was_left: bool,
) -> Response {
    let window = payment.parameters.get("customer.browser.challengeWindow").unwrap_or("05");
    let version = MessageVersion::of_protocol(session.version).unwrap_or(MessageVersion::V22);
    let request = CReq::new(version, &session.transaction, &challenge.acs_transaction, window);
    let request = encode_browser_message(&request).unwrap_or_default();
    let [width, height] = frame_size(window);
    let query = format!("?{CHALLENGE_ENDED}={OVER}&{}", place.as_query());
    let query = query.trim_end_matches('&');
    let title = "Confirm your payment";
    let main = html! {
        h1 { (title) }
        @if was_left { p role="status" { "Your bank has not confirmed this payment yet." } }
        (render_summary(state, payment))
        form #issuer method="post" action=(challenge.url) target=(FRAME) data-auto[!was_left] {
            input type="hidden" name="creq" value=(request);
            button { "Open the page of your bank" }
        }
        iframe.issuer name=(FRAME) title="Page of your bank" width=(width) height=(height) {}
        p { a #next href=(query) { "Continue" } }
    };
    let head = script_tag("../threeDSecure.js", SCRIPT);
    let origin = url_origin(&challenge.url);
    render_document(state, Some(payment), (StatusCode::OK, title), head, main, origin.as_deref())
}

/// Returns width and height of the frame for a challenge window (EMV 3-D Secure: `challengeWindowSize`).
fn frame_size(window: &str) -> [&'static str; 2] {
    match window {
        "01" => ["250", "400"],
        "02" => ["390", "400"],
        "03" => ["500", "600"],
        "04" => ["600", "400"],
        _ => ["100%", "600"],
    }
}

/// Handles the result of a challenge (RReq), which the 3DS server sends. The reply is signed. 401 without a body if the
/// request is not authentic, 404 if no challenge at a 3DS server has this address.
pub(crate) async fn receive_result(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    let Ok(body) = read_limited_body(request, MESSAGE_LIMIT).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let request = ResultRequest {
        date: header_text(&headers, DATE),
        idempotency_key: header_text(&headers, IDEMPOTENCY_KEY),
        signature: header_text(&headers, SIGNATURE),
        body: &body,
    };
    match state.gateway.receive_three_ds_result(&id, request).await {
        Ok(ResultReply::NotAuthentic) => StatusCode::UNAUTHORIZED.into_response(),
        Ok(ResultReply::Message { body, signature, is_new }) => {
            if is_new {
                continue_without_shopper(&state, id);
            }
            let mut response = Response::new(Body::from(body));
            let json = HeaderValue::from_static("application/json; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            if let Ok(signature) = HeaderValue::from_str(signature.as_str()) {
                response.headers_mut().insert(SIGNATURE, signature);
            }
            response
        }
        Err(tillgate_gateway::Failure::Refused(_)) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => {
            tracing::error!(%error, "storing a 3-D Secure result failed");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// Continues the payment of a page after [`RETURN_TIME`], if the shopper has not returned by then.
fn continue_without_shopper(state: &AppState, id: String) {
    let app = Arc::clone(&state.app);
    tokio::spawn(async move {
        // The shopper's own visit shows the outcome at once, so it comes first.
        tokio::time::sleep(RETURN_TIME).await;
        if let Err(error) = app.gateway.advance_three_ds(&id, false).await {
            tracing::error!(%error, "continuing a payment after its 3-D Secure result failed");
        }
    });
}

/// Returns the only value of a header, or an empty text.
fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    }
}
