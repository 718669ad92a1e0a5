//! Group commit: a thread owns a session and commits all queued requests of a lane as one transaction. A database with
//! one writer has one thread and one lane; a cluster has several (see [`crate::write::job_queue`]).
//!
//! The thread runs the requests one after the other, commits, and then answers all of them. If one fails, the others
//! are not affected (see [`crate::write::group`]). If the database undoes the transaction for a reason that has nothing
//! to do with the requests, such as a deadlock or the end of the connection, the thread makes it again, and all
//! requests decide anew. If the commit fails for another reason, or for the last time, all of them fail. The thread
//! does not wait to fill a group: under light load a group is one request.
//!
//! Requests of threads with low priority are later ones: a group has one of them, and more only while no other request
//! waits. So the large writes of one tenant delay another one's payment by one write, and still come one by one.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tillgate_engine::{Error, ErrorKind, Session};
use tillgate_os::process::is_low_priority;
use tokio::sync::oneshot;

use crate::error::Cause;
use crate::write::group::{GroupRun, WriteGroup};
use crate::write::job_queue::{JobQueue, Lane, NotDurable, WaitEnd, WriteJob};
use crate::write::request::PendingWrite;
use crate::{DiskFault, StoreError};

/// Maximum number of times that the transaction of a group is made. What undoes a third one is no coincidence.
const MAX_ATTEMPTS: u32 = 3;
/// Time since the beginning of a group after which its transaction is not made again.
const PATIENCE: Duration = Duration::from_secs(40);
/// Time for which the outcome of a commit is asked for once its answer is lost: longer than a failover takes.
const OUTCOME_PATIENCE: Duration = Duration::from_secs(30);
/// Time for which another session is opened if requests have run on the lost one: longer than an attempt takes on a
/// busy machine. A failover takes longer, and it is the clients who try again then.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(8);
/// Pause between two attempts to reach the database.
const PAUSE: Duration = Duration::from_millis(200);

/// Work of the thread besides the requests.
pub(crate) trait CommitHooks: Send + 'static {
    /// Interval of [`CommitHooks::on_interval`].
    const INTERVAL: Duration = Duration::MAX;

    /// Returns the fault that forbids all writes, if there is one.
    fn known_fault(&self) -> Option<DiskFault> {
        None
    }

    /// Returns true if what a lane was chosen by still holds, asked inside of its transaction. Otherwise its requests
    /// run while nobody else writes.
    ///
    /// # Errors
    /// If the database does not answer.
    fn is_current(&self, _session: &dyn Session, _lane: &Lane) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Opens another session in the place of one that is gone. `None` if a session is never gone.
    fn reopen(&mut self) -> Option<Result<Box<dyn Session>, StoreError>> {
        None
    }

    /// Returns true if the last transaction was committed, asked on a new session after the answer to its commit was
    /// lost. `None` if the database cannot know.
    ///
    /// # Errors
    /// If the database does not answer.
    fn was_committed(&mut self, _session: &dyn Session) -> Result<Option<bool>, StoreError> {
        Ok(None)
    }

    /// Runs before each commit, inside the transaction.
    ///
    /// # Errors
    /// If the transaction must not be committed. It is undone, and its requests fail.
    fn before_commit(&mut self, _session: &dyn Session) -> Result<(), StoreError> {
        Ok(())
    }

    /// Runs once a commit is known to be done, before its requests are answered.
    fn on_committed(&mut self) {}

    /// Runs after each commit, also a failed one, once its requests have been answered.
    fn after_commit(&mut self, _session: &dyn Session) {}

    /// Runs at intervals, between commits.
    fn on_interval(&mut self, _session: &dyn Session) {}
}

/// No other work.
impl CommitHooks for () {}

/// A session of a thread, with its other work.
pub(crate) type HookedSession<C> = (Box<dyn Session>, C);

