//! Users of the back office as rows, and the one way to change them: load a user with what belongs to the act, decide,
//! and write the changes with their entries in the audit log, in one transaction.

use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::one_time_code::RecoveryHash;
use tillgate_domain::access::role::{Permission, Permissions, Reach, Role, RoleGrant};
use tillgate_domain::access::user::{FactorFailures, User, UserState};
use tillgate_domain::id::{EntityId, UserId};
use tillgate_engine::{Row, Session, params};
use tillgate_vault::Sealed;

use crate::access::passkey::{StoredPasskey, load_passkeys};
use crate::access::user_change::UserChange;
use crate::access::user_session::{self, StoredInvitation, StoredSession, TokenHash};
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::keys::sealed::read_sealed;
use crate::ledger;
use crate::{AdminStore, Store, StoreError};

/// Columns of a user, in the order in which [`read_user`] reads them.
const COLUMNS: &str = "id, mail, name, state, created, salt, hash, sealed, step, recovery, failures, failed, epoch";

/// A user with the stored secrets.
#[derive(Debug, Clone)]
pub struct StoredUser {
    /// The user without secrets.
    pub user: User,
    /// The salt of the password. Empty if there is no password.
    pub salt: Vec<u8>,
    /// The hash of the password. Empty if there is no password.
    pub hash: Vec<u8>,
    /// The sealed secret of the one-time codes. `None` if there is none.
    pub secret: Option<Sealed>,
    /// The latest step of a one-time code that was used.
    pub last_step: Option<i64>,
    /// The hashes of the recovery codes that are not used.
    pub recovery: Vec<RecoveryHash>,
    /// Wrong second factors since the last right one.
    pub failures: FactorFailures,
    /// Number of changes that ended the marks of known browsers.
    pub epoch: i64,
}

/// Selection of a user, with the session or the invitation that selects it.
#[derive(Debug, Clone)]
pub enum UserKey {
    /// By id.
    Id(UserId),
    /// By mail address, in the spelling that is compared.
    Mail(String),
    /// By the hash of a session's token.
    Session(TokenHash),
    /// By the number of a session.
    SessionNumber(i64),
    /// By the hash of an invitation's token.
    Invitation(TokenHash),
}

/// A user, and the session or invitation by which it was selected.
#[derive(Debug, Clone)]
pub struct LoadedUser {
    /// The user.
    pub stored: StoredUser,
    /// The session, if it was selected by one.
    pub session: Option<StoredSession>,
    /// The invitation, if it was selected by one.
    pub invitation: Option<StoredInvitation>,
    /// The user who made the invitation, as that user is now.
    pub inviter: Option<User>,
}

/// Input of a decision about a user.
#[derive(Debug, Default)]
pub struct UserInput {
    /// The selected user, if there is one.
    pub found: Option<LoadedUser>,
    /// The passkeys of the selected user.
    pub passkeys: Vec<StoredPasskey>,
    /// The number of users in the store.
    pub user_count: u64,
    /// The user who acts, with the session. `None` if the act has none, or the session is unknown.
    pub actor: Option<LoadedUser>,
    /// The number of active administrators of the whole gateway.
    pub administrators: u64,
}

/// Changes of users to write in one commit, with their entries in the audit log.
#[derive(Debug, Clone, Default)]
pub struct UserChanges {
    changes: Vec<(UserId, UserChange)>,
    entries: Vec<(Option<EntityId>, AuditEntry)>,
}

impl UserChanges {
    /// Adds a change of a user. Changes are written in the order in which they are added.
    #[must_use]
    pub fn with(mut self, user: &UserId, change: UserChange) -> Self {
        self.changes.push((user.clone(), change));
        self
    }

    /// Adds an entry of the audit log about an entity, or about the whole gateway.
    #[must_use]
    pub fn with_entry(mut self, entity: Option<&EntityId>, entry: AuditEntry) -> Self {
        self.entries.push((entity.cloned(), entry));
        self
    }

    /// Returns these changes followed by others.
    #[must_use]
    pub fn followed_by(mut self, others: Self) -> Self {
        self.changes.extend(others.changes);
        self.entries.extend(others.entries);
        self
    }

