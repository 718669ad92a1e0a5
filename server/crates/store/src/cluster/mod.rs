//! The store in a database of PostgreSQL: its opening, and what only this place has.

pub mod background_work;
pub(crate) mod changed_counts;
mod clock_check;
mod commit_mark;
pub(crate) mod copied_rules;
mod hooks;
pub(crate) mod inquiries;
pub(crate) mod lease_keeper;
mod migrations;
pub mod node;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
mod order_tests;
pub(crate) mod servers;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
pub(crate) mod tests;
pub(crate) mod writer_session;

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tillgate_domain::id::to_hex;
use tillgate_engine::Session;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession, check_pooling, load_version};
use tillgate_vault::Keyring;

use self::commit_mark::CommitMark;
use self::hooks::ClusterHooks;
use self::migrations::MIGRATIONS;
use self::writer_session::open_writer;
use crate::copy::move_mark::MoveMark;
use crate::entity_directory::Directory;
use crate::entity_directory::reload::DirectoryReload;
use crate::place::StorePlace;
use crate::place::open_for_writing::VaultAccess;
use crate::read::readers::Readers;
use crate::write::group_commit::{CommitQueue, HookedSession};
use crate::write::writer::Writer;
use crate::{ChangeLog, Damage, Sources, Store, StoreError, WriteLimits, access};

/// Loads the size of the database in bytes.
pub(crate) fn load_size(session: &dyn Session) -> Result<u64, StoreError> {
    Ok(session.query_one("SELECT pg_database_size(current_database())", (), |row| row.get(0))?)
}

/// The way in which a process opens a database to serve it.
pub(crate) struct NodeOptions {
    /// The vault's keys of a server. `None` for a process that has none.
    pub keys: Option<Keyring>,
    /// The locked file in the folder of the node. `None` for a process without a folder.
    pub note: Option<File>,
    /// Limits of its writes.
    pub limits: WriteLimits,
    /// Time and randomness for its writes.
    pub sources: Sources,
}

#[cfg(test)]
impl NodeOptions {
    /// Those of a process without keys and folder.
    pub(crate) fn of_test() -> Self {
        let (limits, sources) = (WriteLimits::default(), Sources::system());
        Self { keys: None, note: None, limits, sources }
    }
}

/// The sessions of a node that write, before they are open.
struct WriterSessions<'a> {
    address: &'a PostgresAddress,
    limits: WriteLimits,
    keys: Option<Keyring>,
    damage: &'a Arc<Damage>,
    lacks_commits: &'a Arc<AtomicBool>,
    sources: &'a Sources,
}

impl WriterSessions<'_> {
    /// Opens all sessions but the first one, which is open, and makes their hooks. The first one also notices what
    /// other processes have changed.
    fn open_all(
        self,
        first: PostgresSession,
        directory: Arc<Directory>,
    ) -> Result<Vec<HookedSession<ClusterHooks>>, StoreError> {
        let access = self.keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        let mut sessions = vec![first];
        for _ in 1..self.limits.writers {
            sessions.push(open_writer(self.address, access, self.limits.lock_timeout)?);
        }
        let vault = self.keys.as_ref().map(|keys| Arc::clone(&keys.vault));
        let mut reload = Some(DirectoryReload::new(directory, self.keys, servers::announce_keys));
        let start = |session: PostgresSession| {
            let place = (self.address.clone(), self.limits.lock_timeout);
            let hooks = ClusterHooks {
                place,
                mark: CommitMark::start(&session, self.sources, self.lacks_commits)?,
                damage: Arc::clone(self.damage),
                vault: vault.clone(),
                reload: reload.take(),
            };
            Ok((Box::new(session) as Box<dyn Session>, hooks))
        };
        sessions.into_iter().map(start).collect()
    }
}

impl Store {
    /// Opens a database of a cluster, brings its schema to this version, and starts the writer. Fills the directory,
    /// which is refilled soon after another node or a command has changed it. Which of the keys of a server are loaded
    /// is announced, and they are reloaded when another process has changed them.
    ///
    /// # Errors
    /// If the database cannot be reached or is of the wrong kind, a pooler shares its sessions, or its schema is of a
    /// later version.
    pub(crate) fn open_cluster(
        address: &PostgresAddress,
        directory: Arc<Directory>,
        options: NodeOptions,
    ) -> Result<Self, StoreError> {
        Self::open_cluster_through(address, directory, options, |session| session)
    }

    /// Opens a database as [`Self::open_cluster`] does. All writes go through what `wrap` makes of their sessions.
    pub(crate) fn open_cluster_through(
        address: &PostgresAddress,
        directory: Arc<Directory>,
        options: NodeOptions,
        wrap: impl Fn(Box<dyn Session>) -> Box<dyn Session>,
    ) -> Result<Self, StoreError> {
        let NodeOptions { keys, note, limits, sources } = options;
        let process = to_hex(&sources.random_bytes::<16>()?);
        let sources = Sources { process: Some(process.into()), ..sources };
        let access = keys.as_ref().map_or(VaultAccess::None, |keys| VaultAccess::Server(&keys.vault));
        check_pooling(address)?;
        let session = open_writer(address, access, limits.lock_timeout)?;
        if let Some(keys) = &keys {
            servers::add_server(&session)?;
            // A copy marks the database before it counts the servers, so one of both sees the other.
            MoveMark::refuse_marked(&session)?;
            keys.vault.refuse_first_format();
            servers::announce_keys(&session, &keys.vault)?;
        }
        access::entity::refill_directory(&session, &directory)?;
        let (damage, change_log) = (Arc::new(Damage::default()), Arc::new(ChangeLog::default()));
        // Another node may have changed any payment since a response was made.
        change_log.stop_caching();
        let lacks_commits = Arc::default();
        let sessions =
            WriterSessions { address, limits, keys, damage: &damage, lacks_commits: &lacks_commits, sources: &sources };
        let sessions = sessions.open_all(session, Arc::clone(&directory))?;
        let sessions = sessions.into_iter().map(|(session, hooks)| (wrap(session), hooks)).collect();
        let queue = CommitQueue::start_lanes("store-writer", sessions, limits.queue)?;
        let writer = Writer::new(queue, Arc::clone(&change_log), Arc::clone(&damage));
        let readers = Arc::new(Readers::of_cluster(address.clone(), Arc::clone(&damage)));
        Ok(Self::assemble(
            StorePlace::Cluster { address: Box::new(address.clone()), note, lacks_commits },
            (readers, writer),
            (change_log, damage),
            directory,
            sources,
        ))
    }
}

/// Returns true if a database has the schema of a store, of any version.
///
/// # Errors
/// If the database cannot be reached, is of the wrong kind, or has the tables of another program.
pub(crate) fn is_store(address: &PostgresAddress) -> Result<bool, StoreError> {
    Ok(load_version(&PostgresSession::connect(address)?, MIGRATIONS)? > 0)
}
