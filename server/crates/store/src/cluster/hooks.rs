//! Work of the writer's thread of a cluster's node between commits: it notices what other nodes and commands have
//! changed, and connects anew.

use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::postgres::PostgresAddress;
use tillgate_vault::Keyring;

use super::open_writer;
use crate::StoreError;
use crate::access::entity;
use crate::entity_directory::Directory;
use crate::group_commit::CommitHooks;
use crate::keys::vault_keys;
use crate::open_for_writing::VaultAccess;

/// Other work of the writer's thread.
pub(super) struct ClusterHooks {
    address: PostgresAddress,
    directory: Arc<Directory>,
    /// Reloaded when another process has changed the vault's keys.
    keys: Option<Keyring>,
    /// The number of changes at the last reload. `None` before.
    revision: Option<i64>,
}

impl ClusterHooks {
    pub(super) fn new(address: PostgresAddress, directory: Arc<Directory>, keys: Option<Keyring>) -> Self {
        Self { address, directory, keys, revision: None }
    }

    /// Reloads entities, tokens, risk rules and the vault's keys if one of them was changed since the last reload, and
    /// at the first call. After a failure, the next call tries again.
    fn reload_if_changed(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        // Read before the reload, so that a change during the reload causes another one.
        let revision = session.query_one("SELECT number FROM revision", (), |row| row.get(0))?;
        if self.revision != Some(revision) {
            entity::refill_directory(session, &self.directory)?;
            if let Some(keys) = &self.keys {
                vault_keys::refresh_keyring(session, keys)?;
            }
            self.revision = Some(revision);
        }
        Ok(())
    }
}

impl CommitHooks for ClusterHooks {
    /// A change reaches every node within a second. The row is read over the network, so not as often as a file.
    const INTERVAL: Duration = Duration::from_millis(200);

    fn on_interval(&mut self, session: &dyn Session) {
        if let Err(error) = self.reload_if_changed(session) {
            // The server goes on with the data that it has loaded, and tries again at the next interval.
            tracing::error!(%error, "reloading entities and tokens failed");
        }
    }

    fn reopen(&mut self) -> Option<Result<Box<dyn Session>, StoreError>> {
        let access = self.keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        Some(open_writer(&self.address, access).map(|session| Box::new(session) as Box<dyn Session>))
    }
}
