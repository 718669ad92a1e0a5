//! Failures of the store. Callers get a kind on which they can act, and a text with the causes for the log. Neither
//! exposes the libraries below the store.

use std::io;
use std::path::PathBuf;

use rusqlite::types::Type;
use tillgate_os::randomness::NoRandomness;

use super::DiskFault;

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
    /// A server or a restore uses the store, or a restore was interrupted.
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
    #[error("a request with the same idempotency key was written first")]
    DuplicateKey,
    #[error(
        "the schema of the store was changed by another program, so nothing is written: `tillgate verify` names the change"
    )]
    ForeignSchema,
    #[error(transparent)]
    Sqlite(rusqlite::Error),
    #[error("a stored document: {0}")]
    Document(#[from] serde_json::Error),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error(transparent)]
    Random(#[from] NoRandomness),
    #[error("{0} is in use by a server or a restore: stop the server first")]
    InUse(PathBuf),
    #[error("a restore of {0} was interrupted: run `tillgate restore` again")]
    RestoreInterrupted(PathBuf),
    #[error("the store is sealed: its migration needs the vault's key (--key-file)")]
    NeedsKey,
    #[error("{0}")]
    SealKey(Box<crate::keys::sealed_key::SealedKeyError>),
    #[error("migrating the store: {0}")]
    Migration(#[from] rusqlite_migration::Error),
}

impl StoreError {
    /// Returns the kind of the failure.
    pub fn kind(&self) -> StoreErrorKind {
        match &*self.0 {
            Cause::Overloaded => StoreErrorKind::Overloaded,
            Cause::TooManyReads => StoreErrorKind::TooManyReads,
            Cause::DuplicateKey => StoreErrorKind::DuplicateKey,
            Cause::NotCommitted(Some(fault)) => StoreErrorKind::Disk(*fault),
            Cause::ForeignSchema => StoreErrorKind::Disk(DiskFault::SchemaChanged),
            Cause::Sqlite(error) | Cause::Migration(rusqlite_migration::Error::RusqliteError { err: error, .. }) => {
                sqlite_error_kind(error)
            }
            Cause::Document(_) => StoreErrorKind::Unreadable,
            Cause::InUse(_) | Cause::RestoreInterrupted(_) => StoreErrorKind::InUse,
            Cause::Stopped
            | Cause::NotCommitted(None)
            | Cause::File(..)
            | Cause::Random(_)
            | Cause::NeedsKey
            | Cause::SealKey(_)
            | Cause::Migration(_) => StoreErrorKind::Internal,
        }
    }

    /// Returns the fault of the disk behind the failure, or `None` if there is none.
    pub fn disk_fault(&self) -> Option<DiskFault> {
        match self.kind() {
            StoreErrorKind::Disk(fault) => Some(fault),
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for Cause {
    fn from(error: rusqlite::Error) -> Self {
        // SQLite's own text for a refused commit is "constraint failed".
        match DiskFault::from_sqlite(&error) {
            Some(DiskFault::SchemaChanged) => Self::ForeignSchema,
            _ => Self::Sqlite(error),
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

/// Returns the kind of an SQLite error: the disk fault behind it, `Unreadable` for a value of an unexpected form,
/// `ConstraintViolated`, or `Internal` for everything else.
fn sqlite_error_kind(error: &rusqlite::Error) -> StoreErrorKind {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    if let Some(fault) = DiskFault::from_sqlite(error) {
        return StoreErrorKind::Disk(fault);
    }
    match error {
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..) => {
            StoreErrorKind::Unreadable
        }
        error if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
            StoreErrorKind::ConstraintViolated
        }
        _ => StoreErrorKind::Internal,
    }
}

/// Creates the error for a column whose text is not what `expected` names, such as "id of an entity".
pub(super) fn unreadable_column(column: usize, expected: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, format!("it is no {expected}").into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rusqlite::{Connection, ffi};

    use super::*;

    fn error_kind(error: impl Into<StoreError>) -> StoreErrorKind {
        error.into().kind()
    }

    fn sqlite_error(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn faults_of_the_disk_are_told_from_broken_rules_and_from_mistakes() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, StoreErrorKind::Disk(DiskFault::Full)),
            (ffi::SQLITE_BUSY, StoreErrorKind::Disk(DiskFault::Busy)),
            (ffi::SQLITE_IOERR, StoreErrorKind::Disk(DiskFault::Failing)),
            (ffi::SQLITE_CORRUPT, StoreErrorKind::Disk(DiskFault::Damaged)),
            (ffi::SQLITE_CONSTRAINT_TRIGGER, StoreErrorKind::ConstraintViolated),
            (ffi::SQLITE_MISUSE, StoreErrorKind::Internal),
        ] {
            assert_eq!(error_kind(sqlite_error(code)), expected, "{code}");
            let error = rusqlite_migration::Error::RusqliteError { query: String::new(), err: sqlite_error(code) };
            assert_eq!(error_kind(error), expected, "{code} while migrating");
        }
        assert_eq!(error_kind(Cause::NotCommitted(Some(DiskFault::Full))), StoreErrorKind::Disk(DiskFault::Full));
        assert_eq!(error_kind(Cause::NotCommitted(None)), StoreErrorKind::Internal);
    }

    #[test]
    fn values_that_are_not_what_was_written_are_unreadable() {
        let connection = Connection::open_in_memory().unwrap();
        let number = connection.query_row("SELECT 'text'", [], |row| row.get::<_, i64>(0)).unwrap_err();
        assert_eq!(error_kind(number), StoreErrorKind::Unreadable);
        assert_eq!(error_kind(unreadable_column(0, "id of an entity")), StoreErrorKind::Unreadable);
        assert_eq!(error_kind(serde_json::from_str::<u8>("{").unwrap_err()), StoreErrorKind::Unreadable);
    }

    #[test]
    fn the_text_of_a_failure_is_that_of_its_cause() {
        let error = StoreError::from(Cause::InUse("data".into()));
        assert_eq!(error.to_string(), "data is in use by a server or a restore: stop the server first");
        assert!(std::error::Error::source(&error).is_none());
    }
}
