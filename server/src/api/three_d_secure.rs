//! `/v1/threeDSecure/{id}`: the page on which a cardholder is authenticated. It runs the issuer's method page where that has not
//! run yet, asks the issuer, shows the issuer's challenge, and leads back to the shop.
//!
//! It works at the top of a window, in a frame of the merchant's, and in the frame of the form (`inline=true`), to whose page
//! it says in the end that it has ended, and nothing else: the form asks the gateway how. Without scripts it works too. The
//! page's id is the capability, and an answer is bound to the transaction that it is the answer to.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::codes;

use super::Edge;
use super::extract::Id;
use super::form::{ANYBODY, FormQuery, ancestors};
use super::received::form_parameters;
use super::shopper_page::{NO_FRAME, Page, reports};
use super::simulator::{INLINE, STYLE, framed_by, leaves_by_itself, outcome, way_back};
use crate::connector::simulator::issuer;
use crate::connector::three_ds::request::{AuthType, three_d_amount};
use crate::domain::address::host;
use crate::domain::authentication::METHOD_TIME;
use crate::domain::payment::{Account, Payment};
use crate::gateway::Failure;
use crate::gateway::payment::challenge::{Answered, Visit};

const SCRIPT: &str = include_str!("three_d_secure.js");

/// Says that the method page has had its time.
const GOES_ON: &str = "methodTime";
/// The transaction that an answer belongs to.
const TRANSACTION: &str = "transaction";
/// What the cardholder, or a test, answers: a code of [`issuer::ANSWERS`].
const RETURN_CODE: &str = "returnCode";

/// Takes the shopper in.
pub(super) async fn page(State(edge): State<Arc<Edge>>, Id(id): Id, Query(query): Query<FormQuery>) -> Response {
    visit(&edge, &id, query.get(INLINE) == "true", query.get(GOES_ON) == "over").await
}

/// The answer to a challenge; and the shopper's first visit, where that is a POST (version 1).
pub(super) async fn answer(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    let form = match form_parameters(request).await {
        Ok(form) => form,
        Err(failure) => return failed(&edge, &failure),
    };
    let inline = query.get(INLINE) == "true" || form.get(INLINE) == Some("true");
    let Some(code) = form.get(RETURN_CODE) else { return visit(&edge, &id, inline, false).await };
    let Some(answer) = issuer::Answer::find(code) else { return visit(&edge, &id, inline, false).await };
    match edge.gateway.answer_challenge(&id, form.get(TRANSACTION).unwrap_or_default(), answer.result()).await {
        Ok(Answered { payment, taken: true }) => ended(&edge, &payment, inline, true),
        Ok(Answered { payment, taken: false }) => not_taken(&edge, &payment, inline),
        Err(failure) => failed(&edge, &failure),
    }
}

/// The page of the issuer that finds out which browser this is, simulated: it runs, and is done.
pub(super) async fn method(State(edge): State<Arc<Edge>>, Id(id): Id) -> Response {
    match edge.gateway.method_completed(&id).await {
        Ok(()) => document(&edge, None, StatusCode::OK, "Method", html! {}, html! {}),
        Err(failure) => failed(&edge, &failure),
    }
}

/// The script of the pages.
pub(super) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

async fn visit(edge: &Edge, id: &str, inline: bool, goes_on: bool) -> Response {
    match edge.gateway.visit_authentication(id, goes_on).await {
        Ok(Visit::Method(payment)) => waits(edge, &payment, id, inline),
        Ok(Visit::Challenge(payment)) => challenge(edge, &payment, inline),
        Ok(Visit::Ended(payment)) => ended(edge, &payment, inline, false),
        Err(failure) => failed(edge, &failure),
    }
}

/// Runs the issuer's method page, and goes on when it has loaded or its time is over.
fn waits(edge: &Edge, payment: &Payment, id: &str, inline: bool) -> Response {
    let on = format!("{id}?{GOES_ON}=over{}", if inline { "&inline=true" } else { "" });
    let head = html! {
        noscript { meta http-equiv="refresh" content={ (METHOD_TIME.as_secs()) ";url=" (on) }; }
        script src="../threeDSecure.js" defer {}
    };
    let main = html! {
        h1 { "One moment, please" }
        p role="status" { "Your bank checks this payment." }
        iframe #method hidden title="Method" src={ (id) "/method" } {}
        p { a #on href=(on) { "Continue" } }
    };
    document(edge, Some(payment), StatusCode::OK, "One moment, please", head, main)
}

/// The issuer's page.
fn challenge(edge: &Edge, payment: &Payment, inline: bool) -> Response {
    let transaction = payment.authentication().map(|authentication| authentication.transaction.as_str());
    let action = if inline { "?inline=true" } else { "?" };
    let auth_type = payment.parameters.get("threeDSecure.authType").and_then(AuthType::find);
    let [title, text] = auth_type.map_or(["Confirm your payment", ""], issuer::page_texts);
    let bound = html! { input type="hidden" name=(TRANSACTION) value=[transaction]; };
    let main = html! {
        h1 { (title) }
        @if !text.is_empty() { p { (text) } }
        (about(edge, payment))
        form method="post" action=(action) {
            (bound)
            label for="returnCode" { "Answer of the issuer" }
            select #returnCode name=(RETURN_CODE) {
                @for answer in &issuer::ANSWERS {
                    option value=(answer.code.code()) { (answer.words) " (" (answer.code.code()) ")" }
                }
            }
            input type="submit" value="Continue";
        }
        form method="post" action=(action) {
            (bound)
            button name=(RETURN_CODE) value=(codes::CANCELLED_BY_USER.code()) { "Cancel" }
        }
        p.note { "This is a simulation in place of the page of the card's issuer. No money moves." }
    };
    document(edge, Some(payment), StatusCode::OK, title, html! {}, main)
}

