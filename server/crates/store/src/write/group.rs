//! The requests of a group commit: they run one after the other in one transaction, and are answered together. Nothing
//! of a request that fails stays, and the others are not affected.
//!
//! A savepoint for each request would cost a copy of every page that the request changes, although requests hardly ever
//! fail. So there is none: if a request fails, the whole transaction is undone, and the others run again in another
//! one. The same happens if the database itself undoes the transaction.

use tillgate_engine::Session;

use crate::StoreError;
use crate::error::Cause;
use crate::write::job_queue::{JobQueue, Lane, NotDurable};
use crate::write::request::WriteRequest;

/// Maximum number of requests in one commit. The first request of a group waits for all others.
const MAX_GROUP: usize = 256;

/// State of a transaction after the requests of a group have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupRun {
    /// All requests have run, and their transaction can be committed.
    Complete,
    /// A request has failed. Its transaction has to be undone, and the others have to run in another one.
    Spoiled,
}

/// A request of a group.
struct Member {
    request: Box<dyn WriteRequest>,
    /// Its own failure, after which it does not run again.
    failure: Option<StoreError>,
}

/// The requests that are committed together.
pub(crate) struct WriteGroup {
    /// In the order in which they run.
    members: Vec<Member>,
    /// True as long as all requests are those of threads with low priority.
    accepts_later: bool,
    /// True once the group takes no further requests. After a failure the other requests run again without that one.
    is_closed: bool,
}

impl WriteGroup {
    /// Makes a group without requests.
    pub(crate) fn new() -> Self {
        Self { members: Vec::new(), accepts_later: true, is_closed: false }
    }

    /// Returns the number of requests.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// Runs the requests in the open transaction of a session, and then those that wait in the lane, until none waits
    /// or the group is full. A group that runs again takes no further ones.
    ///
    /// # Errors
    /// The failure with which the database has undone the transaction, or the loss of the session.
    pub(crate) fn run(&mut self, session: &dyn Session, jobs: &JobQueue, lane: &Lane) -> Result<GroupRun, StoreError> {
        let mut done = 0;
        loop {
            if done == self.members.len() && !self.take_next(jobs, lane) {
                self.is_closed = true;
                return Ok(GroupRun::Complete);
            }
            let Some(member) = self.members.get_mut(done).filter(|member| member.failure.is_none()) else {
                done += 1;
                continue;
            };
            done += 1;
            // A statement that the request has sent fails with this request, and not with the next one.
            let run = member.request.run(session).and_then(|()| Ok(session.await_sent()?));
            let Err(error) = run else { continue };
            self.is_closed = true;
            // On a full disk SQLite undoes the whole transaction.
            if error.is_repeatable() || !session.is_in_transaction() {
                return Err(error);
            }
            member.failure = Some(error);
            return Ok(GroupRun::Spoiled);
        }
    }

    /// Lets all requests decide anew in another transaction, also those that have failed: rows because of which one has
    /// failed may have been undone with the others.
    pub(crate) fn renew(&mut self) {
        for member in &mut self.members {
            member.failure = None;
        }
    }

    /// Takes a request from a lane that this thread has. Returns false if there is none for this group.
    fn take_next(&mut self, jobs: &JobQueue, lane: &Lane) -> bool {
        if self.is_closed || self.members.len() == MAX_GROUP {
            return false;
        }
        let taken =
            if self.members.is_empty() { jobs.take_first(lane) } else { jobs.take_next(lane, self.accepts_later) };
        let Some(job) = taken else { return false };
        self.accepts_later &= job.is_later;
        self.members.push(Member { request: job.request, failure: None });
        true
    }

    /// Answers all callers, once it is known if the transaction is durable.
    pub(crate) fn answer_all(self, durable: Result<(), NotDurable>) {
        for Member { request, failure } in self.members {
            let committed = durable.map_err(|reason| Cause::from(reason).into());
            request.answer(failure.map_or(committed, Err));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
