//! Failures of the store. Callers get a kind on which they can act, and a text with the causes for the log. Neither
//! exposes the libraries below the store.

use std::io;
use std::path::PathBuf;

use tillgate_engine::ErrorKind;
use tillgate_os::randomness::NoRandomness;

use crate::DiskFault;
use crate::write::job_queue::NotDurable;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(Box<Cause>);

/// Kind of a failure, for callers that act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The queue of the writer is full: requests arrive faster than the disk writes.
    Overloaded,
    /// A tenant requests more long reads than its share allows.
    TooManyReads,
    /// A request with the same idempotency key was written first.
    DuplicateKey,
    /// A fault of the disk, which the operator can repair.
    Disk(DiskFault),
    /// The write violates a constraint of the store, such as captures beyond the amount of a payment.
    ConstraintViolated,
    /// A stored value does not have the expected form.
    Unreadable,
    /// A server or a restore uses the store or a node's name, a restore or a copy was interrupted, or the store has
    /// moved.
    InUse,
    /// Any other failure. The log has the details.
    Internal,
}

/// Cause of a failure, with the error of the library below the store.
#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error("the write queue is full")]
    Overloaded,
    #[error("too many long reads of one tenant are waiting")]
    TooManyReads,
    #[error("the writer has stopped")]
    Stopped,
    /// The transaction of this request did not become durable. Contains the fault of the disk if one is known.
    #[error("the transaction was not committed ({})", .0.map_or("no fault is known", DiskFault::as_str))]
    NotCommitted(Option<DiskFault>),
    /// The answer to the commit of this request was lost, or its disk has failed meanwhile, because of this fault.
    #[error("it is not known whether the transaction was committed ({})", .0.as_str())]
    Unconfirmed(DiskFault),
    #[error("a request with the same idempotency key was written first")]
    DuplicateKey,
    #[error(
        "the schema of the store was changed by another program, so nothing is written: `tillgate verify` names the change"
    )]
    ForeignSchema,
    #[error(transparent)]
    Engine(tillgate_engine::Error),
    #[error("a stored document: {0}")]
    Document(#[from] serde_json::Error),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error(transparent)]
    Random(#[from] NoRandomness),
    #[error("{0} is in use by a server or a restore: stop the server first")]
    InUse(PathBuf),
    #[error("another server has the name {0}: name each server with its own --node")]
    NodeInUse(String),
    #[error("a restore of {0} was interrupted: run `tillgate restore` again")]
    RestoreInterrupted(PathBuf),
    #[error(
        "this is a copy of {0} that is not complete: repeat `tillgate store copy`, or begin it again with an empty place"
    )]
    IncompleteCopy(String),
    #[error(
        "the store has moved to {0}: use it there. `tillgate store copy` copies it back, and `tillgate store reopen` opens \
         this one as it was before the move"
    )]
    HasMoved(String),
    #[error("the store is sealed: its migration needs the vault's key (--key-file)")]
    NeedsKey,
    #[error("the entries of the audit log have a key: this needs the vault's key (--key-file)")]
    NeedsAuditKey,
    #[error("{0}")]
    SealKey(Box<crate::keys::sealed_key::SealedKeyError>),
    #[error("migrating the store: {0}")]
    Migration(Box<StoreError>),
}

impl StoreError {
    /// Returns the kind of the failure.
    pub fn kind(&self) -> StoreErrorKind {
        match &*self.0 {
            Cause::Overloaded => StoreErrorKind::Overloaded,
            Cause::TooManyReads => StoreErrorKind::TooManyReads,
            Cause::DuplicateKey => StoreErrorKind::DuplicateKey,
            Cause::NotCommitted(Some(fault)) => StoreErrorKind::Disk(*fault),
            Cause::Unconfirmed(fault) => StoreErrorKind::Disk(*fault),
            Cause::ForeignSchema => StoreErrorKind::Disk(DiskFault::SchemaChanged),
            Cause::Engine(error) => classify_error(error.kind()),
            Cause::Migration(error) => error.kind(),
            Cause::Document(_) => StoreErrorKind::Unreadable,
            Cause::InUse(_)
            | Cause::NodeInUse(_)
            | Cause::RestoreInterrupted(_)
            | Cause::IncompleteCopy(_)
            | Cause::HasMoved(_) => StoreErrorKind::InUse,
            Cause::Stopped
            | Cause::NotCommitted(None)
            | Cause::File(..)
            | Cause::Random(_)
            | Cause::NeedsKey
            | Cause::NeedsAuditKey
            | Cause::SealKey(_) => StoreErrorKind::Internal,
        }
    }

    /// Returns true if a commit is in doubt: its answer was lost, or the disk has failed meanwhile.
    pub(super) fn is_commit_unknown(&self) -> bool {
        let is_doubtful = |kind| matches!(kind, ErrorKind::UnknownCommit | ErrorKind::DoubtfulCommit);
        matches!(&*self.0, Cause::Engine(error) if is_doubtful(error.kind()))
    }

