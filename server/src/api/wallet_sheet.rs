//! `/v1/simulator/wallet/{id}`: the sheet that stands in for a wallet's own while the form is in a test system. The shopper
//! chooses a test card; the sheet encrypts it for the channel, as a wallet would, and hands the token to the form's hidden
//! frame beside it by a message to the origin of that frame alone: the page around them never sees the token.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use tillgate_shared::brand::{Brand, Kind};

use super::extract::Id;
use super::form::{FormQuery, ancestors};
use super::received::form_parameters;
use super::shopper_page::{Page, reports};
use super::simulator::STYLE;
use super::{Edge, FieldsUrl};
use crate::domain::checkout::Checkout;
use crate::gateway::wallet::SHEET_CARDS;
use crate::gateway::{Failure, order};

const SCRIPT: &str = include_str!("wallet_sheet.js");

/// The sheet, before the shopper has decided. The checkout's id is the capability.
pub(super) async fn page(State(edge): State<Arc<Edge>>, Id(id): Id, Query(query): Query<FormQuery>) -> Response {
    match asked(&edge, &id, &query) {
        Ok((checkout, brand)) => about(&edge, &checkout, brand),
        Err(failure) => failed(&edge, None, &failure),
    }
}

/// The shopper's choice (`card`, a place in [`SHEET_CARDS`]): the token, for the script to hand on.
pub(super) async fn answer(
    State(edge): State<Arc<Edge>>,
    Id(id): Id,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    let made = async {
        let (checkout, brand) = asked(&edge, &id, &query)?;
        let form = form_parameters(request).await?;
        let card = form.get("card").and_then(|place| SHEET_CARDS.get(place.parse::<usize>().ok()?));
        let token = edge.gateway.simulate_wallet(&checkout, brand, card.unwrap_or(&SHEET_CARDS[0]))?;
        Ok((checkout, brand, token))
    };
    match made.await {
        Ok((checkout, brand, token)) => {
            let main = html! { h1 { "Paying with " (brand.name) } p id="token" hidden { (token) } };
            document(&edge, Some(&checkout), StatusCode::OK, main)
        }
        Err(failure) => failed(&edge, None, &failure),
    }
}

/// The script of the sheet.
pub(super) async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

/// The open checkout and the wallet that are meant.
fn asked(edge: &Edge, id: &str, query: &FormQuery) -> Result<(Checkout, &'static Brand), Failure> {
    let checkout = edge.gateway.open_checkout(id)?;
    let brand = Brand::find(query.get("brand")).filter(|brand| brand.kind == Kind::Wallet);
    let brand = brand.ok_or_else(crate::domain::refusal::Refusal::checkout_closed)?;
    Ok((checkout, brand))
}

fn about(edge: &Edge, checkout: &Checkout, brand: &Brand) -> Response {
    if !edge.gateway.has_wallet_sheet(checkout, brand) {
        let main = html! {
            h1 { (brand.name) " is not set up" }
            p { "This channel is live, or has no key for wallets: " code { "tillgate wallet-key create" } "." }
            form { button type="button" id="cancel" { "Back" } }
        };
        return document(edge, Some(checkout), StatusCode::NOT_FOUND, main);
    }
    let merchant = edge.gateway.directory.entity(&checkout.entity).map(|entity| entity.name.clone());
    let amount = order::amount(&checkout.parameters).ok();
    let main = html! {
        h1 { (brand.name) }
        dl {
            @if let Some(merchant) = merchant { dt { "To" } dd { (merchant) } }
            @if let Some(amount) = amount { dt { "Amount" } dd { (amount) " " (amount.currency().code()) } }
        }
        form method="post" {
            @for (place, card) in SHEET_CARDS.iter().enumerate() {
                button name="card" value=(place) { (card.name) " •••• " (&card.number[card.number.len() - 4..]) }
            }
            button type="button" id="cancel" { "Cancel" }
        }
        p.note { "This is a simulation in place of the sheet of " (brand.name) ". No money moves." }
    };
    document(edge, Some(checkout), StatusCode::OK, main)
}

fn failed(edge: &Edge, checkout: Option<&Checkout>, failure: &Failure) -> Response {
    let (status, text) = match failure {
        Failure::Refused(refusal) => {
            (StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST), "There is nothing to pay here.")
        }
        error => {
            tracing::error!(%error, "wallet sheet");
            (StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment. Please try again.")
        }
    };
    let main = html! { h1 { (text) } form { button type="button" id="cancel" { "Back" } } };
    document(edge, checkout, status, main)
}

/// A page that the form's frames may stand beside: in the merchant's pages and nowhere else.
fn document(edge: &Edge, checkout: Option<&Checkout>, status: StatusCode, main: Markup) -> Response {
    let frames = edge.fields_url.as_ref().map(FieldsUrl::base);
    let head = html! { script src="../wallet.js" defer data-frames=[frames] {} };
    let reports = reports("../../", checkout.map(|checkout| checkout.id.as_str()));
    let does = &format!("script-src 'self'; form-action 'self'{reports}");
    let ancestors = &ancestors(edge, checkout);
    Page { title: "Wallet", language: "en", rtl: false, style: STYLE, head, main, does, ancestors }.respond(status)
}
