//! Access tokens: the stored halves, and the key of their hashes.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{AdminStore, Store, StoreError};
use crate::credential::{Credential, HashKey, Usage};
use crate::domain::id::EntityId;
use crate::domain::scope::Scopes;
use crate::vault::{Vault, VaultError};

/// The name of the hash key, as a row and as a record of the vault.
const HASH_KEY: &str = "token hash key";

/// A token as `token list` shows it; the secret half is nowhere.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    /// The public half of the pair.
    pub user_id: String,
    /// The entity that it speaks for.
    pub entity_id: String,
    /// Its purpose, in the operator's words.
    pub label: String,
    /// When it was made.
    pub created: Timestamp,
    /// Since when it is no longer valid.
    pub revoked: Option<Timestamp>,
    /// The moment from which it is refused.
    pub expires: Option<Timestamp>,
    /// Networks that it may be used from; empty for all.
    pub networks: Vec<String>,
    /// The kinds of requests that it may make.
    pub scopes: Vec<String>,
    /// The latest use, to the minute.
    pub last_used: Option<Timestamp>,
}

/// Why there is no hash key.
#[derive(Debug, thiserror::Error)]
pub enum HashKeyError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault has another key than the one that sealed it.
    #[error("the key of the token hashes cannot be opened: is this the vault's key of this store? {0}")]
    Vault(#[from] VaultError),
}

/// Loads valid tokens by user id.
pub(super) fn valid(connection: &Connection) -> Result<HashMap<String, Credential>, StoreError> {
    let mut by_user = HashMap::new();
    let mut statement = connection.prepare(
        "SELECT user_id, hash, entity, keyed, expires, networks, scopes, used FROM token WHERE revoked IS NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (entity, networks, scopes): (String, String, String) = (row.get(2)?, row.get(5)?, row.get(6)?);
        let Some(entity) = EntityId::parse(&entity) else { continue };
        // A token with a network that cannot be read is valid nowhere.
        let networks: Result<Vec<_>, _> = words(&networks).map(str::parse).collect();
        let Ok(networks) = networks else { continue };
        let credential = Credential {
            user_id: row.get(0)?,
            hash: row.get(1)?,
            keyed: row.get(3)?,
            entity,
            expires: row.get::<_, Option<i64>>(4)?.map(instant),
            networks,
            scopes: Scopes::parse(&scopes),
            usage: Usage::stored(row.get(7)?).into(),
        };
        by_user.insert(credential.user_id.clone(), credential);
    }
    Ok(by_user)
}

impl AdminStore {
    /// Adds a token; only the hash of its secret half is stored.
    ///
    /// # Errors
    /// When the store cannot be written, or there is no such entity.
    pub fn add_token(&self, credential: &Credential, label: &str, now: Timestamp) -> Result<(), StoreError> {
        let networks: Vec<String> = credential.networks.iter().map(ToString::to_string).collect();
        self.connection.execute(
            "INSERT INTO token (user_id, entity, hash, label, created, keyed, expires, networks, scopes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                credential.user_id,
                credential.entity.as_str(),
                credential.hash,
                label,
                now.as_millisecond(),
                credential.keyed,
                credential.expires.map(|expires| expires.as_millisecond()),
                networks.join(","),
                credential.scopes.to_string()
            ],
        )?;
        Ok(())
    }

    /// Loads the tokens of an entity, or all, revoked ones too, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tokens(&self, entity: Option<&EntityId>) -> Result<Vec<TokenInfo>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT user_id, entity, label, created, revoked, expires, networks, scopes, used FROM token
             WHERE ?1 IS NULL OR entity = ?1 ORDER BY created, user_id",
        )?;
        let rows = statement.query_map([entity.map(EntityId::as_str)], |row| {
            let (networks, scopes): (String, String) = (row.get(6)?, row.get(7)?);
            Ok(TokenInfo {
                user_id: row.get(0)?,
                entity_id: row.get(1)?,
                label: row.get(2)?,
                created: instant(row.get(3)?),
                revoked: row.get::<_, Option<i64>>(4)?.map(instant),
                expires: row.get::<_, Option<i64>>(5)?.map(instant),
                networks: words(&networks).map(str::to_owned).collect(),
                scopes: words(&scopes).map(str::to_owned).collect(),
                last_used: row.get::<_, Option<i64>>(8)?.map(instant),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Makes a token invalid. Returns true if there was a valid one with this user id.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn revoke_token(&self, user_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.connection.execute(
            "UPDATE token SET revoked = ?2 WHERE user_id = ?1 AND revoked IS NULL",
            params![user_id, now.as_millisecond()],
        )?;
        Ok(changed == 1)
    }
}

impl Store {
    /// Opens the key of the token hashes; makes it on first use. It is random and sealed, not derived from the vault's key, so
    /// that hashes survive when the vault gets a new key.
    ///
    /// # Errors
    /// When the store cannot be read or written, or the vault has another key than the one that sealed it.
    pub async fn token_hash_key(&self, vault: &Vault) -> Result<HashKey, HashKeyError> {
        let sealed = |connection: &Connection| -> Result<Option<Vec<u8>>, StoreError> {
            let query = "SELECT sealed FROM sealed_key WHERE name = ?1";
            Ok(connection.query_row(query, [HASH_KEY], |row| row.get(0)).optional()?)
        };
        let found = match self.read(sealed)? {
            Some(found) => found,
            None => {
                let mut bytes = zeroize::Zeroizing::new([0; 32]);
                self.sources.randomness.fill(&mut *bytes).map_err(StoreError::from)?;
                let made = vault.seal(HASH_KEY, &*bytes)?;
                self.run(move |connection| {
                    let query = "INSERT OR IGNORE INTO sealed_key (name, sealed) VALUES (?1, ?2)";
                    connection.execute(query, params![HASH_KEY, made])?;
                    // Another node may have been faster.
                    Ok(sealed(connection)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
                })
                .await?
            }
        };
        let bytes = vault.open(HASH_KEY, &found)?;
        Ok(HashKey::new(bytes.as_slice().try_into().map_err(|_| VaultError::damaged())?))
    }

    /// Keys these hashes. What was stored without a key is overwritten.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn key_token_hashes(&self, hashes: Vec<(String, [u8; 32])>) -> Result<(), StoreError> {
        self.run(move |connection| {
            for (user_id, hash) in &hashes {
                let query = "UPDATE token SET hash = ?2, keyed = 1 WHERE user_id = ?1 AND NOT keyed";
                connection.execute(query, params![user_id, hash])?;
            }
            Ok(())
        })
        .await?;
        self.something_was_deleted();
        self.fill_directory().await
    }

    /// Notes when tokens were used.
    ///
    /// # Errors
    /// Same as [`Store::update`].
    pub async fn note_tokens_used(&self, used: Vec<(String, i64)>) -> Result<(), StoreError> {
        self.run(move |connection| {
            for (user_id, used) in &used {
                let query = "UPDATE token SET used = max(coalesce(used, 0), ?2) WHERE user_id = ?1";
                connection.prepare_cached(query)?.execute(params![user_id, used])?;
            }
            Ok(())
        })
        .await
    }
}

/// The words of a list with commas.
fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|word| !word.is_empty())
}

fn instant(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
