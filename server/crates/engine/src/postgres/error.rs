//! PostgreSQL's failures by their kind.

use tokio_postgres::error::SqlState;

use crate::{Error, ErrorKind};

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        // The message of the database without its detail, which names the values of the row.
        let text = error.as_db_error().map_or_else(|| describe_chain(&error), |error| error.message().to_owned());
        Self::new(find_kind(&error), text)
    }
}

/// Describes an error with its causes, as the library names only the outermost.
fn describe_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the kind of a failure.
fn find_kind(error: &tokio_postgres::Error) -> ErrorKind {
    match error.code() {
        Some(code) => find_kind_of_code(code),
        // Without an answer of the database, the connection is gone, unless a value could not be sent.
        None if error.is_closed() || is_lost(error) => ErrorKind::Unavailable,
        None => ErrorKind::Other,
    }
}

/// Returns true if the connection failed beneath the protocol.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.into_iter().any(|cause| cause.is::<std::io::Error>())
}

/// Returns the kind of a code (PostgreSQL's appendix A).
fn find_kind_of_code(code: &SqlState) -> ErrorKind {
    match code.code() {
        // A disk that is full, and quotas.
        "53100" => ErrorKind::DiskFull,
        // Waiting for a lock, or for the statement itself, has taken too long.
        "55P03" | "57014" => ErrorKind::Busy,
        "40001" | "40P01" => ErrorKind::Conflict,
        "XX001" | "XX002" => ErrorKind::Damaged,
        // Read-only after a failover, starting up or shutting down.
        "25006" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" => ErrorKind::Unavailable,
        // Raised by a trigger of the schema.
        "P0001" => ErrorKind::Constraint,
        "22003" => ErrorKind::Unreadable,
        other => match other.get(..2) {
            Some("23") => ErrorKind::Constraint,
            // Lost connections, refused ones, and too many or too little memory for one more.
            Some("08" | "28" | "53") => ErrorKind::Unavailable,
            Some("42") => ErrorKind::InvalidStatement,
            Some("58") => ErrorKind::DiskFailing,
            _ => ErrorKind::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_rules_are_told_from_faults_of_disk_and_network_and_from_mistakes() {
        for (code, expected) in [
            ("23505", ErrorKind::Constraint),
            ("P0001", ErrorKind::Constraint),
            ("53100", ErrorKind::DiskFull),
            ("57014", ErrorKind::Busy),
            ("40P01", ErrorKind::Conflict),
            ("40001", ErrorKind::Conflict),
            ("57P01", ErrorKind::Unavailable),
            ("08006", ErrorKind::Unavailable),
            ("25006", ErrorKind::Unavailable),
            ("28P01", ErrorKind::Unavailable),
            ("53200", ErrorKind::Unavailable),
            ("53300", ErrorKind::Unavailable),
            ("58030", ErrorKind::DiskFailing),
            ("XX001", ErrorKind::Damaged),
            ("42883", ErrorKind::InvalidStatement),
            ("22012", ErrorKind::Other),
        ] {
            assert_eq!(find_kind_of_code(&SqlState::from_code(code)), expected, "{code}");
        }
    }
}
