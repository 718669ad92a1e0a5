//! Faults of the disk: what SQLite reports as full, busy, failing or damaged, and the state that damage leaves behind.

use std::sync::OnceLock;

use rusqlite::ErrorCode;

use super::StoreError;

/// A fault that an operator can mend. The request that meets it is answered 503, and nothing of it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// There is no room left.
    Full,
    /// Another process holds the write lock for too long.
    Busy,
    /// Reading or writing fails.
    Failing,
    /// A page of the file is not what was written. Writing stops until the store is restored.
    Damaged,
}

impl DiskFault {
    /// The fault behind an error of SQLite. `None` if the disk is not to blame.
    pub(super) fn of(error: &rusqlite::Error) -> Option<Self> {
        Some(match error.sqlite_error_code()? {
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => Self::Busy,
            ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly => Self::Failing,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged,
            _ => return None,
        })
    }

    /// The word for it in `/health`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "disk-full",
            Self::Busy => "busy",
            Self::Failing => "disk-failing",
            Self::Damaged => "damaged",
        }
    }

    /// Describes what happened, and what the operator can do.
    pub fn description(self) -> &'static str {
        match self {
            Self::Full => "The disk is full: make room in the data folder's file system",
            Self::Busy => "Another process holds the write lock of the store: end it",
            Self::Failing => "The disk fails to read or write: see the log, and check the disk",
            Self::Damaged => {
                "The store's file is damaged and takes no writes: save it with `tillgate backup`, stop the server, and run \
                 `tillgate restore` with the latest good backup"
            }
        }
    }

    /// Seconds after which a client may try again.
    pub fn retry_after(self) -> u32 {
        match self {
            Self::Busy => 1,
            Self::Failing => 10,
            Self::Full => 30,
            Self::Damaged => 300,
        }
    }
}

impl StoreError {
    /// The fault of the disk behind this error. `None` if the disk is not to blame.
    pub fn fault(&self) -> Option<DiskFault> {
        match self {
            Self::Sqlite(error) => DiskFault::of(error),
            Self::NotCommitted(fault) => *fault,
            _ => None,
        }
    }
}

/// Damage that was found since the start. Set once, by whoever meets it first: the writer, a reader or the daily check.
#[derive(Debug, Default)]
pub struct Damage(OnceLock<String>);

impl Damage {
    /// Returns true if damage was found. The writer then takes no more writes.
    pub fn is_found(&self) -> bool {
        self.0.get().is_some()
    }

    /// Notes damage, and says it in the log the first time.
    pub fn report(&self, what: &str) {
        if self.0.set(what.to_owned()).is_ok() {
            tracing::error!(
                damage = what,
                "the store's file is damaged: writing has stopped. Save what can be read with `tillgate backup`, stop the \
                 server, and run `tillgate restore --from FILE` with the latest good backup"
            );
        }
    }

    /// Notes damage if an outcome tells of it.
    pub(super) fn note<T>(&self, outcome: &Result<T, StoreError>) {
        if let Err(error) = outcome
            && error.fault() == Some(DiskFault::Damaged)
        {
            self.report(&error.to_string());
        }
    }
}
