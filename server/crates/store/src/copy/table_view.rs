//! Views of a table of the source as a whole, so that a pass need not read all of it again.

use super::key_interval::{RowKey, RowsDigest};
use crate::keys::table_seal::copied::SealedSums;

/// A view of a table of the source, as it was before the pass.
pub(super) enum TableView {
    /// Nothing is known.
    Unknown,
    /// The seal of a file: it has the sum of the rows.
    Sealed(SealedSums),
    /// The versions of rows in a database.
    Versions {
        /// Number of rows.
        rows: u64,
        /// The keys of the rows that were written since the pass before began.
        changed: Vec<RowKey>,
    },
}

impl TableView {
    /// Returns true if rows with this digest are those of the table, once the changed keys have been read.
    pub(super) fn agrees_with(&self, slot: Option<usize>, digest: RowsDigest) -> bool {
        match self {
            Self::Unknown => false,
            Self::Sealed(seal) => slot.is_some_and(|slot| seal.has_table_sum(slot, digest.sum)),
            // Of the rows that are there, each is as it was or was read. Deleted ones are seen by their number only.
            Self::Versions { rows, .. } => *rows == digest.rows,
        }
    }

    /// Returns the keys of the rows that have certainly changed.
    pub(super) fn changed_keys(&self) -> &[RowKey] {
        match self {
            Self::Unknown | Self::Sealed(_) => &[],
            Self::Versions { changed, .. } => changed,
        }
    }
}
