//! Another node of a database, which writes for another merchant.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::id::{CheckoutId, EntityId, MessageId, PageId, PaymentId, RegistrationId};
use tillgate_domain::idempotency::{
    EncodedResponse, FINGERPRINT_LENGTH, IdempotencyKey, IdempotentRequest, StoredResponse,
};
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::registration::Registration;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession};
use tillgate_engine::{Session as _, WriteScope};
use tillgate_os::clock::Clock;
use tillgate_os::randomness::{NoRandomness, Randomness};
use tillgate_risk::{CounterKey, CounterRow};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::beside_another::LOCK_TIMEOUT;
use crate::conformance::samples::{
    follow_up, pending_payment, sample_entity, sample_message, sample_payment, sample_registration, sample_time,
    sealed_record, with_parameter,
};
use crate::delivery::message::NOTIFICATION;
use crate::delivery::webhook::Webhook;
use crate::keys::wallet::UsedWalletToken;
use crate::{AdminStore, Changes, Sources, StoreError};

/// The byte of which the random parts of all ids of the other merchant consist, and the keys of its other records.
/// No test of the suite has a record of this number.
pub(super) const BYTE: u8 = 0xc8;
/// The hexadecimal digits that every row of the other merchant has, in one of its columns.
pub(super) const MARK: &str = "c8c8c8c8c8c8";
/// The time between the first record of the suite and the first one of the other merchant. It is so long that nothing
/// of the other merchant is due or expires while a test runs, because the queues of the workers are those of all
/// merchants.
const DISTANCE: i64 = 80 * 365 * 24 * 3600;
/// Number of transactions after which they get smaller.
const MANY: u32 = 60;
/// Number of statements before each of which it writes. In a test with more of them, it writes before every
/// [`SELDOM`]th from then on: each write takes several milliseconds.
const FREQUENT: u32 = 200;
const SELDOM: u32 = 25;
/// Start of the sequence of writes.
const SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// Returns the other merchant.
pub(super) fn other_merchant() -> EntityId {
    sample_entity(BYTE).id
}

/// A connection of the other node, which always has a transaction open that has written for the other merchant.
pub(super) struct OtherNode {
    session: PostgresSession,
    sources: Sources,
    /// Number of its transactions.
    pub(super) transactions: u32,
    /// Number of statements before which it was called.
    statements: u32,
    /// State of the sequence that chooses what is written.
    choice: u64,
}

impl OtherNode {
    /// Adds the other merchant with a webhook, and connects.
    pub(super) fn start(address: &PostgresAddress) -> Self {
        let admin = AdminStore::open_cluster(address, None).unwrap();
        admin.add_entity(&sample_entity(BYTE), sample_time(0)).unwrap();
        let webhook = Webhook {
            id: MessageId::new(sample_time(0), [BYTE; 9]),
            entity: other_merchant(),
            url: "https://shop.example/notify".to_owned(),
            sealed: sealed_record(BYTE),
            next_secret: None,
            types: "PAYMENT,REGISTRATION".to_owned(),
            without_customer: false,
            wrapped: false,
            active: true,
            created: sample_time(0),
        };
        admin.add_webhook(&webhook).unwrap();
        let sources = Sources { clock: Arc::new(OtherSources), randomness: Arc::new(OtherSources), process: None };
        let session = PostgresSession::connect(address).unwrap();
        session.set_lock_timeout(Some(LOCK_TIMEOUT)).unwrap();
        // Between two of its statements are statements of the other session, for as long as they take.
        session.run_script("SET idle_in_transaction_session_timeout = 0").unwrap();
        Self { session, sources, transactions: 0, statements: 0, choice: SEED }
    }

    /// Commits what was written, and writes more in a transaction that stays open until the next call. Called before
    /// each statement.
    pub(super) fn write_more(&mut self) -> Result<(), StoreError> {
        self.statements += 1;
        if self.statements > FREQUENT && !self.statements.is_multiple_of(SELDOM) {
            return Ok(());
        }
        self.commit()?;
        self.session.begin_write_within(WriteScope::Owner(other_merchant().as_str()))?;
        self.transactions += 1;
        self.choose_changes().apply(&self.session, &self.sources)?;
        Ok(())
    }

