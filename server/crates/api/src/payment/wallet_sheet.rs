//! Sandbox sheet that replaces a wallet's own sheet in a test system. The shopper chooses a test card. The sheet
//! encrypts it for the channel, as a wallet would, and sends the token to the form's hidden frame by a message to that
//! frame's origin only, so the page around them never sees the token. The connector provides the address and the
//! cards.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use tillgate_connector::sandbox::WalletSheet;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_net::page_headers::integrity_value;
use tillgate_shared::brand::{AccountType, Brand};

use crate::app_state::AppState;
use crate::checkout::form::FormQuery;
use crate::checkout::form::checkout_ancestors;
use crate::checkout::host_names::FieldsUrl;
use crate::extract::PathId;
use crate::html_page::{HtmlPage, STYLE, report_directive, report_integrity, serve_page_script};
use crate::received::read_form_parameters;

const SCRIPT: &str = include_str!("wallet_sheet.js");

/// Builds the routes of a connector's sheet: GET shows it, POST receives the choice of a card, and its script.
pub(crate) fn build_router(sheet: &'static WalletSheet) -> Router<Arc<AppState>> {
    let show = move |State(state): State<Arc<AppState>>, PathId(id): PathId, Query(query): Query<FormQuery>| async move {
        show_sheet(&state, sheet, &id, &query)
    };
    let answer = move |State(state): State<Arc<AppState>>,
                       PathId(id): PathId,
                       Query(query): Query<FormQuery>,
                       request: Request| { handle_card_choice(state, sheet, id, query, request) };
    let (pages, script) = (get(show).post(answer), get(serve_script));
    Router::new().route(&sheet.address.route_pattern(), pages).route(&sheet.address.script_route(), script)
}

/// Shows the sheet of the open checkout with this id and the wallet that the query names, or an error page. The
/// checkout's id is the capability.
fn show_sheet(state: &AppState, sheet: &WalletSheet, id: &str, query: &FormQuery) -> Response {
    match find_requested_wallet(state, id, query) {
        Ok((checkout, brand)) => render_sheet(state, sheet, &checkout, brand),
        Err(failure) => render_error(state, sheet, &failure),
    }
}

/// Handles the shopper's choice (`card`, an index into the cards; the first card if there is none with this index):
/// responds with a page that holds the encrypted token, which the script passes on. Without a choice it is a visit.
async fn handle_card_choice(
    state: Arc<AppState>,
    sheet: &'static WalletSheet,
    id: String,
    query: FormQuery,
    request: Request,
) -> Response {
    let result = async {
        let (checkout, brand) = find_requested_wallet(&state, &id, &query)?;
        let form = read_form_parameters(request).await?;
        let Some(index) = form.get("card") else { return Ok((checkout, brand, None)) };
        let card = index.parse().ok().and_then(|index: usize| sheet.cards.get(index)).unwrap_or(&sheet.cards[0]);
        let token = state.gateway.create_wallet_token(&checkout, brand, card)?;
        Ok((checkout, brand, Some(token)))
    };
    match result.await {
        Ok((checkout, brand, None)) => render_sheet(&state, sheet, &checkout, brand),
        Ok((checkout, brand, Some(token))) => {
            let main = html! { h1 { "Paying with " (brand.name) } p id="token" hidden { (token) } };
            render_document(&state, sheet, Some(&checkout), StatusCode::OK, main)
        }
        Err(failure) => render_error(&state, sheet, &failure),
    }
}

/// Serves the script of the sheet.
async fn serve_script() -> Response {
    serve_page_script(SCRIPT)
}

/// Returns the checkout and the wallet that the query names in `brand`.
///
/// # Errors
/// 404 for an unknown checkout, or if the brand is no wallet; a refusal if the checkout is paid or expired.
fn find_requested_wallet(state: &AppState, id: &str, query: &FormQuery) -> Result<(Checkout, &'static Brand), Failure> {
    let checkout = state.gateway.load_open_checkout(id)?;
    let brand = Brand::find(query.get("brand")).filter(|brand| brand.kind == AccountType::Wallet);
    let brand = brand.ok_or_else(|| Refusal::not_found("There is no wallet of this brand"))?;
    Ok((checkout, brand))
}

/// Renders the merchant, the amount and a button for each card. If this sheet does not stand for the wallet here (the
/// channel is live, has no wallet key, or another connector), responds 404 and says how to set it up.
fn render_sheet(state: &AppState, sheet: &WalletSheet, checkout: &Checkout, brand: &Brand) -> Response {
    let offered = state.gateway.wallet_sheet(checkout, brand);
    if offered.is_none_or(|offered| offered.address != sheet.address) {
        let main = html! {
            h1 { (brand.name) " is not set up" }
            p { "This channel is live, or has no key for wallets: " code { "tillgate wallet-key create" } "." }
            form { button type="button" id="cancel" { "Back" } }
        };
        return render_document(state, sheet, Some(checkout), StatusCode::NOT_FOUND, main);
    }
    let merchant = state.gateway.directory.find_entity(&checkout.entity).map(|entity| entity.name.clone());
    let amount = checkout.amount();
    let main = html! {
        h1 { (brand.name) }
        dl {
            @if let Some(merchant) = merchant { dt { "To" } dd { (merchant) } }
            @if let Some(amount) = amount { dt { "Amount" } dd { (amount) " " (amount.currency().code()) } }
        }
        form method="post" {
            @for (index, card) in sheet.cards.iter().enumerate() {
                button name="card" value=(index) { (card.name) " •••• " (&card.number[card.number.len() - 4..]) }
            }
            button type="button" id="cancel" { "Cancel" }
        }
        p.note { "This is a simulation in place of the sheet of " (brand.name) ". No money moves." }
    };
    render_document(state, sheet, Some(checkout), StatusCode::OK, main)
}

/// Renders an error page with a button back: the refusal's status and description, or 503 for any other failure, which
/// is logged.
fn render_error(state: &AppState, sheet: &WalletSheet, failure: &Failure) -> Response {
    let (status, text) = match failure {
        Failure::Refused(refusal) => (
            StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST),
            refusal.description.as_deref().unwrap_or("There is nothing to pay here"),
        ),
        error => {
            tracing::error!(%error, "showing the sheet of a wallet failed");
            (StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment. Please try again")
        }
    };
    let main = html! { h1 { (text) "." } form { button type="button" id="cancel" { "Back" } } };
    render_document(state, sheet, None, status, main)
}

/// Builds a page that only the merchant's pages may show in a frame, next to the form's frames. Without a checkout, the
/// pages of any merchant may.
fn render_document(
    state: &AppState,
    sheet: &WalletSheet,
    checkout: Option<&Checkout>,
    status: StatusCode,
    main: Markup,
) -> Response {
    let frames = state.fields_url.as_ref().map(FieldsUrl::as_str);
    let id = checkout.map(|checkout| checkout.id.as_str());
    let (source, hash) = (sheet.address.script_source(), integrity_value(SCRIPT.as_bytes()));
    let head = html! {
        script src=(source) integrity=(hash) crossorigin="anonymous" defer data-frames=[frames] data-checkout=[id] {}
    };
    let reports = report_directive(&sheet.address.relative_api_root(), id);
    let directives = &format!("script-src 'self'; form-action 'self'{reports}");
    let ancestors = &checkout_ancestors(state, checkout);
    let page =
        HtmlPage { title: "Wallet", language: "en", rtl: false, style: STYLE, head, main, directives, ancestors };
    let mut response = page.render_response(status);
    report_integrity(response.headers_mut(), &sheet.address.relative_api_root(), id);
    response
}
