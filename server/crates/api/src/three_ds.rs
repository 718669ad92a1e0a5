//! `/v1/threeDSecure/{id}`: the 3-D Secure page. It runs the issuer's method page if that has not run yet,
//! authenticates, shows the issuer's challenge, and redirects to the shop.
//!
//! The page works as a top-level page, in a frame of the merchant's page, and in a frame of the form (`inline=true`).
//! In the form's frame, the page only reports to the form's page that it has ended; the form reads the outcome from
//! the gateway. The page works without scripts too. The page's id is the capability, and a challenge result is
//! accepted only with the id of its transaction.

pub(super) mod issuer;

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_connector::three_ds::message::field::url_origin;
use tillgate_connector::three_ds::request::three_ds_amount;
use tillgate_domain::address::host_and_port;
use tillgate_domain::payment::{Account, Payment};
use tillgate_domain::three_ds::METHOD_TIME_LIMIT;
use tillgate_gateway::Failure;
use tillgate_gateway::payment::challenge::{ChallengeStep, ProcessedChallenge};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::codes;

use super::app_state::AppState;
use super::client;
use super::extract::PathId;
use super::html_page::{HtmlPage, NO_FRAME, STYLE, report_directive, report_integrity, script_tag, serve_page_script};
use super::received::read_form_parameters;
use crate::checkout::form::checkout_ancestors;
use crate::checkout::form::{ANY_ORIGIN, FormQuery};
use crate::checkout::isolation::EMBEDDER_POLICY;
use crate::payment::page::INLINE;
use crate::payment::page::allows_auto_redirect;
use crate::payment::page::outcome_sentence;
use crate::payment::page::payment_ancestors;
use crate::payment::page::shop_return_url;

const SCRIPT: &str = include_str!("three_ds.js");

/// The parameter that says that the time limit of the method page has passed.
const METHOD_TIMED_OUT: &str = "methodTime";
/// The parameter that says that the shopper has come back from the issuer's challenge.
const CHALLENGE_ENDED: &str = "challenge";
/// The value of both.
const OVER: &str = "over";
/// The parameter with the answer of a passkey.
const PASSKEY: &str = "passkey";
/// The parameter with the transaction of a challenge result.
const TRANSACTION: &str = "transaction";
/// The parameter with the result that the cardholder, or a test, chooses: one of the page's result codes.
const RETURN_CODE: &str = "returnCode";

/// The parameter with the window in which the shop's page opens in the end.
const RESULT_WINDOW: &str = "resultWindow";

/// The place in which a page of a visit is shown. It is repeated in the query of every page of the visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    /// A frame of the form, which goes on to the shop by itself.
    Inline,
    /// The tab, or a frame of the shop. In the end the shop's page opens in the window with this name.
    Window(ResultWindow),
}

/// The window in which the shop's page opens in the end, seen from the page of the visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultWindow {
    /// The whole tab.
    Tab,
    /// The window of the visit. The form was in it, and its page wants the result there.
    Own,
    /// The window around that one.
    Parent,
}

impl Placement {
    /// Reads the placement from a query. It is the tab if the query says nothing about it.
    fn from_query(query: &FormQuery) -> Self {
        match (query.get(INLINE), query.get(RESULT_WINDOW)) {
            ("true", _) => Self::Inline,
            (_, "self") => Self::Window(ResultWindow::Own),
            (_, "parent") => Self::Window(ResultWindow::Parent),
            _ => Self::Window(ResultWindow::Tab),
        }
    }

    /// Returns the query that says the same. It may be empty.
    fn as_query(self) -> &'static str {
        match self {
            Self::Inline => "inline=true",
            Self::Window(ResultWindow::Tab) => "",
            Self::Window(ResultWindow::Own) => "resultWindow=self",
            Self::Window(ResultWindow::Parent) => "resultWindow=parent",
        }
    }

    /// Returns the browser's name for the window of the shop's page.
    fn result_target(self) -> &'static str {
        match self {
            Self::Window(ResultWindow::Own) => "_self",
            Self::Window(ResultWindow::Parent) => "_parent",
            Self::Window(ResultWindow::Tab) | Self::Inline => "_top",
        }
    }
}

