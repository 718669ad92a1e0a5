//! Work of the threads of a cluster's node that write, between commits: they notice what other nodes and commands have
//! changed, and connect anew.

use std::sync::Arc;
use std::time::Duration;

use tillgate_engine::Session;
use tillgate_engine::postgres::PostgresAddress;
use tillgate_vault::Vault;

use super::commit_mark::CommitMark;
use super::servers::{add_server, announce_keys};
use super::writer_session::open_writer;
use crate::entity_directory::reload::DirectoryReload;
use crate::place::open_for_writing::VaultAccess;
use crate::write::group_commit::CommitHooks;
use crate::write::job_queue::Lane;
use crate::{Damage, DiskFault, StoreError};

/// Other work of a thread that writes.
pub(super) struct ClusterHooks {
    /// The database, and the longest wait for another writer.
    pub(super) place: (PostgresAddress, Duration),
    /// The name of this writer, which no other one has ever had, and the number of its last commit.
    pub(super) mark: CommitMark,
    /// Set by the first thread that finds a damaged page. After that, all threads refuse all writes.
    pub(super) damage: Arc<Damage>,
    /// The vault. `None` if the process is no server.
    pub(super) vault: Option<Arc<Vault>>,
    /// `None` but for the first thread of a node.
    pub(super) reload: Option<DirectoryReload>,
}

impl CommitHooks for ClusterHooks {
    /// A change reaches every node within a second. The row is read over the network, so not as often as a file.
    const INTERVAL: Duration = Duration::from_millis(200);

    fn on_interval(&mut self, session: &dyn Session) {
        if let Some(reload) = &mut self.reload {
            reload.reload_if_changed(session, "SELECT number FROM revision", || ());
        }
    }

    fn known_fault(&self) -> Option<DiskFault> {
        self.damage.is_found().then_some(DiskFault::Damaged)
    }

    /// A channel may have moved to another merchant, which this node learns a moment later.
    fn is_current(&self, session: &dyn Session, lane: &Lane) -> Result<bool, StoreError> {
        let Lane::Owner(_, revision) = lane else { return Ok(true) };
        let stored: i64 = session.query_one("SELECT number FROM revision", (), |row| row.get(0))?;
        Ok(stored == *revision)
    }

    fn before_commit(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        self.mark.advance(session)
    }

    fn on_committed(&mut self) {
        self.mark.confirm();
    }

    fn was_committed(&mut self, session: &dyn Session) -> Result<Option<bool>, StoreError> {
        self.mark.is_stored(session)
    }

    fn reopen(&mut self) -> Option<Result<Box<dyn Session>, StoreError>> {
        let access = self.vault.as_deref().map_or(VaultAccess::None, VaultAccess::Server);
        let (address, lock_timeout) = &self.place;
        let opened = open_writer(address, access, *lock_timeout).and_then(|session| {
            // One session of a server counts it.
            if let Some(vault) = &self.vault
                && self.reload.is_some()
            {
                add_server(&session)?;
                announce_keys(&session, vault)?;
            }
            self.mark.check_confirmed(&session)?;
            Ok(Box::new(session) as Box<dyn Session>)
        });
        Some(opened)
    }
}
