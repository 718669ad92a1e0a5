//! Sandbox page that replaces a brand's own page while a payment is pending. It shows the merchant and the amount,
//! accepts the shopper's answer, and sends the shopper back to the shop. The connector provides the page's address and
//! its answers.
//!
//! The page works without scripts. A page in a popup severs its link to the page that opened it, as wallets' pages do
//! (`Cross-Origin-Opener-Policy`). Its script reports that the shopper leaves, and closes the popup at the end.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use maud::{Markup, html};
use tillgate_connector::sandbox::BrandPage;
use tillgate_domain::address::host_and_port;
use tillgate_domain::payment::Payment;
use tillgate_gateway::Failure;
use tillgate_gateway::payment::complete::CompletionResult;
use tillgate_net::page_headers::integrity_value;
use tillgate_shared::brand::{Brand, Flow};

use crate::app_state::AppState;
use crate::checkout::form::ANY_ORIGIN;
use crate::extract::PathId;
use crate::html_page::{HtmlPage, NO_FRAME, STYLE, serve_page_script};
use crate::payment::page::INLINE;
use crate::payment::page::allows_auto_redirect;
use crate::payment::page::outcome_sentence;
use crate::payment::page::payment_ancestors;
use crate::payment::page::shop_return_url;
use crate::received::read_form_parameters;

const SCRIPT: &str = include_str!("brand_page.js");

/// The parameter by which the script reports the number of a visit that the shopper has ended.
const LEFT: &str = "left";

/// The content of the page.
enum PageStage {
    /// The payment is pending; the page offers the answers.
    AwaitsAnswer,
    /// The payment stays pending; the shopper leaves.
    LeftPending,
    /// The payment has ended; the shopper leaves.
    Ended,
    /// The payment had already ended with another outcome than the one chosen.
    EndedOtherwise,
}

/// Builds the routes of a connector's page.
pub(crate) fn build_router(page: &'static BrandPage) -> Router<Arc<AppState>> {
    let show = move |State(state): State<Arc<AppState>>, PathId(id): PathId, request: Request| {
        show_page(page, state, id, request)
    };
    let answer = move |State(state): State<Arc<AppState>>, PathId(id): PathId, request: Request| {
        apply_answer(page, state, id, request)
    };
    let (pages, script) = (get(show).post(answer), get(serve_script));
    Router::new().route(&page.address.route_pattern(), pages).route(&page.address.script_route(), script)
}

/// Shows the answers of a pending payment, or the outcome of one that has ended. The page's id is the capability; an
/// unknown one gives an error page with 404.
async fn show_page(page: &'static BrandPage, state: Arc<AppState>, id: String, request: Request) -> Response {
    let context = PageContext { page, inline: is_inline(&request), pressed: false };
    match state.gateway.load_payment_of_page(page.address, &id) {
        Ok(payment) if payment.awaits_shopper() => render_page(&state, &payment, &PageStage::AwaitsAnswer, context),
        Ok(payment) => render_page(&state, &payment, &PageStage::Ended, context),
        Err(failure) => render_error(&failure),
    }
}

/// Returns true if the page was requested for a frame of the form (`inline=true`).
fn is_inline(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query.split('&').any(|pair| pair.split_once('=') == Some((INLINE, "true")))
}

/// Gives the payment the result of the shopper's answer. The parameter `answer` is the posted value of a button; any
/// other value, or none, changes nothing. If the payment has ended already with another result, the page says so with
/// 409. `left` is the number of a visit that the shopper has ended, and gets no page.
async fn apply_answer(page: &'static BrandPage, state: Arc<AppState>, id: String, request: Request) -> Response {
    let is_inline = is_inline(&request);
    let form = match read_form_parameters(request).await {
        Ok(form) => form,
        Err(failure) => return render_error(&failure),
    };
    let (gateway, address) = (&state.gateway, page.address);
    if let Some(visit) = form.get(LEFT).and_then(|number| number.parse().ok()) {
        return match gateway.load_payment_of_page(address, &id) {
            Ok(payment) => {
                gateway.end_page_visit(&payment, visit);
                StatusCode::NO_CONTENT.into_response()
            }
            Err(failure) => render_error(&failure),
        };
    }
    let unchanged =
        |payment| CompletionResult { payment: Arc::new(payment), has_requested_result: false, changed: false };
    let answer = form.get("answer").and_then(|word| page.find_answer(word));
    // Without an answer nobody has pressed a button here, for example if another site has posted the form.
    let context = PageContext { page, inline: is_inline, pressed: answer.is_some() };
    let result = match answer {
        Some(answer) => gateway.complete_on_page(address, &id, answer.payment_result()).await,
        None => gateway.load_payment_of_page(address, &id).map(unchanged),
    };
    match result {
        Ok(CompletionResult { payment, has_requested_result: as_requested, .. }) => {
            let stage = match (payment.awaits_shopper(), as_requested) {
                (true, false) => PageStage::AwaitsAnswer,
                (true, true) => PageStage::LeftPending,
                (false, true) => PageStage::Ended,
                (false, false) => PageStage::EndedOtherwise,
            };
            render_page(&state, &payment, &stage, context)
        }
        Err(failure) => render_error(&failure),
    }
}

/// Serves the script of a page that closes itself.
async fn serve_script() -> Response {
    serve_page_script(SCRIPT)
}

/// The page, and the way in which it is shown.
#[derive(Clone, Copy)]
struct PageContext {
    page: &'static BrandPage,
    /// True if the page is in a frame of the form.
    inline: bool,
    /// True if the shopper has pressed a button of the page.
    pressed: bool,
}

