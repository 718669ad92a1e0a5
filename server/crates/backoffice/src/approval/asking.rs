//! The request for a second person in place of an act, and the requests that a user may decide about or carry out.

use tillgate_domain::access::approval::act::{ApprovalAct, ApprovalKind};
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState};
use tillgate_domain::access::role::Reach;
use tillgate_domain::id::EntityId;
use tillgate_domain::idempotency::IdempotencyKey;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::{App, Failure};

use crate::office::Office;
use crate::payment::collect_ids;

/// The entities on which a user may decide about acts, for each kind.
pub(crate) struct ApprovalScope(Vec<(ApprovalKind, Vec<EntityId>)>);

impl ApprovalScope {
    /// Collects the entities of a user.
    pub(crate) fn new(office: &Office) -> Self {
        let of = |kind: ApprovalKind| (kind, collect_ids(&office.entities_with(kind.permission())));
        Self(ApprovalKind::ALL.into_iter().map(of).collect())
    }

    /// Loads the requests that wait, or those that have ended, the latest first, at most `limit`.
    pub(crate) fn load(&self, app: &App, is_open: bool, limit: u32) -> Result<Vec<ApprovalRequest>, Failure> {
        let mut found = Vec::new();
        for (kind, entities) in &self.0 {
            found.extend(app.gateway.load_approvals((entities, *kind), is_open, limit)?);
        }
        found.sort_by(|one, other| (other.created, &other.id).cmp(&(one.created, &one.id)));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}

impl Office {
    /// Returns true if the user may decide about acts of some kind.
    pub(crate) fn may_approve_something(&self) -> bool {
        ApprovalKind::ALL.iter().any(|kind| self.signed_in.permissions.allows_somewhere(kind.permission()))
    }

    /// Records an act that needs a second person in place of doing it. Returns the path of the request, and the key of
    /// the notice about it.
    ///
    /// # Errors
    /// If the request is refused.
    pub(crate) async fn ask_for_approval(
        &self,
        entity: &EntityId,
        act: &ApprovalAct,
        form: Option<IdempotencyKey>,
    ) -> Result<(String, &'static str), ActError> {
        let gateway = &self.app().gateway;
        let (id, app) = (gateway.new_approval_id()?, std::sync::Arc::clone(self.app()));
        let (owner, asker, act) = (entity.clone(), self.signed_in.user.id.clone(), act.clone());
        let (permission, reach) = (act.kind().permission(), Reach::Entity(owner.clone()));
        let ask = move |acts: &Administration| {
            acts.ask_for_approval(&app.gateway, (id, &owner), (act, &asker), form.as_ref())
        };
        let request = self.administer(permission, reach, ask).await?;
        let is_approved = request.stored_state == ApprovalState::Approved;
        let done = if is_approved { "approval_ready" } else { "approval_asked" };
        Ok((format!("/approvals/{}", request.id), done))
    }
}
