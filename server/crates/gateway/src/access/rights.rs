//! Rights of users on users. A body can arrive long after its head, so rights are checked again under the write lock.

use jiff::Timestamp;
use tillgate_domain::access::role::{Permission, Permissions, Reach};
use tillgate_domain::access::session::SessionStage;
use tillgate_domain::access::user::{User, UserState};
use tillgate_domain::id::EntityId;
use tillgate_store::access::user::{LoadedUser, UserKey};
use tillgate_store::entity_directory::Directory;

use crate::Gateway;
use crate::access::actor::Actor;
use crate::administration::ActError;

/// Name of the input at fault if the person who acts has lost the session or the right.
pub const ACTOR: &str = "actor";

/// Returns true if a permission holds on all of a part of the tree. An unknown entity is no part of it.
pub fn holds_on(directory: &Directory, permissions: &Permissions, permission: Permission, reach: &Reach) -> bool {
    match reach {
        Reach::Gateway => permissions.allows_everywhere(permission),
        Reach::Entity(id) => directory.find_entity(id).is_some_and(|entity| {
            let above = directory.find_ancestors(&entity);
            permissions.allows_on(permission, std::iter::once(id).chain(above.iter().map(|above| &above.id)))
        }),
    }
}

/// Returns the lineage of a part of the tree: its entity and everything above it. The whole gateway has none.
pub(super) fn find_lineage(directory: &Directory, reach: &Reach) -> Vec<EntityId> {
    let Some(entity) = reach.entity().and_then(|id| directory.find_entity(id)) else { return Vec::new() };
    let above = directory.find_ancestors(&entity).into_iter().map(|above| above.id);
    std::iter::once(entity.id.clone()).chain(above).collect()
}

/// Returns true if these permissions allow to see and change a user: on every part on which the user has a role. A user
/// without a role belongs to no entity, so only an administrator of the gateway has the user.
pub fn manages(directory: &Directory, permissions: &Permissions, user: &User) -> bool {
    let may = |reach: &Reach| holds_on(directory, permissions, Permission::ManageUsers, reach);
    let grants = user.permissions.grants();
    if grants.is_empty() { may(&Reach::Gateway) } else { grants.iter().all(|grant| may(&grant.reach)) }
}

/// Returns true if the invitation by which a user was loaded can be accepted: it is open, the user is not disabled, and
/// the inviter, if a user made it, is still active and still manages the user.
pub(super) fn can_accept(directory: &Directory, loaded: &LoadedUser, now: Timestamp) -> bool {
    let user = &loaded.stored.user;
    let Some(invitation) = loaded.invitation.as_ref().filter(|invitation| invitation.is_open(now)) else {
        return false;
    };
    let may_invite =
        |inviter: &User| inviter.state == UserState::Active && manages(directory, &inviter.permissions, user);
    let is_given = invitation.inviter.is_none() || loaded.inviter.as_ref().is_some_and(may_invite);
    user.state != UserState::Disabled && is_given
}

/// Returns true if a user is active, and the session by which the user was loaded still gives access.
pub(super) fn is_signed_in(loaded: &LoadedUser, now: Timestamp) -> bool {
    let stage = loaded.session.as_ref().map(|session| session.times.stage_at(now));
    loaded.stored.user.state == UserState::Active && stage == Some(SessionStage::Confirmed)
}

/// Checks that the person who acts is still signed in, and manages the user and these parts of the tree.
///
/// # Errors
/// The refusal, with the input [`ACTOR`].
pub(super) fn check_actor(
    directory: &Directory,
    actor: Option<&LoadedUser>,
    target: Option<&User>,
    mut reaches: impl Iterator<Item = Reach>,
    now: Timestamp,
) -> Result<(), ActError> {
    let may = actor.filter(|actor| is_signed_in(actor, now)).is_some_and(|actor| {
        let permissions = &actor.stored.user.permissions;
        target.is_none_or(|user| manages(directory, permissions, user))
            && reaches.all(|reach| holds_on(directory, permissions, Permission::ManageUsers, &reach))
    });
    if may { Ok(()) } else { Err(refuse_actor()) }
}

impl Gateway {
    /// Checks that a user is still signed in, and has a permission on a part of the tree.
    ///
    /// # Errors
    /// The refusal, with the input [`ACTOR`]; if the store cannot be read.
    pub(crate) fn check_right_of(
        &self,
        actor: &Actor,
        (permission, reach): (Permission, &Reach),
    ) -> Result<(), ActError> {
        let session = actor.session().map(UserKey::SessionNumber);
        let loaded = session.map(|key| self.store.load_user(&key)).transpose()?.flatten();
        let may = loaded
            .filter(|actor| is_signed_in(actor, self.now()))
            .is_some_and(|actor| holds_on(&self.directory, &actor.stored.user.permissions, permission, reach));
        if may { Ok(()) } else { Err(refuse_actor()) }
    }
}

/// Refuses the act of a person who may not act any more.
fn refuse_actor() -> ActError {
    ActError::refuse(ACTOR, "your session or your right to do this has ended")
}
