//! Keys that wallets encrypt for, and the tokens that have paid.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{AdminStore, Store, StoreError};
use crate::domain::id::EntityId;

/// A channel's key pair as it is stored.
#[derive(Debug, Clone)]
pub struct KeptKey {
    /// Whose it is.
    pub entity: EntityId,
    /// Its name, which follows from the public half.
    pub id: String,
    /// The public half.
    pub public: Vec<u8>,
    /// The secret half, sealed in the vault.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created: Timestamp,
    /// Since when it opens nothing any more; its secret half is gone.
    pub retired: Option<Timestamp>,
}

/// A wallet token that pays, by its own id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletToken {
    /// The channel that it pays.
    pub entity: EntityId,
    /// Its own id.
    pub id: String,
    /// When it becomes worthless, and needs to be remembered no longer.
    pub until: Timestamp,
}

impl Store {
    /// A channel's keys, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn wallet_keys(&self, entity: &EntityId) -> Result<Vec<KeptKey>, StoreError> {
        self.read(|connection| keys(connection, entity))
    }

    /// A channel's key by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn wallet_key(&self, entity: &EntityId, id: &str) -> Result<Option<KeptKey>, StoreError> {
        self.read(|connection| Ok(keys(connection, entity)?.into_iter().find(|key| key.id == id)))
    }

    /// Forgets the tokens that are worthless by now. Looks with a reader first, so that an idle server writes nothing.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub async fn forget_wallet_tokens(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = now.as_millisecond();
        let due: bool = self.read(|connection| {
            let query = "SELECT EXISTS (SELECT 1 FROM wallet_token WHERE until <= ?1)";
            Ok(connection.prepare_cached(query)?.query_row([now], |row| row.get(0))?)
        })?;
        if due {
            self.run(move |connection| Ok(connection.execute("DELETE FROM wallet_token WHERE until <= ?1", [now])?))
                .await?;
        }
        Ok(())
    }
}

/// Loads the keys of a channel, oldest first.
fn keys(connection: &Connection, entity: &EntityId) -> Result<Vec<KeptKey>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, public, sealed, created, retired FROM wallet_key WHERE entity = ?1 ORDER BY created, id",
    )?;
    let instant = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    let rows = statement.query_map([entity.as_str()], |row| {
        Ok(KeptKey {
            entity: entity.clone(),
            id: row.get(0)?,
            public: row.get(1)?,
            sealed: row.get(2)?,
            created: instant(row.get(3)?),
            retired: row.get::<_, Option<i64>>(4)?.map(instant),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl AdminStore {
    /// Loads a channel's keys, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn wallet_keys(&self, entity: &EntityId) -> Result<Vec<KeptKey>, StoreError> {
        keys(&self.connection, entity)
    }

    /// Adds a key.
    ///
    /// # Errors
    /// When the store cannot be written, or there is no such entity.
    pub fn add_wallet_key(&self, key: &KeptKey) -> Result<(), StoreError> {
        self.connection.execute(
            "INSERT INTO wallet_key (entity, id, public, sealed, created) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key.entity.as_str(), key.id, key.public, key.sealed, key.created.as_millisecond()],
        )?;
        Ok(())
    }

    /// Retires a key: its secret half is deleted for good. Returns true if there was such a key that was not retired yet.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn retire_wallet_key(&self, entity: &EntityId, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.connection.execute(
            "UPDATE wallet_key SET retired = ?3, sealed = x'' WHERE entity = ?1 AND id = ?2 AND retired IS NULL",
            params![entity.as_str(), id, now.as_millisecond()],
        )?;
        Ok(changed == 1)
    }
}

/// Whether a token has paid already.
pub(super) fn is_used(connection: &Connection, token: &WalletToken) -> Result<bool, StoreError> {
    let found = connection
        .prepare_cached("SELECT 1 FROM wallet_token WHERE until = ?1 AND entity = ?2 AND id = ?3")?
        .query_row(params![token.until.as_millisecond(), token.entity.as_str(), token.id], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}

/// Remembers that a token has paid.
pub(super) fn remember(connection: &Connection, token: &WalletToken) -> Result<(), StoreError> {
    connection.prepare_cached("INSERT INTO wallet_token (until, entity, id) VALUES (?1, ?2, ?3)")?.execute(params![
        token.until.as_millisecond(),
        token.entity.as_str(),
        token.id
    ])?;
    Ok(())
}
