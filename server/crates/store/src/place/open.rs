//! Opening of the store by a server.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use tillgate_vault::Keyring;

use crate::cluster::NodeOptions;
use crate::entity_directory::Directory;
use crate::place::lock;
use crate::place::open_for_writing::{VaultAccess, open_sealed_session};
use crate::place::store_file::make_folder;
use crate::place::{DataFolder, StorePlace};
use crate::read::readers::Readers;
use crate::write::group_commit::CommitQueue;
use crate::write::hooks::WriterHooks;
use crate::write::writer::Writer;
use crate::{ChangeLog, Damage, Sources, Store, StoreError, StoreLocation, WriteLimits, access, keys};

impl Store {
    /// Opens the file in a data folder, creating both if absent, migrates it, and starts the writer. Fills the
    /// directory. The writer refills it shortly after another process has written to the store. Never reloads the
    /// vault's keys.
    ///
    /// # Errors
    /// If the folder or the file cannot be opened or migrated, or a restore is in progress or was interrupted.
    pub fn open(folder: &Path, directory: Arc<Directory>, sources: Sources) -> Result<Self, StoreError> {
        Self::open_inner(folder, directory, None, (WriteLimits::default(), sources), lock::acquire_shared)
    }

    /// Opens a store for a server, as [`Store::open`] opens the file in a folder. Records which of its keys are loaded,
    /// and reloads them when another process has changed them. At most `limits.queue` writes wait for the disk; further
    /// ones are refused at once ([`crate::StoreErrorKind::Overloaded`]).
    ///
    /// # Errors
    /// Same as [`Store::open`]; also if a database cannot be reached or used.
    pub fn open_to_serve(
        location: &StoreLocation,
        directory: Arc<Directory>,
        keys: Keyring,
        limits: WriteLimits,
        sources: Sources,
    ) -> Result<Self, StoreError> {
        let (folder, keys) = (location.folder(), Some(keys));
        let Some(address) = location.database() else {
            return Self::open_inner(folder, directory, keys, (limits, sources), lock::acquire_shared);
        };
        make_folder(folder)?;
        let note = Some(lock::acquire_shared(folder)?);
        Self::open_cluster(address, directory, NodeOptions { keys, note, limits, sources })
    }

    /// Opens the file in a data folder as [`Store::open_to_serve`] does, for a process that must be the only one: no
    /// server starts as long as the store is open.
    ///
    /// # Errors
    /// Same as [`Store::open`]; `InUse` if a server is running.
    pub fn open_alone(
        folder: &Path,
        directory: Arc<Directory>,
        keys: Keyring,
        sources: Sources,
    ) -> Result<Self, StoreError> {
        let write = (WriteLimits::default(), sources);
        Self::open_inner(folder, directory, Some(keys), write, lock::acquire_exclusive)
    }

    /// Opens the store as described at [`Store::open`], or with `keys` as at [`Store::open_to_serve`], under a lock of
    /// the data folder.
    fn open_inner(
        folder: &Path,
        directory: Arc<Directory>,
        keys: Option<Keyring>,
        (limits, sources): (WriteLimits, Sources),
        lock: impl FnOnce(&Path) -> Result<File, StoreError>,
    ) -> Result<Self, StoreError> {
        // Before the file is opened. A restore in between would move the file aside, and this server would write to it.
        make_folder(folder)?;
        let lock = lock(folder)?;
        let access = keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        let session = open_sealed_session(folder, access)?;
        if let Some(keys) = &keys {
            keys::vault_keys::record_loaded_keys(&session, &keys.vault)?;
        }
        access::entity::refill_directory(&session, &directory)?;
        let damage = Arc::new(Damage::default());
        // Readers and writer share the record of damage, because either may find it first.
        let readers = Arc::new(Readers::of_folder(folder, Arc::clone(&damage)));
        let change_log = Arc::new(ChangeLog::default());
        let shared = (Arc::clone(&directory), Arc::clone(&change_log), Arc::clone(&damage));
        let hooks = WriterHooks::start(&session, folder, shared, keys)?;
        session.set_lock_timeout(limits.lock_timeout)?;
        // Automatic checkpoints would delay the commit of a request.
        session.run_script("PRAGMA wal_autocheckpoint = 0")?;
        let queue = CommitQueue::start("store-writer", Box::new(session), limits.queue, hooks)?;
        let writer = Writer::new(queue, Arc::clone(&change_log), Arc::clone(&damage));
        let place = StorePlace::Folder(DataFolder::new(folder, lock));
        Ok(Self::assemble(place, (readers, writer), (change_log, damage), directory, sources))
    }

    /// Refills the directory with the stored entities, tokens and risk rules. Call it after a write of this process
    /// that changed them; writes of other processes are noticed by the writer.
    pub async fn fill_directory(&self) -> Result<(), StoreError> {
        // Runs while nobody writes.
        let directory = Arc::clone(&self.directory);
        self.run_write(move |session| access::entity::refill_directory(session, &directory)).await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::StoreErrorKind;
    use crate::place::store_file::store_path;

    #[test]
    fn a_server_opens_nothing_while_a_restore_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let restoring = lock::acquire_exclusive(folder.path()).unwrap();
        let directory = Arc::new(Directory::new(|_, _, _| None));
        let opened = Store::open(folder.path(), Arc::clone(&directory), Sources::system());
        assert_eq!(opened.err().map(|error| error.kind()), Some(StoreErrorKind::InUse));
        assert!(!store_path(folder.path()).exists(), "the file would be moved aside");
        drop(restoring);
        assert!(Store::open(folder.path(), directory, Sources::system()).is_ok());
    }
}
