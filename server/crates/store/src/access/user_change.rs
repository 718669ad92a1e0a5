//! Changes of a user, and their statements.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::one_time_code::RecoveryHash;
use tillgate_domain::access::role::RoleGrant;
use tillgate_domain::access::session::FACTOR_LIMIT;
use tillgate_domain::access::user::{FactorFailures, User, UserState};
use tillgate_domain::id::UserId;
use tillgate_engine::{Session, ToValue, params};
use tillgate_vault::Sealed;

use crate::StoreError;
use crate::access::passkey::{StoredPasskey, add_passkey};
use crate::access::user_session::TokenHash;

/// Time for which a session that is over is kept, for the questions of an investigation.
const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Statement that removes all passkeys of a user.
const REMOVE_PASSKEYS: &str = "DELETE FROM passkey WHERE user = ?1";

/// A change of a user.
#[derive(Debug, Clone)]
pub enum UserChange {
    /// Adds the user, with the roles.
    Add(User),
    /// Sets the state.
    SetState(UserState),
    /// Sets the password.
    SetPassword {
        /// The salt.
        salt: Vec<u8>,
        /// The hash.
        hash: Vec<u8>,
    },
    /// Sets the secret of the one-time codes with the step that proved it.
    SetSecret {
        /// The sealed secret.
        sealed: Sealed,
        /// The step that was used.
        step: i64,
    },
    /// Removes password, second factor, recovery codes and passkeys.
    ClearCredentials,
    /// Adds a passkey.
    AddPasskey(Box<StoredPasskey>),
    /// Stores a sign-in with a passkey.
    UsePasskey {
        /// The id of the passkey.
        id: String,
        /// The key with its new counter.
        key: Vec<u8>,
        /// The time.
        now: Timestamp,
    },
    /// Removes the passkey with this id.
    RemovePasskey(String),
    /// Removes all passkeys of the user.
    RemovePasskeys,
    /// Sets the recovery codes.
    SetRecovery(Vec<RecoveryHash>),
    /// Marks a step of the one-time codes, and all before it, as used.
    UseStep(i64),
    /// Sets the wrong second factors since the last right one.
    SetFailures(FactorFailures),
    /// Gives a role.
    AddRole(RoleGrant),
    /// Takes a role.
    RemoveRole(RoleGrant),
    /// Begins a session that waits for the second factor.
    StartSession(NewSession),
    /// Begins a session that has its second factor.
    StartConfirmed(NewSession),
    /// Gives a session its second factor and another token, so that a token from before is worth nothing.
    ConfirmSession {
        /// The number of the session.
        number: i64,
        /// The hash of the new token.
        hash: TokenHash,
        /// The time.
        now: Timestamp,
    },
    /// Stores that a second factor was given in a session.
    RefreshFactor {
        /// The number of the session.
        number: i64,
        /// The time.
        now: Timestamp,
    },
    /// Sets the mail address, in the spelling that is compared.
    SetMail(String),
    /// Ends a session of the user.
    EndSession {
        /// The number of the session.
        number: i64,
        /// The time.
        now: Timestamp,
    },
    /// Ends all sessions of the user but one.
    EndSessions {
        /// The number of the session that goes on. `None` ends all.
        kept: Option<i64>,
        /// The time.
        now: Timestamp,
    },
    /// Adds an invitation, and closes all earlier ones.
    Invite {
        /// The hash of the token.
        hash: TokenHash,
        /// The time of creation.
        now: Timestamp,
        /// The time from which it is refused.
        expires: Timestamp,
        /// The user who makes it. `None` for a command.
        inviter: Option<UserId>,
    },
    /// Ends the marks of all known browsers.
    ForgetDevices,
    /// Closes all invitations of the user.
    CloseInvitations(Timestamp),
    /// Closes all invitations that the user has made.
    CloseMadeInvitations(Timestamp),
}

