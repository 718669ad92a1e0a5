//! The requests that wait for the thread of a group commit, and the order in which a group takes them.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::DiskFault;
use super::group_transaction::GroupTransaction;

/// Maximum number of waiting requests that are refused together with the first one.
const MAX_REFUSED: usize = 1024;

/// A queued request.
pub(super) struct WriteJob {
    /// Runs the request.
    pub(super) run: RunRequest,
    /// True if a thread of low priority has queued it.
    pub(super) is_later: bool,
}

/// A request to run. It runs inside the transaction, or receives the fault that prevented the transaction. It returns
/// the callback that answers its caller, and the disk fault that it met.
pub(super) type RunRequest =
    Box<dyn FnOnce(Result<&mut GroupTransaction<'_>, NotDurable>) -> (CompletionCallback, NotDurable) + Send>;
/// Answers the caller of a request, once it is known if the transaction is durable.
pub(super) type CompletionCallback = Box<dyn FnOnce(Result<(), NotDurable>) + Send>;
/// The disk fault that prevented the commit, or `None` if the cause is unknown.
pub(super) type NotDurable = Option<DiskFault>;

/// The requests that wait, as the thread sees them.
pub(super) struct WaitingJobs {
    jobs: Receiver<WriteJob>,
    /// Later requests that were taken out of the queue, oldest first.
    later: VecDeque<WriteJob>,
    /// Number of later requests from which no more are taken out, so that the queue refuses what is too much.
    capacity: usize,
}

impl WaitingJobs {
    /// Starts with none of the requests taken out of the queue, of which `capacity` wait at most.
    pub(super) fn new(jobs: Receiver<WriteJob>, capacity: usize) -> Self {
        Self { jobs, later: VecDeque::new(), capacity }
    }

    /// Waits for the first request of a group: a later one if one was taken out, so that each group has one.
    pub(super) fn wait_for_first(&mut self, timeout: Duration) -> Result<WriteJob, RecvTimeoutError> {
        self.later.pop_front().map_or_else(|| self.jobs.recv_timeout(timeout), Ok)
    }

    /// Takes the next request of a group, which may still get later ones or not.
    pub(super) fn take_next(&mut self, accepts_later: bool) -> Option<WriteJob> {
        while self.later.len() < self.capacity
            && let Ok(job) = self.jobs.try_recv()
        {
            if !job.is_later {
                return Some(job);
            }
            self.later.push_back(job);
        }
        if accepts_later { self.later.pop_front() } else { None }
    }

    /// Fails a request, all that were taken out of the queue, and up to [`MAX_REFUSED`] in it, with the error that
    /// nothing was written.
    pub(super) fn refuse_all(&mut self, first: WriteJob, fault: NotDurable) {
        // New requests keep arriving, so without a limit this loop might not end.
        let queued = self.jobs.try_iter().take(MAX_REFUSED);
        for job in std::iter::once(first).chain(self.later.drain(..)).chain(queued) {
            let (complete, _) = (job.run)(Err(fault));
            complete(Err(fault));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc::{channel, sync_channel};

    use super::*;

    #[test]
    fn each_group_has_one_later_request_and_more_only_without_others() {
        let (sender, jobs) = sync_channel(16);
        let mut waiting = WaitingJobs::new(jobs, 16);
        let job = |is_later| WriteJob { run: Box::new(|_| (Box::new(|_| ()), None)), is_later };
        // Takes a group, and returns which of its requests are later ones.
        let mut take_group = || {
            let mut group = vec![waiting.wait_for_first(Duration::ZERO).unwrap().is_later];
            while let Some(job) = waiting.take_next(group.iter().all(|is_later| *is_later)) {
                group.push(job.is_later);
            }
            group
        };
        for is_later in [true, true, false, true, false, true] {
            sender.send(job(is_later)).unwrap();
        }
        assert_eq!(take_group(), [true, false, false]);
        sender.send(job(false)).unwrap();
        assert_eq!(take_group(), [true, false]);
        assert_eq!(take_group(), [true, true]);
        sender.send(job(false)).unwrap();
        assert_eq!(take_group(), [false]);
    }

    #[test]
    fn every_later_request_is_refused_with_the_reason_however_many_wait() {
        let count = 2 * MAX_REFUSED;
        let (sender, jobs) = sync_channel(count + 1);
        let (tell, told) = channel();
        let job = |is_later| {
            let tell = tell.clone();
            let complete: CompletionCallback = Box::new(move |durable| tell.send(durable).unwrap());
            WriteJob { run: Box::new(|_| (complete, None)), is_later }
        };
        let mut waiting = WaitingJobs::new(jobs, count);
        for _ in 0..count {
            sender.send(job(true)).unwrap();
        }
        assert!(waiting.take_next(false).is_none(), "all are later ones");
        waiting.refuse_all(job(false), Some(DiskFault::Full));
        let refused: Vec<_> = told.try_iter().collect();
        assert_eq!(refused.len(), count + 1);
        assert!(refused.iter().all(|durable| *durable == Err(Some(DiskFault::Full))));
    }
}
