//! Requests for a second person: the request, the decision about it, and the act of the user who asked.

use jiff::Timestamp;
use tillgate_domain::access::approval::act::ApprovalAct;
use tillgate_domain::access::approval::{
    APPROVAL_LIFETIME, ApprovalFault, ApprovalRequest, ApprovalState, MAX_OPEN_APPROVALS,
};
use tillgate_domain::id::{ApprovalId, EntityId, UserId};
use tillgate_domain::idempotency::IdempotencyKey;
use tillgate_store::AdminStore;

use crate::Gateway;
use crate::administration::{ActError, Administration};

/// Input at fault if a request cannot be made or decided.
const REQUEST: &str = "request";

impl Administration {
    /// Asks for a second person. A form that is sent again returns the request that it has made; without the key of a
    /// form, an act that the user has asked for already returns that request while it waits.
    ///
    /// # Errors
    /// If the user may not do this any more, or too many requests of the entity wait.
    pub fn ask_for_approval(
        &self,
        gateway: &Gateway,
        (id, entity): (ApprovalId, &EntityId),
        (act, asker): (ApprovalAct, &UserId),
        form: Option<&IdempotencyKey>,
    ) -> Result<ApprovalRequest, ActError> {
        let now = self.now();
        let request = ApprovalRequest {
            id,
            entity: entity.clone(),
            act,
            asker: asker.clone(),
            created: now,
            stored_state: ApprovalState::Open,
            decider: None,
            decided: None,
            outcome: String::new(),
        };
        self.store.in_transaction(|store| {
            if !gateway.may_do(asker, entity, &request.act)? {
                return Err(ActError::refuse(REQUEST, "you may not do this any more"));
            }
            if let Some(earlier) = find_earlier(store, &request, form)? {
                return Ok(earlier);
            }
            let waiting = store.count_waiting_approvals(entity, request.act.kind(), now - APPROVAL_LIFETIME)?;
            if waiting >= MAX_OPEN_APPROVALS {
                return Err(ActError::refuse(REQUEST, "too many acts of this entity wait for a second person"));
            }
            store.add_approval(&request, form.map_or(request.id.as_str(), IdempotencyKey::as_str))?;
            Ok(request)
        })
    }

    /// Approves a request, which can be done once. A change of risk rules is made with it. For a refund, the caller
    /// then runs the refund. An act on a secret waits for the user who asked.
    ///
    /// # Errors
    /// If the user has asked for it, it is not open, one of the two users may not do it, or the rules in use are not
    /// those of the request any more.
    pub fn approve_request(
        &self,
        gateway: &Gateway,
        id: &ApprovalId,
        user: &UserId,
    ) -> Result<ApprovalRequest, ActError> {
        self.store.in_transaction(|store| {
            let (request, now) = self.load_for_decision(store, gateway, id, user)?;
            if !gateway.may_do(&request.asker, &request.entity, &request.act)? {
                return Err(ActError::refuse(REQUEST, "the user who asked may not do this any more"));
            }
            store.decide_approval(&request, ApprovalState::Approved, (user, now), "")?;
            if let ApprovalAct::Rules(change) = &request.act {
                self.apply_approved_rules(store, &request.entity, change)?;
            }
            Ok(request)
        })
    }

    /// Declines a request, with a reason that [`tillgate_domain::risk::list::check_reason`] has checked.
    ///
    /// # Errors
    /// If the user has asked for it or may not do it, or it is not open.
    pub fn decline_request(
        &self,
        gateway: &Gateway,
        id: &ApprovalId,
        (user, reason): (&UserId, &str),
    ) -> Result<ApprovalRequest, ActError> {
        self.store.in_transaction(|store| {
            let (request, now) = self.load_for_decision(store, gateway, id, user)?;
            store.decide_approval(&request, ApprovalState::Declined, (user, now), reason)?;
            Ok(request)
        })
    }