/// Renders the page of a payment: the answers, or the outcome and a link to the shop. The page in the shop's own window
/// redirects by itself once the shopper is done, if [`allows_auto_redirect`] or a button was pressed; a popup closes
/// instead. A page in a frame (`inline`) has no link, and only the merchant's pages may frame it.
fn render_page(state: &AppState, payment: &Payment, stage: &PageStage, context: PageContext) -> Response {
    let brand = Brand::find(&payment.brand);
    let name = brand.map_or(payment.brand.as_str(), |brand| brand.name);
    let amount = format!("{} {}", payment.amount, payment.amount.currency().code());
    // In a frame there is no redirect: the form in the shop's page continues by itself.
    let back = shop_return_url(payment).filter(|_| !context.inline);
    let title = match stage {
        PageStage::AwaitsAnswer => format!("Pay {amount} with {name}"),
        PageStage::LeftPending => "This payment waits for you".to_owned(),
        PageStage::EndedOtherwise => "This payment has ended already".to_owned(),
        PageStage::Ended => outcome_sentence(payment).to_owned(),
    };
    let main = html! {
        h1 { (title) }
        (render_summary(state, payment, &amount))
        @match stage {
            PageStage::AwaitsAnswer => form method="post" {
                @for answer in context.page.answers {
                    button name="answer" value=(answer.posted_value) {
                        (answer.button) @if answer.result.is_success() { " " (amount) }
                    }
                }
            },
            PageStage::LeftPending => p { "Nothing is paid yet. Come back to this page to pay or to cancel." },
            PageStage::Ended => @if payment.is_abandoned() && payment.is_approved() {
                p { "The shop had gone on with another way to pay. The amount is given back by itself." }
            },
            PageStage::EndedOtherwise => p { (outcome_sentence(payment)) ". It stays as it is." },
        }
        @if let (false, Some(back)) = (matches!(stage, PageStage::AwaitsAnswer), &back) {
            p { a href=(back) { "Back to " (host_and_port(back)) } }
        }
        p.note { "This is a simulation in place of the page of " (name) ". No money moves." }
    };
    // A page in the shop's own window redirects by itself. A popup closes, and the form in the shop's page continues.
    let auto_redirect = matches!(stage, PageStage::LeftPending | PageStage::Ended)
        && (context.pressed || allows_auto_redirect(state, payment));
    let redirect = back.filter(|_| auto_redirect);
    let popup = payment.checkout.is_some() && brand.is_some_and(|brand| brand.flow == Flow::Popup);
    let (script, hash) = (context.page.address.script_source(), integrity_value(SCRIPT.as_bytes()));
    let visit = matches!(stage, PageStage::AwaitsAnswer).then(|| state.gateway.begin_page_visit(payment));
    let head = html! {
        @if let Some(back) = &redirect {
            @let refresh = html! { meta http-equiv="refresh" content={ "0;url=" (back) }; };
            @if popup { noscript { (refresh) } script src=(script) integrity=(hash) crossorigin="anonymous" data-close defer {} } @else { (refresh) }
        }
        @if let Some(visit) = visit { script src=(script) integrity=(hash) crossorigin="anonymous" data-visit=(visit) defer {} }
    };
    let status = if matches!(stage, PageStage::EndedOtherwise) { StatusCode::CONFLICT } else { StatusCode::OK };
    if !context.inline {
        return render_document(status, &title, head, main, NO_FRAME);
    }
    let ancestors = payment_ancestors(state, payment);
    render_document(status, &title, head, main, if ancestors == ANY_ORIGIN { NO_FRAME } else { &ancestors })
}

/// Renders the receiver, the amount, the account for a transfer and the merchant's reference; those that are missing
/// are left out.
fn render_summary(state: &AppState, payment: &Payment, amount: &str) -> Markup {
    let merchant = state.gateway.directory.find_entity(&payment.entity).map(|entity| entity.name.clone());
    html! {
        dl {
            @if let Some(merchant) = merchant { dt { "To" } dd { (merchant) } }
            dt { "Amount" } dd { (amount) }
            @if let Some(account) = &payment.pay_to {
                dt { "Account" } dd { (account.holder) br; (account.number) br; (account.bic) }
            }
            @if let Some(reference) = payment.parameters.get("merchantTransactionId") { dt { "Reference" } dd { (reference) } }
        }
    }
}

/// Renders an error page: 404 for an unknown payment, the status of another refusal, or 503 for any other failure,
/// which is logged.
pub(crate) fn render_error(failure: &Failure) -> Response {
    let (status, title, text) = match failure {
        Failure::Refused(refusal) if refusal.status != 404 => (
            StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
            "This answer cannot be read",
            "Please go back and try again.",
        ),
        Failure::Refused(_) => (
            StatusCode::NOT_FOUND,
            "There is no payment here",
            "There is no payment at this address. Please go back to the shop.",
        ),
        error => {
            tracing::error!(%error, "showing a brand's page failed");
            (StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", "Please try again.")
        }
    };
    render_document(status, title, html! {}, html! { h1 { (title) } p { (text) } }, NO_FRAME)
}

/// Builds a page that severs its link to the page that opened it, runs only our scripts, and submits only to us.
/// `ancestors` may show it in a frame.
pub(crate) fn render_document(
    status: StatusCode,
    title: &str,
    head: Markup,
    main: Markup,
    ancestors: &str,
) -> Response {
    let directives = "script-src 'self'; form-action 'self'; connect-src 'self'";
    let page = HtmlPage { title, language: "en", rtl: false, style: STYLE, head, main, directives, ancestors };
    let mut response = page.render_response(status);
    response.headers_mut().insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}