/// Handles the shopper's visit with GET. `methodTime=over` says not to wait for the method page any longer, and
/// `challenge=over` that the shopper has come back from the issuer's challenge.
pub(super) async fn handle_visit(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    Query(query): Query<FormQuery>,
) -> Response {
    let was_left = query.get(CHALLENGE_ENDED) == OVER;
    // The server has usually sent the result by now. If it got lost, the server still knows it.
    if was_left && let Err(failure) = state.gateway.inquire_three_ds_result(&id).await {
        return render_error(&state, &failure);
    }
    let progress = VisitProgress { method_timed_out: query.get(METHOD_TIMED_OUT) == OVER, was_left };
    advance_visit(&state, &id, Placement::from_query(&query), progress).await
}

/// Handles a POST: the result of a challenge, as its code or as the answer of a passkey. Without `returnCode`, or with
/// one that the challenge page does not offer, it is a visit like [`handle_visit`]: version 1 begins with a POST of the
/// shop's page. A result of another transaction, or for an ended payment, is rejected with 409.
pub(super) async fn handle_challenge_result(
    State(state): State<Arc<AppState>>,
    PathId(id): PathId,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let origin = page_origin(&client::public_url(&state, &parts));
    let form = match read_form_parameters(Request::from_parts(parts, body)).await {
        Ok(form) => form,
        Err(failure) => return render_error(&state, &failure),
    };
    let place = Placement::from_query(&query);
    let found = match (form.get(RETURN_CODE), form.get(PASSKEY)) {
        (Some(code), _) => state.gateway.challenge_result(&id, code),
        (None, Some(answer)) => state.gateway.passkey_result(&id, &origin, answer).map(Some),
        (None, None) => Ok(None),
    };
    let result = match found {
        Ok(Some(result)) => result,
        Ok(None) => return advance_visit(&state, &id, place, VisitProgress::default()).await,
        Err(failure) => return render_error(&state, &failure),
    };
    match state.gateway.process_challenge_result(&id, form.get(TRANSACTION).unwrap_or_default(), result).await {
        Ok(ProcessedChallenge { payment, accepted: true }) => render_ended(&state, &payment, place, true),
        Ok(ProcessedChallenge { payment, accepted: false }) => render_rejected_result(&state, &payment, place),
        Err(failure) => render_error(&state, &failure),
    }
}

/// Returns the origin of pages at a public address, in the form that browsers write.
fn page_origin(public_url: &str) -> String {
    let scheme = public_url.split_once("://").map_or("https", |(scheme, _)| scheme);
    format!("{scheme}://{}", host_and_port(public_url)).to_ascii_lowercase()
}

/// Simulates the issuer's method page, which identifies the browser: records that it has run, and responds with an
/// empty page. 404 if no payment has this page.
async fn complete_method(state: &AppState, id: &str) -> Response {
    match state.gateway.record_method_completion(id).await {
        Ok(()) => render_document(state, None, (StatusCode::OK, "Method"), html! {}, html! {}, None),
        Err(failure) => render_error(state, &failure),
    }
}

/// Serves the script of the pages.
pub(super) async fn serve_script() -> Response {
    serve_page_script(SCRIPT)
}

/// Steps that the shopper's browser has left behind.
#[derive(Debug, Clone, Copy, Default)]
struct VisitProgress {
    /// The method page is not waited for any longer.
    method_timed_out: bool,
    /// The shopper has come back from the issuer's challenge.
    was_left: bool,
}

/// Advances the authentication until it needs the shopper, and renders that step or the end: method page, challenge, or
/// outcome.
async fn advance_visit(state: &AppState, id: &str, place: Placement, progress: VisitProgress) -> Response {
    match state.gateway.advance_three_ds(id, progress.method_timed_out).await {
        Ok(ChallengeStep::Method(payment)) => render_method_step(state, &payment, id, place),
        Ok(ChallengeStep::Challenge(payment)) => {
            let session = payment.three_ds_session();
            match session.and_then(|session| Some((session, session.issuer_challenge()?))) {
                Some(open) => issuer::render_issuer_challenge(state, &payment, open, place, progress.was_left),
                None => render_challenge(state, &payment, place),
            }
        }
        Ok(ChallengeStep::Ended(payment)) => render_ended(state, &payment, place, false),
        Err(failure) => render_error(state, &failure),
    }
}

