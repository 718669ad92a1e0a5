//! The store's record of the vault's keys: their ids, never the keys. It lets a process detect that its keys cannot
//! open stored records, before it seals anything. The vault ([`Keyring`]) and the gateway decide on the consequences.

use jiff::Timestamp;
use tillgate_domain::id::to_hex;
use tillgate_engine::{Session, params};
use tillgate_vault::{KeyId, Keyring, Vault};

use crate::admin::Act;
use crate::keys::sealed::count_by_key;
use crate::{AdminStore, StoreError};

/// A recorded key.
#[derive(Debug, Clone)]
pub struct VaultKeyRecord {
    /// The id.
    pub id: KeyId,
    /// The time of its first use.
    pub created: Timestamp,
    /// The time of its retirement, from which nothing is sealed under it. `None` if it is not retired.
    pub retired: Option<Timestamp>,
}

/// Loads the recorded keys, oldest first, including retired ones.
pub(crate) fn load_key_records(session: &dyn Session) -> Result<Vec<VaultKeyRecord>, StoreError> {
    let timestamp = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    let query = "SELECT id, created, retired FROM vault_key ORDER BY created, id";
    session.query_all(query, (), |row| {
        Ok(VaultKeyRecord {
            id: KeyId(row.get(0)?),
            created: timestamp(row.get(1)?),
            retired: row.get::<Option<i64>>(2)?.map(timestamp),
        })
    })
}

/// Returns the recorded keys that are not in `ids`, not retired, and have sealed records.
fn find_missing_keys(session: &dyn Session, ids: &[KeyId]) -> Result<Vec<KeyId>, StoreError> {
    let mut missing = Vec::new();
    for key in load_key_records(session)? {
        // Counts the records only if a key is missing, which is an operator's mistake.
        if key.retired.is_none() && !ids.contains(&key.id) && !count_by_key(session, key.id)?.is_empty() {
            missing.push(key.id);
        }
    }
    Ok(missing)
}

/// Records for the commands which keys of the vault a server has loaded.
pub(crate) type NoteLoadedKeys = fn(&dyn Session, &Vault) -> Result<(), StoreError>;

/// Records for each recorded key of a file if its server has loaded the key. Keys that are not recorded are left out.
pub(crate) fn record_loaded_keys(session: &dyn Session, vault: &Vault) -> Result<(), StoreError> {
    let ids = vault.key_ids();
    for key in load_key_records(session)? {
        let query = "UPDATE vault_key SET loaded = ?2 WHERE id = ?1 AND loaded <> ?2";
        session.execute(query, params![key.id.0, ids.contains(&key.id)])?;
    }
    Ok(())
}

/// Reloads a server's keys if the store has recorded others, and returns true then. If the new keys lack a needed one
/// or cannot be read, the previous ones stay loaded, without an error. Called after another process has written.
pub(crate) fn refresh_keyring(session: &dyn Session, keys: &Keyring) -> Result<bool, StoreError> {
    let records = load_key_records(session)?;
    // Every write of another process leads here, and few of them change the keys.
    if keys.is_current(records.iter().map(|key| (key.id, key.retired.is_none()))) {
        return Ok(false);
    }
    keys.reload_keys(|ids| find_missing_keys(session, ids))?;
    Ok(true)
}

impl AdminStore {
    /// Loads the recorded keys, oldest first, including retired ones.
    pub fn load_vault_keys(&self) -> Result<Vec<VaultKeyRecord>, StoreError> {
        load_key_records(&*self.session)
    }

    /// Returns the recorded keys that are not in `ids`, not retired, and have sealed records.
    pub fn find_missing_vault_keys(&self, ids: &[KeyId]) -> Result<Vec<KeyId>, StoreError> {
        find_missing_keys(&*self.session, ids)
    }

    /// Records the first of `held` before it seals anything. Returns the recorded keys, and records nothing, if none of
    /// them is held: another process has made the key of this store first. Does nothing if it is recorded already, also
    /// as retired.
    pub fn register_first_key(&self, held: &[KeyId], now: Timestamp) -> Result<Vec<KeyId>, StoreError> {
        let Some(first) = held.first() else { return Ok(Vec::new()) };
        // Read first, so that a key that is known already takes no write lock.
        if self.is_vault_key_known(*first)? {
            return Ok(Vec::new());
        }
        // Under the write lock, so that of two servers that start at the same time one sees the key of the other.
        self.in_transaction(|store| {
            let recorded = load_key_records(&*store.session)?;
            let current: Vec<KeyId> = recorded.iter().filter(|key| key.retired.is_none()).map(|key| key.id).collect();
            if !current.is_empty() && !current.iter().any(|id| held.contains(id)) {
                return Ok(current);
            }
            store.register_vault_key(*first, now)?;
            Ok(Vec::new())
        })
    }

    /// Records a key before its first use for sealing. Does nothing if it is recorded already, also as retired.
    pub fn register_vault_key(&self, id: KeyId, now: Timestamp) -> Result<(), StoreError> {
        // Read first, so that a key that is known already takes no write lock.
        if !self.is_vault_key_known(id)? {
            let act = Act { action: "vault-key add", subject: &to_hex(&id.0), entity: None, details: &[] };
            let query = "INSERT INTO vault_key (id, created) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            self.execute_act(&act, query, params![id.0, now.as_millisecond()])?;
        }
        Ok(())
    }

    /// Returns true if a key is recorded, also as retired.
    fn is_vault_key_known(&self, id: KeyId) -> Result<bool, StoreError> {
        Ok(self.session.has_row("SELECT 1 FROM vault_key WHERE id = ?1", [id.0])?)
    }

    /// Returns true if the server of a file has loaded a key. An unknown key gives false.
    pub fn is_vault_key_loaded(&self, id: KeyId) -> Result<bool, StoreError> {
        let query = "SELECT loaded FROM vault_key WHERE id = ?1";
        Ok(self.session.query_optional(query, [id.0], |row| row.get(0))?.unwrap_or(false))
    }

    /// Counts the stored responses, unexpired at `now`, whose requests are recognised with a key. Responses of an
    /// earlier version do not name their key, so they are counted for every key.
    pub fn count_responses_by_key(&self, id: KeyId, now: Timestamp) -> Result<u64, StoreError> {
        let query = "SELECT count(*) FROM answer
            WHERE until > ?2 AND (substr(fingerprint, 1, 4) = ?1 OR length(fingerprint) = 32)";
        let count: i64 = self.session.query_one(query, params![id.0, now.as_millisecond()], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Records that nothing is sealed under a key any more. Does nothing if it is retired already. Run it in the
    /// transaction that checked this.
    pub fn retire_vault_key(&self, id: KeyId, now: Timestamp) -> Result<(), StoreError> {
        let act = Act { action: "vault-key retire", subject: &to_hex(&id.0), entity: None, details: &[] };
        let query = "UPDATE vault_key SET retired = ?2, loaded = 0 WHERE id = ?1 AND retired IS NULL";
        self.execute_act(&act, query, params![id.0, now.as_millisecond()])?;
        Ok(())
    }

    /// Updates a key's row without a change, so that running servers notice a write and check their keys.
    pub fn touch_vault_key(&self, id: KeyId) -> Result<(), StoreError> {
        self.session.execute("UPDATE vault_key SET created = created WHERE id = ?1", [id.0])?;
        Ok(())
    }
}
