//! The messages between the gateway and external connectors: their record, and the list of a payment for people.
//!
//! Messages are written in the commit of their outcome. Requests without an outcome write them alone; a crash or a
//! client that hangs up before that loses the message with the answer.

use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::connector_message::ConnectorMessage;
use tillgate_store::{Changes, NumberedMessage, RecordKeys};

use super::story::MAX_RELATED;
use crate::administration::{ActError, Administration};
use crate::{Failure, Gateway};

impl Gateway {
    /// Moves the times of messages from the machine's clock to the clock of the payment's entity, by which the payment
    /// itself is dated.
    pub(super) fn date_messages(&self, payment: &Payment, messages: Vec<ConnectorMessage>) -> Vec<ConnectorMessage> {
        // Most payments have no messages, and need no look at the directory.
        if messages.is_empty() {
            return messages;
        }
        let ahead = self.directory.find_entity(&payment.entity).map(|entity| entity.ahead).unwrap_or_default();
        messages.into_iter().map(|message| message.moved_by(ahead)).collect()
    }

    /// Writes messages about a payment whose outcome is still unknown. Writes nothing without messages.
    ///
    /// # Errors
    /// If the store fails.
    pub(super) async fn write_messages(
        &self,
        payment: &Payment,
        messages: Vec<ConnectorMessage>,
    ) -> Result<(), Failure> {
        if messages.is_empty() {
            return Ok(());
        }
        let messages = self.date_messages(payment, messages);
        let changes = Changes::default().with_connector_messages(payment, messages);
        Ok(self.store.update(RecordKeys::none().owned_by(&payment.entity), move |_| Ok((changes, ()))).await??)
    }
}

impl Administration {
    /// Loads the messages about a payment of an entity and the payments that are linked to it, oldest first.
    ///
    /// # Errors
    /// If the entity has no such payment.
    pub fn load_connector_messages(&self, entity: &EntityId, id: &PaymentId) -> Result<Vec<NumberedMessage>, ActError> {
        let payment = self.load_payment(entity, id)?;
        let related = self.store.load_related_payments(&payment, MAX_RELATED)?;
        let mut messages = self.store.load_connector_messages(&related.iter().collect::<Vec<_>>())?;
        sort_messages(&mut messages);
        Ok(messages)
    }
}

/// Sorts the messages of several payments by time.
pub(super) fn sort_messages(messages: &mut [NumberedMessage]) {
    // Stable, so that the messages of a payment stay in their order if the machine's clock goes back.
    messages.sort_by_key(|message| message.message.sent);
}
