//! The locks of those who write: a writer of everything is alone, and the writers of one owner come one after the
//! other. They belong to the database, so they hold between all nodes.

use std::time::{Duration, Instant};

use super::PostgresSession;
use super::wait::{leave_runtime, to_setting};
use crate::{ErrorKind, Result, Session as _, WriteScope};

/// Key of the lock of all writers: a writer of everything has it alone, all others have it together. Any number that
/// nobody else uses.
const WRITERS: i64 = 0x7469_6c6c_7772_6974;

/// First and longest wait of somebody who has to be alone.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Begins a transaction with the locks of its scope.
pub(super) fn begin_within(session: &PostgresSession, scope: WriteScope<'_>) -> Result<()> {
    match scope {
        WriteScope::Everything => wait_alone(session, |wait| {
            let (wait, limit) = (to_setting(Some(wait)), to_setting(session.lock_timeout()));
            session.begin_locked(&format!(
                "SET LOCAL lock_timeout = {wait}; SELECT pg_advisory_xact_lock({WRITERS}); SET LOCAL lock_timeout = {limit}"
            ))
        }),
        WriteScope::Nothing => session.begin_locked(&format!("SELECT pg_advisory_xact_lock_shared({WRITERS})")),
        WriteScope::Owner(owner) => {
            // Two owners with one hash wait for each other, and nothing worse.
            let owner = owner.replace('\'', "''");
            session.begin_locked(&format!(
                "SELECT pg_advisory_xact_lock_shared({WRITERS});
                 SELECT pg_advisory_xact_lock(hashtextextended('{owner}', {WRITERS}))"
            ))
        }
    }
}

/// Keeps all writers out until [`unlock_session`], also between transactions.
pub(super) fn lock_session(session: &PostgresSession) -> Result<()> {
    wait_alone(session, |wait| {
        let (wait, limit) = (to_setting(Some(wait)), to_setting(session.lock_timeout()));
        // One transaction, so that a lock that comes too late leaves no setting behind.
        session.run_script(&format!(
            "SET lock_timeout = {wait}; SELECT pg_advisory_lock({WRITERS}); SET lock_timeout = {limit}"
        ))
    })
}

/// Ends [`lock_session`].
pub(super) fn unlock_session(session: &PostgresSession) -> Result<()> {
    session.run_script(&format!("SELECT pg_advisory_unlock({WRITERS})"))
}

/// Takes a lock that nobody else may have, within the session's limit. All writers wait behind somebody who waits for
/// it, and so would wait for those that it waits for, such as a process that was stopped. So it waits for short times,
/// which get longer, and lets the others by in between.
fn wait_alone(session: &PostgresSession, mut attempt: impl FnMut(Duration) -> Result<()>) -> Result<()> {
    let (began, limit) = (Instant::now(), session.lock_timeout());
    let mut wait = FIRST_WAIT;
    loop {
        let left = limit.map(|limit| limit.saturating_sub(began.elapsed()).max(Duration::from_millis(1)));
        match attempt(left.map_or(wait, |left| wait.min(left))) {
            Err(error)
                if error.kind() == ErrorKind::Busy && limit.is_none_or(|limit| began.elapsed() + wait < limit) => {}
            taken => return taken,
        }
        leave_runtime(|| std::thread::sleep(wait));
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}
