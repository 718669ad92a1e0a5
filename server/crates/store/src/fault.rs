//! Faults of the disk (full, busy, failing or damaged, as reported by the database), a schema that another program has
//! changed, and the state after damage was found.

use std::sync::OnceLock;

use tillgate_engine::ErrorKind;

use crate::StoreError;

/// A fault that an operator can repair. The affected request gets status 503, and nothing of it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// There is no space left.
    Full,
    /// Another process holds the write lock for too long.
    Busy,
    /// Reading or writing fails.
    Failing,
    /// A page of the file is corrupt. Writing stops until the store is restored.
    Damaged,
    /// Another program has changed the schema, such as by a trigger. Writing stops until that is undone.
    SchemaChanged,
    /// The database of a cluster cannot be reached, or takes no work.
    Unreachable,
}

impl DiskFault {
    /// Returns the fault behind a database's failure of a kind, or `None` if the failure has another cause.
    pub(super) fn from_kind(kind: ErrorKind) -> Option<Self> {
        Some(match kind {
            ErrorKind::DiskFull => Self::Full,
            ErrorKind::Busy | ErrorKind::Conflict => Self::Busy,
            ErrorKind::Unavailable | ErrorKind::UnknownCommit => Self::Unreachable,
            ErrorKind::DiskFailing | ErrorKind::DoubtfulCommit => Self::Failing,
            ErrorKind::Damaged => Self::Damaged,
            // Only the hook of `schema::guard::check_commits` refuses commits.
            ErrorKind::CommitRefused => Self::SchemaChanged,
            ErrorKind::NoRow
            | ErrorKind::InvalidStatement
            | ErrorKind::Unreadable
            | ErrorKind::Constraint
            | ErrorKind::Other => return None,
        })
    }

    /// Returns its name in `/health`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "disk-full",
            Self::Busy => "busy",
            Self::Failing => "disk-failing",
            Self::Damaged => "damaged",
            Self::SchemaChanged => "schema-changed",
            Self::Unreachable => "database-unreachable",
        }
    }

    /// Returns a description of the fault and of the operator's remedy.
    pub fn description(self) -> &'static str {
        match self {
            Self::Full => "The disk is full: make room in the file system of the data folder, or of the database",
            Self::Busy => "Another process holds the write lock of the store: end it",
            Self::Failing => "The disk fails to read or write: see the log, and check the disk",
            Self::Damaged => {
                "The store's file is damaged and takes no writes: save it with `tillgate backup`, stop the server, and run \
                 `tillgate restore` with the latest good backup"
            }
            Self::SchemaChanged => {
                "Another program has changed the schema of the store, which takes no writes: `tillgate verify` names the \
                 change. Undo it"
            }
            Self::Unreachable => "The database cannot be reached or takes no work: see its log, and check the network",
        }
    }

    /// Returns the seconds after which a client may try again.
    pub fn retry_after(self) -> u32 {
        match self {
            Self::Busy => 1,
            Self::Unreachable => 2,
            Self::Failing => 10,
            Self::Full | Self::SchemaChanged => 30,
            Self::Damaged => 300,
        }
    }
}

/// Damage found since the start. Set once by the first of the writer, the readers or the daily check that finds it.
#[derive(Debug, Default)]
pub struct Damage(OnceLock<String>);

impl Damage {
    /// Returns true if damage was found. The writer then refuses all writes.
    pub fn is_found(&self) -> bool {
        self.0.get().is_some()
    }

    /// Records damage, with a text about it. Logs it and keeps the text only the first time.
    pub fn report(&self, finding: &str) {
        if self.0.set(finding.to_owned()).is_ok() {
            tracing::error!(
                damage = finding,
                "the store's file is damaged: writing has stopped. Save what can be read with `tillgate backup`, stop the \
                 server, and run `tillgate restore --from FILE` with the latest good backup"
            );
        }
    }

    /// Records damage if the outcome is a failure because of a damaged file. Ignores all other outcomes.
    pub(super) fn record_outcome<T>(&self, outcome: &Result<T, StoreError>) {
        if let Err(error) = outcome
            && error.disk_fault() == Some(DiskFault::Damaged)
        {
            self.report(&error.to_string());
        }
    }
}