    fn apply(&self, session: &dyn Session) -> Result<(), StoreError> {
        for (user, change) in &self.changes {
            change.apply(session, user)?;
        }
        for (entity, entry) in &self.entries {
            // The clocks of sandboxes do not apply to people, so the machine's time is that of the entry.
            ledger::write_entry(session, entity.as_ref(), entry, entry.time)?;
        }
        Ok(())
    }
}

impl Store {
    /// Loads a user. Returns `None` if there is none.
    pub fn load_user(&self, key: &UserKey) -> Result<Option<LoadedUser>, StoreError> {
        self.run_read(|session| load_user(session, key))
    }

    /// Loads all users, in the order of their mail addresses.
    pub fn load_users(&self) -> Result<Vec<User>, StoreError> {
        self.run_read(load_users)
    }

    /// Loads the names and mail addresses of active users with a permission by a role on exactly this part of the tree,
    /// in the order of their mail addresses, at most `limit`.
    pub fn load_holders(
        &self,
        permission: Permission,
        reach: &Reach,
        limit: u32,
    ) -> Result<Vec<(String, String)>, StoreError> {
        self.run_read(|session| load_holders(session, permission, reach, limit))
    }

    /// Loads a user under the write lock, decides, and makes the changes durable. A refusal writes nothing. Returns
    /// after the commit. If the transaction is undone and made again, a copy of `decide` decides again.
    pub async fn change_user<T, E, D>(&self, key: UserKey, decide: D) -> Result<Result<T, E>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
        D: FnOnce(UserInput) -> Result<(UserChanges, T), E> + Clone + Send + 'static,
    {
        self.run_write(move |session| decide_and_write(session, &key, None, decide.clone())).await
    }

    /// Changes a user as [`Self::change_user`] does. The decision also gets the user of the session `actor`, as that
    /// user is under the write lock.
    pub async fn change_user_by<T, E, D>(
        &self,
        actor: Option<i64>,
        key: UserKey,
        decide: D,
    ) -> Result<Result<T, E>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
        D: FnOnce(UserInput) -> Result<(UserChanges, T), E> + Clone + Send + 'static,
    {
        self.run_write(move |session| decide_and_write(session, &key, actor, decide.clone())).await
    }
}

impl AdminStore {
    /// Loads a user. Returns `None` if there is none.
    pub fn load_user(&self, key: &UserKey) -> Result<Option<LoadedUser>, StoreError> {
        load_user(&*self.session, key)
    }

    /// Loads all users, in the order of their mail addresses.
    pub fn load_users(&self) -> Result<Vec<User>, StoreError> {
        load_users(&*self.session)
    }

    /// Loads a user, decides, and writes the changes, as one transaction. A refusal writes nothing.
    pub fn change_user<T, E>(
        &self,
        key: &UserKey,
        decide: impl FnOnce(UserInput) -> Result<(UserChanges, T), E>,
    ) -> Result<Result<T, E>, StoreError> {
        self.in_transaction(|store| decide_and_write(&*store.session, key, None, decide))
    }
}

