//! Acts on users: create with an invitation, invite again, disable and enable, give and take roles. Pages and commands
//! share the decisions; pages write through the running server, commands through their own connection.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::role::{Permissions, Reach, Role, RoleGrant};
use tillgate_domain::access::user::{INVITATION_LIMIT, User, UserState, parse_mail, parse_name};
use tillgate_domain::id::{EntityId, UserId};
use tillgate_store::access::user::{StoredUser, UserChanges, UserInput, UserKey};
use tillgate_store::access::user_change::UserChange;

use crate::access::actor::Actor;
use crate::access::link_token::LinkToken;
use crate::access::rights::{check_actor, find_lineage};
use crate::administration::{ActError, Administration};
use crate::{Gateway, random_bytes};

/// A user to create.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// The mail address, as it was typed.
    pub mail: String,
    /// The name, as it was typed.
    pub name: String,
    /// The roles.
    pub grants: Vec<RoleGrant>,
}

/// A user with the token of an invitation, which is known only now.
pub struct Invited {
    /// The user.
    pub user: User,
    /// The token of the link.
    pub token: LinkToken,
}

/// A user after an act.
pub struct Changed {
    /// The user.
    pub user: User,
    /// The token of an invitation, if the act has reset the user's credentials. It is known only now.
    pub token: Option<LinkToken>,
}

/// The parts of an act that its decision needs besides the user.
struct ActContext<'a> {
    actor: &'a Actor,
    now: Timestamp,
    /// The entity on which a role is added, and everything above it.
    lineage: &'a [EntityId],
    /// The token of the invitation, if one is needed.
    token: LinkToken,
}

/// An act on a user that exists.
#[derive(Debug, Clone)]
pub enum UserAct {
    /// Takes away every access, and ends the sessions.
    Disable,
    /// Gives the access back.
    Enable,
    /// Gives a role.
    AddRole(RoleGrant),
    /// Takes a role.
    RemoveRole(RoleGrant),
}

impl UserAct {
    /// Returns the part of the tree on which the act changes a role.
    fn reach(&self) -> Option<Reach> {
        match self {
            Self::Disable | Self::Enable => None,
            Self::AddRole(grant) | Self::RemoveRole(grant) => Some(grant.reach.clone()),
        }
    }
}

/// Path of the page of an invitation, below the address of the gateway.
pub fn invitation_path(token: &LinkToken) -> String {
    format!("backoffice/invitation/{}", token.as_str())
}

/// A checked decision to create a user.
#[derive(Clone)]
struct Creation {
    user: User,
    token: LinkToken,
    actor: Actor,
}

impl Creation {
    fn prepare(new: NewUser, actor: Actor, now: Timestamp) -> Result<Self, ActError> {
        let mail = parse_mail(&new.mail).map_err(|message| ActError::refuse("mail", message))?;
        let name = parse_name(&new.name).map_err(|message| ActError::refuse("name", message))?;
        let user = User {
            id: UserId::new(now, random_bytes()?),
            mail,
            name,
            state: UserState::Invited,
            created: now,
            permissions: Permissions::new(new.grants),
        };
        Ok(Self { user, token: LinkToken::random()?, actor })
    }

    fn key(&self) -> UserKey {
        UserKey::Mail(self.user.mail.clone())
    }

    fn decide(self, input: &UserInput) -> Result<(UserChanges, Invited), ActError> {
        if input.found.is_some() {
            return Err(ActError::refuse("mail", format!("there is a user {}", self.user.mail)));
        }
        let (Self { user, token, actor }, now) = (&self, self.user.created);
        let mut entry = actor.entry(now, "user create", user).with_detail("name", &*user.name);
        for (number, grant) in user.permissions.grants().iter().enumerate() {
            entry = entry.with_detail(&format!("role {}", number + 1), describe_grant(grant));
        }
        let changes = UserChanges::default()
            .with(&user.id, UserChange::Add(user.clone()))
            .with(&user.id, invite(token, actor, now))
            .with_entry(owner(user), entry);
        Ok((changes, Invited { user: self.user, token: self.token }))
    }
}

