//! Passkeys of users as rows, and the challenges that wait for their answers.

use jiff::Timestamp;
use tillgate_domain::access::passkey::{CHALLENGE_LIMIT, ChallengePurpose};
use tillgate_domain::id::UserId;
use tillgate_engine::{Row, Session, params};

use crate::access::user_session::TokenHash;
use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::{Store, StoreError};

/// Columns of a passkey, in the order in which [`read_passkey`] reads them.
const COLUMNS: &str = "id, user, credential, host, name, key, created, used";

/// A passkey of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPasskey {
    /// The id: 16 hexadecimal digits.
    pub id: String,
    /// The user.
    pub user: UserId,
    /// The id that the authenticator has chosen.
    pub credential: Vec<u8>,
    /// The host for which it was made.
    pub host: String,
    /// The name that the user has given.
    pub name: String,
    /// The public key with its counter, as JSON.
    pub key: Vec<u8>,
    /// The time of creation.
    pub created: Timestamp,
    /// The time of the latest sign-in.
    pub last_used: Option<Timestamp>,
}

/// A challenge that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChallenge {
    /// The purpose.
    pub purpose: ChallengePurpose,
    /// The number of the session that waits. `None` for a sign-in without a user name.
    pub session: Option<i64>,
    /// The name of the passkey to add. Otherwise empty.
    pub name: String,
    /// The state with which the answer is checked, as JSON.
    pub state: Vec<u8>,
    /// The time of creation.
    pub created: Timestamp,
}

impl Store {
    /// Loads the passkeys of a user, oldest first.
    pub fn load_passkeys(&self, user: &UserId) -> Result<Vec<StoredPasskey>, StoreError> {
        self.run_read(|session| load_passkeys(session, user))
    }

    /// Finds a passkey by the id that its authenticator has chosen. Returns `None` if there is none.
    pub fn find_passkey(&self, credential: &[u8]) -> Result<Option<StoredPasskey>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM passkey WHERE credential = ?1");
        self.run_read(|session| Ok(session.query_optional(&query, [credential], read_passkey)?))
    }

    /// Stores a challenge under the hash of its token, in place of an earlier one of its session, and deletes some that
    /// are too old.
    pub async fn add_challenge(&self, hash: TokenHash, challenge: StoredChallenge) -> Result<(), StoreError> {
        self.run_write(move |session| {
            let now = challenge.created.as_millisecond();
            let oldest = challenge.created.checked_sub(CHALLENGE_LIMIT).map_or(0, Timestamp::as_millisecond);
            // A few at a time, so that no write is long after a flood. More go with each challenge than come.
            let statement = "DELETE FROM passkey_challenge WHERE hash IN
                 (SELECT hash FROM passkey_challenge WHERE created < ?1 LIMIT 10)";
            session.execute(statement, [oldest])?;
            let statement = "DELETE FROM passkey_challenge WHERE session = ?1";
            session.execute(statement, [challenge.session])?;
            let statement = "INSERT INTO passkey_challenge (hash, purpose, session, name, state, created)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let StoredChallenge { purpose, session: of_session, name, state, .. } = &challenge;
            session.execute(statement, params![hash, purpose.as_str(), of_session, name, state, now])?;
            Ok(())
        })
        .await
    }

    /// Loads and deletes a challenge, so that it is used once. Returns `None` if there is none.
    pub async fn take_challenge(&self, hash: TokenHash) -> Result<Option<StoredChallenge>, StoreError> {
        // Anybody may send a token, and a made-up one must not take a place in the queue of payments.
        let is_known = self.run_read(|session| {
            let query = "SELECT 1 FROM passkey_challenge WHERE hash = ?1";
            Ok(session.has_row(query, [hash])?)
        })?;
        if !is_known {
            return Ok(None);
        }
        self.run_write(move |session| {
            let query = "SELECT purpose, session, name, state, created FROM passkey_challenge WHERE hash = ?1";
            let found = session.query_optional(query, [hash], read_challenge)?;
            session.execute("DELETE FROM passkey_challenge WHERE hash = ?1", [hash])?;
            Ok(found)
        })
        .await
    }
}

/// Loads the passkeys of a user, oldest first.
pub(super) fn load_passkeys(session: &dyn Session, user: &UserId) -> Result<Vec<StoredPasskey>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM passkey WHERE user = ?1 ORDER BY created, id");
    Ok(session.query_all(&query, [user.as_str()], read_passkey)?)
}

/// Adds a passkey.
pub(super) fn add_passkey(session: &dyn Session, passkey: &StoredPasskey) -> Result<(), StoreError> {
    let statement = "INSERT INTO passkey (id, user, credential, host, name, key, created)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let StoredPasskey { id, user, credential, host, name, key, created, .. } = passkey;
    let parameters = params![id, user.as_str(), credential, host, name, key, created.as_millisecond()];
    session.execute(statement, parameters)?;
    Ok(())
}

fn read_passkey(row: &Row<'_>) -> tillgate_engine::Result<StoredPasskey> {
    let user: String = row.get(1)?;
    Ok(StoredPasskey {
        id: row.get(0)?,
        user: UserId::parse(&user).ok_or_else(|| tillgate_engine::Error::unreadable(1, "id of a user"))?,
        credential: row.get(2)?,
        host: row.get(3)?,
        name: row.get(4)?,
        key: row.get(5)?,
        created: timestamp_from_milliseconds(row.get(6)?),
        last_used: row.get::<Option<i64>>(7)?.map(timestamp_from_milliseconds),
    })
}

fn read_challenge(row: &Row<'_>) -> tillgate_engine::Result<StoredChallenge> {
    let purpose: String = row.get(0)?;
    Ok(StoredChallenge {
        purpose: ChallengePurpose::parse(&purpose)
            .ok_or_else(|| tillgate_engine::Error::unreadable(0, "purpose of a challenge"))?,
        session: row.get(1)?,
        name: row.get(2)?,
        state: row.get(3)?,
        created: timestamp_from_milliseconds(row.get(4)?),
    })
}
