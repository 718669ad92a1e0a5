//! Retirement of vault keys.

use jiff::Timestamp;
use tillgate_vault::KeyId;

use crate::keys::sealed::SealedCount;
use crate::{AdminStore, StoreError};

/// Reason why a key cannot be retired.
#[derive(Debug, thiserror::Error)]
pub enum RetireError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key is still needed.
    #[error("the key is in use")]
    InUse {
        /// The numbers of records sealed with the key.
        records: Vec<SealedCount>,
        /// The number of stored responses that may still be replayed and whose request fingerprints use the key.
        replays: u64,
    },
}

/// Retires a key that is no longer needed, in one transaction.
///
/// # Errors
/// If records or replayable responses still use the key (with their numbers), or the store cannot be read or written.
pub fn retire_key(store: &AdminStore, id: KeyId, now: Timestamp) -> Result<(), RetireError> {
    // In one transaction, so that no record is sealed with the key between the count and the retirement.
    store.in_transaction(|store| {
        let (records, replays) = (store.count_sealed_by(id)?, store.count_responses_by_key(id, now)?);
        if !records.is_empty() || replays > 0 {
            return Err(RetireError::InUse { records, replays });
        }
        Ok(store.retire_vault_key(id, now)?)
    })
}