/// Returns the change that adds an invitation.
fn invite(token: &LinkToken, actor: &Actor, now: Timestamp) -> UserChange {
    let expires = now.checked_add(INVITATION_LIMIT).unwrap_or(Timestamp::MAX);
    UserChange::Invite { hash: token.hash(), now, expires, inviter: actor.user().cloned() }
}

/// Returns the entity that an entry about a user belongs to: that of the only role, otherwise none.
pub(super) fn owner(user: &User) -> Option<&tillgate_domain::id::EntityId> {
    match user.permissions.grants() {
        [grant] => grant.reach.entity(),
        _ => None,
    }
}

/// Describes a role for the audit log: `analyst on 8a01…`.
fn describe_grant(grant: &RoleGrant) -> String {
    format!("{} on {}", grant.role, grant.reach.as_str())
}

/// Returns the selected user, or the refusal of an unknown one.
fn known(input: UserInput) -> Result<StoredUser, ActError> {
    input.found.map(|found| found.stored).ok_or_else(|| ActError::refuse("user", "there is no such user"))
}

fn decide_invitation(
    input: UserInput,
    token: LinkToken,
    actor: &Actor,
    now: Timestamp,
) -> Result<(UserChanges, Invited), ActError> {
    let user = known(input)?.user;
    if user.state == UserState::Disabled {
        return Err(ActError::refuse("user", format!("{} is disabled: enable the user first", user.mail)));
    }
    let changes = UserChanges::default()
        .with(&user.id, invite(&token, actor, now))
        .with(&user.id, UserChange::ForgetDevices)
        .with_entry(owner(&user), actor.entry(now, "user invite", &user));
    Ok((changes, Invited { user, token }))
}

/// Returns the changes that set a user back to an invitation. The mail address of a user is not proven: somebody who
/// manages another part of the tree may have invited a stranger under it. So a role on a new part goes to a person who
/// gets the link from the giver of the role, and credentials from before end.
fn reset_credentials(user: &mut User, context: &ActContext<'_>) -> UserChanges {
    let changes = UserChanges::default()
        .with(&user.id, UserChange::ClearCredentials)
        .with(&user.id, UserChange::ForgetDevices)
        .with(&user.id, UserChange::EndSessions { kept: None, now: context.now });
    // A disabled user stays disabled, and gets an invitation when enabled.
    if user.state == UserState::Disabled {
        return changes;
    }
    user.state = UserState::Invited;
    changes
        .with(&user.id, UserChange::SetState(user.state))
        .with(&user.id, invite(&context.token, context.actor, context.now))
}

/// Decides about a role to give or to take.
fn decide_role(
    mut user: User,
    grant: &RoleGrant,
    adds: bool,
    context: ActContext<'_>,
) -> Result<(UserChanges, Changed), ActError> {
    let has = user.permissions.grants().contains(grant);
    if has == adds {
        let verb = if has { "has" } else { "does not have" };
        let message = format!("{} {verb} the role {}", user.mail, describe_grant(grant));
        return Err(ActError::refuse("user", message));
    }
    let (id, now) = (user.id.clone(), context.now);
    let is_new_part = adds && !user.permissions.covers(context.lineage);
    // The entry of a removal belongs to the entity of the roles before it. Otherwise it would name the removed role,
    // which may be on another tenant, to the entity of the role that is left.
    let before = user.clone();
    let mut grants = user.permissions.grants().to_vec();
    let (action, change) = if adds {
        grants.push(grant.clone());
        ("user role-add", UserChange::AddRole(grant.clone()))
    } else {
        grants.retain(|held| held != grant);
        ("user role-remove", UserChange::RemoveRole(grant.clone()))
    };
    user.permissions = Permissions::new(grants);
    // Links from before were made for other roles of the user, or by the user with other roles.
    let mut changes = UserChanges::default()
        .with(&id, change)
        .with(&id, UserChange::CloseInvitations(now))
        .with(&id, UserChange::CloseMadeInvitations(now));
    let mut entry = context.actor.entry(now, action, &user).with_detail("role", describe_grant(grant));
    if is_new_part {
        changes = changes.followed_by(reset_credentials(&mut user, &context));
        entry = entry.with_detail("credentials", "reset");
    }
    let token = Some(context.token).filter(|_| is_new_part && user.state == UserState::Invited);
    let owner = owner(if adds { &user } else { &before });
    Ok((changes.with_entry(owner, entry), Changed { user, token }))
}

