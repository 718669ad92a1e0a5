//! `/v1/simulator/{id}`: the page that stands in for a brand's own page while a payment waits for its shopper. It says what is
//! paid to whom, takes the shopper's answer, and sends the shopper back to the shop.
//!
//! Everything works without scripts. A page in a popup cuts itself off from the page that opened it, as wallets do
//! (`Cross-Origin-Opener-Policy`); its one script closes it in the end.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tillgate_shared::brand::{Brand, Flow};
use tillgate_shared::result::codes;

use super::Edge;
use super::extract::Id;
use super::form::{ANYBODY, ancestors_of};
use super::received::form_parameters;
use super::shopper_page::{NO_FRAME, Page};
use crate::connector::simulator::{PAGE, PageAnswer};
use crate::domain::address::{host, with_parameters};
use crate::domain::payment::Payment;
use crate::gateway::Failure;
use crate::gateway::payment::complete::Decided;

pub(super) const STYLE: &str = include_str!("simulator.css");
const SCRIPT: &str = include_str!("simulator.js");

/// The parameter that asks for the page inside a frame of the form.
pub(super) const INLINE: &str = "inline";

/// What a page shows of a payment.
enum Stage {
    /// What can be answered.
    Asks,
    /// It stays pending, and the shopper goes.
    Later,
    /// It has ended, and the shopper goes.
    Ended,
    /// It had ended before, in another way.
    EndedOtherwise,
}

/// The page of a payment; its id is the capability.
pub(super) async fn page(State(edge): State<Arc<Edge>>, Id(id): Id, request: Request) -> Response {
    let inline = is_inline(&request);
    match edge.gateway.payment_of_page(&id) {
        Ok(payment) if payment.result.is_pending() => about(&edge, &payment, &Stage::Asks, inline, false),
        Ok(payment) => about(&edge, &payment, &Stage::Ended, inline, false),
        Err(failure) => failed(&failure),
    }
}

/// Whether the page is to be shown in a frame of the form.
fn is_inline(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|pair| pair.split_once('=') == Some((INLINE, "true")))
}

/// The shopper's answer (`answer`, a word of [`PAGE`]).
pub(super) async fn answer(State(edge): State<Arc<Edge>>, Id(id): Id, request: Request) -> Response {
    let inline = is_inline(&request);
    let form = match form_parameters(request).await {
        Ok(form) => form,
        Err(failure) => return failed(&failure),
    };
    let decided = match form.get("answer").and_then(PageAnswer::find) {
        Some(answer) => edge.gateway.decide_on_page(&id, answer.outcome()).await,
        None => edge.gateway.payment_of_page(&id).map(|payment| Decided { payment, as_wanted: false, changed: false }),
    };
    match decided {
        Ok(Decided { payment, as_wanted, .. }) => {
            let stage = match (payment.result.is_pending(), as_wanted) {
                (true, false) => Stage::Asks,
                (true, true) => Stage::Later,
                (false, true) => Stage::Ended,
                (false, false) => Stage::EndedOtherwise,
            };
            about(&edge, &payment, &stage, inline, true)
        }
        Err(failure) => failed(&failure),
    }
}

/// The script of a page that closes itself.
pub(super) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

/// The page of a payment. `pressed`: the shopper has pressed a button of it.
fn about(edge: &Edge, payment: &Payment, stage: &Stage, inline: bool, pressed: bool) -> Response {
    let brand = Brand::find(&payment.brand);
    let name = brand.map_or(payment.brand.as_str(), |brand| brand.name);
    let amount = format!("{} {}", payment.amount, payment.amount.currency().code());
    let merchant = edge.gateway.directory.entity(&payment.entity).map(|entity| entity.name.clone());
    // Inside the shop's page there is nowhere to go: the form around it goes on by itself.
    let back = way_back(payment).filter(|_| !inline);
    let title = match (stage, payment) {
        (Stage::Asks, _) => format!("Pay {amount} with {name}"),
        (Stage::Later, _) => "This payment waits for you".to_owned(),
        (Stage::EndedOtherwise, _) => "This payment has ended already".to_owned(),
        (Stage::Ended, payment) => outcome(payment).to_owned(),
    };
    let main = html! {
        h1 { (title) }
        dl {
            @if let Some(merchant) = merchant { dt { "To" } dd { (merchant) } }
            dt { "Amount" } dd { (amount) }
            @if let Some(account) = &payment.pay_to {
                dt { "Account" } dd { (account.holder) br; (account.number) br; (account.bic) }
            }
            @if let Some(reference) = payment.parameters.get("merchantTransactionId") { dt { "Reference" } dd { (reference) } }
        }
        @match stage {
            Stage::Asks => form method="post" {
                @for answer in &PAGE {
                    button name="answer" value=(answer.word) {
                        (answer.button) @if answer.result.is_success() { " " (amount) }
                    }
                }
            },
            Stage::Later => p { "Nothing is paid yet. Come back to this page to pay or to cancel." },
            Stage::Ended => @if payment.is_abandoned() && payment.approved() {
                p { "The shop had gone on with another way to pay. The amount is given back by itself." }
            },
            Stage::EndedOtherwise => p { (outcome(payment)) ". It stays as it is." },
        }
        @if let (false, Some(back)) = (matches!(stage, Stage::Asks), &back) {
            p { a href=(back) { "Back to " (host(back)) } }
        }
        p.note { "This is a simulation in place of the page of " (name) ". No money moves." }
    };
    // Who came in the shop's own window goes back by itself; a popup closes, and the form in the shop's page goes on.
    let by_itself = matches!(stage, Stage::Later | Stage::Ended) && (pressed || leaves_by_itself(edge, payment));
    let leaves = back.filter(|_| by_itself);
    let popup = payment.checkout.is_some() && brand.is_some_and(|brand| brand.flow == Flow::Popup);
    let leave = html! {
        @if let Some(back) = &leaves {
            @let now = html! { meta http-equiv="refresh" content={ "0;url=" (back) }; };
            @if popup { noscript { (now) } script src="../simulator.js" defer {} } @else { (now) }
        }
    };
    let status = if matches!(stage, Stage::EndedOtherwise) { StatusCode::CONFLICT } else { StatusCode::OK };
    if !inline {
        return document(status, &title, leave, main, NO_FRAME);
    }
    let ancestors = framed_by(edge, payment);
    document(status, &title, leave, main, if ancestors == ANYBODY { NO_FRAME } else { &ancestors })
}

