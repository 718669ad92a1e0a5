//! Intents: records of requests to connectors outside this process. The intent is stored before the request is made,
//! in the commit that reserves its amount, and deleted in the commit of its outcome. If the process dies in between,
//! the intent shows which outcome has to be looked up. Intents are timers that are due at once.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::timer::TimerKind;
use super::{Changes, Store, StoreError};
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::Payment;

/// An intent to write.
#[derive(Debug)]
pub(super) struct IntentRow {
    payment: PaymentId,
    entity: EntityId,
    /// Name of the connector.
    connector: Option<String>,
    since: Timestamp,
}

impl Changes {
    /// Records that a payment is about to be sent to its connector, at a moment of the machine's clock. The payment's
    /// id is the idempotency key of that request.
    #[must_use]
    pub fn with_intent(mut self, payment: &Payment, since: Timestamp) -> Self {
        self.intents.push(IntentRow {
            payment: payment.id.clone(),
            entity: payment.entity.clone(),
            connector: payment.connector.clone(),
            since,
        });
        self
    }

    /// Deletes the intent of a payment whose outcome is known, if it has one.
    #[must_use]
    pub fn without_intent(self, payment: &PaymentId) -> Self {
        self.without_timer(TimerKind::Inquire, payment.as_str())
    }
}

impl IntentRow {
    /// Writes the intent. Fails if the payment already has one.
    pub(super) fn insert_row(&self, connection: &Connection) -> Result<(), StoreError> {
        connection
            .prepare_cached("INSERT INTO timer (kind, subject, entity, since, detail) VALUES ('ask', ?1, ?2, ?3, ?4)")?
            .execute(params![
                self.payment.as_str(),
                self.entity.as_str(),
                self.since.as_millisecond(),
                self.connector
            ])?;
        Ok(())
    }
}

impl Store {
    /// Postpones the next lookup of an intent's outcome to a moment of the machine's clock. Does nothing if the payment
    /// has no intent.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn postpone_intent(&self, payment: &PaymentId, until: Timestamp) -> Result<(), StoreError> {
        let payment = payment.as_str().to_owned();
        self.run_write(move |connection| {
            let query = "UPDATE timer SET since = ?2 WHERE kind = 'ask' AND subject = ?1";
            connection.prepare_cached(query)?.execute(params![payment, until.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}