    /// Withdraws a request of the user.
    ///
    /// # Errors
    /// If another user has asked for it, or it is not open.
    pub fn withdraw_request(&self, id: &ApprovalId, user: &UserId) -> Result<ApprovalRequest, ActError> {
        self.store.in_transaction(|store| {
            let (request, now) = (load_request(store, id)?, self.now());
            request.check_withdrawal(user, now).map_err(refuse_decision)?;
            store.decide_approval(&request, ApprovalState::Withdrawn, (user, now), "")?;
            Ok(request)
        })
    }

    /// Marks an approved request as carried out by the user who asked, which can be done once. The act then runs once
    /// with the permit of the request.
    ///
    /// # Errors
    /// If another user has asked for it, it is not approved, its time is over, or one of the two users may not do it
    /// any more.
    pub(super) fn claim_approved_act(
        &self,
        gateway: &Gateway,
        id: &ApprovalId,
        user: &UserId,
    ) -> Result<ApprovalRequest, ActError> {
        self.store.in_transaction(|store| {
            let request = load_request(store, id)?;
            request.check_use(user, self.now()).map_err(refuse_decision)?;
            for one in std::iter::once(&request.asker).chain(&request.decider) {
                if !gateway.may_do(one, &request.entity, &request.act)? {
                    let message = "one of the two users may not do this any more: ask another user to approve it";
                    return Err(ActError::refuse(REQUEST, message));
                }
            }
            store.use_approval(&request)?;
            Ok(request)
        })
    }

    /// Loads a request under the write lock, and checks that a user may decide about it. Two decisions at the same time
    /// are thus one after the other, and the second one finds the request decided.
    fn load_for_decision(
        &self,
        store: &AdminStore,
        gateway: &Gateway,
        id: &ApprovalId,
        user: &UserId,
    ) -> Result<(ApprovalRequest, Timestamp), ActError> {
        let (request, now) = (load_request(store, id)?, self.now());
        request.check_decision(user, now).map_err(refuse_decision)?;
        if gateway.may_do(user, &request.entity, &request.act)? {
            Ok((request, now))
        } else {
            Err(ActError::refuse(REQUEST, "you may not do this yourself, so you cannot decide about it"))
        }
    }
}

/// Finds the request that the form of a request has made, or that waits for the same act.
///
/// # Errors
/// If the form has made a request for another act.
fn find_earlier(
    store: &AdminStore,
    request: &ApprovalRequest,
    form: Option<&IdempotencyKey>,
) -> Result<Option<ApprovalRequest>, ActError> {
    let Some(form) = form else {
        let of = (&request.asker, &request.entity);
        let own = store.load_own_approvals(of, request.act.kind(), request.created - APPROVAL_LIFETIME)?;
        return Ok(own.into_iter().find(|earlier| request.act.is_repetition_of(&earlier.act)));
    };
    match store.load_approval_of_form(&request.asker, form.as_str())? {
        Some(earlier) if earlier.entity != request.entity || !request.act.is_repetition_of(&earlier.act) => {
            Err(ActError::refuse("key", "this form has been sent with other values: open it again"))
        }
        earlier => Ok(earlier),
    }
}

fn load_request(store: &AdminStore, id: &ApprovalId) -> Result<ApprovalRequest, ActError> {
    store.load_approval(id)?.ok_or_else(|| ActError::refuse(REQUEST, "there is no such request"))
}

/// Refuses a decision.
fn refuse_decision(fault: ApprovalFault) -> ActError {
    let message = match fault {
        ApprovalFault::OwnRequest => "you have asked for this: another user has to approve it",
        ApprovalFault::NotOwn => "only the user who asked may withdraw the request or carry it out",
        ApprovalFault::NotApproved => "nobody has approved the request yet",
        ApprovalFault::NotOpen(ApprovalState::Expired) => "the time of the request is over: make it again",
        ApprovalFault::NotOpen(ApprovalState::Withdrawn) => "the request was withdrawn",
        ApprovalFault::NotOpen(ApprovalState::Used) => "the request has been carried out already",
        ApprovalFault::NotOpen(_) => "somebody has decided about the request meanwhile",
    };
    ActError::refuse(REQUEST, message)
}
