//! Aggregates for the tests of the suite, each with what a test needs and nothing else.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use crate::domain::checkout::Checkout;
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::{CheckoutId, EntityId, PageId, PaymentId, RegistrationId};
use crate::domain::level::Level;
use crate::domain::payment::{Account, Payment, PaymentType, Redirect};
use crate::domain::registration::Registration;
use crate::store::{Changes, Keys, Store, StoreError};

/// A moment that all samples begin at, and `seconds` after it.
pub(super) fn at(seconds: i64) -> Timestamp {
    let first: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    first + SignedDuration::from_secs(seconds)
}

pub(super) fn entity(number: u8) -> Entity {
    Entity {
        id: EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]),
        name: format!("Bakery {number}"),
        live: false,
        level: Level::Merchant,
        parent: None,
        ahead: SignedDuration::ZERO,
        settings: Settings::default(),
    }
}

pub(super) fn checkout(number: u8) -> Checkout {
    let id = CheckoutId::new(at(0), [number; 10], "tx01");
    Checkout::new(id, entity(1).id, at(0), "build".to_owned(), Parameters::default())
}

/// An approved debit of 92.00 EUR of the first entity. Its id follows from `seconds`.
pub(super) fn payment(seconds: i64) -> Payment {
    let random = u8::try_from(seconds.rem_euclid(251)).unwrap();
    Payment {
        id: PaymentId::new(at(seconds), [random; 9]),
        entity: entity(1).id,
        checkout: None,
        ndc: None,
        referenced: None,
        registration: None,
        created: at(seconds),
        payment_type: PaymentType::Debit,
        brand: "VISA".to_owned(),
        amount: amount("92.00"),
        result: codes::TEST_INTERNAL,
        avs: None,
        cvv: None,
        details: BTreeMap::new(),
        redirect: None,
        pay_to: None,
        connector: None,
        connector_tx_ids: Vec::new(),
        descriptor: String::new(),
        account: Account::Unknown,
        parameters: Parameters::default(),
        shares: None,
    }
}

/// A payment whose shopper is on a brand's page.
pub(super) fn pending(seconds: i64) -> Payment {
    let redirect = Redirect {
        url: "https://brand.example/".to_owned(),
        method: "GET".to_owned(),
        parameters: Vec::new(),
        preconditions: Vec::new(),
        result_url: String::new(),
        shop_origin: None,
        page: Some(PageId::new(at(seconds), [7; 16])),
        abandoned: false,
        authentication: None,
    };
    Payment { result: codes::PENDING, redirect: Some(redirect), ..payment(seconds) }
}

/// A payment that refers to another.
pub(super) fn follow_up(of: &Payment, seconds: i64, payment_type: PaymentType, of_amount: &str) -> Payment {
    Payment { referenced: Some(of.id.clone()), payment_type, amount: amount(of_amount), ..payment(seconds) }
}

/// The payment with an outcome.
pub(super) fn with_result(payment: &Payment, result: ResultCode) -> Payment {
    Payment { result, ..payment.clone() }
}

/// The payment with a parameter.
pub(super) fn with_parameter(mut payment: Payment, name: &str, value: &str) -> Payment {
    payment.parameters.set(name, value);
    payment
}

pub(super) fn amount(text: &str) -> Amount {
    Amount::parse(text, Currency::parse("EUR").unwrap()).unwrap()
}

pub(super) fn registration(number: u8) -> Registration {
    Registration {
        id: RegistrationId::new(at(0), [number; 9]),
        entity: entity(1).id,
        checkout: None,
        ndc: None,
        created: at(0),
        brand: "VISA".to_owned(),
        result: codes::TEST_INTERNAL,
        account: Account::Unknown,
        initial: None,
        retained_until: Some(at(3600)),
        ended: None,
        parameters: Parameters::default(),
    }
}

/// Writes changes that depend on nothing.
pub(super) async fn write(store: &Store, changes: Changes) -> Result<(), StoreError> {
    let written = store.update(Keys::none(), move |_| Ok((changes, ()))).await?;
    assert!(written.is_ok(), "the decision refuses nothing");
    Ok(())
}
