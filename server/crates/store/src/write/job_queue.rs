//! The requests that wait for a commit, in lanes: one for each owner of rows, so that threads can commit for different
//! owners side by side, and in an order that is fair between them.
//!
//! A thread takes a lane, commits a group of its requests, and puts the lane back behind the others. A database with
//! one writer has one lane.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tillgate_engine::WriteScope;

use crate::DiskFault;
use crate::error::Cause;
use crate::write::request::WriteRequest;

/// A queued request.
pub(crate) struct WriteJob {
    pub(crate) request: Box<dyn WriteRequest>,
    /// True if a thread of low priority has queued it.
    pub(crate) is_later: bool,
}

/// The reason why requests are not known to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotDurable {
    /// Nothing of them is stored, because of this fault of the disk, or another cause.
    Undone(Option<DiskFault>),
    /// Their commit is in doubt because of this fault, and stayed so.
    Unknown(DiskFault),
}

/// The rows that a request reads before it writes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// Any.
    Everything,
    /// Those of one owner, as a version of the stored entities says who that is.
    Owner(Box<str>, i64),
    /// None: its statements check themselves what they change.
    Nothing,
}

impl Lane {
    /// Returns the scope of a transaction.
    pub(crate) fn scope(&self) -> WriteScope<'_> {
        match self {
            Self::Everything => WriteScope::Everything,
            Self::Owner(owner, _) => WriteScope::Owner(owner),
            Self::Nothing => WriteScope::Nothing,
        }
    }
}

/// The end of a wait in which no lane came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// The time is over.
    Late,
    /// The queue is closed, and no request waits any more.
    Closed,
}

/// The requests of a lane.
#[derive(Default)]
struct LaneJobs {
    /// Oldest first.
    jobs: VecDeque<WriteJob>,
    /// Those of threads of low priority that a group has passed over, oldest first.
    later: VecDeque<WriteJob>,
    /// True while a thread has the lane.
    is_taken: bool,
}

impl LaneJobs {
    fn len(&self) -> usize {
        self.jobs.len() + self.later.len()
    }

    /// Takes the oldest request that is no later one, and passes over those before it. Takes a later one if no other
    /// waits and the group accepts that.
    fn take_next(&mut self, accepts_later: bool) -> Option<WriteJob> {
        while let Some(job) = self.jobs.pop_front() {
            if !job.is_later {
                return Some(job);
            }
            self.later.push_back(job);
        }
        if accepts_later { self.later.pop_front() } else { None }
    }
}

/// The lanes that have requests or are taken.
#[derive(Default)]
struct Waiting {
    lanes: HashMap<Lane, LaneJobs>,
    /// The lanes that have requests and are not taken, in the order in which they are taken.
    ready: VecDeque<Lane>,
    /// Number of all requests.
    count: usize,
    is_closed: bool,
}

/// The requests that wait.
pub(crate) struct JobQueue {
    waiting: Mutex<Waiting>,
    /// Notified when a lane is ready, and at the end.
    changed: Condvar,
    /// Maximum number of requests.
    capacity: usize,
    /// False if all requests are in one lane.
    has_lanes: bool,
}

impl JobQueue {
    /// Makes an empty queue for at most `capacity` requests.
    pub(crate) fn new(capacity: usize, has_lanes: bool) -> Self {
        Self { waiting: Mutex::default(), changed: Condvar::new(), capacity, has_lanes }
    }

    /// Returns false if all requests are in one lane.
    pub(crate) fn has_lanes(&self) -> bool {
        self.has_lanes
    }