/// What the cardholder agrees to.
fn about(edge: &Edge, payment: &Payment) -> Markup {
    let merchant = payment.parameters.get("threeDSecure.merchant.name").map(str::to_owned);
    let merchant =
        merchant.or_else(|| edge.gateway.directory.entity(&payment.entity).map(|entity| entity.name.clone()));
    let amount = three_d_amount(&payment.parameters, payment.amount).unwrap_or(payment.amount);
    let card = match &payment.account {
        Account::Card(card) => Some(format!("•••• {}", card.last4)),
        _ => None,
    };
    let brand = Brand::find(&payment.brand).map_or(payment.brand.as_str(), |brand| brand.name);
    html! {
        dl {
            @if let Some(merchant) = merchant { dt { "To" } dd { (merchant) } }
            dt { "Amount" } dd { (amount) " " (amount.currency().code()) }
            @if let Some(card) = card { dt { "Card" } dd { (brand) " " (card) } }
        }
    }
}

/// The payment has ended, and the shopper goes. `pressed`: the shopper has pressed a button of the page.
fn ended(edge: &Edge, payment: &Payment, inline: bool, pressed: bool) -> Response {
    let title = outcome(payment);
    let main = html! { h1 { (title) } (about(edge, payment)) };
    let by_itself = pressed || leaves_by_itself(edge, payment);
    leaves(edge, payment, (StatusCode::OK, title), main, inline, by_itself)
}

/// An answer that belongs to another transaction, or comes too late or twice.
fn not_taken(edge: &Edge, payment: &Payment, inline: bool) -> Response {
    let title = "This answer does not count";
    let pending = payment.result.is_pending();
    let main = html! {
        h1 { (title) }
        @if pending {
            p { "It does not belong to this payment, which still waits." }
            p { a href=(if inline { "?inline=true" } else { "?" }) { "Back to the payment" } }
        } @else {
            p { (outcome(payment)) ". It stays as it is." }
        }
    };
    if pending {
        return document(edge, Some(payment), StatusCode::CONFLICT, title, html! {}, main);
    }
    leaves(edge, payment, (StatusCode::CONFLICT, title), main, inline, leaves_by_itself(edge, payment))
}

/// Where the shopper goes in the end: by itself in a window, by the form in its frame.
fn leaves(
    edge: &Edge,
    payment: &Payment,
    (status, title): (StatusCode, &str),
    main: Markup,
    inline: bool,
    by_itself: bool,
) -> Response {
    let back = way_back(payment).filter(|_| !inline);
    let head = html! {
        @if let Some(back) = back.as_ref().filter(|_| by_itself) {
            noscript { meta http-equiv="refresh" content={ "0;url=" (back) }; }
        }
        @if inline || (by_itself && back.is_some()) { script src="../threeDSecure.js" defer {} }
    };
    let main = html! {
        div #ended data-inline[inline] { (main) }
        @if let Some(back) = &back { p { a #back href=(back) target="_top" { "Back to " (host(back)) } } }
    };
    document(edge, Some(payment), status, title, head, main)
}

fn failed(edge: &Edge, failure: &Failure) -> Response {
    let (status, title, text) = match failure {
        Failure::Refused(refusal) if refusal.status == 404 => (
            StatusCode::NOT_FOUND,
            "There is no payment here",
            "The address of this page is not that of a payment. Please go back to the shop.",
        ),
        Failure::Refused(refusal) => (
            StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
            "This cannot be read",
            "Please go back and try again.",
        ),
        error => {
            tracing::error!(%error, "page of an authentication");
            (StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", "Please try again.")
        }
    };
    document(edge, None, status, title, html! {}, html! { h1 { (title) } p { (text) } })
}

/// A page that the merchant's pages may show in a frame, as they do with issuers' pages.
fn document(
    edge: &Edge,
    payment: Option<&Payment>,
    status: StatusCode,
    title: &str,
    head: Markup,
    main: Markup,
) -> Response {
    let checkout = payment.and_then(|payment| payment.checkout.as_ref());
    let reports = reports("../", checkout.map(|checkout| checkout.as_str()));
    let does = &format!("script-src 'self'; form-action 'self'; frame-src 'self'{reports}");
    let ancestors = payment.map_or_else(|| ancestors(edge, None), |payment| framed_by(edge, payment));
    let ancestors = match ancestors.as_str() {
        ANYBODY => ancestors,
        // The method page is in a frame of this page.
        NO_FRAME => "'self'".to_owned(),
        origins => format!("{origins} 'self'"),
    };
    Page { title, language: "en", rtl: false, style: STYLE, head, main, does, ancestors: &ancestors }.respond(status)
}
