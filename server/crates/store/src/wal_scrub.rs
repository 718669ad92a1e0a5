//! Overwriting of deleted data in the WAL.

use std::sync::atomic::Ordering;

use super::error::Cause;
use super::{Store, StoreError, checkpoint};

impl Store {
    /// Checkpoints and truncates the WAL if data was deleted since the last time, so that the deleted bytes are
    /// overwritten; otherwise does nothing. If another session is reading or writing at that moment, or the work
    /// fails, the next call tries again.
    pub async fn scrub_wal(&self) -> Result<(), StoreError> {
        // Reset before the work, so that data deleted meanwhile causes another round.
        if !self.wal_dirty.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let folder = self.folder.clone();
        // Copying the log blocks its thread, so it does not run on one that serves requests.
        let truncated = tokio::task::spawn_blocking(move || checkpoint::try_truncate_wal(&folder))
            .await
            .unwrap_or(Err(Cause::Stopped.into()));
        if !matches!(truncated, Ok(true)) {
            self.mark_wal_dirty();
        }
        truncated.map(drop)
    }
}