    /// Commits what was written, if a transaction is open.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if self.session.is_in_transaction() {
            self.session.commit()?;
        }
        Ok(())
    }

    /// Chooses the changes of the current transaction: always the same ones in the same order.
    fn choose_changes(&mut self) -> Changes {
        // Marsaglia's xorshift: the order shall only differ from that of the statements.
        self.choice ^= self.choice << 13;
        self.choice ^= self.choice >> 7;
        self.choice ^= self.choice << 17;
        let second = DISTANCE + i64::from(self.transactions) * 10;
        // After a while only the small ones, so that tests with many statements end.
        let kinds = if self.transactions < MANY { 7 } else { 2 };
        let changes = match self.choice % kinds {
            0 => counted(self.transactions),
            1 => answered(second),
            2 => registered(second),
            3 => asked_connector(second),
            4 => waits_for_shopper(second),
            5 => paid_with_token(second),
            _ => paid_and_refunded(second),
        };
        changes.with_outgoing_get(&other_merchant(), NOTIFICATION, "https://shop.example/notify".to_owned())
    }
}

/// A clock long after all records of the suite, and bytes that mark all ids.
struct OtherSources;

impl Clock for OtherSources {
    fn now(&self) -> Timestamp {
        sample_time(DISTANCE)
    }
}

impl Randomness for OtherSources {
    fn fill_bytes(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        bytes.fill(BYTE);
        Ok(())
    }
}

/// Makes a payment the other merchant's. It has the reference that the payments of the suite have.
fn owned(payment: Payment, second: i64) -> Payment {
    let id = PaymentId::new(sample_time(second), [BYTE; 9]);
    with_parameter(Payment { id, entity: other_merchant(), ..payment }, "merchantTransactionId", "order-1")
}

fn paid_with_token(second: i64) -> Changes {
    let payment = owned(sample_payment(second), second);
    let token = UsedWalletToken { entity: other_merchant(), id: format!("token {second}"), until: sample_time(second) };
    let until = sample_time(second + 60);
    Changes::default().with_used_token(&token).with_card(&payment.id, sealed_record(BYTE), until).with_payment(payment)
}

fn paid_and_refunded(second: i64) -> Changes {
    let payment = owned(sample_payment(second), second);
    let refund = owned(follow_up(&payment, second + 1, PaymentType::Refund, "1.00"), second + 1);
    Changes::default().with_payment(payment).with_payment(refund)
}

fn waits_for_shopper(second: i64) -> Changes {
    let id = CheckoutId::new(sample_time(second), [BYTE; 10], "tx02");
    let checkout = Checkout::new(id, other_merchant(), sample_time(second), "build".to_owned(), Parameters::default());
    let mut attempt = Payment { checkout: Some(checkout.id.clone()), ..owned(pending_payment(second), second) };
    if let Some(redirect) = &mut attempt.redirect {
        redirect.page = Some(PageId::new(sample_time(second), [BYTE; 16]));
    }
    let checkout = checkout.with_attempt(&attempt, sample_time(second)).unwrap();
    let address = Some("https://shop.example/remind".to_owned());
    let changes = Changes::default().with_checkout(&checkout).with_payment(attempt);
    changes.with_reminder(&checkout, address, sample_time(second), true)
}

fn asked_connector(second: i64) -> Changes {
    let asked = Payment { result: codes::PENDING, connector: Some("host".to_owned()), ..sample_payment(second) };
    let asked = owned(asked, second);
    Changes::default().with_connector_messages(&asked, vec![sample_message(second)]).with_payment(asked)
}

fn registered(second: i64) -> Changes {
    let registration = Registration {
        id: RegistrationId::new(sample_time(second), [BYTE; 9]),
        entity: other_merchant(),
        created: sample_time(second),
        retained_until: Some(sample_time(second + 3600)),
        ..sample_registration(1)
    };
    Changes::default().with_registration(&registration).with_account(&registration, sealed_record(BYTE))
}

fn counted(number: u32) -> Changes {
    let mut key = [BYTE; 16];
    key[..4].copy_from_slice(&number.to_be_bytes());
    let purge_at = sample_time(DISTANCE).as_millisecond();
    let row = CounterRow { key: CounterKey::from(key), value: vec![BYTE], purge_at, is_stored: false };
    Changes::default().with_risk_counters(&other_merchant(), vec![row])
}

/// The key of the response is one that requests of the suite have.
fn answered(second: i64) -> Changes {
    let key = IdempotencyKey::parse(b"order-1").unwrap();
    Changes::default().with_response(StoredResponse {
        request: IdempotentRequest { entity: other_merchant(), key, fingerprint: [BYTE; FINGERPRINT_LENGTH] },
        response: EncodedResponse { status: 200, body: b"{}".to_vec() },
        created: sample_time(second),
        expires: sample_time(second) + SignedDuration::from_secs(1),
        owner: None,
    })
}