fn decide_and_write<T, E>(
    session: &dyn Session,
    key: &UserKey,
    actor: Option<i64>,
    decide: impl FnOnce(UserInput) -> Result<(UserChanges, T), E>,
) -> Result<Result<T, E>, StoreError> {
    let count = |query: &str| -> Result<u64, StoreError> {
        Ok(session.query_one(query, (), |row| row.get::<i64>(0))?.unsigned_abs())
    };
    let actor = actor.map(|number| load_user(session, &UserKey::SessionNumber(number))).transpose()?.flatten();
    let administrators = count(
        "SELECT count(DISTINCT user) FROM user_role JOIN user ON user.id = user_role.user
         WHERE role = 'administrator' AND reach = '*' AND state = 'active'",
    )?;
    let user_count = count("SELECT count(*) FROM user")?;
    let found = load_user(session, key)?;
    let passkeys = found.as_ref().map(|found| load_passkeys(session, &found.stored.user.id)).transpose()?;
    let input = UserInput { found, passkeys: passkeys.unwrap_or_default(), user_count, actor, administrators };
    match decide(input) {
        Ok((changes, value)) => {
            changes.apply(session)?;
            Ok(Ok(value))
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}

fn load_user(session: &dyn Session, key: &UserKey) -> Result<Option<LoadedUser>, StoreError> {
    let own_session = match key {
        UserKey::Session(hash) => user_session::load_session(session, hash)?,
        UserKey::SessionNumber(number) => user_session::load_numbered_session(session, *number)?,
        _ => None,
    };
    let invitation = match key {
        UserKey::Invitation(hash) => user_session::load_invitation(session, hash)?,
        _ => None,
    };
    let ((own_session, of_session), (invitation, of_invitation)) = (own_session.unzip(), invitation.unzip());
    let (column, value) = match key {
        UserKey::Id(id) => ("id", Some(id.as_str().to_owned())),
        UserKey::Mail(mail) => ("mail", Some(mail.clone())),
        UserKey::Session(_) | UserKey::SessionNumber(_) => ("id", of_session),
        UserKey::Invitation(_) => ("id", of_invitation),
    };
    let Some(value) = value else { return Ok(None) };
    let query = format!("SELECT {COLUMNS} FROM user WHERE {column} = ?1");
    let found = session.query_optional(&query, [value], read_user)?;
    let Some(mut stored) = found else { return Ok(None) };
    stored.user.permissions = load_permissions(session, &stored.user.id)?;
    let inviter = match invitation.as_ref().and_then(|invitation: &StoredInvitation| invitation.inviter.clone()) {
        Some(id) => load_user(session, &UserKey::Id(id))?.map(|found| found.stored.user),
        None => None,
    };
    Ok(Some(LoadedUser { stored, session: own_session, invitation, inviter }))
}

fn load_users(session: &dyn Session) -> Result<Vec<User>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM user ORDER BY mail");
    let users: Vec<StoredUser> = session.query_all(&query, (), read_user)?;
    let with_roles = |stored: StoredUser| {
        let permissions = load_permissions(session, &stored.user.id)?;
        Ok(User { permissions, ..stored.user })
    };
    users.into_iter().map(with_roles).collect()
}

fn load_holders(
    session: &dyn Session,
    permission: Permission,
    reach: &Reach,
    limit: u32,
) -> Result<Vec<(String, String)>, StoreError> {
    let roles = Role::ALL.into_iter().filter(|role| role.allows(permission));
    let roles = roles.map(|role| format!("'{role}'")).collect::<Vec<_>>().join(", ");
    let query = format!(
        "SELECT name, mail FROM user WHERE state = ?1
             AND EXISTS (SELECT 1 FROM user_role WHERE user = user.id AND role IN ({roles}) AND reach = ?2)
         ORDER BY mail LIMIT ?3"
    );
    let values = params![UserState::Active.as_str(), reach.as_str(), limit];
    Ok(session.query_all(&query, values, |row| row.read())?)
}

/// Loads the roles of a user. A role that this version does not know gives nothing.
fn load_permissions(session: &dyn Session, user: &UserId) -> Result<Permissions, StoreError> {
    let query = "SELECT role, reach FROM user_role WHERE user = ?1";
    let mut rows = session.query(query, [user.as_str()])?;
    let mut grants = Vec::new();
    while let Some(row) = rows.next()? {
        let (role, reach): (String, String) = row.read()?;
        if let (Ok(role), Some(reach)) = (role.parse(), Reach::parse(&reach)) {
            grants.push(RoleGrant { role, reach });
        }
    }
    Ok(Permissions::new(grants))
}

/// Reads a user from a row with [`COLUMNS`], without the roles.
fn read_user(row: &Row<'_>) -> tillgate_engine::Result<StoredUser> {
    let (id, state): (String, String) = (row.get(0)?, row.get(3)?);
    let recovery: Vec<u8> = row.get(9)?;
    let secret = read_sealed(row, 7)?;
    Ok(StoredUser {
        user: User {
            id: UserId::parse(&id).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of a user"))?,
            mail: row.get(1)?,
            name: row.get(2)?,
            state: UserState::parse(&state).ok_or_else(|| tillgate_engine::Error::unreadable(3, "state of a user"))?,
            created: timestamp_from_milliseconds(row.get(4)?),
            permissions: Permissions::default(),
        },
        salt: row.get(5)?,
        hash: row.get(6)?,
        secret: Some(secret).filter(|sealed| !sealed.as_bytes().is_empty()),
        last_step: row.get(8)?,
        recovery: recovery.as_chunks::<32>().0.to_vec(),
        failures: FactorFailures {
            count: row.get(10)?,
            last: row.get::<Option<i64>>(11)?.map(timestamp_from_milliseconds),
        },
        epoch: row.get(12)?,
    })
}
