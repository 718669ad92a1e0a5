//! Sessions and invitations of users as rows. The store has only hashes of their tokens.

use jiff::Timestamp;
use tillgate_domain::access::session::{IDLE_LIMIT, SESSION_LIMIT, SessionTimes};
use tillgate_domain::id::UserId;
use tillgate_engine::{Row, Session, ToValue, params};

use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{Store, StoreError};

/// SHA-256 of a token.
pub type TokenHash = [u8; 32];

/// Columns of a session, in the order in which [`read_session`] reads them.
const COLUMNS: &str = "number, created, used, confirmed, ended, address, agent, factor";

/// A session of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// The number. It is no secret.
    pub number: i64,
    /// The times.
    pub times: SessionTimes,
    /// The address from which it was begun.
    pub address: String,
    /// The browser with which it was begun, as it names itself.
    pub agent: String,
    /// The time of the latest second factor.
    pub factor: Option<Timestamp>,
}

/// An invitation of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInvitation {
    /// The time from which it is refused.
    pub expires: Timestamp,
    /// True if it has been used, or replaced by another one.
    pub is_used: bool,
    /// The user who made it. `None` for a command.
    pub inviter: Option<UserId>,
}

impl StoredInvitation {
    /// Returns true if the invitation can be used at a time.
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.is_used && now < self.expires
    }
}

impl Store {
    /// Loads the sessions of a user that give access, newest first. The limit counts no others, so a guesser who begins
    /// many sessions without a second factor hides none.
    pub fn load_sessions(&self, user: &UserId, now: Timestamp) -> Result<Vec<StoredSession>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM user_session WHERE user = ?1 AND ended IS NULL AND confirmed IS NOT NULL
             AND created > ?2 AND used > ?3 ORDER BY number DESC LIMIT 100"
        );
        let since = |limit| now.checked_sub(limit).map_or(0, Timestamp::as_millisecond);
        let (created, used) = (since(SESSION_LIMIT), since(IDLE_LIMIT));
        self.run_read(|session| Ok(session.query_all(&query, params![user.as_str(), created, used], read_session)?))
    }

    /// Stores the time of the latest use of a session.
    pub async fn record_session_use(&self, number: i64, now: Timestamp) -> Result<(), StoreError> {
        let query = "UPDATE user_session SET used = ?2 WHERE number = ?1 AND used < ?2 AND ended IS NULL";
        let now = now.as_millisecond();
        self.run_write(move |session| Ok(session.execute(query, params![number, now]).map(drop)?)).await
    }
}

/// Loads a session by the hash of its token, with its user.
pub(super) fn load_session(
    session: &dyn Session,
    hash: &TokenHash,
) -> Result<Option<(StoredSession, String)>, StoreError> {
    select_session(session, "hash", hash)
}

/// Loads a session by its number, with its user.
pub(super) fn load_numbered_session(
    session: &dyn Session,
    number: i64,
) -> Result<Option<(StoredSession, String)>, StoreError> {
    select_session(session, "number", &number)
}

fn select_session(
    session: &dyn Session,
    column: &str,
    value: &dyn ToValue,
) -> Result<Option<(StoredSession, String)>, StoreError> {
    let query = format!("SELECT {COLUMNS}, user FROM user_session WHERE {column} = ?1");
    session.query_optional(&query, [value], |row| Ok((read_session(row)?, row.get(8)?)))
}

/// Loads an invitation by the hash of its token, with its user.
pub(super) fn load_invitation(
    session: &dyn Session,
    hash: &TokenHash,
) -> Result<Option<(StoredInvitation, String)>, StoreError> {
    let query = "SELECT expires, used, user, inviter FROM user_invitation WHERE hash = ?1";
    let read = |row: &Row<'_>| {
        let is_used = row.get::<Option<i64>>(1)?.is_some();
        let inviter = row.get::<Option<String>>(3)?.map(|id| UserId::parse(&id).ok_or(id)).transpose();
        let inviter = inviter.map_err(|_| tillgate_engine::Error::unreadable(3, "id of a user"))?;
        Ok((StoredInvitation { expires: timestamp_from_milliseconds(row.get(0)?), is_used, inviter }, row.get(2)?))
    };
    session.query_optional(query, [hash], read)
}

/// Reads a session from a row that begins with [`COLUMNS`].
fn read_session(row: &Row<'_>) -> tillgate_engine::Result<StoredSession> {
    let time = |column| row.get::<Option<i64>>(column).map(|time| time.map(timestamp_from_milliseconds));
    Ok(StoredSession {
        number: row.get(0)?,
        times: SessionTimes {
            created: timestamp_from_milliseconds(row.get(1)?),
            last_used: timestamp_from_milliseconds(row.get(2)?),
            confirmed: time(3)?,
            ended: time(4)?,
        },
        address: row.get(5)?,
        agent: row.get(6)?,
        factor: time(7)?,
    })
}