    /// Adds a request. Never blocks its caller, whose thread serves other requests as well.
    ///
    /// # Errors
    /// [`Cause::Overloaded`] if too many requests wait, or too many of this owner. [`Cause::Stopped`] at the end.
    pub(crate) fn add(&self, lane: Lane, job: WriteJob) -> Result<(), Cause> {
        let lane = if self.has_lanes { lane } else { Lane::Everything };
        let mut waiting = self.lock();
        if waiting.is_closed {
            return Err(Cause::Stopped);
        }
        let in_lane = waiting.lanes.get(&lane).map_or(0, LaneJobs::len);
        if waiting.count >= self.capacity || in_lane >= self.lane_capacity(&lane) {
            return Err(Cause::Overloaded);
        }
        waiting.count += 1;
        let jobs = waiting.lanes.entry(lane.clone()).or_default();
        jobs.jobs.push_back(job);
        if !jobs.is_taken && in_lane == 0 {
            waiting.ready.push_back(lane);
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Returns the number of requests of a lane that may wait. One owner leaves a quarter to the others.
    fn lane_capacity(&self, lane: &Lane) -> usize {
        match lane {
            Lane::Owner(..) => self.capacity - self.capacity / 4,
            Lane::Everything | Lane::Nothing => self.capacity,
        }
    }

    /// Waits for a lane with requests that no other thread has, and takes it.
    pub(crate) fn take_lane(&self, timeout: Duration) -> Result<Lane, WaitEnd> {
        let until = Instant::now().checked_add(timeout);
        let mut waiting = self.lock();
        loop {
            if let Some(lane) = waiting.ready.pop_front() {
                if let Some(jobs) = waiting.lanes.get_mut(&lane) {
                    jobs.is_taken = true;
                }
                return Ok(lane);
            }
            if waiting.is_closed && waiting.count == 0 {
                return Err(WaitEnd::Closed);
            }
            waiting = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Err(WaitEnd::Late),
                Some(left) => self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Takes the first request of a group from a lane that this thread has: a later one if one was passed over, so that
    /// each group has one.
    pub(crate) fn take_first(&self, lane: &Lane) -> Option<WriteJob> {
        self.take_job(lane, |jobs| jobs.later.pop_front().or_else(|| jobs.jobs.pop_front()))
    }

    /// Takes the next request of a group, which may still get later ones or not.
    pub(crate) fn take_next(&self, lane: &Lane, accepts_later: bool) -> Option<WriteJob> {
        self.take_job(lane, |jobs| jobs.take_next(accepts_later))
    }

    fn take_job(&self, lane: &Lane, take: impl FnOnce(&mut LaneJobs) -> Option<WriteJob>) -> Option<WriteJob> {
        let mut waiting = self.lock();
        let job = waiting.lanes.get_mut(lane).and_then(take)?;
        waiting.count -= 1;
        Some(job)
    }

    /// Takes all requests out of a lane that this thread has.
    fn take_all(&self, lane: &Lane) -> Vec<WriteJob> {
        let mut waiting = self.lock();
        let Some(jobs) = waiting.lanes.get_mut(lane) else { return Vec::new() };
        let taken: Vec<WriteJob> = jobs.later.drain(..).chain(jobs.jobs.drain(..)).collect();
        waiting.count -= taken.len();
        taken
    }

    /// Fails all requests of a lane that this thread has with the error that nothing was written.
    pub(crate) fn refuse_all(&self, lane: &Lane, fault: Option<DiskFault>) {
        for job in self.take_all(lane) {
            job.request.answer(Err(Cause::NotCommitted(fault).into()));
        }
    }

    /// Puts a lane back, behind the others if it has requests.
    pub(crate) fn put_back(&self, lane: Lane) {
        let mut waiting = self.lock();
        let Some(jobs) = waiting.lanes.get_mut(&lane) else { return };
        jobs.is_taken = false;
        if jobs.len() > 0 {
            waiting.ready.push_back(lane);
            self.changed.notify_one();
        } else {
            // Owners come and go, and a lane without requests needs no place.
            waiting.lanes.remove(&lane);
        }
        if waiting.is_closed && waiting.count == 0 {
            self.changed.notify_all();
        }
    }

    /// Lets the threads end once no request waits, and refuses further ones.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Closes the queue, and drops the requests that wait, whose callers learn that the queue has stopped.
    pub(crate) fn abandon(&self) {
        let dropped = std::mem::replace(&mut *self.lock(), Waiting { is_closed: true, ..Waiting::default() });
        self.changed.notify_all();
        // Not under the lock, because a request may own what uses this queue.
        drop(dropped);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code that may panic runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::StoreError;
    use crate::write::request::PendingWrite;

    fn job(is_later: bool) -> WriteJob {
        WriteJob { request: Box::new(PendingWrite::new(|_| Ok(()), |_| ())), is_later }
    }

    fn owner(name: &str) -> Lane {
        Lane::Owner(name.into(), 0)
    }

    /// Takes a lane and a group of its requests, and returns which of them are later ones.
    fn take_group(queue: &JobQueue) -> (Lane, Vec<bool>) {
        let lane = queue.take_lane(Duration::ZERO).unwrap();
        let mut group = vec![queue.take_first(&lane).unwrap().is_later];
        while let Some(job) = queue.take_next(&lane, group.iter().all(|is_later| *is_later)) {
            group.push(job.is_later);
        }
        queue.put_back(lane.clone());
        (lane, group)
    }

    #[test]
    fn each_group_has_one_later_request_and_more_only_without_others() {
        let queue = JobQueue::new(16, false);
        for is_later in [true, true, false, true, false, true] {
            queue.add(Lane::Everything, job(is_later)).unwrap();
        }
        assert_eq!(take_group(&queue).1, [true, false, false]);
        queue.add(Lane::Everything, job(false)).unwrap();
        assert_eq!(take_group(&queue).1, [true, false]);
        assert_eq!(take_group(&queue).1, [true, true]);
        queue.add(Lane::Everything, job(false)).unwrap();
        assert_eq!(take_group(&queue).1, [false]);
    }

    #[test]
    fn owners_take_turns_however_many_requests_one_of_them_has() {
        let queue = JobQueue::new(100, true);
        for _ in 0..50 {
            queue.add(owner("busy"), job(false)).unwrap();
        }
        queue.add(owner("quiet"), job(false)).unwrap();
        let lane = queue.take_lane(Duration::ZERO).unwrap();
        assert_eq!(lane, owner("busy"));
        queue.take_first(&lane).unwrap();
        assert_eq!(take_group(&queue).0, owner("quiet"), "while another thread commits for the first one");
        assert_eq!(queue.take_lane(Duration::ZERO).unwrap_err(), WaitEnd::Late, "one thread has an owner at a time");
        queue.add(owner("quiet"), job(false)).unwrap();
        queue.put_back(lane);
        assert_eq!((take_group(&queue).0, take_group(&queue).0), (owner("quiet"), owner("busy")));
        assert!(queue.lock().lanes.is_empty());
    }

    #[test]
    fn one_owner_leaves_room_for_the_others() {
        let queue = JobQueue::new(100, true);
        let added = (0..100).filter(|_| queue.add(owner("busy"), job(false)).is_ok()).count();
        assert_eq!(added, 75);
        assert_eq!((0..100).filter(|_| queue.add(owner("quiet"), job(false)).is_ok()).count(), 25);
        queue.close();
        assert!(matches!(queue.add(Lane::Nothing, job(false)), Err(Cause::Stopped)));
    }

    #[test]
    fn every_request_is_refused_with_the_reason_however_many_wait() {
        let queue = JobQueue::new(2048, false);
        let (tell, told) = channel();
        for number in 0..2048 {
            let tell = tell.clone();
            let answer = move |outcome: Result<(), StoreError>| tell.send(outcome).unwrap();
            let request = Box::new(PendingWrite::new(|_| Ok(()), answer));
            queue.add(Lane::Everything, WriteJob { request, is_later: number % 2 == 0 }).unwrap();
        }
        let lane = queue.take_lane(Duration::ZERO).unwrap();
        queue.refuse_all(&lane, Some(DiskFault::Full));
        let refused: Vec<_> = told.try_iter().map(|outcome| outcome.unwrap_err().disk_fault()).collect();
        assert_eq!(refused, [Some(DiskFault::Full); 2048]);
    }

    #[test]
    fn a_closed_queue_ends_after_its_last_request_and_an_abandoned_one_at_once() {
        let queue = JobQueue::new(8, true);
        queue.add(owner("one"), job(false)).unwrap();
        queue.close();
        assert_eq!(take_group(&queue).0, owner("one"));
        assert_eq!(queue.take_lane(Duration::MAX).unwrap_err(), WaitEnd::Closed);
        let queue = JobQueue::new(8, true);
        queue.add(owner("one"), job(false)).unwrap();
        queue.abandon();
        assert_eq!(queue.take_lane(Duration::MAX).unwrap_err(), WaitEnd::Closed);
    }
}
