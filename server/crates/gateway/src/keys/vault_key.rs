//! The vault's keys for administrators: the records under each, and the end of earlier keys. An act reads no key; the
//! surface passes the ids of those that it has.

use jiff::Timestamp;
use tillgate_store::keys::key_retirement::{RetireError, retire_key};
use tillgate_vault::KeyId;

use crate::administration::{ActError, Administration};

/// A key of the vault.
#[derive(Debug, Clone)]
pub struct VaultKeyReport {
    /// The key's id.
    pub key: KeyId,
    /// The use of the key: `seals`, `opens`, `missing` or `retired`.
    pub state: &'static str,
    /// The time of its creation.
    pub created: Timestamp,
    /// The number of records that are sealed under it.
    pub records: u64,
}

impl Administration {
    /// Lists the keys that the store has recorded. `held` are the keys that the vault has, the one that seals first.
    pub fn list_vault_keys(&self, held: &[KeyId]) -> Result<Vec<VaultKeyReport>, ActError> {
        let mut reports = Vec::new();
        for key in self.store.load_vault_keys()? {
            let state = match held.iter().position(|id| *id == key.id) {
                _ if key.retired.is_some() => "retired",
                Some(0) => "seals",
                Some(_) => "opens",
                None => "missing",
            };
            let records = self.store.count_sealed_by(key.id)?.iter().map(|(_, count)| count).sum();
            reports.push(VaultKeyReport { key: key.id, state, created: key.created, records });
        }
        Ok(reports)
    }

    /// Retires a key. `sealing` is the key that seals. `remove_key` then takes the retired key out of the vault, before
    /// running servers are told to read their keys again.
    ///
    /// # Errors
    /// If the store knows no such key, it seals, or records or responses that may be replayed still need it; also if
    /// `remove_key` fails.
    pub fn retire_vault_key<E: From<ActError>>(
        &self,
        id: KeyId,
        sealing: Option<KeyId>,
        remove_key: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_retirement(id, sealing)?;
        retire_key(&self.store, id, self.now()).map_err(|error| describe_retirement(id, error))?;
        remove_key()?;
        Ok(self.store.touch_vault_key(id).map_err(ActError::from)?)
    }

    fn check_retirement(&self, id: KeyId, sealing: Option<KeyId>) -> Result<(), ActError> {
        let refuse = |message: String| Err(ActError::refuse("key", message));
        if !self.store.load_vault_keys()?.iter().any(|key| key.id == id) {
            return refuse(format!("the store knows no vault key {id}; `tillgate vault list` shows those it knows"));
        }
        if sealing == Some(id) {
            return refuse(format!("{id} is the key that seals: run `tillgate vault rotate` first"));
        }
        Ok(())
    }
}

/// Describes why a key cannot be retired.
fn describe_retirement(id: KeyId, error: RetireError) -> ActError {
    match error {
        RetireError::Store(error) => error.into(),
        RetireError::InUse { records, replays } => {
            let mut uses: Vec<String> = records.iter().map(|(table, count)| format!("{count} {table}")).collect();
            if replays > 0 {
                uses.push(format!("{replays} responses that may be replayed within 24 hours"));
            }
            let uses = uses.join(", ");
            ActError::refuse("key", format!("{id} is in use ({uses}): run `tillgate vault rotate`, or try again later"))
        }
    }
}
