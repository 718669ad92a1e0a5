//! Sample records for the tests of the suite, each with only the data that a test needs.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{CheckoutId, EntityId, PageId, PaymentId, RegistrationId};
use tillgate_domain::payment::connector_message::{ConnectorMessage, ConnectorOperation, MessageOutcome};
use tillgate_domain::payment::{Account, ConnectorTxIds, Payment, PaymentType, Redirect};
use tillgate_domain::registration::Registration;
use tillgate_risk::RuleSet;
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};
use tillgate_vault::Sealed;

use crate::entity_directory::Directory;
use crate::{Changes, RecordKeys, Store, StoreError};

/// Returns an empty directory, which compiles risk rules.
pub(crate) fn empty_directory() -> Arc<Directory> {
    Arc::new(Directory::new(|_, _, text| RuleSet::parse_stored(text).ok().map(Arc::new)))
}

/// Returns the time `seconds` after the moment at which all samples begin.
pub(crate) fn sample_time(seconds: i64) -> Timestamp {
    let first: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    first + SignedDuration::from_secs(seconds)
}

/// Returns a sandbox merchant without a parent. Its id is the number nine times.
pub(crate) fn sample_entity(number: u8) -> Entity {
    Entity {
        id: EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]),
        name: format!("Bakery {number}"),
        live: false,
        level: Level::Merchant,
        parent: None,
        ahead: SignedDuration::ZERO,
        settings: EntitySettings::default(),
    }
}

/// Returns an open checkout of the first entity, without attempts.
pub(crate) fn sample_checkout(number: u8) -> Checkout {
    let id = CheckoutId::new(sample_time(0), [number; 10], "tx01");
    Checkout::new(id, sample_entity(1).id, sample_time(0), "build".to_owned(), Parameters::default())
}

/// Creates an approved debit of 92.00 EUR of the first entity. `seconds` determines its id.
pub(crate) fn sample_payment(seconds: i64) -> Payment {
    let random = u8::try_from(seconds.rem_euclid(251)).unwrap();
    let (id, entity) = (PaymentId::new(sample_time(seconds), [random; 9]), sample_entity(1).id);
    let (created, amount) = (sample_time(seconds), sample_amount("92.00"));
    Payment::draft(id, entity, created, PaymentType::Debit, "VISA", amount, codes::TEST_INTERNAL)
}

/// Creates a pending payment whose shopper is on a brand's page. `seconds` determines its id and that of its page.
pub(crate) fn pending_payment(seconds: i64) -> Payment {
    let redirect = Redirect {
        url: "https://brand.example/".to_owned(),
        method: "GET".to_owned(),
        parameters: Vec::new(),
        preconditions: Vec::new(),
        result_url: String::new(),
        shop_origin: None,
        page: Some(PageId::new(sample_time(seconds), [7; 16])),
        abandoned: false,
        authentication: None,
        asked: None,
    };
    Payment { result: codes::PENDING, redirect: Some(redirect), ..sample_payment(seconds) }
}

/// Creates an approved follow-up payment. `seconds` determines its id.
pub(crate) fn follow_up(original: &Payment, seconds: i64, payment_type: PaymentType, amount: &str) -> Payment {
    Payment {
        referenced: Some(original.id.clone()),
        payment_type,
        amount: sample_amount(amount),
        ..sample_payment(seconds)
    }
}

/// Returns the payment with a result.
pub(super) fn with_result(payment: &Payment, result: ResultCode) -> Payment {
    Payment { result, ..payment.clone() }
}

/// Returns the payment with an additional parameter.
pub(crate) fn with_parameter(mut payment: Payment, name: &str, value: &str) -> Payment {
    payment.parameters.set(name, value);
    payment
}

/// Parses an amount in EUR, such as `92.00`.
pub(super) fn sample_amount(text: &str) -> Amount {
    Amount::parse(text, Currency::parse("EUR").unwrap()).unwrap()
}

/// Returns a valid registration of the first entity, retained for an hour. `number` determines its id.
pub(crate) fn sample_registration(number: u8) -> Registration {
    Registration {
        id: RegistrationId::new(sample_time(0), [number; 9]),
        entity: sample_entity(1).id,
        checkout: None,
        ndc: None,
        created: sample_time(0),
        brand: "VISA".to_owned(),
        result: codes::TEST_INTERNAL,
        account: Account::Unknown,
        initial: None,
        retained_until: Some(sample_time(3600)),
        ended: None,
        parameters: Parameters::default(),
        from_browser: None,
    }
}

/// Creates a sealed record of 30 equal bytes, which no vault opens. The store does not open it.
pub(crate) fn sealed_record(byte: u8) -> Sealed {
    Sealed::from_bytes(vec![byte; 30])
}

/// Writes changes that depend on no loaded records. Returns the failure of the store.
pub(crate) async fn write_changes(store: &Store, changes: Changes) -> Result<(), StoreError> {
    let written = store.update(RecordKeys::none(), move |_| Ok((changes, ()))).await?;
    assert!(written.is_ok(), "the decision refuses nothing");
    Ok(())
}

/// Returns an inquiry without an answer. `seconds` determines its time and its reference.
pub(crate) fn sample_message(seconds: i64) -> ConnectorMessage {
    ConnectorMessage {
        sent: sample_time(seconds),
        milliseconds: 8000,
        operation: ConnectorOperation::Inquiry,
        reference: format!("inquiry-{seconds}"),
        outcome: MessageOutcome::NoAnswer,
        fault: None,
        response_code: None,
        avs: None,
        cvv: None,
        connector_tx_ids: ConnectorTxIds::default(),
        request: Vec::new(),
        answer: Vec::new(),
    }
}
