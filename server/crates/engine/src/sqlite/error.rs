//! SQLite's failures by their kind.

use rusqlite::{ErrorCode, ffi};

use crate::{Error, ErrorKind};

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(find_kind(&error), error.to_string())
    }
}

/// Returns the kind of a failure.
fn find_kind(error: &rusqlite::Error) -> ErrorKind {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    match error {
        rusqlite::Error::QueryReturnedNoRows => return ErrorKind::NoRow,
        rusqlite::Error::SqlInputError { .. } => return ErrorKind::InvalidStatement,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..) => {
            return ErrorKind::Unreadable;
        }
        _ => {}
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ErrorKind::DiskFull,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            ErrorKind::Busy
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => ErrorKind::DiskFailing,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Damaged,
        // SQLite reports a refused commit as a broken constraint, and only the extended code shows the difference.
        Some(_) if is_refused_commit(error) => ErrorKind::CommitRefused,
        Some(ErrorCode::ConstraintViolation) => ErrorKind::Constraint,
        _ => ErrorKind::Other,
    }
}

/// Returns true if a hook of the connection has refused the commit.
fn is_refused_commit(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_CONSTRAINT_COMMITHOOK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_disk_are_told_from_broken_rules_and_from_mistakes() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, ErrorKind::DiskFull),
            (ffi::SQLITE_BUSY, ErrorKind::Busy),
            (ffi::SQLITE_IOERR, ErrorKind::DiskFailing),
            (ffi::SQLITE_CORRUPT, ErrorKind::Damaged),
            (ffi::SQLITE_CONSTRAINT_TRIGGER, ErrorKind::Constraint),
            (ffi::SQLITE_CONSTRAINT_COMMITHOOK, ErrorKind::CommitRefused),
            (ffi::SQLITE_MISUSE, ErrorKind::Other),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(Error::from(error).kind(), expected, "{code}");
        }
        assert_eq!(Error::from(rusqlite::Error::QueryReturnedNoRows).kind(), ErrorKind::NoRow);
    }
}