/// The queue in front of the threads. Dropping it waits until all queued requests are written.
pub(crate) struct CommitQueue {
    jobs: Arc<JobQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl CommitQueue {
    /// Starts the thread of a database with one writer under this name. At most `capacity` requests wait; further ones
    /// are refused.
    pub(crate) fn start(
        name: &str,
        session: Box<dyn Session>,
        capacity: usize,
        hooks: impl CommitHooks,
    ) -> Result<Self, StoreError> {
        Self::start_all(name, vec![(session, hooks)], JobQueue::new(capacity, false))
    }

    /// Starts a thread for each of several sessions, which commit for different owners side by side.
    pub(crate) fn start_lanes(
        name: &str,
        sessions: Vec<HookedSession<impl CommitHooks>>,
        capacity: usize,
    ) -> Result<Self, StoreError> {
        Self::start_all(name, sessions, JobQueue::new(capacity, true))
    }

    fn start_all(
        name: &str,
        sessions: Vec<HookedSession<impl CommitHooks>>,
        jobs: JobQueue,
    ) -> Result<Self, StoreError> {
        // Dropped at a failure, which ends the threads that have started.
        let mut queue = Self { jobs: Arc::new(jobs), threads: Vec::with_capacity(sessions.len()) };
        for (session, hooks) in sessions {
            let jobs = Arc::clone(&queue.jobs);
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || CommitThread { jobs, session, hooks }.process_jobs())
                .map_err(|error| Cause::File(name.into(), error))?;
            queue.threads.push(thread);
        }
        Ok(queue)
    }

    /// Returns true if requests wait in several lanes.
    pub(crate) fn has_lanes(&self) -> bool {
        self.jobs.has_lanes()
    }

    /// Queues a write at once, so that the returned future, which waits for its commit, need not hold it. Fails with
    /// `Overloaded` if the queue is full. The write runs even if the future is dropped, and again if its transaction is
    /// undone and made again. `finish` runs once, on the thread, just before the caller receives the outcome.
    pub(crate) fn commit_write<T: Send + 'static>(
        &self,
        lane: Lane,
        write: impl FnMut(&dyn Session) -> Result<T, StoreError> + Send + 'static,
        finish: impl FnOnce(&Result<T, StoreError>) + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let (sender, receiver) = oneshot::channel();
        let answer = move |outcome| {
            finish(&outcome);
            // The caller may have stopped waiting. Committed data stays committed.
            let _ = sender.send(outcome);
        };
        let request = Box::new(PendingWrite::new(write, answer));
        // The priority is read here, because the thread that queues the write is not the one that runs it.
        let queued = self.jobs.add(lane, WriteJob { request, is_later: is_low_priority() });
        async move {
            queued?;
            receiver.await.map_err(|_| Cause::Stopped)?
        }
    }
}

