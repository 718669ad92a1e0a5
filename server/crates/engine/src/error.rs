//! Failures of a database, by kind.

/// Result of a statement.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of a database, or of a value that is read or written.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

/// Kind of a failure, for callers that act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A statement that must find a row has found none.
    NoRow,
    /// The database does not understand the statement, such as a function that the session does not have.
    InvalidStatement,
    /// A value is not what the program reads it as, or out of the range of a column.
    Unreadable,
    /// The statement violates a constraint of the schema.
    Constraint,
    /// There is no space left on the disk.
    DiskFull,
    /// Somebody else holds a lock for too long.
    Busy,
    /// Reading or writing the disk fails.
    DiskFailing,
    /// The database's files are damaged.
    Damaged,
    /// The transaction met another one, and can be repeated as it was.
    Conflict,
    /// The database cannot be reached, or takes no work at the moment.
    Unavailable,
    /// The connection was lost while a commit was under way: nobody knows if it was done.
    UnknownCommit,
    /// The disk failed while a commit was written: after a crash, it may be there.
    DoubtfulCommit,
    /// A hook has refused the commit.
    CommitRefused,
    /// Any other failure.
    Other,
}

impl Error {
    /// Makes a failure of a kind, with a text for the log.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Makes the failure of a value that is not what `expected` names, such as "id of an entity".
    pub fn unreadable(column: usize, expected: &str) -> Self {
        Self::new(ErrorKind::Unreadable, format!("column {column} is no {expected}"))
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
