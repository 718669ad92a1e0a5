//! Reloads of what a server keeps in memory of the store, after another process has changed it.

use std::sync::Arc;

use tillgate_engine::Session;
use tillgate_vault::Keyring;

use crate::StoreError;
use crate::access::entity;
use crate::entity_directory::Directory;
use crate::keys::vault_keys::{NoteLoadedKeys, refresh_keyring};

/// Entities, tokens, risk rules and the vault's keys in memory, and the version of the store that they are from.
pub(crate) struct DirectoryReload {
    directory: Arc<Directory>,
    /// `None` if the process is no server.
    keys: Option<Keyring>,
    note_keys: NoteLoadedKeys,
    /// True if other keys were loaded, and that is not noted yet.
    owes_note: bool,
    /// The version at the last reload. `None` before.
    version: Option<i64>,
}

impl DirectoryReload {
    /// Makes it before the first reload. `note_keys` tells the commands which keys a server has loaded.
    pub(crate) fn new(directory: Arc<Directory>, keys: Option<Keyring>, note_keys: NoteLoadedKeys) -> Self {
        Self { directory, keys, note_keys, owes_note: false, version: None }
    }

    /// Reloads if the number that `query` reads is another one than at the last reload, and at the first call. Calls
    /// `prepare` before. Logs a failure; the next call tries again.
    pub(crate) fn reload_if_changed(&mut self, session: &dyn Session, query: &str, prepare: impl FnOnce()) {
        if let Err(error) = self.try_reload(session, query, prepare) {
            // The server goes on with the data that it has loaded.
            tracing::error!(%error, "reloading entities and tokens failed");
        }
    }

    fn try_reload(&mut self, session: &dyn Session, query: &str, prepare: impl FnOnce()) -> Result<(), StoreError> {
        // Read before the reload, so that a commit during the reload causes another one.
        let version = session.query_one(query, (), |row| row.get(0))?;
        if self.version != Some(version) {
            prepare();
            entity::refill_directory(session, &self.directory)?;
            if let Some(keys) = &self.keys {
                // Kept until the note is made: after a failure of it, the keys are loaded and no longer refreshed.
                self.owes_note |= refresh_keyring(session, keys)?;
                if self.owes_note {
                    (self.note_keys)(session, &keys.vault)?;
                    self.owes_note = false;
                }
            }
            self.directory.note_revision(version);
            // Set last, so that a failed reload is tried again.
            self.version = Some(version);
        }
        Ok(())
    }
}
