//! Configuration of non-card forms, and deletion of stored accounts by the shopper. The hidden relay frame on our
//! origin requests both.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::codes;

use super::AppState;
use super::error::ApiError;
use super::json_object::JsonObject;
use super::response::{build_response, ndc_of_checkout, result_fields};
use crate::domain::checkout::Checkout;
use crate::domain::payment::Account;
use crate::domain::registration::Registration;
use crate::gateway::checkout_requirements::requires_mandate;

/// Returns true if the merchant named stored accounts for the shopper to choose from, even if none of them is usable
/// any more.
pub(super) fn offers_registrations(checkout: &Checkout) -> bool {
    checkout.parameters.with_prefix("registrations[").next().is_some()
}

/// Returns the configuration that the relay frame of an open checkout gets in addition to that of every frame: the
/// stored accounts, whether the shopper may delete them, and the data that the forms must ask for (holder of a stored
/// account, names, security code of a stored card, mandate). All fields are always present.
pub(super) fn relay_config(state: &AppState, checkout: &Checkout) -> Map<String, Value> {
    let is = |name: &str| checkout.parameters.get(name) == Some("true");
    let entity = state.gateway.directory.find_entity(&checkout.entity);
    let names = ["customer.givenName", "customer.surname"];
    let nameless = entity.is_some_and(|entity| entity.parameter_requirements().customer_names_required)
        && names.iter().any(|name| !checkout.parameters.contains(name));
    let registrations: Vec<Value> =
        state.gateway.offered_registrations(checkout).iter().map(describe_registration).collect();
    Map::from_iter([
        ("registrations".to_owned(), registrations.into()),
        ("overrideHolder".to_owned(), is("overrideHolder").into()),
        ("deletable".to_owned(), checkout.allows_registration_deletion().into()),
        // Forms that ask for other customer data ask for the names too, if the merchant has not sent them.
        ("nameless".to_owned(), nameless.into()),
        // Stored cards require their security code, even if the page does not ask for it.
        ("requireCvv".to_owned(), state.gateway.requires_stored_code(checkout).into()),
        ("mandate".to_owned(), requires_mandate(checkout).into()),
    ])
}

/// Describes a stored account with only what the shopper needs to recognise it (contract, 2.4). An unknown brand counts
/// as a card with its code as its name.
fn describe_registration(registration: &Registration) -> Value {
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

/// Handles `DELETE /v1/checkouts/{id}/registrations/{registration}`: the shopper deletes a stored account, if the
/// merchant allowed this when it created the checkout, and while the checkout is open. 404 if the checkout does not
/// offer it.
pub(super) async fn delete_registration(
    State(state): State<Arc<AppState>>,
    Path((checkout, registration)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let ndc = ndc_of_checkout(&checkout);
    match state.gateway.delete_registration_in_checkout(&checkout, &registration).await {
        Ok(()) => {
            let fields =
                JsonObject::default().with("result", result_fields(codes::REQUEST_SUCCEEDED)).with("id", registration);
            Ok(build_response(StatusCode::OK, fields, &ndc))
        }
        Err(failure) => Err(ApiError::new(failure, ndc)),
    }
}