/// Checks that an act leaves an active administrator of the whole gateway. Two who disable each other at the same time
/// would otherwise both be gone, and nobody could enable them.
///
/// # Errors
/// The refusal of an act on the last one.
fn check_last_administrator(user: &User, act: &UserAct, administrators: u64) -> Result<(), ActError> {
    let ends = match act {
        UserAct::Disable => true,
        UserAct::RemoveRole(grant) => grant.role == Role::Administrator && grant.reach == Reach::Gateway,
        UserAct::Enable | UserAct::AddRole(_) => false,
    };
    let is_last = user.state == UserState::Active && user.is_gateway_administrator() && administrators <= 1;
    if ends && is_last {
        let message = format!("{} is the last active administrator of the gateway", user.mail);
        return Err(ActError::refuse("user", message));
    }
    Ok(())
}

fn decide_act(input: UserInput, act: &UserAct, context: ActContext<'_>) -> Result<(UserChanges, Changed), ActError> {
    let (actor, now) = (context.actor, context.now);
    let administrators = input.administrators;
    let stored = known(input)?;
    check_last_administrator(&stored.user, act, administrators)?;
    let mut user = stored.user.clone();
    let id = user.id.clone();
    let refuse = |message: String| Err(ActError::refuse("user", message));
    let changes = UserChanges::default();
    let (changes, entry) = match act {
        UserAct::Disable if user.state == UserState::Disabled => return refuse(format!("{} is disabled", user.mail)),
        UserAct::Disable => {
            user.state = UserState::Disabled;
            let changes = changes
                .with(&id, UserChange::SetState(user.state))
                .with(&id, UserChange::EndSessions { kept: None, now })
                .with(&id, UserChange::CloseInvitations(now))
                .with(&id, UserChange::CloseMadeInvitations(now))
                // A device may be the reason, and a user who is enabled again adds those that are left.
                .with(&id, UserChange::RemovePasskeys)
                .with(&id, UserChange::ForgetDevices);
            (changes, actor.entry(now, "user disable", &user))
        }
        UserAct::Enable if user.state != UserState::Disabled => {
            return refuse(format!("{} is not disabled", user.mail));
        }
        UserAct::Enable => {
            // Without a password the user still needs an invitation.
            user.state = if stored.hash.is_empty() { UserState::Invited } else { UserState::Active };
            (changes.with(&id, UserChange::SetState(user.state)), actor.entry(now, "user enable", &user))
        }
        UserAct::AddRole(grant) => return decide_role(user, grant, true, context),
        UserAct::RemoveRole(grant) => return decide_role(user, grant, false, context),
    };
    Ok((changes.with_entry(owner(&user), entry), Changed { user, token: None }))
}

impl Gateway {
    /// Creates a user with an invitation. The right to give the roles is checked under the write lock.
    ///
    /// # Errors
    /// If the mail address or the name is not possible, there is a user with the address, or the actor has lost the
    /// session or the right.
    pub async fn create_user(&self, new: NewUser, actor: Actor) -> Result<Invited, ActError> {
        let (session, directory) = (actor.session(), Arc::clone(&self.directory));
        let creation = Creation::prepare(new, actor, self.now())?;
        let key = creation.key();
        let decide = move |input: UserInput| {
            let reaches = creation.user.permissions.grants().iter().map(|grant| grant.reach.clone());
            check_actor(&directory, input.actor.as_ref(), None, reaches, creation.user.created)?;
            creation.decide(&input)
        };
        self.store.change_user_by(session, key, decide).await?
    }

