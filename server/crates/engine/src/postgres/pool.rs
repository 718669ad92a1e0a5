//! Sessions that many threads use in turn.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::wait::leave_runtime;
use super::{PostgresAddress, PostgresSession};
use crate::{Error, ErrorKind, Result, Session};

/// Time for which an idle session needs no sign of life.
const FRESH: Duration = Duration::from_secs(1);

/// A pool of sessions. It grows to its limit as they are needed at the same time.
pub struct SessionPool {
    address: PostgresAddress,
    limit: usize,
    /// Maximum wait for a session.
    patience: Duration,
    state: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Default)]
struct PoolState {
    /// The sessions that nobody uses, with the time since which they are idle.
    idle: Vec<(PostgresSession, Instant)>,
    /// Sessions that are idle or in use.
    open: usize,
}

impl SessionPool {
    /// Makes an empty pool of at most `limit` sessions. Who needs one waits for it no longer than `patience`.
    pub fn new(address: PostgresAddress, limit: usize, patience: Duration) -> Self {
        Self { address, limit, patience, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Runs work with a session on the calling thread. A transaction that the work leaves open is undone. A session
    /// whose connection is gone is not used again.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if all sessions stay in use, or no connection can be made. Otherwise the work's own.
    pub fn with_session<T, E: From<Error>>(&self, work: impl FnOnce(&PostgresSession) -> Result<T, E>) -> Result<T, E> {
        // The session goes back also if the work panics.
        let lent = Lent { pool: self, session: Some(self.take_session()?) };
        match &lent.session {
            Some(session) => work(session),
            None => Err(Error::new(ErrorKind::Other, "a session was lent twice").into()),
        }
    }

    fn take_session(&self) -> Result<PostgresSession> {
        let until = Instant::now() + self.patience;
        let mut state = self.lock_state();
        loop {
            if let Some((session, since)) = state.idle.pop() {
                // Asked without the lock, because the answer comes over the network.
                drop(state);
                // A failover ends all connections, and the reads after it should not meet them.
                if !session.has_ended() && (since.elapsed() < FRESH || session.is_alive()) {
                    return Ok(session);
                }
                self.count_lost();
                state = self.lock_state();
                continue;
            }
            if state.open < self.limit {
                state.open += 1;
                drop(state);
                return PostgresSession::connect(&self.address).inspect_err(|_| self.count_lost());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(ErrorKind::Unavailable, "all connections to the database are in use"));
            }
            // Other tasks of the runtime go on meanwhile, such as answers that need no database.
            state = leave_runtime(|| self.returned.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0);
        }
    }

    fn return_session(&self, session: PostgresSession) {
        if session.roll_back().is_err() || session.is_lost() {
            return self.count_lost();
        }
        self.lock_state().idle.push((session, Instant::now()));
        self.returned.notify_one();
    }

    /// Makes room for another session.
    fn count_lost(&self) {
        self.lock_state().open -= 1;
        self.returned.notify_one();
    }

    fn lock_state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session in use. It goes back when this is dropped.
struct Lent<'a> {
    pool: &'a SessionPool,
    session: Option<PostgresSession>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.pool.return_session(session);
        }
    }
}
