//! Configuration of the form in the documents of its frames, and deletion of stored accounts by the shopper, which the
//! hidden relay frame requests.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::payment::Account;
use tillgate_domain::registration::Registration;
use tillgate_gateway::checkout::requirements::requires_mandate;
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_wire::registration::RemovedRegistrationFields;
use tillgate_wire::{ResultFields, WireTime};

use crate::app_state::AppState;
use crate::merchant_response::{ApiResult, respond_to_shopper};
use crate::response::build_response;

/// The browser that requests a document of the form.
pub(crate) struct Shopper {
    /// Its address, as the gateway sees it.
    pub(crate) address: IpAddr,
    /// The time of the request, by the clock of the checkout's entity.
    pub(crate) now: Timestamp,
}

/// Builds the form's configuration for an open checkout: its data, and those brands of `brands` (codes that the page
/// names) that the shopper can pay it with. A wallet says if our sandbox sheet replaces its own. The look that was
/// chosen for the entity comes as a rule of the form's style sheet, because the loader has the same bytes for every
/// checkout.
pub(crate) fn open_checkout_config(
    state: &AppState,
    checkout: &Checkout,
    brands: &str,
    shopper: &Shopper,
) -> Map<String, Value> {
    let get = |name: &str| checkout.parameters.get(name);
    // The amount as it is charged, regardless of how the merchant formatted it.
    let amount = checkout.amount().map(|amount| amount.to_string());
    let entity = state.gateway.directory.find_entity(&checkout.entity);
    let live = entity.as_ref().is_some_and(|entity| entity.live);
    let offered = state.gateway.payable_brands(checkout, named_brands(brands), shopper.address);
    let mut brands = describe_brands(offered.iter().copied());
    for wallet in offered.iter().filter(|brand| brand.kind == AccountType::Wallet) {
        // True if our sandbox sheet replaces the wallet's own.
        brands[wallet.code]["sheet"] = state.gateway.wallet_sheet(checkout, wallet).is_some().into();
    }
    let look = state.gateway.directory.form_look(&checkout.entity).to_css();
    let fields = json!({
        "checkout": {
            "id": checkout.id.as_str(),
            "amount": amount,
            "currency": get("currency"),
            "resourcePath": checkout.resource_path(),
            "shopperResultUrl": get("shopperResultUrl"),
        },
        "test": !live,
        "ndc": checkout.id.as_str(),
        "timestamp": WireTime(shopper.now),
        "brands": brands,
    });
    let Value::Object(mut fields) = fields else { return Map::new() };
    if !look.is_empty() {
        fields.insert("look".to_owned(), look.into());
    }
    // A challenge over the whole page says whose payment it is. A text of the page could pretend to be the issuer's.
    if let Some(entity) = entity.filter(|entity| !entity.name.is_empty()) {
        fields.insert("shop".to_owned(), entity.name.clone().into());
    }
    fields
}

/// Describes a brand for the form. A brand that is not a card also has its kind of form and its fields. `flow` is known
/// before the submit, because a popup has to be opened while the browser still attributes it to the shopper's click.
fn describe_brand(brand: &Brand) -> Value {
    let mut config = json!({ "kind": brand.kind.as_str(), "name": brand.name, "flow": brand.flow.as_str() });
    if brand.kind != AccountType::Card {
        config["form"] = brand.form.as_str().into();
        config["fields"] = brand.fields.into();
        if !brand.extras.is_empty() {
            config["extras"] = brand.extras.into();
        }
    }
    config
}

/// Returns the brands whose codes a page names, separated by spaces, plus signs or commas. Each comes once, because
/// each becomes a form in the response; unknown codes are left out.
pub(crate) fn named_brands(brands: &str) -> impl Iterator<Item = &'static Brand> {
    let mut seen = Vec::new();
    brands.split([' ', '+', ',']).filter_map(Brand::find).filter(move |brand| {
        let is_new = !seen.contains(&brand.code);
        if is_new {
            seen.push(brand.code);
        }
        is_new
    })
}

/// Returns the descriptions of brands by their codes.
pub(crate) fn describe_brands(brands: impl IntoIterator<Item = &'static Brand>) -> Map<String, Value> {
    brands.into_iter().map(|brand| (brand.code.to_owned(), describe_brand(brand))).collect()
}