/// Renders the page that loads the issuer's method page in a hidden frame, and continues when that has run or its time
/// limit has passed; without scripts only at the time limit, or by its link.
fn render_method_step(state: &AppState, payment: &Payment, id: &str, place: Placement) -> Response {
    let continue_url = format!("{id}?{METHOD_TIMED_OUT}={OVER}&{}", place.as_query());
    let server = payment.three_ds_session().and_then(|session| session.server.as_ref());
    let foreign = server.and_then(|server| server.method_url.as_deref());
    let origin = foreign.and_then(url_origin);
    let continue_url = continue_url.trim_end_matches('&');
    let head = html! {
        noscript { meta http-equiv="refresh" content={ (METHOD_TIME_LIMIT.as_secs()) ";url=" (continue_url) }; }
        (script_tag("../threeDSecure.js", SCRIPT))
    };
    let main = html! {
        h1 { "One moment, please" }
        p role="status" { "Your bank checks this payment." }
        iframe #method hidden title="Method" src={ (id) "/method" } data-foreign[foreign.is_some()] {}
        p { a #on href=(continue_url) { "Continue" } }
    };
    render_document(state, Some(payment), (StatusCode::OK, "One moment, please"), head, main, origin.as_deref())
}

/// Renders the issuer's challenge: the payment, the answers to choose from, and a button to cancel. 404 if the channel
/// no longer has an authenticator.
fn render_challenge(state: &AppState, payment: &Payment, place: Placement) -> Response {
    let transaction = payment.three_ds_session().map(|authentication| authentication.transaction.as_str());
    let action = format!("?{}", place.as_query());
    let page = match state.gateway.challenge_page(payment) {
        Ok(page) => page,
        Err(failure) => return render_error(state, &failure),
    };
    let transaction_input = html! { input type="hidden" name=(TRANSACTION) value=[transaction]; };
    let main = html! {
        h1 { (page.title) }
        @if !page.text.is_empty() { p { (page.text) } }
        (render_summary(state, payment))
        @if let Some(passkey) = &page.passkey {
            form #passkey method="post" action=(action) hidden data-create=(passkey.create) data-get=(passkey.get) {
                (transaction_input)
                input type="hidden" name=(PASSKEY);
                button { "Use a passkey" }
            }
            p #code role="status" { "This browser has no passkeys here. Answer with a code instead." }
        }
        form method="post" action=(action) {
            (transaction_input)
            label for="returnCode" { "Answer of the issuer" }
            select #returnCode name=(RETURN_CODE) {
                @for answer in page.answers {
                    @let code = answer.result.code.code();
                    option value=(code) { (answer.label) " (" (code) ")" }
                }
            }
            input type="submit" value="Continue";
        }
        form method="post" action=(action) {
            (transaction_input)
            button name=(RETURN_CODE) value=(codes::CANCELLED_BY_USER.code()) { "Cancel" }
        }
        p.note { "This is a simulation in place of the page of the card's issuer. No money moves." }
    };
    let head = script_tag("../threeDSecure.js", SCRIPT);
    render_document(state, Some(payment), (StatusCode::OK, page.title), head, main, None)
}

