//! Intents: a request to a connector that leaves this process is recorded before it is made, in the commit that reserves its
//! amount. The row is deleted in the commit of its outcome; whenever the process dies in between, it says what has to be found
//! out. Intents are timers, which run at once.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::timer::Kind;
use super::{Changes, Store, StoreError};
use crate::domain::id::PaymentId;
use crate::domain::payment::Payment;

/// A row to write.
#[derive(Debug)]
pub(super) struct IntentRow {
    payment: String,
    entity: String,
    /// The name of the connector.
    connector: Option<String>,
    since: i64,
}

impl Changes {
    /// Records that a payment is about to be asked of its connector, at a moment of the machine's clock. The payment's id is the
    /// idempotency key of that request.
    #[must_use]
    pub fn intent(mut self, payment: &Payment, since: Timestamp) -> Self {
        self.intents.push(IntentRow {
            payment: payment.id.as_str().to_owned(),
            entity: payment.entity.as_str().to_owned(),
            connector: payment.connector.clone(),
            since: since.as_millisecond(),
        });
        self
    }

    /// Deletes the intent of a payment, whose outcome is known.
    #[must_use]
    pub fn without_intent(self, payment: &PaymentId) -> Self {
        self.without_timer(Kind::Ask, payment.as_str())
    }
}

impl IntentRow {
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        connection
            .prepare_cached("INSERT INTO timer (kind, subject, entity, since, detail) VALUES ('ask', ?1, ?2, ?3, ?4)")?
            .execute(params![self.payment, self.entity, self.since, self.connector])?;
        Ok(())
    }
}

impl Store {
    /// Lets an intent wait until a moment of the machine's clock before its outcome is asked for again.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn postpone_intent(&self, payment: &PaymentId, until: Timestamp) -> Result<(), StoreError> {
        let payment = payment.as_str().to_owned();
        self.run(move |connection| {
            let query = "UPDATE timer SET since = ?2 WHERE kind = 'ask' AND subject = ?1";
            connection.prepare_cached(query)?.execute(params![payment, until.as_millisecond()])?;
            Ok(())
        })
        .await
    }
}
