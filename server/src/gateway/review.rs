//! Review of held payments.

use super::{Failure, Gateway};
use crate::domain::entity::Entity;
use crate::domain::refusal::Refusal;
use crate::domain::review_decision::RequestedDecision;
use crate::store::review_callback::StoredCallback;

impl Gateway {
    /// Decides a held payment as an outside review system asks, which is authorised for the entity already. A decision
    /// that the payment has got before is accepted again and changes nothing. No payment is held yet, so none is
    /// found.
    ///
    /// # Errors
    /// 404 if the entity has no held payment with this transaction id.
    #[allow(clippy::unused_async)]
    pub async fn decide_review(&self, _entity: &Entity, _decision: &RequestedDecision) -> Result<(), Failure> {
        Err(Refusal::not_found("There is no held payment with this transaction id").into())
    }

    /// Loads the callback configuration that applies to an entity: its own, or else that of the nearest entity above.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_review_callback(&self, entity: &Entity) -> Result<Option<StoredCallback>, Failure> {
        Ok(self.store.find_review_callback(&entity.id)?)
    }
}
