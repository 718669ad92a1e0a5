//! `/v1/return/{id}`: the page to which an external acquirer's page redirects the shopper. The gateway requests the
//! outcome from the acquirer itself and ignores all parameters that the browser sends.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::html;
use tillgate_domain::address::host_and_port;

use crate::app_state::AppState;
use crate::extract::PathId;
use crate::html_page::NO_FRAME;
use crate::payment::brand_page::render_document;
use crate::payment::brand_page::render_error;
use crate::payment::page::allows_auto_redirect;
use crate::payment::page::outcome_sentence;
use crate::payment::page::shop_return_url;

/// Asks the acquirer for the outcome of the payment, shows it, and redirects the shopper to the shop if
/// [`allows_auto_redirect`]. While the payment is pending on the acquirer's page, a link leads back there. An unknown
/// id gives an error page with 404.
pub(crate) async fn show_outcome(State(state): State<Arc<AppState>>, PathId(id): PathId) -> Response {
    let payment = match state.gateway.handle_shopper_return(&id).await {
        Ok(payment) => payment,
        Err(failure) => return render_error(&failure),
    };
    let title = outcome_sentence(&payment);
    let back = shop_return_url(&payment);
    let main = html! {
        h1 { (title) }
        @if let Some(back) = &back {
            p { a href=(back) { "Back to " (host_and_port(back)) } }
        }
        @if let Some(page) = payment.page_to_visit() {
            p { a href=(page.url) { "Back to the payment" } }
        }
    };
    let head = html! {
        @if let Some(back) = back.filter(|_| allows_auto_redirect(&state, &payment)) {
            meta http-equiv="refresh" content={ "0;url=" (back) };
        }
    };
    render_document(StatusCode::OK, title, head, main, NO_FRAME)
}
