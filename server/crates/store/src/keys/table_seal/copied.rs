//! The seal of a store that is copied: the sums that its copy has to have, and the seal of a copy in a file.

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::Session;

use crate::StoreError;
pub(crate) use crate::keys::table_seal::functions::hash_row;
use crate::keys::table_seal::{RowSum, SEALED, Seal, load_seal};

/// Returns the place of a table in the seal. `None` if the seal does not cover it.
pub(crate) fn find_slot(table: &str) -> Option<usize> {
    SEALED.iter().position(|sealed| *sealed == table)
}

/// The sums of a seal that was written with the key of the store.
pub(crate) struct SealedSums(Seal);

impl SealedSums {
    /// Loads the sums. `None` if the store has no seal, or one that was not written with the key.
    pub(crate) fn load(session: &dyn Session, key: &AuditKey) -> Result<Option<Self>, StoreError> {
        Ok(load_seal(session)?.filter(|seal| seal.has_code(key)).map(Self))
    }

    /// Returns true if the rows of a table have this sum. The sums of tables have no code and are short, so the sum of
    /// all of them has to be compared as well.
    pub(crate) fn has_table_sum(&self, slot: usize, sum: RowSum) -> bool {
        self.0.table_sum(slot) == sum.shorten()
    }

    /// Returns true if the rows of all tables together have this sum.
    pub(crate) fn has_total(&self, sum: RowSum) -> bool {
        self.0.total() == sum
    }
}

/// Seals a copy whose rows have these sums, in the order of the tables. Writes no entry: nothing begins, because the
/// store of the source was guarded by its own place.
pub(crate) fn seal_copy(session: &dyn Session, key: &AuditKey, sums: &[RowSum]) -> Result<(), StoreError> {
    let query = "INSERT INTO store_seal (id, sums) VALUES (1, ?1)";
    session.execute(query, [Seal::from_sums(key, sums).0])?;
    Ok(())
}

/// Returns the number of tables that the seal covers.
pub(crate) fn count_sealed_tables() -> usize {
    SEALED.len()
}
