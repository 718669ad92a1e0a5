//! `/v1/simulator/{id}`: the page that stands in for a brand's own page while a payment waits for its shopper.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};
use tillgate_shared::brand::Brand;

use super::Edge;
use super::extract::Id;
use crate::domain::payment::Payment;
use crate::gateway::Failure;

/// Nothing is loaded, nothing runs, nothing is sent, and nobody shows it in a frame.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");

/// The page of a payment; whoever knows its id may see where it stands.
pub(super) async fn page(State(edge): State<Arc<Edge>>, Id(id): Id) -> Response {
    match edge.gateway.payment_of_page(&id) {
        Ok(payment) => document(StatusCode::OK, &about(&payment)),
        Err(Failure::Refused(_)) => document(
            StatusCode::NOT_FOUND,
            &html! {
                h1 { "There is no payment here" }
                p { "The address of this page is not that of a payment. Please go back to the shop." }
            },
        ),
        Err(error) => {
            tracing::error!(%error, "page of a payment");
            let text = html! {
                h1 { "Not available at the moment" }
                p { "Please try again." }
            };
            document(StatusCode::SERVICE_UNAVAILABLE, &text)
        }
    }
}

fn about(payment: &Payment) -> Markup {
    let brand = Brand::find(&payment.brand).map_or(payment.brand.as_str(), |brand| brand.name);
    html! {
        @if payment.result.is_pending() {
            h1 { "This payment is pending" }
        } @else {
            h1 { "This payment is done" }
        }
        p { (payment.amount.to_string()) " " (payment.amount.currency().code()) " with " (brand) }
        @if let Some(account) = &payment.pay_to {
            p { "To be transferred to " (account.holder) ", " (account.number) ", " (account.bic) "." }
        }
        p { "This is a simulation, in place of the page of " (brand) ". No money moves." }
    }
}

fn document(status: StatusCode, main: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { "Payment" }
            }
            body { main { (main) } }
        }
    };
    let mut response = (status, page).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}
