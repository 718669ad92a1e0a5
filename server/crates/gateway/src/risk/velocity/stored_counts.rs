//! The stored counts: changes are written in batches, those of other processes are taken over, and empty counts are
//! deleted.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_store::StoreError;
use tillgate_store::cluster::background_work::BackgroundWork;
use tillgate_store::risk::velocity::{VelocityChange, VelocityCount};

use super::count::{Count, HOUR};
use super::source::{CountName, SourceKind};
use super::{BATCH, VelocityLimiter, lock_mutex, to_nanoseconds};
use crate::Gateway;

impl Gateway {
    /// Writes the reached caps to the audit, at most 1000 of them, and the changes of counts to the store in batches.
    /// Takes over what other processes have counted. Deletes counts that are empty by now.
    ///
    /// # Errors
    /// If the store cannot be read or written; the next call then writes the changes and caps.
    pub async fn sync_velocity(&self) -> Result<(), StoreError> {
        let now = self.now();
        let reached = self.velocity.reached.take(now);
        if !reached.is_empty() {
            let written = self.store.write_risk_changes(reached.clone()).await;
            if written.is_err() {
                self.velocity.reached.restore(reached);
            }
            written?;
        }
        loop {
            let changes = self.velocity.take_unsaved(now);
            let is_last = changes.len() < BATCH;
            if !changes.is_empty() {
                match self.store.add_velocity_changes(changes.clone(), now, HOUR).await {
                    Ok(counts) => self.velocity.adopt_counts(counts, now),
                    Err(error) => {
                        self.velocity.restore_unsaved(changes);
                        return Err(error);
                    }
                }
            }
            if is_last {
                break;
            }
        }
        let changed = self.store.load_velocity_changes(&mut lock_mutex(&self.velocity.seen))?;
        self.velocity.adopt_counts(changed, now);
        if self.store.may_work(BackgroundWork::Deletions) {
            self.store.delete_expired_velocity_counts(now).await?;
        }
        Ok(())
    }
}

impl VelocityLimiter {
    /// Removes and returns a batch of the unsaved changes (at most 1000), and drops the attempts of pending payments
    /// whose costs have leaked away.
    pub fn take_unsaved(&self, now: Timestamp) -> Vec<VelocityChange> {
        let now = to_nanoseconds(now);
        lock_mutex(&self.pending).retain(|_, attempt| attempt.costs.iter().any(|cost| cost.until > now));
        let mut unsaved = lock_mutex(&self.unsaved);
        let keys: Vec<(SourceKind, CountName)> = unsaved.keys().take(BATCH).copied().collect();
        let changes = keys.into_iter().filter_map(|key| {
            let count = unsaved.remove(&key)?;
            Some(VelocityChange { kind: key.0 as u8, name: key.1, cost: count.take_change(now) })
        });
        changes.collect()
    }

    /// Marks changes as unsaved again after a failed write, unless their counts have been dropped from memory.
    pub fn restore_unsaved(&self, changes: Vec<VelocityChange>) {
        for VelocityChange { kind, name, cost } in changes {
            if let Some(kind) = SourceKind::find(kind)
                && let Some(count) = self.cache_for(kind).get(&name)
            {
                count.restore_change(cost);
                lock_mutex(&self.unsaved).insert((kind, name), count);
            }
        }
    }

    /// Takes over stored counts, also those of sources that only other processes have seen. Leaves out unknown kinds,
    /// and those that are empty. A count that would empty later than in an hour, because a clock went back, empties in
    /// an hour.
    pub fn adopt_counts(&self, stored: Vec<VelocityCount>, now: Timestamp) {
        let now = to_nanoseconds(now);
        for VelocityCount { kind, name, until } in stored {
            let Some(kind) = SourceKind::find(kind) else { continue };
            let until = until.min(now + HOUR);
            match self.cache_for(kind).get(&name) {
                Some(count) => count.adopt_stored(until, now),
                None if until > now => self.cache_for(kind).insert(name, Arc::new(Count::from_stored(until))),
                None => {}
            }
        }
    }
}
