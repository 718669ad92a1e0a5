//! Work of the writer's thread between commits: it checks for changes by other processes, and wakes the checkpointer.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_vault::Keyring;

use super::checkpoint::Checkpointer;
use super::group_commit::CommitHooks;
use super::schema_guard::SchemaGuard;
use super::{ChangeLog, Damage, DiskFault, StoreError};
use crate::access::entity;
use crate::entity_directory::Directory;
use crate::keys::vault_keys;

/// Other work of the writer's thread.
pub(super) struct WriterHooks {
    directory: Arc<Directory>,
    /// Set by the first thread that finds a damaged page. After that, the thread refuses all writes.
    damage: Arc<Damage>,
    /// Reloaded when another process has changed the vault's keys.
    keys: Option<Keyring>,
    checkpointer: Checkpointer,
    /// Told of writes by other processes, so that cached responses are read again.
    change_log: Arc<ChangeLog>,
    /// Refuses commits while another program has changed the schema.
    schema: SchemaGuard,
    /// SQLite's `data_version` at the last reload, which changes when another session has committed. `None` before.
    version: Option<i64>,
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
        if let Err(error) = self.reload_if_changed(session) {
            // The server goes on with the data that it has loaded, and tries again at the next interval.
            tracing::error!(%error, "reloading entities and tokens failed");
        }
    }
}

impl WriterHooks {
    /// Starts the checkpointer's thread. The hooks reload `directory`, and `keys` if given, soon after another process
    /// has written to the store. Only a server passes `keys`.
    pub(super) fn start(
        session: &SqliteSession,
        folder: &Path,
        (directory, change_log, damage): (Arc<Directory>, Arc<ChangeLog>, Arc<Damage>),
        keys: Option<Keyring>,
    ) -> Result<Self, StoreError> {
        let (checkpointer, schema) = (Checkpointer::start(folder)?, SchemaGuard::start(session)?);
        Ok(Self { directory, damage, keys, checkpointer, change_log, schema, version: None })
    }

    /// Reloads entities, tokens, risk rules and the vault's keys if another session has committed since the last
    /// reload, and at the first call. After a failure, the next call tries again.
    fn reload_if_changed(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        // Read before the reload, so that a commit during the reload causes another one.
        let version = session.query_one("PRAGMA data_version", (), |row| row.get(0))?;
        if self.version != Some(version) {
            // Cached responses become outdated first, because the reload may fail.
            self.change_log.record_foreign_commit();
            entity::refill_directory(session, &self.directory)?;
            if let Some(keys) = &self.keys {
                vault_keys::refresh_keyring(session, keys)?;
            }
            // Set last, so that a failed reload is tried again.
            self.version = Some(version);
        }
        Ok(())
    }
}
