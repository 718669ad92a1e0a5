//! Overwriting of deleted data in the WAL.

use crate::error::Cause;
use crate::place::checkpoint;
use crate::{Store, StoreError};

impl Store {
    /// Checkpoints and truncates the WAL if data was deleted since the last time, so that the deleted bytes are
    /// overwritten; otherwise does nothing. If another session is reading or writing at that moment, or the work
    /// fails, the next call tries again.
    pub async fn scrub_wal(&self) -> Result<(), StoreError> {
        // Reset before the work, so that data deleted meanwhile causes another round.
        let Some(folder) = self.place.folder().filter(|folder| folder.take_wal_mark()) else { return Ok(()) };
        let folder = folder.path.clone();
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
