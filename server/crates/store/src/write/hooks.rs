//! Work of the writer's thread between commits: it checks for changes by other processes, and wakes the checkpointer.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_vault::Keyring;

use crate::entity_directory::Directory;
use crate::entity_directory::reload::DirectoryReload;
use crate::keys::vault_keys::record_loaded_keys;
use crate::place::checkpoint::Checkpointer;
use crate::schema::guard::SchemaGuard;
use crate::write::group_commit::CommitHooks;
use crate::{ChangeLog, Damage, DiskFault, StoreError};

/// Other work of the writer's thread.
pub(crate) struct WriterHooks {
    /// Set by the first thread that finds a damaged page. After that, the thread refuses all writes.
    damage: Arc<Damage>,
    reload: DirectoryReload,
    checkpointer: Checkpointer,
    /// Told of writes by other processes, so that cached responses are read again.
    change_log: Arc<ChangeLog>,
    /// Refuses commits while another program has changed the schema.
    schema: SchemaGuard,
}

impl CommitHooks for WriterHooks {
    /// Short, because reading `PRAGMA data_version` uses shared memory only. So a merchant created on the command line
    /// can pay at once.
    const INTERVAL: Duration = Duration::from_millis(50);

    fn known_fault(&self) -> Option<DiskFault> {
        self.damage.is_found().then_some(DiskFault::Damaged)
    }

    fn before_commit(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.schema.check_transaction(session)
    }

    fn after_commit(&mut self, session: &dyn Session) {
        self.checkpointer.after_commit(session);
    }

    fn on_interval(&mut self, session: &dyn Session) {
        // The number changes when another session has committed. Cached responses become outdated first, because the
        // reload may fail.
        let prepare = || self.change_log.record_foreign_commit();
        self.reload.reload_if_changed(session, "PRAGMA data_version", prepare);
    }
}

impl WriterHooks {
    /// Starts the checkpointer's thread. The hooks reload `directory`, and `keys` if given, soon after another process
    /// has written to the store. Only a server passes `keys`.
    pub(crate) fn start(
        session: &SqliteSession,
        folder: &Path,
        (directory, change_log, damage): (Arc<Directory>, Arc<ChangeLog>, Arc<Damage>),
        keys: Option<Keyring>,
    ) -> Result<Self, StoreError> {
        let (checkpointer, schema) = (Checkpointer::start(folder)?, SchemaGuard::start(session)?);
        let reload = DirectoryReload::new(directory, keys, record_loaded_keys);
        Ok(Self { damage, reload, checkpointer, change_log, schema })
    }
}
