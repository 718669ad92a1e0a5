//! The vault of a running server, and the reloading of its keys.

use std::sync::Arc;

use super::{KeyId, KeySource, MasterKey, Vault};

/// The vault of a server, and the source of its keys, which is reloaded when another process has changed the keys.
pub struct Keyring {
    /// The vault.
    pub vault: Arc<Vault>,
    /// The source of its keys.
    pub source: KeySource,
}

impl Keyring {
    /// Returns true if the vault has every valid key of the store and no retired one. `known` contains the store's
    /// keys, each with true if it is valid. Further keys of the vault do not matter.
    pub fn is_current(&self, known: impl IntoIterator<Item = (KeyId, bool)>) -> bool {
        let ids = self.vault.key_ids();
        known.into_iter().all(|(id, is_valid)| is_valid == ids.contains(&id))
    }

    /// Reads the keys again, and uses them if they open everything in the store. `find_missing` receives their ids and
    /// returns the other keys that the store needs. If one is missing, or the source is empty, absent or unreadable,
    /// the previous keys stay in use and an error is logged.
    ///
    /// # Errors
    /// If `find_missing` fails.
    pub fn reload_keys<E>(&self, find_missing: impl FnOnce(&[KeyId]) -> Result<Vec<KeyId>, E>) -> Result<(), E> {
        let Self { vault, source } = self;
        let keys = match source.read_keys() {
            Ok(keys) => keys.unwrap_or_default(),
            Err(error) => {
                tracing::error!(%error, "reloading the vault's keys failed; the previous keys stay in use");
                return Ok(());
            }
        };
        let ids: Vec<KeyId> = keys.iter().map(MasterKey::id).collect();
        if ids.is_empty() || !find_missing(&ids)?.is_empty() {
            tracing::error!(%source, "the vault's key file lacks a key that is in use; the previous keys stay in use");
        } else if ids != vault.key_ids() {
            vault.replace_keys(&keys);
            tracing::info!(keys = ?ids.iter().map(ToString::to_string).collect::<Vec<_>>(), "the vault's keys were loaded");
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn keys_are_taken_when_they_open_everything_and_stay_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tillgate.key");
        let old = KeySource::create_file(&path).unwrap();
        let keyring = Keyring { vault: Arc::new(Vault::new(&old[0])), source: KeySource::File(path.clone()) };
        let old_id = old[0].id();
        assert!(keyring.is_current([(old_id, true)]));
        let new = MasterKey::random().unwrap();
        let new_id = new.id();
        assert!(!keyring.is_current([(old_id, true), (new_id, true)]));
        // A file without a key that the store needs, or a missing file, changes nothing.
        KeySource::replace_file(&path, std::slice::from_ref(&new)).unwrap();
        keyring
            .reload_keys(|ids| Ok::<_, Infallible>([old_id].into_iter().filter(|id| !ids.contains(id)).collect()))
            .unwrap();
        assert_eq!(keyring.vault.key_ids(), [old_id]);
        std::fs::remove_file(&path).unwrap();
        keyring.reload_keys(|_| Ok::<_, Infallible>(Vec::new())).unwrap();
        assert_eq!(keyring.vault.key_ids(), [old_id]);
        let both: Vec<MasterKey> = std::iter::once(new).chain(old).collect();
        KeySource::replace_file(&path, &both).unwrap();
        keyring.reload_keys(|_| Ok::<_, Infallible>(Vec::new())).unwrap();
        assert_eq!(keyring.vault.key_ids(), [new_id, old_id]);
        assert!(keyring.is_current([(old_id, true), (new_id, true)]));
        assert!(!keyring.is_current([(old_id, false), (new_id, true)]), "a retired key is to go");
    }
}
