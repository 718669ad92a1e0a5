//! Work of the writer's thread of a cluster's node between commits: it notices what other nodes and commands have
//! changed, and connects anew.

use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::postgres::PostgresAddress;
use tillgate_vault::Keyring;

use super::commit_mark::CommitMark;
use super::open_writer;
use crate::access::entity;
use crate::entity_directory::Directory;
use crate::group_commit::CommitHooks;
use crate::keys::vault_keys;
use crate::open_for_writing::VaultAccess;
use crate::{Damage, DiskFault, Sources, StoreError};

/// Other work of the writer's thread.
pub(super) struct ClusterHooks {
    address: PostgresAddress,
    /// The longest wait for another writer.
    lock_timeout: Duration,
    /// The name of this writer, which no other one has ever had, and the number of its last commit.
    mark: CommitMark,
    directory: Arc<Directory>,
    /// Set by the first thread that finds a damaged page. After that, the thread refuses all writes.
    damage: Arc<Damage>,
    /// Reloaded when another process has changed the vault's keys.
    keys: Option<Keyring>,
    /// The number of changes at the last reload. `None` before.
    revision: Option<i64>,
}

impl ClusterHooks {
    /// Makes the hooks of a writer, whose row in the table of commits is there from now on.
    pub(super) fn start(
        session: &dyn Session,
        (address, lock_timeout): (PostgresAddress, Duration),
        (directory, damage): (Arc<Directory>, Arc<Damage>),
        keys: Option<Keyring>,
        sources: &Sources,
    ) -> Result<Self, StoreError> {
        let mark = CommitMark { writer: sources.random_bytes()?, number: 0 };
        mark.insert(session, sources.now())?;
        Ok(Self { address, lock_timeout, mark, directory, damage, keys, revision: None })
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

    fn known_fault(&self) -> Option<DiskFault> {
        self.damage.is_found().then_some(DiskFault::Damaged)
    }

    fn before_commit(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.mark.advance(session)
    }

    fn was_committed(&mut self, session: &dyn Session) -> Result<bool, StoreError> {
        self.mark.is_stored(session)
    }

    fn reopen(&mut self) -> Option<Result<Box<dyn Session>, StoreError>> {
        let access = self.keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        Some(open_writer(&self.address, access, self.lock_timeout).map(|session| Box::new(session) as Box<dyn Session>))
    }
}