    /// Returns true if the write that has failed may be stored nevertheless.
    pub(super) fn may_be_stored(&self) -> bool {
        matches!(&*self.0, Cause::Unconfirmed(_))
    }

    /// Returns true if nothing of the transaction is committed and the same one may succeed: it met another one, or its
    /// connection is gone.
    pub(super) fn is_repeatable(&self) -> bool {
        let is_transient = |kind| matches!(kind, ErrorKind::Conflict | ErrorKind::Unavailable);
        matches!(&*self.0, Cause::Engine(error) if is_transient(error.kind()))
    }

    /// Returns the fault of the disk behind the failure, or `None` if there is none.
    pub fn disk_fault(&self) -> Option<DiskFault> {
        match self.kind() {
            StoreErrorKind::Disk(fault) => Some(fault),
            _ => None,
        }
    }
}

impl From<NotDurable> for Cause {
    fn from(reason: NotDurable) -> Self {
        match reason {
            NotDurable::Undone(fault) => Self::NotCommitted(fault),
            NotDurable::Unknown(fault) => Self::Unconfirmed(fault),
        }
    }
}

impl From<tillgate_engine::Error> for Cause {
    fn from(error: tillgate_engine::Error) -> Self {
        // SQLite's own text for a refused commit is "constraint failed".
        match DiskFault::from_kind(error.kind()) {
            Some(DiskFault::SchemaChanged) => Self::ForeignSchema,
            _ => Self::Engine(error),
        }
    }
}

/// Lets `?` convert the errors of the libraries below the store.
impl<E> From<E> for StoreError
where
    Cause: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}

/// Returns the kind of a database's failure: the disk fault behind it, `Unreadable` for a value of an unexpected form,
/// `ConstraintViolated`, or `Internal` for everything else.
fn classify_error(kind: ErrorKind) -> StoreErrorKind {
    if let Some(fault) = DiskFault::from_kind(kind) {
        return StoreErrorKind::Disk(fault);
    }
    match kind {
        ErrorKind::Unreadable => StoreErrorKind::Unreadable,
        ErrorKind::Constraint => StoreErrorKind::ConstraintViolated,
        _ => StoreErrorKind::Internal,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_engine::Error;
    use tillgate_engine::sqlite::SqliteSession;

    use super::*;

    fn error_kind(error: impl Into<StoreError>) -> StoreErrorKind {
        error.into().kind()
    }

    #[test]
    fn faults_of_the_disk_are_told_from_broken_rules_and_from_mistakes() {
        for (kind, expected) in [
            (ErrorKind::DiskFull, StoreErrorKind::Disk(DiskFault::Full)),
            (ErrorKind::Busy, StoreErrorKind::Disk(DiskFault::Busy)),
            (ErrorKind::DiskFailing, StoreErrorKind::Disk(DiskFault::Failing)),
            (ErrorKind::Damaged, StoreErrorKind::Disk(DiskFault::Damaged)),
            (ErrorKind::CommitRefused, StoreErrorKind::Disk(DiskFault::SchemaChanged)),
            (ErrorKind::Constraint, StoreErrorKind::ConstraintViolated),
            (ErrorKind::NoRow, StoreErrorKind::Internal),
            (ErrorKind::Other, StoreErrorKind::Internal),
        ] {
            let error = || Error::new(kind, "it failed");
            assert_eq!(error_kind(error()), expected, "{kind:?}");
            let migrating = Cause::Migration(Box::new(error().into()));
            assert_eq!(error_kind(migrating), expected, "{kind:?} while migrating");
        }
        assert_eq!(error_kind(Cause::NotCommitted(Some(DiskFault::Full))), StoreErrorKind::Disk(DiskFault::Full));
        assert_eq!(error_kind(Cause::NotCommitted(None)), StoreErrorKind::Internal);
    }

    #[test]
    fn values_that_are_not_what_was_written_are_unreadable() {
        let session = SqliteSession::open_in_memory().unwrap();
        let number = session.query_one("SELECT 'text'", (), |row| row.get::<i64>(0)).unwrap_err();
        assert_eq!(error_kind(number), StoreErrorKind::Unreadable);
        assert_eq!(error_kind(Error::unreadable(0, "id of an entity")), StoreErrorKind::Unreadable);
        assert_eq!(error_kind(serde_json::from_str::<u8>("{").unwrap_err()), StoreErrorKind::Unreadable);
    }

    #[test]
    fn the_text_of_a_failure_is_that_of_its_cause() {
        let error = StoreError::from(Cause::InUse("data".into()));
        assert_eq!(error.to_string(), "data is in use by a server or a restore: stop the server first");
        assert!(std::error::Error::source(&error).is_none());
    }
}