/// A session that begins.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The hash of its token.
    pub hash: TokenHash,
    /// The time.
    pub now: Timestamp,
    /// The address of the client.
    pub address: String,
    /// The browser, as it names itself.
    pub agent: String,
}

impl UserChange {
    /// Writes the change of a user.
    #[expect(clippy::too_many_lines, reason = "a table of statements")]
    pub(super) fn apply(&self, session: &dyn Session, user: &UserId) -> Result<(), StoreError> {
        let user = user.as_str();
        let run = |statement: &str, parameters: &[&dyn ToValue]| -> Result<(), StoreError> {
            Ok(session.execute(statement, parameters).map(drop)?)
        };
        match self {
            Self::Add(new) => add_user(session, new),
            Self::SetState(state) => run("UPDATE user SET state = ?2 WHERE id = ?1", &params![user, state.as_str()]),
            Self::SetPassword { salt, hash } => {
                run("UPDATE user SET salt = ?2, hash = ?3 WHERE id = ?1", &params![user, salt, hash])
            }
            Self::SetSecret { sealed, step } => {
                let statement = "UPDATE user SET sealed = ?2, step = ?3 WHERE id = ?1";
                run(statement, &params![user, sealed.as_bytes(), step])
            }
            Self::ClearCredentials => {
                let statement = "UPDATE user SET salt = x'', hash = x'', sealed = x'', step = NULL, recovery = x'',
                     failures = 0, failed = NULL WHERE id = ?1";
                run(statement, &params![user])?;
                run(REMOVE_PASSKEYS, &params![user])
            }
            Self::AddPasskey(passkey) => add_passkey(session, passkey),
            Self::UsePasskey { id, key, now } => {
                let statement = "UPDATE passkey SET key = ?3, used = ?4 WHERE user = ?1 AND id = ?2";
                run(statement, &params![user, id, key, now.as_millisecond()])
            }
            Self::RemovePasskey(id) => run("DELETE FROM passkey WHERE user = ?1 AND id = ?2", &params![user, id]),
            Self::RemovePasskeys => run(REMOVE_PASSKEYS, &params![user]),
            Self::SetRecovery(hashes) => {
                run("UPDATE user SET recovery = ?2 WHERE id = ?1", &params![user, hashes.concat()])
            }
            Self::UseStep(step) => run("UPDATE user SET step = ?2 WHERE id = ?1", &params![user, step]),
            Self::SetFailures(failures) => {
                let statement = "UPDATE user SET failures = ?2, failed = ?3 WHERE id = ?1";
                run(statement, &params![user, failures.count, failures.last.map(Timestamp::as_millisecond)])
            }
            Self::AddRole(grant) => add_role(session, user, grant),
            Self::RemoveRole(grant) => {
                let statement = "DELETE FROM user_role WHERE user = ?1 AND role = ?2 AND reach = ?3";
                run(statement, &params![user, grant.role.as_str(), grant.reach.as_str()])
            }
            Self::StartSession(new) => start_session(session, user, new, None),
            Self::StartConfirmed(new) => start_session(session, user, new, Some(new.now)),
            Self::ConfirmSession { number, hash, now } => {
                let statement = "UPDATE user_session SET hash = ?3, confirmed = ?4, used = ?4, factor = ?4
                     WHERE number = ?2 AND user = ?1 AND ended IS NULL";
                run(statement, &params![user, number, hash, now.as_millisecond()])
            }
            Self::RefreshFactor { number, now } => {
                let statement = "UPDATE user_session SET factor = ?3 WHERE number = ?2 AND user = ?1 AND ended IS NULL";
                run(statement, &params![user, number, now.as_millisecond()])
            }
            Self::SetMail(mail) => run("UPDATE user SET mail = ?2 WHERE id = ?1", &params![user, mail]),
            Self::EndSession { number, now } => {
                let statement = "UPDATE user_session SET ended = ?3 WHERE number = ?2 AND user = ?1 AND ended IS NULL";
                run(statement, &params![user, number, now.as_millisecond()])
            }
            Self::EndSessions { kept, now } => {
                let statement = "UPDATE user_session SET ended = ?3
                    WHERE user = ?1 AND number IS DISTINCT FROM ?2 AND ended IS NULL";
                run(statement, &params![user, kept, now.as_millisecond()])
            }
            Self::Invite { hash, now, expires, inviter } => {
                add_invitation(session, user, hash, *now, *expires, inviter.as_ref())
            }
            Self::ForgetDevices => run("UPDATE user SET epoch = epoch + 1 WHERE id = ?1", &params![user]),
            Self::CloseInvitations(now) => close_invitations(session, user, *now),
            Self::CloseMadeInvitations(now) => {
                let statement = "UPDATE user_invitation SET used = ?2 WHERE inviter = ?1 AND used IS NULL";
                run(statement, &params![user, now.as_millisecond()])
            }
        }
    }
}

