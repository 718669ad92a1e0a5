//! This process as a node of its cluster: its name, its leases on background work, and the turns of acts. A file has
//! one server, which needs none of them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tillgate_domain::id::log_tag;

use crate::cluster::background_work::BackgroundWork;
use crate::cluster::lease_keeper::LeaseKeeper;
use crate::error::Cause;
use crate::place::StorePlace;
use crate::{Store, StoreError};

/// Pause between two tries to take what another process has. The end of the other one is not announced.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum wait for the name of a node. A process that was killed keeps it until its lease ends.
const NAME_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum wait for a turn. An act that has one waits for a connector no longer than a minute.
const TURN_PATIENCE: Duration = Duration::from_secs(90);

/// The turn of an act that only one process of all nodes does at a time. It ends when this is dropped.
#[must_use]
pub struct Turn<'a> {
    keeper: Option<&'a LeaseKeeper>,
    name: String,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(keeper) = self.keeper {
            keeper.release(&self.name);
        }
    }
}

impl Store {
    /// Makes this process a node of its cluster: takes the name, which only one process at a time may have, and begins
    /// to take the leases on background work. Does nothing for a file.
    ///
    /// # Errors
    /// [`InUse`](crate::StoreErrorKind::InUse) if another process has the name and is alive. Also if the database
    /// cannot be reached.
    pub async fn join_cluster(&self, node: &str) -> Result<(), StoreError> {
        let StorePlace::Cluster { address, .. } = &self.place else { return Ok(()) };
        let keeper = LeaseKeeper::start(address, &self.sources)?;
        let name = format!("node {node}");
        if !take_within(NAME_PATIENCE, &keeper, &name).await? {
            return Err(Cause::NodeInUse(node.to_owned()).into());
        }
        keeper.begin_work(&name).await?;
        // A second call keeps the first keeper.
        let _ = self.keeper.set(keeper);
        Ok(())
    }

    /// Returns true if this process may do background work of a kind now. Of all nodes, one at a time may. Ask again
    /// before each call that leaves the process, because a lease is lost while a process is stopped or has no
    /// connection.
    pub fn may_work(&self, work: BackgroundWork) -> bool {
        match &self.place {
            StorePlace::Folder(_) => true,
            StorePlace::Cluster { .. } => self.keeper.get().is_some_and(|keeper| keeper.holds(work)),
        }
    }

    /// Returns true if the clock of this machine differs from that of its cluster by more than two seconds.
    pub fn is_clock_off(&self) -> bool {
        self.keeper.get().is_some_and(LeaseKeeper::is_clock_off)
    }

    /// Returns true if the database lacked a commit that it had confirmed to this process. It stays true.
    pub fn lacks_commits(&self) -> bool {
        let StorePlace::Cluster { lacks_commits, .. } = &self.place else { return false };
        lacks_commits.load(Ordering::Acquire)
    }

    /// Gives the lease on a kind of work back, so that another node goes on with it at once. This process does not take
    /// it again. Logs a failure; the lease then ends by itself.
    pub async fn give_back(&self, work: BackgroundWork) {
        if let Some(keeper) = self.keeper.get()
            && let Err(error) = keeper.give_back(work).await
        {
            tracing::warn!(%error, work = work.as_str(), "giving back a lease failed; it ends by itself within seconds");
        }
    }

    /// Gives back everything that this process has, also its name.
    pub async fn leave_cluster(&self) {
        if let Some(keeper) = self.keeper.get()
            && let Err(error) = keeper.leave().await
        {
            tracing::warn!(%error, "giving back leases failed; they end by themselves within seconds");
        }
    }

    /// Waits for the turn of an act, by its name. The caller makes sure that this process does not wait twice for the
    /// same name at once.
    ///
    /// # Errors
    /// [`Overloaded`](crate::StoreErrorKind::Overloaded) if another node has the turn for too long. Also if the
    /// database cannot be reached.
    pub async fn take_turn(&self, name: &str) -> Result<Turn<'_>, StoreError> {
        let keeper = self.keeper.get();
        if let Some(keeper) = keeper
            && !take_within(TURN_PATIENCE, keeper, name).await?
        {
            tracing::warn!(turn = log_tag(name), "another node has had the turn of an act for too long");
            return Err(Cause::Overloaded.into());
        }
        Ok(Turn { keeper, name: name.to_owned() })
    }
}

/// Takes a lease as soon as it is free. Returns false if it has not become free in time.
async fn take_within(patience: Duration, keeper: &LeaseKeeper, name: &str) -> Result<bool, StoreError> {
    let until = tokio::time::Instant::now() + patience;
    while !keeper.take(name).await? {
        if tokio::time::Instant::now() > until {
            return Ok(false);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(true)
}
