//! Refunds that need a second person: which ones, the request, and the decision about it. The refund itself runs by the
//! use case of every refund.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::approval::{
    APPROVAL_LIFETIME, ApprovalFault, ApprovalRequest, ApprovalState, MAX_OPEN_APPROVALS, PendingRefund,
    RefundApproval, sum_of_refunds,
};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::access::user::UserState;
use tillgate_domain::id::{ApprovalId, EntityId, UserId};
use tillgate_domain::idempotency::IdempotencyKey;
use tillgate_domain::payment::{ModificationType, Payment};
use tillgate_shared::money::Amount;
use tillgate_store::access::user::UserKey;

use crate::access::actor::Actor;
use crate::access::rights::holds_on;
use crate::administration::{ActError, Administration};
use crate::{Failure, Gateway, random_bytes};

/// Name of the inheritable setting.
const SETTING: &str = "refund-approval";
/// Maximum number of payments of an order whose refunds are added up.
const MAX_RELATED: u32 = 10_000;
/// Input at fault if a request cannot be decided.
const REQUEST: &str = "request";

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

    /// Returns true if a user is active and may refund payments of an entity.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn may_refund(&self, user: &UserId, entity: &EntityId) -> Result<bool, Failure> {
        let found = self.store.load_user(&UserKey::Id(user.clone()))?.map(|loaded| loaded.stored.user);
        let reach = Reach::Entity(entity.clone());
        Ok(found.is_some_and(|user| {
            let is_active = user.state == UserState::Active;
            is_active && holds_on(&self.directory, &user.permissions, Permission::ChangePayments, &reach)
        }))
    }

    /// Loads the open requests of some entities, or those that have ended, the latest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_approvals(
        &self,
        entities: &[EntityId],
        is_open: bool,
        limit: u32,
    ) -> Result<Vec<ApprovalRequest>, Failure> {
        Ok(self.store.load_approvals(entities, is_open, self.clock.now() - APPROVAL_LIFETIME, limit)?)
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

impl Administration {
    /// Asks for a second person. A form that is sent again returns the request that it has made.
    ///
    /// # Errors
    /// If too many requests of the entity are open.
    pub fn ask_for_approval(
        &self,
        (id, entity): (ApprovalId, &EntityId),
        refund: PendingRefund,
        asker: &UserId,
        form: &IdempotencyKey,
    ) -> Result<ApprovalRequest, ActError> {
        self.store.in_transaction(|store| {
            if let Some(earlier) = store.load_approval_of_form(asker, form.as_str())? {
                return match earlier.entity == *entity && earlier.refund == refund {
                    true => Ok(earlier),
                    false => Err(ActError::refuse("key", "this form has been sent with other values: open it again")),
                };
            }
            let now = self.now();
            if store.count_open_approvals(entity, now - APPROVAL_LIFETIME)? >= MAX_OPEN_APPROVALS {
                return Err(ActError::refuse("payment", "too many refunds of this entity wait for a second person"));
            }
            let request = ApprovalRequest {
                id,
                entity: entity.clone(),
                refund,
                asker: asker.clone(),
                created: now,
                stored_state: ApprovalState::Open,
                decider: None,
                decided: None,
                outcome: String::new(),
            };
            store.add_approval(&request, form.as_str())?;
            Ok(request)
        })
    }

    /// Approves a request, which can be done once. The caller then runs the refund.
    ///
    /// # Errors
    /// If the user has asked for it, it is not open, or the user who asked may not refund any more.
    pub fn approve_request(
        &self,
        gateway: &Arc<crate::App>,
        id: &ApprovalId,
        user: &UserId,
    ) -> Result<ApprovalRequest, ActError> {
        self.decide_request(id, user, ApprovalState::Approved, "", |request, now| {
            request.check_decision(user, now).map_err(refuse_decision)?;
            if gateway.gateway.may_refund(&request.asker, &request.entity)? {
                Ok(())
            } else {
                Err(ActError::refuse(REQUEST, "the user who asked may not refund payments of this entity any more"))
            }
        })
    }

    /// Declines a request, with a reason that [`tillgate_domain::risk::list::check_reason`] has checked.
    ///
    /// # Errors
    /// If the user has asked for it, or it is not open.
    pub fn decline_request(&self, id: &ApprovalId, user: &UserId, reason: &str) -> Result<ApprovalRequest, ActError> {
        self.decide_request(id, user, ApprovalState::Declined, reason, |request, now| {
            request.check_decision(user, now).map_err(refuse_decision)
        })
    }

    /// Withdraws a request of the user.
    ///
    /// # Errors
    /// If another user has asked for it, or it is not open.
    pub fn withdraw_request(&self, id: &ApprovalId, user: &UserId) -> Result<ApprovalRequest, ActError> {
        self.decide_request(id, user, ApprovalState::Withdrawn, "", |request, now| {
            request.check_withdrawal(user, now).map_err(refuse_decision)
        })
    }

    /// Loads a request under the write lock, checks the decision, and writes it. Two decisions at the same time are
    /// thus one after the other, and the second one finds the request decided.
    fn decide_request(
        &self,
        id: &ApprovalId,
        user: &UserId,
        state: ApprovalState,
        outcome: &str,
        check: impl FnOnce(&ApprovalRequest, Timestamp) -> Result<(), ActError>,
    ) -> Result<ApprovalRequest, ActError> {
        self.store.in_transaction(|store| {
            let request = store.load_approval(id)?;
            let request = request.ok_or_else(|| ActError::refuse(REQUEST, "there is no such request"))?;
            let now = self.now();
            check(&request, now)?;
            store.decide_approval(&request, state, (user, now), outcome)?;
            Ok(request)
        })
    }
}

/// Refuses a decision.
fn refuse_decision(fault: ApprovalFault) -> ActError {
    let message = match fault {
        ApprovalFault::OwnRequest => "you have asked for this refund: another user has to approve it",
        ApprovalFault::NotOwn => "only the user who asked may withdraw the request",
        ApprovalFault::NotOpen(ApprovalState::Expired) => "nobody has approved the request within 24 hours",
        ApprovalFault::NotOpen(ApprovalState::Withdrawn) => "the request was withdrawn",
        ApprovalFault::NotOpen(_) => "somebody has decided about the request meanwhile",
    };
    ActError::refuse(REQUEST, message)
}