/// The pages that may show a page of a payment in a frame (`frame-ancestors`): those of the merchant's origins, or the one
/// whose form has made the payment where the merchant has named none.
pub(super) fn framed_by(edge: &Edge, payment: &Payment) -> String {
    let checkout = payment.checkout.as_ref().and_then(|id| edge.gateway.checkout_for_shopper(id.as_str()).ok());
    let entity = checkout.as_ref().map_or(&payment.entity, |checkout| &checkout.entity);
    let shop = payment.redirect.as_ref().and_then(|redirect| redirect.shop_origin.clone());
    match (ancestors_of(edge, entity), &payment.checkout) {
        (origins, Some(_)) if origins == ANYBODY => shop.unwrap_or_else(|| NO_FRAME.to_owned()),
        (origins, _) => origins,
    }
}

/// Returns true if a page may lead back to the shop without the shopper's doing. A merchant's server, or its operator by
/// origins, has to have named the address: a link to our page could lead anywhere otherwise.
pub(super) fn leaves_by_itself(edge: &Edge, payment: &Payment) -> bool {
    let (Some(id), Some(redirect)) = (&payment.checkout, &payment.redirect) else { return true };
    let checkout = edge.gateway.checkout_for_shopper(id.as_str());
    checkout.is_ok_and(|checkout| edge.gateway.is_named_by_merchant(&checkout, &redirect.result_url))
}

/// The merchant's page, with what it needs to ask for the outcome.
pub(super) fn way_back(payment: &Payment) -> Option<String> {
    let (id, path) = match &payment.checkout {
        Some(checkout) => (checkout.as_str(), format!("/v1/checkouts/{}/payment", checkout.as_str())),
        None => (payment.id.as_str(), format!("/v1/payments/{}", payment.id)),
    };
    let address = Some(&payment.redirect.as_ref()?.result_url).filter(|address| !address.is_empty())?;
    Some(with_parameters(address, &[("id", id), ("resourcePath", &path)]))
}

/// How a payment ended, in a line.
pub(super) fn outcome(payment: &Payment) -> &'static str {
    match payment.result {
        _ if payment.approved() && payment.is_abandoned() => "This payment is given back",
        _ if payment.approved() => "This payment is made",
        codes::CANCELLED_BY_USER => "This payment is cancelled",
        _ => "This payment has ended without being made",
    }
}

fn failed(failure: &Failure) -> Response {
    let (status, title, text) = match failure {
        Failure::Refused(refusal) if refusal.status != 404 => (
            StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
            "This answer cannot be read",
            "Please go back and try again.",
        ),
        Failure::Refused(_) => (
            StatusCode::NOT_FOUND,
            "There is no payment here",
            "The address of this page is not that of a payment. Please go back to the shop.",
        ),
        error => {
            tracing::error!(%error, "page of a payment");
            (StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", "Please try again.")
        }
    };
    document(status, title, html! {}, html! { h1 { (title) } p { (text) } }, NO_FRAME)
}

fn document(status: StatusCode, title: &str, head: Markup, main: Markup, ancestors: &str) -> Response {
    let does = "script-src 'self'; form-action 'self'";
    let page = Page { title, language: "en", rtl: false, style: STYLE, head, main, does, ancestors };
    let mut response = page.respond(status);
    response.headers_mut().insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}