/// Builds the configuration of a checkout that cannot be paid, with a message for the shopper.
pub(crate) fn closed_checkout_config(message: &str) -> Map<String, Value> {
    Map::from_iter([("error".to_owned(), json!({ "name": "InvalidCheckoutIdError", "message": message }))])
}

/// Builds the configuration of a paid checkout. It says so, because a shopper who reads that the checkout is merely
/// closed might pay again in another one.
pub(crate) fn paid_checkout_config() -> Map<String, Value> {
    let mut config = closed_checkout_config("This checkout has been paid already.");
    config["error"]["paid"] = true.into();
    config
}

/// Returns true if the merchant named stored accounts for the shopper to choose from, even if none of them is usable
/// any more.
pub(crate) fn offers_registrations(checkout: &Checkout) -> bool {
    checkout.parameters.with_prefix("registrations[").next().is_some()
}

/// Returns the configuration that the relay frame of an open checkout gets in addition to that of every frame: the
/// stored accounts, whether the shopper may delete them, and the data that the forms must ask for (holder of a stored
/// account, names, security code of a stored card, mandate with its creditor, the creditor's identifier and the
/// reference). All fields are always present.
pub(crate) fn relay_config(state: &AppState, checkout: &Checkout, shopper: &Shopper) -> Map<String, Value> {
    let is = |name: &str| checkout.parameters.get(name) == Some("true");
    let entity = state.gateway.directory.find_entity(&checkout.entity);
    let names = ["customer.givenName", "customer.surname"];
    let nameless = entity.is_some_and(|entity| entity.parameter_requirements().customer_names_required)
        && names.iter().any(|name| !checkout.parameters.contains(name));
    let registrations: Vec<Value> =
        state.gateway.offered_registrations(checkout, shopper.address).iter().map(describe_registration).collect();
    Map::from_iter([
        ("registrations".to_owned(), registrations.into()),
        ("overrideHolder".to_owned(), is("overrideHolder").into()),
        ("deletable".to_owned(), checkout.allows_registration_deletion().into()),
        // Forms that ask for other customer data ask for the names too, if the merchant has not sent them.
        ("nameless".to_owned(), nameless.into()),
        // Stored cards require their security code, even if the page does not ask for it.
        ("requireCvv".to_owned(), state.gateway.requires_stored_code(checkout).into()),
        ("mandate".to_owned(), requires_mandate(checkout).into()),
        ("creditor".to_owned(), creditor_name(state, checkout).into()),
        ("creditorId".to_owned(), state.gateway.directory.creditor_id(&checkout.entity).into()),
        ("mandateReference".to_owned(), mandate_reference(checkout).into()),
    ])
}

/// Returns the name of the merchant that a checkout belongs to, for the mandate of a direct debit: channels collect for
/// their merchant. Empty if the merchant is gone.
pub(crate) fn creditor_name(state: &AppState, checkout: &Checkout) -> String {
    let directory = &state.gateway.directory;
    let merchant =
        directory.find_entity(&checkout.entity).and_then(|entity| directory.find_entity(entity.merchant_or_self()));
    merchant.map(|merchant| merchant.name.clone()).unwrap_or_default()
}

/// Returns the reference of the mandate that the merchant has sent with the checkout: the mandate's id, or else its
/// reference. `None` if the shopper learns it later.
fn mandate_reference(checkout: &Checkout) -> Option<&str> {
    let names = ["bankAccount.mandate.id", "bankAccount.mandate.reference"];
    names.into_iter().find_map(|name| checkout.parameters.get(name))
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
pub(crate) async fn delete_registration(
    State(state): State<Arc<AppState>>,
    Path((checkout, registration)): Path<(String, String)>,
) -> ApiResult {
    respond_to_shopper(&checkout, async |ndc| {
        state.gateway.delete_registration_in_checkout(&checkout, &registration).await?;
        let fields = RemovedRegistrationFields { result: ResultFields::success(), id: &registration };
        Ok(build_response(StatusCode::OK, fields, &ndc))
    })
    .await
}
