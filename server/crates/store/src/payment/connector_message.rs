//! Messages between the gateway and an external connector about a payment. They are written in the commit of the
//! outcome that they led to, or alone if there is none.

use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::connector_message::{ConnectorMessage, dropped_numbers};
use tillgate_engine::{Session, params};

use crate::document::{decode_document, encode_document};
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, Store, StoreError};

/// A message of a payment with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedMessage {
    /// The payment.
    pub payment: PaymentId,
    /// The number, from 1. Numbers are missing if the payment has more messages than are kept.
    pub number: u32,
    /// The message.
    pub message: ConnectorMessage,
}

/// New messages about a payment.
#[derive(Debug)]
struct ConnectorMessages {
    entity: EntityId,
    payment: PaymentId,
    messages: Vec<ConnectorMessage>,
}

impl Changes {
    /// Writes messages about a payment, oldest first. Of all messages of the payment the first 20 and the latest 30 are
    /// kept. Changes nothing without messages, so payments of in-process connectors cost nothing.
    #[must_use]
    pub fn with_connector_messages(self, payment: &Payment, messages: Vec<ConnectorMessage>) -> Self {
        if messages.is_empty() {
            return self;
        }
        self.with(ConnectorMessages { entity: payment.entity.clone(), payment: payment.id.clone(), messages })
    }
}

impl Change for ConnectorMessages {
    fn stage(&self) -> Stage {
        Stage::ConnectorMessage
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let (entity, payment) = (self.entity.as_str(), self.payment.as_str());
        let mut last = 0;
        for message in &self.messages {
            let insert = "INSERT INTO connector_message (payment, number, entity, document)
                 SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3 FROM connector_message WHERE payment = ?1
                 RETURNING number";
            let values = params![payment, entity, encode_document(message)];
            last = context.session.query_one(insert, values, |row| row.get(0))?;
        }
        // A payment may be asked about every ten minutes for days, and must stay small.
        if let Some((first, last)) = dropped_numbers(last) {
            let delete = "DELETE FROM connector_message WHERE payment = ?1 AND number BETWEEN ?2 AND ?3";
            context.session.send(delete, params![payment, first, last])?;
        }
        Ok(false)
    }
}

impl Store {
    /// Loads the messages of payments, oldest first for each of them.
    pub fn load_connector_messages(&self, payments: &[&Payment]) -> Result<Vec<NumberedMessage>, StoreError> {
        self.readers.in_snapshot(|session| load_messages(session, payments))
    }
}

impl AdminStore {
    /// Loads the messages of payments, oldest first for each of them.
    pub fn load_connector_messages(&self, payments: &[&Payment]) -> Result<Vec<NumberedMessage>, StoreError> {
        load_messages(&*self.session, payments)
    }
}

fn load_messages(session: &dyn Session, payments: &[&Payment]) -> Result<Vec<NumberedMessage>, StoreError> {
    let mut found = Vec::new();
    // Payments of in-process connectors have no messages, so they are not searched for.
    for payment in payments.iter().filter(|payment| payment.connector.is_some()) {
        let query = "SELECT number, document FROM connector_message WHERE payment = ?1 AND entity = ?2 ORDER BY number";
        let mut rows = session.query(query, [payment.id.as_str(), payment.entity.as_str()])?;
        while let Some(row) = rows.next()? {
            let document = row.value(1)?.as_blob()?;
            let message = decode_document(document)
                .map_err(|_| tillgate_engine::Error::unreadable(1, "message of a connector"))?;
            found.push(NumberedMessage { payment: payment.id.clone(), number: row.get(0)?, message });
        }
    }
    Ok(found)
}