impl Drop for CommitQueue {
    fn drop(&mut self) {
        // Closing the queue lets the threads finish the queued requests.
        self.jobs.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// State of a thread.
struct CommitThread<C> {
    jobs: Arc<JobQueue>,
    session: Box<dyn Session>,
    hooks: C,
}

/// Closes the queue if its thread panics: the requests of its lane would wait for ever.
struct CloseAtPanic(Arc<JobQueue>);

impl Drop for CloseAtPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

impl<C: CommitHooks> CommitThread<C> {
    /// Commits queued requests until the queue is closed and empty. Calls `on_interval` at intervals, also while no
    /// request comes.
    fn process_jobs(mut self) {
        let _closes = CloseAtPanic(Arc::clone(&self.jobs));
        let mut last_interval = Instant::now();
        loop {
            match self.jobs.take_lane(C::INTERVAL) {
                Ok(lane) => {
                    self.commit_group(&lane);
                    self.jobs.put_back(lane);
                }
                Err(WaitEnd::Late) => {}
                Err(WaitEnd::Closed) => break,
            }
            // Checked after each group as well, because the wait of a busy queue never times out.
            if last_interval.elapsed() >= C::INTERVAL {
                last_interval = Instant::now();
                self.replace_lost_session();
                self.hooks.on_interval(&*self.session);
            }
        }
    }

    /// Commits waiting requests of a lane as one transaction, then answers all of them. Refuses all of the lane if a
    /// fault is known or the transaction cannot begin. If the transaction is undone for good, fails the requests run so
    /// far; the next group takes the others.
    fn commit_group(&mut self, lane: &Lane) {
        if let Some(fault) = self.hooks.known_fault() {
            return self.jobs.refuse_all(lane, Some(fault));
        }
        let mut group = WriteGroup::new();
        let durable = self.make_durable(lane, &mut group);
        // Callers are answered after the commit, so that no response reports data that a crash could still lose.
        group.answer_all(durable);
        // The hooks come after the answers, so that a checkpoint delays no response.
        self.hooks.after_commit(&*self.session);
    }

    /// Makes the transaction of a group, and again as long as the database undoes it for a reason that may be gone the
    /// next time. Nothing that may be committed is made again.
    fn make_durable(&mut self, lane: &Lane, group: &mut WriteGroup) -> Result<(), NotDurable> {
        let until = Instant::now() + PATIENCE;
        let mut attempts = 1;
        loop {
            let begun = self.begin_within(lane);
            let has_begun = begun.is_ok();
            let run = begun.and_then(|()| self.run_group(lane, group));
            let Err(error) = run.and_then(|()| self.commit_transaction()) else {
                self.hooks.on_committed();
                return Ok(());
            };
            // The next transaction could not begin while this one is open.
            let _ = self.session.roll_back();
            let may_repeat = attempts < MAX_ATTEMPTS && Instant::now() < until && error.is_repeatable();
            // Requests that have not run yet are refused at once if the database cannot be reached.
            if may_repeat && (self.replace_lost_session() || has_begun && self.reconnect()) {
                tracing::warn!(%error, requests = group.len(), has_begun, "a transaction is made again");
                attempts += 1;
                group.renew();
                continue;
            }
            let requests = group.len();
            if has_begun {
                tracing::error!(%error, requests, attempts, "committing a group of requests failed");
            } else {
                tracing::error!(%error, attempts, "beginning a transaction failed");
                // Refuse all waiting requests, because each one alone would wait for the busy disk again.
                self.jobs.refuse_all(lane, error.disk_fault());
            }
            return Err(match error.disk_fault() {
                Some(fault) if error.is_commit_unknown() => NotDurable::Unknown(fault),
                fault => NotDurable::Undone(fault),
            });
        }
    }

    /// Runs a group in the open transaction, and in another one for each request that fails.
    fn run_group(&self, lane: &Lane, group: &mut WriteGroup) -> Result<(), StoreError> {
        while group.run(&*self.session, &self.jobs, lane)? == GroupRun::Spoiled {
            self.session.roll_back()?;
            self.begin_within(lane)?;
        }
        Ok(())
    }

    /// Begins a transaction in the scope of a lane, or of everything if the lane was chosen by what holds no more.
    fn begin_within(&self, lane: &Lane) -> Result<(), StoreError> {
        self.session.begin_write_within(lane.scope())?;
        match self.hooks.is_current(&*self.session, lane) {
            Ok(true) => return Ok(()),
            Ok(false) => self.session.roll_back()?,
            Err(error) => {
                let _ = self.session.roll_back();
                return Err(error);
            }
        }
        Ok(self.session.begin_write()?)
    }

    /// Opens another session if this one is gone. Returns false if that fails.
    fn replace_lost_session(&mut self) -> bool {
        if !self.session.is_lost() {
            return true;
        }
        match self.hooks.reopen() {
            Some(Ok(session)) => {
                self.session = session;
                return true;
            }
            Some(Err(error)) => tracing::error!(%error, "connecting to the database failed"),
            None => {}
        }
        false
    }

    /// Opens another session, however often that fails at first. Returns false if it fails for good.
    fn reconnect(&mut self) -> bool {
        let until = Instant::now() + RECONNECT_PATIENCE;
        while Instant::now() < until {
            // A database that restarts takes a moment, and nothing tells when it is back.
            std::thread::sleep(PAUSE);
            if self.replace_lost_session() {
                return true;
            }
        }
        false
    }

    /// Commits the open transaction. If the answer is lost, finds the outcome.
    fn commit_transaction(&mut self) -> Result<(), StoreError> {
        let committed = self.hooks.before_commit(&*self.session).and_then(|()| Ok(self.session.commit()?));
        let Err(error) = committed else { return Ok(()) };
        if !error.is_commit_unknown() {
            return Err(error);
        }
        match self.find_lost_outcome() {
            Some(true) => {
                tracing::warn!(%error, "the answer to a commit was lost, and the commit was found done");
                Ok(())
            }
            // Known by now: the transaction ended with its connection.
            Some(false) => Err(Error::new(ErrorKind::Unavailable, error.to_string()).into()),
            None => Err(error),
        }
    }

    /// Connects anew after the answer to a commit was lost, and finds out if it was done. `None` if that stays unknown.
    fn find_lost_outcome(&mut self) -> Option<bool> {
        let until = Instant::now() + OUTCOME_PATIENCE;
        loop {
            match self.hooks.reopen()? {
                Ok(session) => {
                    self.session = session;
                    match self.hooks.was_committed(&*self.session) {
                        Ok(outcome) => return outcome,
                        Err(error) => tracing::error!(%error, "asking for the outcome of a commit failed"),
                    }
                }
                Err(error) => tracing::error!(%error, "connecting to the database failed"),
            }
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
