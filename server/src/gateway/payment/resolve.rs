//! Finds out the outcome of payments whose connectors have not been heard of: by an inquiry, or by asking again where that is
//! safe. A payment that the connector does not know either is undone there, so that nothing of it can stand.

use jiff::SignedDuration;
use tillgate_shared::result::codes;

use super::super::once::Once;
use super::super::{Failure, Gateway, order};
use super::ask::with_patience;
use crate::connector::{Connector, Inquiry, Modification, Outcome};
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::{Payment, PaymentType};
use crate::store::Changes;
use crate::store::Keys;

/// Age from which on a payment is undone that its connector does not know.
const GIVE_UP: SignedDuration = SignedDuration::from_secs(30);
/// Shortest time between two inquiries about a payment.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);
/// Longest time between two inquiries about a payment.
const LONGEST: SignedDuration = SignedDuration::from_mins(10);

impl Gateway {
    /// Finds out the outcome of a payment with an intent, unless this process is asking its connector just now.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn resolve(&self, entity: &EntityId, id: &PaymentId) -> Result<(), Failure> {
        let Some(_guard) = self.asking.begin(id) else { return Ok(()) };
        let Some(payment) = self.store.payment(entity, id)?.filter(Payment::awaits_connector) else {
            let changes = Changes::default().without_intent(id);
            return Ok(self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??);
        };
        let connector = self.route_of(&payment).map(|route| route.connector);
        let outcome = match (connector, &payment.referenced) {
            (None, _) => {
                tracing::error!(
                    connector = payment.connector,
                    "a payment is pending at a connector that is not set up"
                );
                Outcome::Unknown
            }
            (Some(connector), Some(referenced)) => {
                let referenced = self.store.payment(entity, referenced)?;
                match referenced {
                    Some(referenced) => with_patience(modify(connector.as_ref(), &payment, &referenced, true)).await,
                    None => Outcome::Unknown,
                }
            }
            (Some(connector), None) => self.inquire(connector.as_ref(), &payment).await,
        };
        let settled = self.settle(payment, outcome, Once::unnamed()).await?;
        if settled.awaits_connector() {
            let age = self.now_of_id(entity).duration_since(settled.created);
            let wait = (age / 2).clamp(SHORTEST, LONGEST);
            self.store.postpone_intent(id, self.now() + wait).await?;
        }
        Ok(())
    }

    /// Asks a connector what has become of a payment, and undoes one that it does not know.
    async fn inquire(&self, connector: &dyn Connector, payment: &Payment) -> Outcome {
        let Payment { id, payment_type, amount, .. } = payment;
        let reference = id.as_str().to_owned();
        let inquiry = Inquiry { reference, payment_type: *payment_type, amount: *amount };
        let outcome = with_patience(connector.inquire(&inquiry)).await;
        let age = self.now_of_id(&payment.entity).duration_since(payment.created);
        if outcome != Outcome::Unknown || age < GIVE_UP {
            return outcome;
        }
        let reversal = Modification {
            reference: format!("{id}-reversal"),
            referenced: id.as_str().to_owned(),
            connector_tx_ids: Vec::new(),
            amount: *amount,
            forced: None,
            is_repeated: true,
        };
        match with_patience(connector.reverse(&reversal)).await {
            Outcome::Approved(_) => Outcome::from(codes::OUTCOME_UNCERTAIN),
            _ => Outcome::Unknown,
        }
    }
}

/// Asks a connector for a capture, a refund or a reversal. Asking again is safe: the id of the payment is the idempotency key.
/// `is_repeated`: it may have been asked before.
pub(in crate::gateway) async fn modify(
    connector: &dyn Connector,
    payment: &Payment,
    referenced: &Payment,
    is_repeated: bool,
) -> Outcome {
    let modification = Modification {
        reference: payment.id.as_str().to_owned(),
        referenced: referenced.id.as_str().to_owned(),
        connector_tx_ids: referenced.connector_tx_ids.clone(),
        amount: payment.amount,
        forced: payment.parameters.get(order::FORCED).map(str::to_owned),
        is_repeated,
    };
    match payment.payment_type {
        PaymentType::Capture => connector.capture(&modification).await,
        PaymentType::Refund => connector.refund(&modification).await,
        _ => connector.reverse(&modification).await,
    }
}