/// Renders the merchant, the amount and the card to which the cardholder agrees: the values sent for 3-D Secure,
/// otherwise those of entity and payment. A payment without a card shows none.
fn render_summary(state: &AppState, payment: &Payment) -> Markup {
    let merchant = payment.parameters.get("threeDSecure.merchant.name").map(str::to_owned);
    let merchant =
        merchant.or_else(|| state.gateway.directory.find_entity(&payment.entity).map(|entity| entity.name.clone()));
    let amount = three_ds_amount(&payment.parameters, payment.amount).unwrap_or(payment.amount);
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

/// Renders the outcome of a payment. The page redirects by itself if `pressed`, which means that the shopper pressed a
/// button of it, or if [`allows_auto_redirect`].
fn render_ended(state: &AppState, payment: &Payment, place: Placement, pressed: bool) -> Response {
    let title = outcome_sentence(payment);
    let main = html! { h1 { (title) } (render_summary(state, payment)) };
    let auto_redirect = pressed || allows_auto_redirect(state, payment);
    render_final_page(state, payment, (StatusCode::OK, title), main, place, auto_redirect)
}

/// Renders with 409 that a challenge result belongs to another transaction, or comes too late or twice: a link back if
/// the payment is still pending, otherwise its outcome.
fn render_rejected_result(state: &AppState, payment: &Payment, place: Placement) -> Response {
    let title = "This answer does not count";
    let pending = payment.awaits_shopper();
    let main = html! {
        h1 { (title) }
        @if pending {
            p { "It does not belong to this payment, which still waits." }
            p { a href={ "?" (place.as_query()) } { "Back to the payment" } }
        } @else {
            p { (outcome_sentence(payment)) ". It stays as it is." }
        }
    };
    if pending {
        return render_document(state, Some(payment), (StatusCode::CONFLICT, title), html! {}, main, None);
    }
    render_final_page(state, payment, (StatusCode::CONFLICT, title), main, place, allows_auto_redirect(state, payment))
}

/// Renders the end of a visit. The page has a link to the shop, if its address is known, and follows it if
/// `auto_redirect`. In the form's frame it only reports the end to the form, which redirects.
fn render_final_page(
    state: &AppState,
    payment: &Payment,
    (status, title): (StatusCode, &str),
    main: Markup,
    place: Placement,
    auto_redirect: bool,
) -> Response {
    let inline = place == Placement::Inline;
    let back = shop_return_url(payment).filter(|_| !inline);
    let head = html! {
        @if let Some(back) = back.as_ref().filter(|_| auto_redirect) {
            noscript { meta http-equiv="refresh" content={ "0;url=" (back) }; }
        }
        @if inline || back.is_some() { (script_tag("../threeDSecure.js", SCRIPT)) }
    };
    let main = html! {
        div #ended data-inline[inline] { (main) }
        @if let Some(back) = &back { p { a #back href=(back) target=(place.result_target()) data-auto[auto_redirect] { "Back to " (host_and_port(back)) } } }
    };
    render_document(state, Some(payment), (status, title), head, main, None)
}

/// Renders an error page: 404 for an unknown payment, the status of another refusal, or 503 for any other failure,
/// which is logged.
fn render_error(state: &AppState, failure: &Failure) -> Response {
    let (status, title, text) = match failure {
        Failure::Refused(refusal) if refusal.status == 404 => (
            StatusCode::NOT_FOUND,
            "There is no payment here",
            "There is no payment at this address. Please go back to the shop.",
        ),
        Failure::Refused(refusal) => (
            StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
            "This cannot be read",
            "Please go back and try again.",
        ),
        error => {
            tracing::error!(%error, "showing the page of a 3-D Secure authentication failed");
            (StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", "Please try again.")
        }
    };
    render_document(state, None, (status, title), html! {}, html! { h1 { (title) } p { (text) } }, None)
}

/// Builds a page that the merchant's pages may show in a frame, as they do with issuers' pages, and that may frame
/// pages of ours and those of `issuer`, the origin of a transaction's issuer. Browsers report its policy violations if
/// the payment has a checkout.
fn render_document(
    state: &AppState,
    payment: Option<&Payment>,
    (status, title): (StatusCode, &str),
    head: Markup,
    main: Markup,
    issuer: Option<&str>,
) -> Response {
    let checkout = payment.and_then(|payment| payment.checkout.as_ref());
    let reports = report_directive("../", checkout.map(|checkout| checkout.as_str()));
    let origin = issuer.map(|origin| format!(" {origin}")).unwrap_or_default();
    let directives = &format!("script-src 'self'; form-action 'self'{origin}; frame-src 'self'{origin}{reports}");
    let ancestors =
        payment.map_or_else(|| checkout_ancestors(state, None), |payment| payment_ancestors(state, payment));
    let ancestors = match ancestors.as_str() {
        ANY_ORIGIN => ancestors,
        // The method page is in a frame of this page.
        NO_FRAME => "'self'".to_owned(),
        origins => format!("{origins} 'self'"),
    };
    let page =
        HtmlPage { title, language: "en", rtl: false, style: STYLE, head, main, directives, ancestors: &ancestors };
    let mut response = page.render_response(status);
    report_integrity(response.headers_mut(), "../", checkout.map(|checkout| checkout.as_str()));
    if issuer.is_some() {
        // Issuers' pages do not say that they may be part of an isolated page.
        response.headers_mut().insert(EMBEDDER_POLICY.0, HeaderValue::from_static("unsafe-none"));
    }
    response
}
