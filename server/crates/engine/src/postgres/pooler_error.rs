//! Errors about a pooler such as pgbouncer between this process and the server, with advice.

use crate::{Error, ErrorKind};

/// Advice after each reason.
const ADVICE: &str = "connect to PostgreSQL without a pooler: a node has few connections, and keeps them";

/// Returns the error about a pooler that drops the limits of sessions.
pub(super) fn dropped_limits() -> Error {
    let text = format!("a pooler between Tillgate and PostgreSQL drops the limits of sessions; {ADVICE}");
    Error::new(ErrorKind::Other, text)
}

/// Returns the error about a pooler that gives the session of a connection to another one.
pub(super) fn shared_sessions() -> Error {
    let text = format!(
        "a pooler between Tillgate and PostgreSQL shares sessions between connections (pool_mode = transaction), and the \
         locks of a session would be those of another node; {ADVICE}"
    );
    Error::new(ErrorKind::Other, text)
}

/// Returns the reason for a refused connection if a pooler refuses it: it does not know the limits of a session.
pub(super) fn explain_refusal(error: Error) -> Error {
    if !error.to_string().contains("unsupported startup parameter") {
        return error;
    }
    let text =
        format!("a pooler between Tillgate and PostgreSQL does not take the limits of sessions ({error}); {ADVICE}");
    Error::new(ErrorKind::Other, text)
}
