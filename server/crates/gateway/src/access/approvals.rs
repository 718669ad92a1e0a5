//! Refunds that need a second person: which ones, and the end of those that were approved. The refund itself runs by
//! the use case of every refund.

use tillgate_domain::access::approval::act::{ApprovalKind, PendingRefund};
use tillgate_domain::access::approval::{APPROVAL_LIFETIME, ApprovalRequest, RefundApproval, sum_of_refunds};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::{ApprovalId, EntityId};
use tillgate_domain::payment::{ModificationType, Payment};
use tillgate_shared::money::Amount;

use crate::access::actor::Actor;
use crate::administration::ActError;
use crate::{Failure, Gateway, random_bytes};

/// Name of the inheritable setting.
const SETTING: &str = "refund-approval";
/// Maximum number of payments of an order whose refunds are added up.
const MAX_RELATED: u32 = 10_000;

impl Gateway {
    /// Returns which refunds of an entity need a second person. A channel without its own value uses that of its
    /// merchant. A value that this release cannot read stands for every refund.
    fn find_refund_approval(&self, entity: &Entity) -> RefundApproval {
        let settings = &entity.settings;
        let has_own = settings.refund_approval.is_some() || settings.chosen_defaults.iter().any(|name| name == SETTING);
        let merchant = entity.parent.as_ref().filter(|_| entity.level == Level::Channel && !has_own);
        let merchant = merchant.and_then(|id| self.directory.find_entity(id));
        let text = merchant.as_ref().map_or(&settings.refund_approval, |above| &above.settings.refund_approval);
        text.as_deref().map_or(RefundApproval::None, |text| text.parse().unwrap_or(RefundApproval::All))
    }

    /// Returns true if some refunds of an entity need a second person.
    pub(crate) fn has_refund_approval(&self, entity: &Entity) -> bool {
        self.find_refund_approval(entity) != RefundApproval::None
    }

    /// Returns what a user would have to ask for if an act on a payment needs a second person now. `None` if it needs
    /// none. The caller holds the place of the order in [`Gateway::refund_turns`], so that two refunds at the same time
    /// cannot both stay below the limit.
    pub(crate) fn find_pending_refund(
        &self,
        entity: &Entity,
        payment: &Payment,
        modification: ModificationType,
        amount: Option<Amount>,
    ) -> Result<Option<PendingRefund>, Failure> {
        let approval = self.find_refund_approval(entity);
        if approval == RefundApproval::None {
            return Ok(None);
        }
        let related = self.store.load_related_payments(payment, MAX_RELATED)?;
        let Some(sum) = sum_of_refunds(payment, &related, modification, amount) else { return Ok(None) };
        Ok(approval.needs_second_person(sum).then(|| PendingRefund {
            payment: payment.id.clone(),
            is_reversal: modification == ModificationType::Reversal,
            amount: amount.unwrap_or(payment.amount),
            sum,
        }))
    }

    /// Makes the id of a new request.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new_approval_id(&self) -> Result<ApprovalId, Failure> {
        Ok(ApprovalId::new(self.clock.now(), random_bytes()?))
    }

    /// Loads the requests of some entities and of one kind that wait, or those that have ended, the latest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_approvals(
        &self,
        of: (&[EntityId], ApprovalKind),
        is_open: bool,
        limit: u32,
    ) -> Result<Vec<ApprovalRequest>, Failure> {
        Ok(self.store.load_approvals(of, is_open, self.clock.now() - APPROVAL_LIFETIME, limit)?)
    }

    /// Writes the result of a refund that was approved, whatever has happened to the session of the user meanwhile.
    /// Waits for the write lock, so it must not run on a thread of payments.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn record_approved_refund(&self, actor: &Actor, id: &ApprovalId, outcome: &str) -> Result<(), ActError> {
        let store = self.store.open_admin(&self.vault)?.for_actor(actor.name()).from_address(actor.address());
        Ok(store.set_approval_outcome(id, outcome)?)
    }
}