fn add_user(session: &dyn Session, new: &User) -> Result<(), StoreError> {
    let statement = "INSERT INTO user (id, mail, name, state, created) VALUES (?1, ?2, ?3, ?4, ?5)";
    let (id, state) = (new.id.as_str(), new.state.as_str());
    session.execute(statement, params![id, new.mail, new.name, state, new.created.as_millisecond()])?;
    new.permissions.grants().iter().try_for_each(|grant| add_role(session, id, grant))
}

fn add_role(session: &dyn Session, user: &str, grant: &RoleGrant) -> Result<(), StoreError> {
    let statement =
        "INSERT INTO user_role (user, role, reach) VALUES (?1, ?2, ?3) ON CONFLICT (user, role, reach) DO NOTHING";
    session.execute(statement, params![user, grant.role.as_str(), grant.reach.as_str()])?;
    Ok(())
}

/// Begins a session, and deletes those of the user that have been over for long, or got no second factor in time.
fn start_session(
    session: &dyn Session,
    user: &str,
    new: &NewSession,
    confirmed: Option<Timestamp>,
) -> Result<(), StoreError> {
    let since = |limit| new.now.checked_sub(limit).map_or(0, Timestamp::as_millisecond);
    let (oldest, unconfirmed) = (since(KEPT), since(FACTOR_LIMIT));
    session.execute(
        "DELETE FROM user_session WHERE user = ?1 AND (created < ?2 OR confirmed IS NULL AND created < ?3)",
        params![user, oldest, unconfirmed],
    )?;
    let statement = "INSERT INTO user_session (hash, user, created, used, confirmed, factor, address, agent)
         VALUES (?1, ?2, ?3, ?3, ?4, ?4, ?5, ?6)";
    let (now, confirmed) = (new.now.as_millisecond(), confirmed.map(Timestamp::as_millisecond));
    let parameters = params![new.hash, user, now, confirmed, new.address, new.agent];
    session.execute(statement, parameters)?;
    Ok(())
}

/// Adds an invitation, and closes all earlier ones of the user.
fn add_invitation(
    session: &dyn Session,
    user: &str,
    hash: &TokenHash,
    now: Timestamp,
    expires: Timestamp,
    inviter: Option<&UserId>,
) -> Result<(), StoreError> {
    close_invitations(session, user, now)?;
    let statement = "INSERT INTO user_invitation (hash, user, created, expires, inviter) VALUES (?1, ?2, ?3, ?4, ?5)";
    let parameters = params![hash, user, now.as_millisecond(), expires.as_millisecond(), inviter.map(UserId::as_str)];
    session.execute(statement, parameters)?;
    Ok(())
}

fn close_invitations(session: &dyn Session, user: &str, now: Timestamp) -> Result<(), StoreError> {
    session.execute(
        "UPDATE user_invitation SET used = ?2 WHERE user = ?1 AND used IS NULL",
        params![user, now.as_millisecond()],
    )?;
    Ok(())
}