    /// Makes a new invitation of a user, which replaces earlier ones. With it a user who has lost password or second
    /// factor sets both again.
    ///
    /// # Errors
    /// If there is no such user, the user is disabled, or the actor has lost the session or the right.
    pub async fn invite_user(&self, user: UserId, actor: Actor) -> Result<Invited, ActError> {
        let session = actor.session();
        let (token, now, directory) = (LinkToken::random()?, self.now(), Arc::clone(&self.directory));
        let decide = move |input: UserInput| {
            let target = input.found.as_ref().map(|found| &found.stored.user);
            check_actor(&directory, input.actor.as_ref(), target, std::iter::empty(), now)?;
            decide_invitation(input, token, &actor, now)
        };
        self.store.change_user_by(session, UserKey::Id(user), decide).await?
    }

    /// Disables or enables a user, or changes the roles. A role on a part of the tree on which the user had none resets
    /// the user's credentials.
    ///
    /// # Errors
    /// If there is no such user, the act changes nothing, or the actor has lost the session or the right.
    pub async fn change_user(&self, user: UserId, act: UserAct, actor: Actor) -> Result<Changed, ActError> {
        let (session, now, directory) = (actor.session(), self.now(), Arc::clone(&self.directory));
        let token = LinkToken::random()?;
        let decide = move |input: UserInput| {
            let target = input.found.as_ref().map(|found| &found.stored.user);
            check_actor(&directory, input.actor.as_ref(), target, act.reach().into_iter(), now)?;
            let lineage = act.reach().map(|reach| find_lineage(&directory, &reach)).unwrap_or_default();
            decide_act(input, &act, ActContext { actor: &actor, now, lineage: &lineage, token })
        };
        self.store.change_user_by(session, UserKey::Id(user), decide).await?
    }
}

impl Administration {
    /// Creates a user with an invitation, as [`Gateway::create_user`] does.
    ///
    /// # Errors
    /// Also if a role is on an entity that does not exist.
    pub fn create_user(&self, new: NewUser, actor: Actor) -> Result<Invited, ActError> {
        self.check_reaches(&new.grants)?;
        let creation = Creation::prepare(new, actor, self.now())?;
        self.store.change_user(&creation.key(), |input| creation.decide(&input))?
    }

    /// Makes a new invitation of a user, as [`Gateway::invite_user`] does.
    pub fn invite_user(&self, user: &UserKey, actor: &Actor) -> Result<Invited, ActError> {
        let (token, now) = (LinkToken::random()?, self.now());
        self.store.change_user(user, |input| decide_invitation(input, token, actor, now))?
    }

    /// Disables or enables a user, or changes the roles, as [`Gateway::change_user`] does.
    ///
    /// # Errors
    /// Also if a role is given on an entity that does not exist.
    pub fn change_user(&self, user: &UserKey, act: &UserAct, actor: &Actor) -> Result<Changed, ActError> {
        if let UserAct::AddRole(grant) = act {
            self.check_reaches(std::slice::from_ref(grant))?;
        }
        let (now, token, mut lineage) = (self.now(), LinkToken::random()?, Vec::new());
        let mut above = act.reach().and_then(|reach| reach.entity().cloned());
        while let Some(id) = above {
            above = self.store.load_entity(&id)?.and_then(|entity| entity.parent);
            lineage.push(id);
        }
        let context = ActContext { actor, now, lineage: &lineage, token };
        self.store.change_user(user, |input| decide_act(input, act, context))?
    }

    /// Loads all users, in the order of their mail addresses.
    pub fn load_users(&self) -> Result<Vec<User>, ActError> {
        Ok(self.store.load_users()?)
    }

    fn check_reaches(&self, grants: &[RoleGrant]) -> Result<(), ActError> {
        grants.iter().filter_map(|grant| grant.reach.entity()).try_for_each(|id| self.load_entity(id).map(drop))
    }
}
