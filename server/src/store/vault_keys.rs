//! The vault's keys as the store knows them: their ids, never the keys. A process whose keys cannot open what the store holds is
//! told so before it seals anything.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::sealed::{SealedCount, count_by_key};
use super::{AdminStore, StoreError};
use crate::vault::{KeyId, KeySource, Vault};

/// The vault of a server, and the source of its keys, which is read again when another process has changed them.
pub struct Keyring {
    /// The vault.
    pub vault: Arc<Vault>,
    /// The source of its keys.
    pub source: KeySource,
}

/// A key that the store knows.
#[derive(Debug, Clone)]
pub struct KnownKey {
    /// Its id.
    pub id: KeyId,
    /// The time when it was first used.
    pub created: Timestamp,
    /// The time from which nothing is sealed under it any more.
    pub retired: Option<Timestamp>,
}

/// Loads the keys, oldest first.
fn list(connection: &Connection) -> Result<Vec<KnownKey>, StoreError> {
    let instant = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    let mut statement = connection.prepare_cached("SELECT id, created, retired FROM vault_key ORDER BY created, id")?;
    let rows = statement.query_map([], |row| {
        Ok(KnownKey {
            id: KeyId(row.get(0)?),
            created: instant(row.get(1)?),
            retired: row.get::<_, Option<i64>>(2)?.map(instant),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the keys of the store that are not among `ids` and have sealed records.
fn missing(connection: &Connection, ids: &[KeyId]) -> Result<Vec<KeyId>, StoreError> {
    let mut missing = Vec::new();
    for key in list(connection)? {
        // The records are counted only where a key is not there, which is an operator's mistake.
        if key.retired.is_none() && !ids.contains(&key.id) && !count_by_key(connection, key.id)?.is_empty() {
            missing.push(key.id);
        }
    }
    Ok(missing)
}

/// Notes which keys a server has.
pub(super) fn note_loaded(connection: &Connection, vault: &Vault) -> Result<(), StoreError> {
    let ids = vault.key_ids();
    for key in list(connection)? {
        let query = "UPDATE vault_key SET loaded = ?2 WHERE id = ?1 AND loaded <> ?2";
        connection.execute(query, params![key.id.0, ids.contains(&key.id)])?;
    }
    Ok(())
}

/// Reads a server's keys again if the store knows others than it has. Called when another process has written.
pub(super) fn refresh(connection: &Connection, vault: &Vault, source: &KeySource) -> Result<(), StoreError> {
    let ids = vault.key_ids();
    let known = list(connection)?;
    let changed = known.iter().any(|key| key.retired.is_none() != ids.contains(&key.id));
    if !changed {
        return Ok(());
    }
    match source.read() {
        Ok(Some(keys))
            if missing(connection, &keys.iter().map(crate::vault::MasterKey::id).collect::<Vec<_>>())?.is_empty() =>
        {
            vault.replace_keys(&keys);
            if vault.key_ids() != ids {
                tracing::info!(keys = ?vault.key_ids().iter().map(ToString::to_string).collect::<Vec<_>>(), "vault keys");
            }
        }
        Ok(_) => tracing::error!(%source, "the vault's key file lacks a key that is in use; the keys of before stay"),
        Err(error) => tracing::error!(%error, "reading the vault's keys again; those of before stay"),
    }
    note_loaded(connection, vault)
}

impl AdminStore {
    /// Loads the keys that the store knows, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn vault_keys(&self) -> Result<Vec<KnownKey>, StoreError> {
        list(&self.connection)
    }

    /// Returns the keys of the store that are not among `ids` and have sealed records.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn missing_vault_keys(&self, ids: &[KeyId]) -> Result<Vec<KeyId>, StoreError> {
        missing(&self.connection, ids)
    }

    /// Notes a key that is about to seal.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn register_vault_key(&self, id: KeyId, now: Timestamp) -> Result<(), StoreError> {
        let query = "SELECT 1 FROM vault_key WHERE id = ?1";
        let known: Option<i64> = self.connection.query_row(query, [id.0], |row| row.get(0)).optional()?;
        if known.is_none() {
            let query = "INSERT OR IGNORE INTO vault_key (id, created) VALUES (?1, ?2)";
            self.connection.execute(query, params![id.0, now.as_millisecond()])?;
        }
        Ok(())
    }

    /// Returns true if a running server has loaded a key.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_vault_key_loaded(&self, id: KeyId) -> Result<bool, StoreError> {
        let query = "SELECT loaded FROM vault_key WHERE id = ?1";
        Ok(self.connection.query_row(query, [id.0], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// Retires a key, so that nothing is sealed under it any more. Returns the records that are still sealed under it, and
    /// retires nothing if there are any.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn retire_vault_key(&self, id: KeyId, now: Timestamp) -> Result<Vec<SealedCount>, StoreError> {
        self.in_transaction(|store| {
            let mut found = store.count_sealed_by(id)?;
            let replays = "SELECT count(*) FROM answer
                WHERE until > ?2 AND (substr(fingerprint, 1, 4) = ?1 OR length(fingerprint) = 32)";
            let given = params![id.0, now.as_millisecond()];
            let replays: i64 = store.connection.query_row(replays, given, |row| row.get(0))?;
            if replays > 0 {
                found.push(("responses that may be replayed within 24 hours", replays.unsigned_abs()));
            }
            if found.is_empty() {
                let query = "UPDATE vault_key SET retired = ?2, loaded = 0 WHERE id = ?1 AND retired IS NULL";
                store.connection.execute(query, params![id.0, now.as_millisecond()])?;
            }
            Ok(found)
        })
    }

    /// Touches a key's row, so that a running server looks at its keys again.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn announce_vault_key(&self, id: KeyId) -> Result<(), StoreError> {
        self.connection.execute("UPDATE vault_key SET created = created WHERE id = ?1", [id.0])?;
        Ok(())
    }
}
