//! The servers of a database. Each has a lock in it that it shares with the others, on the session of its writer, so
//! that the database forgets a server that has ended.

use tillgate_engine::Session;

use crate::StoreError;

/// Key of the lock. Any number that nobody else uses.
const KEY: i64 = 0x7469_6c6c_6e6f_6465;

/// Counts this process as a server until the session ends.
pub(crate) fn add_server(session: &dyn Session) -> Result<(), StoreError> {
    // No process takes it alone, so that it is always free.
    session.has_row("SELECT pg_try_advisory_lock_shared(?1)", [KEY])?;
    Ok(())
}

/// Counts the servers of a session's database.
pub(crate) fn count_servers(session: &dyn Session) -> Result<u64, StoreError> {
    // A key of 64 bits is shown as two halves.
    let query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND classid::bigint = ?1 AND objid::bigint = ?2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let count: i64 = session.query_one(query, [KEY >> 32, KEY & 0xffff_ffff], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}
