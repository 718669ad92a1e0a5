//! Approvals that arrive after their payment has ended without them: the acquirer was slow, and the payment was
//! reversed like one without an outcome. The approval may have come after that reversal, so there is another one.

use std::sync::Arc;

use tillgate_domain::id::{PaymentId, log_tag};
use tillgate_domain::payment::{ModificationType, Payment};
use tillgate_store::{Changes, RecordKeys};

use super::super::{Failure, Gateway};
use super::follow_up_draft::draft_reversal;
use crate::payment::asynchronous::page_not_found;

impl Gateway {
    /// Reverses a payment whose approval has arrived after the payment ended as declined. `reference` is that of the
    /// approved request. Writes nothing for an approved payment, nor if the payment has a reversal already that is
    /// pending or approved. Returns false, and writes nothing, for a pending payment: it is being resolved, and may
    /// still end as declined.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn reverse_late_approval(&self, reference: &str) -> Result<bool, Failure> {
        let Some(id) = PaymentId::parse(reference) else { return Ok(true) };
        let entities: Vec<_> = self.directory.all_entities().iter().map(|entity| entity.id.clone()).collect();
        let payment = self.store.load_payment_of_any(&entities, &id)?;
        let Some(payment) = payment.filter(|payment| payment.connector.is_some() && !payment.is_approved()) else {
            return Ok(true);
        };
        if payment.result.is_pending() {
            return Ok(false);
        }
        let tag = log_tag(id.as_str());
        let reversal = self.prepare_reversal(&payment).await?;
        let now = self.now_of_id(&payment.entity);
        let keys = RecordKeys::for_modification(&payment.entity, &payment.id);
        let reversed = self.store.update(keys, move |loaded| {
            let payment = loaded.payment.ok_or_else(page_not_found)?;
            let is_reversed = loaded.follow_ups.iter().any(|follow_up| follow_up.is_effective);
            if is_reversed || !needs_reversal(&payment) {
                return Ok((Changes::default(), false));
            }
            let reversal = draft_reversal(&payment, ModificationType::Reversal, reversal, now);
            Ok((Changes::default().with_payment(Arc::new(reversal)), true))
        });
        if reversed.await?? {
            tracing::warn!(payment = tag, "an approval arrived after the end of its payment; the payment is reversed");
        }
        Ok(true)
    }
}

/// Returns true if a payment must not stay approved at its acquirer.
fn needs_reversal(payment: &Payment) -> bool {
    payment.connector.is_some() && !payment.is_approved_or_pending()
}
