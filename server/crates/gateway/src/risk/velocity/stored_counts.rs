//! The stored counts: changed ones are written in batches, and empty ones are deleted.

use jiff::Timestamp;
use tillgate_store::StoreError;
use tillgate_store::risk::velocity::VelocityCount;

use super::source::{CountName, SourceKind};
use super::{BATCH, VelocityLimiter, lock_mutex, to_nanoseconds};
use crate::Gateway;

impl Gateway {
    /// Writes the reached caps to the audit, at most 1000 of them, and the changed counts to the store in batches.
    /// Deletes counts that are empty by now.
    ///
    /// # Errors
    /// If the store cannot be written; the next call then writes the counts and caps.
    pub async fn save_velocity(&self) -> Result<(), StoreError> {
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
            let counts = self.velocity.take_unsaved(now);
            let last = counts.len() < BATCH;
            if !counts.is_empty() {
                let written = self.store.save_velocity_counts(counts.clone()).await;
                if written.is_err() {
                    self.velocity.restore_unsaved(counts);
                }
                written?;
            }
            if last {
                return self.store.delete_expired_velocity_counts(now).await;
            }
        }
    }
}

impl VelocityLimiter {
    /// Removes and returns a batch of the unsaved counts (at most 1000), and drops the attempts of pending payments
    /// whose costs have leaked away.
    pub fn take_unsaved(&self, now: Timestamp) -> Vec<VelocityCount> {
        let now = to_nanoseconds(now);
        lock_mutex(&self.pending).retain(|_, attempt| attempt.costs.iter().any(|cost| cost.until > now));
        let mut unsaved = lock_mutex(&self.unsaved);
        let keys: Vec<(SourceKind, CountName)> = unsaved.keys().take(BATCH).copied().collect();
        let counts = keys.into_iter().filter_map(|key| {
            let count = unsaved.remove(&key)?;
            Some(VelocityCount { kind: key.0 as u8, name: key.1, until: count.empty_at() })
        });
        counts.collect()
    }

    /// Marks counts as unsaved again after a failed write, unless they have been dropped from memory.
    pub fn restore_unsaved(&self, counts: Vec<VelocityCount>) {
        for VelocityCount { kind, name, .. } in counts {
            if let Some(kind) = SourceKind::find(kind)
                && let Some(count) = self.cache_for(kind).get(&name)
            {
                lock_mutex(&self.unsaved).insert((kind, name), count);
            }
        }
    }
}
