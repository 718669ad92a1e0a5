//! The only way to write a decision: load the records with some keys, decide, and write the changes, in one
//! transaction.

use tillgate_domain::refusal::Refusal;

use crate::write::decision_input::{LoadedRecords, RecordKeys, load_records};
use crate::write::job_queue::Lane;
use crate::{AdminStore, Changes, Sources, Store, StoreError};

/// Result of a write: the decision's own result, or the failure of the store.
pub type UpdateResult<T> = Result<Result<T, Refusal>, StoreError>;

impl Store {
    /// Loads the records with these keys under the write lock, decides, and makes the changes durable. The write is
    /// queued at once, and also runs if the caller stops waiting. The returned future ends after the commit. A refusal
    /// writes nothing. If a message was written, wakes [`Store::wait_for_message`].
    ///
    /// If the transaction is undone and made again, a copy of `decide` decides again about the records as they are by
    /// then. Only the last decision counts, so `decide` must have no other effect than its result.
    ///
    /// # Errors
    /// [`Overloaded`](crate::StoreErrorKind::Overloaded) at once if the queue is full,
    /// [`DuplicateKey`](crate::StoreErrorKind::DuplicateKey) if another request with the idempotency key was written
    /// first. Otherwise the error of loading, applying or committing.
    pub fn update<T, D>(&self, keys: RecordKeys, decide: D) -> impl Future<Output = UpdateResult<T>>
    where
        T: Send + 'static,
        D: FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal> + Clone + Send + 'static,
    {
        let sources = self.sources.clone();
        let lane = self.find_lane(&keys);
        let written = self.writer.run_tracked_write(lane, move |session| {
            let loaded = load_records(session, &keys)?;
            let (changes, value) = match decide.clone()(loaded) {
                Ok(decided) => decided,
                Err(refusal) => return Ok((Err(refusal), Vec::new())),
            };
            let wrote_message = changes.apply(session, &sources)?;
            Ok((Ok((value, wrote_message)), changes.changed_slots()))
        });
        async move {
            Ok(written.await?.map(|(value, wrote_message)| {
                // Woken after the commit, because the sender cannot read the message before.
                if wrote_message {
                    self.message_written.notify_one();
                }
                value
            }))
        }
    }

    /// Returns the lane of a decision: that of its merchant, of whom all channels have one.
    fn find_lane(&self, keys: &RecordKeys) -> Lane {
        if !self.writer.has_lanes() {
            return Lane::Everything;
        }
        let found = keys.owner.as_ref().and_then(|owner| self.directory.find_merchant(owner));
        found.map_or(Lane::Everything, |(merchant, revision)| Lane::Owner(merchant.as_str().into(), revision))
    }
}

impl AdminStore {
    /// Loads the records with these keys, decides, and writes the changes, as one transaction. A refusal writes
    /// nothing.
    pub fn update<T>(
        &self,
        keys: &RecordKeys,
        decide: impl FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        self.in_transaction(|store| store.update_within(keys, decide))
    }

    /// Decides and writes as [`AdminStore::update`] does, as a part of the transaction that is open.
    pub fn update_within<T>(
        &self,
        keys: &RecordKeys,
        decide: impl FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        match decide(load_records(&*self.session, keys)?) {
            Ok((changes, value)) => {
                changes.apply(&*self.session, &Sources::system())?;
                Ok(Ok(value))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }
}
