//! `/pay/{id}`: the page on which a shopper pays or cancels, in place of a bank's or a provider's page. Knowledge of
//! the id grants access. Afterwards the browser returns to the gateway, which asks for the outcome itself and does not
//! trust the browser.

use axum::body::Bytes;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use maud::{DOCTYPE, Markup, html};
use tillgate_connector::http::request::from_minor_units;
use tillgate_os::randomness::{Randomness as _, SystemRandomness};
use tillgate_shared::money::Currency;
use tillgate_store::acquirer_host::entry::{HostPage, LedgerEntry};

use super::bookkeeping;
use super::routes::HostState;

/// Maximum size of a posted decision, in bytes.
const DECISION_LIMIT: usize = 64;

/// Makes the random id of a page, 32 hexadecimal digits. Returns `None` if the system provides no random bytes.
pub fn new_id() -> Option<String> {
    let mut random = [0; 16];
    SystemRandomness.fill_bytes(&mut random).ok()?;
    Some(tillgate_domain::id::to_hex(&random))
}

/// Shows the choice while the payment awaits the shopper, and books a posted decision. Redirects to the gateway if the
/// posted decision is the booked one; a decided payment is 409 otherwise. An unknown page is 404, an unreadable
/// decision 400, another method 405, and a failure of the ledger 503.
pub async fn handle_page_request(state: &HostState, id: &str, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let is_paid = match *request.method() {
        Method::GET => None,
        Method::POST => match Limited::new(request.into_body(), DECISION_LIMIT).collect().await {
            Ok(body) => match &*body.to_bytes() {
                b"decision=pay" => Some(true),
                b"decision=cancel" => Some(false),
                _ => return message_response(StatusCode::BAD_REQUEST, "This decision cannot be read"),
            },
            Err(_) => return message_response(StatusCode::BAD_REQUEST, "This decision cannot be read"),
        },
        _ => return message_response(StatusCode::METHOD_NOT_ALLOWED, "This page takes GET and POST"),
    };
    let id = id.to_owned();
    let found = state.ledger.run_decision(move |ledger| bookkeeping::book_decision(ledger, &id, is_paid)).await;
    let (entry, page) = match found {
        Ok(Some(LedgerEntry { entry, .. })) => match entry.page.clone() {
            Some(page) => (entry, page),
            None => return message_response(StatusCode::NOT_FOUND, "There is no payment here"),
        },
        Ok(None) => return message_response(StatusCode::NOT_FOUND, "There is no payment here"),
        Err(error) => {
            tracing::error!(%error, "reading or writing the acquirer's ledger failed");
            return message_response(StatusCode::SERVICE_UNAVAILABLE, "Please try again");
        }
    };
    if entry.awaits_shopper {
        let currency = Currency::parse(&entry.currency);
        let amount = currency.and_then(|currency| from_minor_units(entry.amount, currency));
        let amount = amount.map_or_else(|| entry.amount.to_string(), |amount| amount.to_string());
        return html_response(StatusCode::OK, &render_choice(&amount, &entry.currency));
    }
    // A decision equal to the booked one redirects to the gateway, also if it was booked before.
    let is_booked_decision = is_paid == Some(entry.approved && !entry.reversed);
    if is_booked_decision {
        redirect_to_gateway(&page)
    } else {
        html_response(StatusCode::CONFLICT, &render_ended(&page))
    }
}

/// Renders the buttons by which the shopper pays or cancels.
fn render_choice(amount: &str, currency: &str) -> Markup {
    html! {
        h1 { "Pay " (amount) " " (currency) }
        form method="post" {
            button name="decision" value="pay" { "Pay" }
            " "
            button name="decision" value="cancel" { "Cancel" }
        }
        p { "This is an acquirer's host for tests. No money moves." }
    }
}

/// Renders the notice of a payment that was decided before, with a link to the gateway's page.
fn render_ended(page: &HostPage) -> Markup {
    html! {
        h1 { "This payment has ended" }
        p { a href=(page.return_url) { "Back to the shop" } }
    }
}

/// Redirects the browser to the gateway's page with 303. If the address is no header value, responds 200 with a link to
/// it.
fn redirect_to_gateway(page: &HostPage) -> Response<Full<Bytes>> {
    let mut response = html_response(StatusCode::SEE_OTHER, &render_ended(page));
    match HeaderValue::from_str(&page.return_url) {
        Ok(address) => drop(response.headers_mut().insert(header::LOCATION, address)),
        Err(_) => *response.status_mut() = StatusCode::OK,
    }
    response
}

/// Makes a page with one heading.
fn message_response(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    html_response(status, &html! { h1 { (text) } })
}

/// Makes a whole page, with headers that forbid caching, referrers, scripts and embedding.
fn html_response(status: StatusCode, main: &Markup) -> Response<Full<Bytes>> {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "Acquirer's host" } }
            body { main { (main) } }
        }
    };
    let mut response = Response::new(Full::new(Bytes::from(document.into_string())));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
