//! Recognizes a pooler such as pgbouncer between this process and the server, if it breaks what sessions rely on.

use super::{PostgresAddress, PostgresSession, pooler_error};
use crate::{Result, Session as _};

/// Checks that an address leads to a server whose sessions are those of this process. Locks, settings and compiled
/// statements belong to a session.
///
/// # Errors
/// If a pooler drops the limits of sessions, or gives the session of a connection to another one between two
/// transactions. Also if the database cannot be reached.
pub fn check_pooling(address: &PostgresAddress) -> Result<()> {
    let first = PostgresSession::connect(address)?;
    let kept = first.ask_plainly("SHOW idle_in_transaction_session_timeout")?;
    // Zero is the default of PostgreSQL, and none of the limits is zero.
    if kept == "0" {
        return Err(pooler_error::dropped_limits());
    }
    let own = ask_process(&first)?;
    let second = PostgresSession::connect(address)?;
    second.run_script("BEGIN")?;
    // With a pool of transactions, the idle session of the first connection serves the second one, or the first
    // connection gets another session while that one is in use.
    let is_shared = ask_process(&second)? == own || ask_process(&first)? != own;
    second.run_script("ROLLBACK")?;
    if is_shared {
        return Err(pooler_error::shared_sessions());
    }
    Ok(())
}

/// Returns the process of the server that answers a session.
fn ask_process(session: &PostgresSession) -> Result<String> {
    session.ask_plainly("SELECT pg_backend_pid()")
}
