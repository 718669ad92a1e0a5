//! Work of the writer's thread of a cluster's node between commits: it notices what other nodes and commands have
//! changed, and connects anew.

use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::postgres::PostgresAddress;
use tillgate_vault::Keyring;

use super::commit_mark::CommitMark;
use super::open_writer;
use super::servers::add_server;
use crate::directory_reload::DirectoryReload;
use crate::entity_directory::Directory;
use crate::group_commit::CommitHooks;
use crate::open_for_writing::VaultAccess;
use crate::{Damage, DiskFault, Sources, StoreError};

/// Other work of the writer's thread.
pub(super) struct ClusterHooks {
    address: PostgresAddress,
    /// The longest wait for another writer.
    lock_timeout: Duration,
    /// The name of this writer, which no other one has ever had, and the number of its last commit.
    mark: CommitMark,
    /// Set by the first thread that finds a damaged page. After that, the thread refuses all writes.
    damage: Arc<Damage>,
    reload: DirectoryReload,
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
        Ok(Self { address, lock_timeout, mark, damage, reload: DirectoryReload::new(directory, keys) })
    }
}

impl CommitHooks for ClusterHooks {
    /// A change reaches every node within a second. The row is read over the network, so not as often as a file.
    const INTERVAL: Duration = Duration::from_millis(200);

    fn on_interval(&mut self, session: &dyn Session) {
        self.reload.reload_if_changed(session, "SELECT number FROM revision", || ());
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
        let access = self.reload.keys().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        let opened = open_writer(&self.address, access, self.lock_timeout).and_then(|session| {
            if self.reload.keys().is_some() {
                add_server(&session)?;
            }
            Ok(Box::new(session) as Box<dyn Session>)
        });
        Some(opened)
    }
}
