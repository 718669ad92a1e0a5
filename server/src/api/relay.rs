//! What the forms without a card number have to know of a checkout, and what a shopper may do with stored accounts. The
//! hidden frame on our origin brings the one and asks for the other.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::codes;

use super::Edge;
use super::error::ApiError;
use super::fields::Fields;
use super::reply::{ndc_of_checkout, reply, result};
use crate::domain::checkout::Checkout;
use crate::domain::payment::Account;
use crate::domain::registration::Registration;
use crate::gateway::demands::wants_mandate;

/// Whether the shopper may choose among stored accounts.
pub(super) fn offers_registrations(checkout: &Checkout) -> bool {
    checkout.parameters.with_prefix("registrations[").next().is_some()
}

/// What comes to the configuration of an open checkout besides what card forms know.
pub(super) fn about(edge: &Edge, checkout: &Checkout) -> Map<String, Value> {
    let is = |name: &str| checkout.parameters.get(name) == Some("true");
    let entity = edge.gateway.directory.entity(&checkout.entity);
    let names = ["customer.givenName", "customer.surname"];
    let nameless = entity.is_some_and(|entity| entity.requirements().customer_names_required)
        && names.iter().any(|name| !checkout.parameters.contains(name));
    let registrations: Vec<Value> = edge.gateway.offered_registrations(checkout).iter().map(entry).collect();
    Map::from_iter([
        ("registrations".to_owned(), registrations.into()),
        ("overrideHolder".to_owned(), is("overrideHolder").into()),
        ("deletable".to_owned(), checkout.lets_delete().into()),
        // What is asked of the customer comes with the names, which the merchant has not sent.
        ("nameless".to_owned(), nameless.into()),
        // Stored cards are asked for their code, also where the page does not ask for it.
        ("requireCvv".to_owned(), edge.gateway.wants_stored_code(checkout).into()),
        ("mandate".to_owned(), wants_mandate(checkout).into()),
    ])
}

/// A stored account as the shopper recognises it (contract, 2.4), and nothing more.
fn entry(registration: &Registration) -> Value {
    let brand = Brand::find(&registration.brand);
    let mut entry = json!({
        "id": registration.id.as_str(),
        "brand": registration.brand,
        "name": brand.map_or(registration.brand.as_str(), |brand| brand.name),
        "kind": brand.map_or("card", |brand| brand.kind.as_str()),
        "flow": brand.map_or("now", |brand| brand.flow.as_str()),
    });
    let shown = match &registration.account {
        Account::Card(card) => json!({
            "last4": card.last4,
            "holder": card.holder,
            "expiry": format!("{}/{}", card.expiry_month, card.expiry_year.get(2..).unwrap_or_default()),
        }),
        Account::Bank(bank) => json!({ "last4": bank.last4, "holder": bank.holder }),
        Account::Virtual(account) => json!({ "email": account.account_id, "holder": account.holder }),
        Account::Unknown => json!({}),
    };
    if let (Value::Object(entry), Value::Object(shown)) = (&mut entry, shown) {
        entry.extend(shown);
    }
    entry
}

/// `DELETE /v1/checkouts/{id}/registrations/{registration}`: the shopper removes a stored account, where the merchant let
/// that happen when it made the checkout.
pub(super) async fn delete(
    State(edge): State<Arc<Edge>>,
    Path((checkout, registration)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let ndc = ndc_of_checkout(&checkout);
    match edge.gateway.deregister_in_checkout(&checkout, &registration).await {
        Ok(()) => {
            let fields = Fields::default().with("result", result(codes::REQUEST_SUCCEEDED)).with("id", registration);
            Ok(reply(StatusCode::OK, fields, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}
