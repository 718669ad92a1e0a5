//! The end of registrations whose retention has ended.

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, RegistrationId};
use tillgate_domain::registration::Registration;
use tillgate_engine::{Session, params};

use crate::registration::stored_credentials::{delete_account, load_registration};
use crate::{Changes, Sources, Store, StoreError, StoreErrorKind, schedule};

impl Store {
    /// Returns true if there is a sealed account whose retention has ended by `now`.
    pub fn has_expired_registrations(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM registration_account WHERE purge_at <= ?1)";
            Ok(session.query_one(query, [now.as_millisecond()], |row| row.get(0))?)
        })
    }

    /// Ends at most 100 of the registrations whose retention has ended: writes what `end` returns for each, with its
    /// event. Of an account whose registration is missing or unreadable, deletes the sealed account and its standing
    /// instructions. Marks the WAL as dirty if there are any. If a message was written, wakes
    /// [`Store::wait_for_message`]. Returns the number of accounts that were deleted.
    pub async fn end_expired_registrations(
        &self,
        now: Timestamp,
        end: impl Fn(&Registration) -> Registration + Send + 'static,
    ) -> Result<usize, StoreError> {
        let sources = self.sources.clone();
        let batch = self.run_write(move |session| end_expired_batch(session, &sources, now, &end)).await?;
        if batch.size > 0 {
            // The write-ahead log still contains the deleted accounts until it is truncated.
            self.mark_wal_dirty();
        }
        if batch.wrote_message {
            self.message_written.notify_one();
        }
        Ok(batch.size)
    }
}

/// Maximum number of registrations that one write ends. Small, because the write blocks other writers; the others
/// follow in later writes.
const BATCH: i64 = 100;

/// Result of [`end_expired_batch`].
struct EndedBatch {
    /// Number of accounts that were deleted.
    size: usize,
    /// True if a message was written.
    wrote_message: bool,
}

/// Writes what `end` returns for a batch of the registrations whose retention has ended by `now`. Deletes the accounts
/// without a readable registration, too: their time is over, and they would fill the next batches.
fn end_expired_batch(
    session: &dyn Session,
    sources: &Sources,
    now: Timestamp,
    end: impl Fn(&Registration) -> Registration,
) -> Result<EndedBatch, StoreError> {
    let due: Vec<(String, String)> = session.query_all(
        "SELECT entity, registration FROM registration_account WHERE purge_at <= ?1 LIMIT ?2",
        params![now.as_millisecond(), BATCH],
        |row| row.read(),
    )?;
    let mut changes = Changes::default();
    let mut wrote_message = false;
    for (entity, id) in &due {
        match load_readable_registration(session, entity, id)? {
            Some(registration) => changes = changes.with_registration(&end(&registration)),
            None => {
                tracing::warn!(
                    registration = id,
                    entity,
                    "an expired account was deleted, although its registration is unreadable"
                );
                delete_account(session, id)?;
                wrote_message |= schedule::end_schedules(session, sources, id)?;
            }
        }
    }
    wrote_message |= changes.apply(session, sources)?;
    Ok(EndedBatch { size: due.len(), wrote_message })
}

/// Loads a registration by the ids in the row of its account. Returns `None` if it is missing, or if its document or an
/// id does not have the expected form.
fn load_readable_registration(
    session: &dyn Session,
    entity: &str,
    id: &str,
) -> Result<Option<Registration>, StoreError> {
    let (Some(entity), Some(id)) = (EntityId::parse(entity), RegistrationId::parse(id)) else { return Ok(None) };
    match load_registration(session, &entity, &id) {
        Err(error) if error.kind() == StoreErrorKind::Unreadable => Ok(None),
        loaded => loaded,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {

    use crate::conformance::samples::{empty_directory, sample_registration, sealed_record, write_changes};
    use crate::registration::expiry::*;

    #[tokio::test]
    async fn an_expired_account_is_deleted_if_its_registration_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        let (damaged, sound) = (sample_registration(1), sample_registration(2));
        for registration in [&damaged, &sound] {
            let changes = Changes::default().with_registration(registration);
            write_changes(&store, changes.with_account(registration, sealed_record(9))).await.unwrap();
        }
        let id = damaged.id.as_str().to_owned();
        let damage = move |session: &dyn Session| {
            Ok(session.execute("UPDATE registration SET document = '{}' WHERE id = ?1", [&id])?)
        };
        assert_eq!(store.run_write(damage).await.unwrap(), 1);
        let end = sound.retained_until.unwrap();
        assert_eq!(store.end_expired_registrations(end, Registration::as_expired).await.unwrap(), 2);
        assert!(!store.has_expired_registrations(end).unwrap());
        assert!(store.load_registration(&sound.entity, &sound.id).unwrap().unwrap().ended.is_some());
    }
}
