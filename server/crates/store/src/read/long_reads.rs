//! Long reads: queries that read many rows run on separate threads, with a fair share for each tenant.
//!
//! Payments and status reads never wait for long reads. The threads have a low priority, so that on a busy machine
//! they get only the processor time that payments leave. A tenant runs [`TENANT_SHARE`] long reads at a time, and
//! tenants take turns. A read that waits longer than [`QUEUE_TIMEOUT`] is refused. A read whose client has disconnected
//! leaves the queue at once, or ends at its next step.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tillgate_domain::id::{EntityId, UserId};
use tillgate_os::process::{BACKGROUND, lower_priority};
use tokio::sync::oneshot;

use crate::StoreError;
use crate::error::Cause;

/// Maximum number of concurrent long reads of one tenant.
const TENANT_SHARE: usize = 1;
/// Maximum number of waiting long reads of one tenant.
const MAX_WAITING: usize = 32;
/// Maximum number of waiting long reads of all tenants.
const MAX_WAITING_TOTAL: usize = 1024;
/// Maximum time that a read waits in the queue.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// Tenant in whose turn a long read runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReadTenant {
    /// A merchant, or another entity above channels.
    Entity(EntityId),
    /// A user of the back office. People have their own turns, so that they never delay the reads of a merchant's API.
    User(UserId),
}

impl From<&EntityId> for ReadTenant {
    fn from(id: &EntityId) -> Self {
        Self::Entity(id.clone())
    }
}

impl From<&UserId> for ReadTenant {
    fn from(id: &UserId) -> Self {
        Self::User(id.clone())
    }
}

/// The queue and its threads, which start with the first long read.
#[derive(Default)]
pub struct LongReads {
    /// The queue, shared with the threads.
    shared: Arc<SharedQueue>,
    /// Set by the first long read, which starts the threads.
    started: OnceLock<()>,
}

/// Queue that callers and threads share.
#[derive(Default)]
struct SharedQueue {
    /// Guards the queue. Held for a few instructions, never while a read runs.
    state: Mutex<QueueState>,
    /// Notified when a read may be able to run.
    work: Condvar,
}

/// The waiting and running reads of all tenants.
#[derive(Default)]
struct QueueState {
    /// The tenants that have a waiting or running read.
    tenants: HashMap<ReadTenant, Tenant>,
    /// The waiting tenants, each once. The first one is next.
    turns: VecDeque<ReadTenant>,
    /// Number of waiting reads of all tenants.
    waiting: usize,
    /// True when the store is dropped. The threads then end; waiting reads do not run.
    is_closed: bool,
}

/// The reads of one tenant.
#[derive(Default)]
struct Tenant {
    waiting: VecDeque<ReadJob>,
    running: usize,
}

/// A waiting long read.
struct ReadJob {
    run: Box<dyn FnOnce() + Send>,
    /// Set by its caller when it has waited too long or its client has disconnected, and by the thread that takes it.
    /// The first of them decides if it runs.
    is_taken: Arc<AtomicBool>,
}

/// Tells a running long read whether its client has disconnected.
pub struct Cancellation<'a>(&'a dyn Fn() -> bool);

#[cfg(test)]
impl<'a> Cancellation<'a> {
    /// Makes a cancellation for a read without a queue.
    pub(crate) fn new(is_cancelled: &'a dyn Fn() -> bool) -> Self {
        Self(is_cancelled)
    }
}

impl Cancellation<'_> {
    /// Returns true if no caller waits for the result any more.
    pub fn is_cancelled(&self) -> bool {
        (self.0)()
    }
}

impl LongReads {
    /// Runs a read on a thread for long reads when it is its tenant's turn, and waits for its result. A read that has
    /// not started after five seconds is refused; one that has started may take any time.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooManyReads`](crate::StoreErrorKind::TooManyReads) if the tenant, or all tenants together,
    /// have too many waiting reads, or this one waited too long.
    /// [`StoreErrorKind::Internal`](crate::StoreErrorKind::Internal) if the read panicked.
    pub async fn run_read<T: Send + 'static>(
        &self,
        tenant: impl Into<ReadTenant>,
        read: impl FnOnce(&Cancellation<'_>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let tenant = &tenant.into();
        self.started.get_or_init(|| start_threads(&self.shared));
        let (sender, mut receiver) = oneshot::channel();
        let is_taken = Arc::new(AtomicBool::new(false));
        let run = Box::new(move || {
            // Skip the read if the client has disconnected, because no one reads the result.
            if !sender.is_closed() {
                let value = read(&Cancellation(&|| sender.is_closed()));
                let _ = sender.send(value);
            }
        });
        self.shared.enqueue_job(tenant, ReadJob { run, is_taken: Arc::clone(&is_taken) })?;
        let waiting = WaitingCaller { shared: &self.shared, tenant, is_taken };
        let result = match tokio::time::timeout(QUEUE_TIMEOUT, &mut receiver).await {
            Ok(result) => result,
            // A thread may take the job at this moment. Whichever is first decides, so the caller is never refused
            // while its read runs.
            Err(_) if waiting.withdraw_job() => return Err(Cause::TooManyReads.into()),
            Err(_) => receiver.await,
        };
        // A read that panicked sends nothing.
        result.map_err(|_| Cause::Stopped.into())
    }
}

/// A caller of [`LongReads::run_read`]. Withdraws its job when it is dropped, which also happens when its client
/// disconnects, so that a job whose result nobody reads takes no place in the queue.
struct WaitingCaller<'a> {
    shared: &'a SharedQueue,
    tenant: &'a ReadTenant,
    /// Shared with the caller's [`ReadJob`].
    is_taken: Arc<AtomicBool>,
}

impl WaitingCaller<'_> {
    /// Removes the job from the queue. Returns false if a thread has taken it.
    fn withdraw_job(&self) -> bool {
        let is_withdrawn = !self.is_taken.swap(true, Ordering::AcqRel);
        if is_withdrawn {
            self.shared.lock_state().remove_withdrawn_jobs(self.tenant);
        }
        is_withdrawn
    }
}

impl Drop for WaitingCaller<'_> {
    fn drop(&mut self) {
        self.withdraw_job();
    }
}

impl Drop for LongReads {
    fn drop(&mut self) {
        self.shared.lock_state().is_closed = true;
        // All threads wait for this signal, and each of them has to end.
        self.shared.work.notify_all();
    }
}

impl SharedQueue {
    fn lock_state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job to its tenant's queue and wakes a thread. Fails with `TooManyReads` if the tenant has [`MAX_WAITING`]
    /// others, or all tenants have [`MAX_WAITING_TOTAL`].
    fn enqueue_job(&self, tenant: &ReadTenant, job: ReadJob) -> Result<(), StoreError> {
        let mut state = self.lock_state();
        let waiting = state.tenants.get(tenant).map_or(0, |tenant| tenant.waiting.len());
        if waiting >= MAX_WAITING || state.waiting >= MAX_WAITING_TOTAL {
            return Err(Cause::TooManyReads.into());
        }
        state.waiting += 1;
        state.tenants.entry(tenant.clone()).or_default().waiting.push_back(job);
        if waiting == 0 {
            state.turns.push_back(tenant.clone());
        }
        // The woken thread needs the lock, so it is released first.
        drop(state);
        self.work.notify_one();
        Ok(())
    }

    /// Runs waiting jobs until the queue is closed, except those that were withdrawn. Logs a panic and goes on.
    fn run_jobs(&self) {
        while let Some((id, job)) = self.wait_for_job() {
            // A panic must not end the thread, because all tenants share it.
            if !job.is_taken.swap(true, Ordering::AcqRel) && catch_unwind(AssertUnwindSafe(job.run)).is_err() {
                tracing::error!("a long read panicked");
            }
            let mut state = self.lock_state();
            if let Some(tenant) = state.tenants.get_mut(&id) {
                tenant.running -= 1;
                if tenant.running == 0 && tenant.waiting.is_empty() {
                    state.tenants.remove(&id);
                }
            }
            drop(state);
            // Another thread may have skipped this tenant while its share was used up.
            self.work.notify_one();
        }
    }

    /// Waits for the next job: the oldest of the first tenant whose share is free. Returns `None` when the queue is
    /// closed.
    fn wait_for_job(&self) -> Option<(ReadTenant, ReadJob)> {
        let mut state = self.lock_state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(next) = state.take_next_job() {
                return Some(next);
            }
            // A thread may wake up without a job, because another one was faster. So the state is checked again.
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl QueueState {
    /// Takes the oldest job of the first tenant in turn whose share is free, and counts it as running. A tenant with
    /// more jobs goes to the end of the turns. Returns `None` if no tenant may run a job now.
    fn take_next_job(&mut self) -> Option<(ReadTenant, ReadJob)> {
        let is_free = |id: &ReadTenant| self.tenants.get(id).is_some_and(|tenant| tenant.running < TENANT_SHARE);
        // A tenant whose share is used up keeps its turn, and those behind it go first.
        let position = self.turns.iter().position(is_free)?;
        let id = self.turns.remove(position)?;
        let tenant = self.tenants.get_mut(&id)?;
        let job = tenant.waiting.pop_front()?;
        tenant.running += 1;
        self.waiting -= 1;
        if !tenant.waiting.is_empty() {
            self.turns.push_back(id.clone());
        }
        Some((id, job))
    }

    /// Removes a tenant's jobs that were withdrawn, its turn if no job is left, and the tenant if none is running
    /// either.
    fn remove_withdrawn_jobs(&mut self, id: &ReadTenant) {
        let Some(tenant) = self.tenants.get_mut(id) else { return };
        let before = tenant.waiting.len();
        tenant.waiting.retain(|job| !job.is_taken.load(Ordering::Acquire));
        self.waiting -= before - tenant.waiting.len();
        if tenant.waiting.is_empty() {
            if tenant.running == 0 {
                self.tenants.remove(id);
            }
            self.turns.retain(|waiting| waiting != id);
        }
    }
}

/// Starts a thread for each processor, at least 2 and at most 8. Logs an error for each one that does not start.
fn start_threads(shared: &Arc<SharedQueue>) {
    let threads = thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    for number in 0..threads {
        let shared = Arc::clone(shared);
        let started = thread::Builder::new().name(format!("long-read-{number}")).spawn(move || {
            lower_priority(BACKGROUND);
            shared.run_jobs();
        });
        if let Err(error) = started {
            tracing::error!(%error, "a thread for long reads does not start");
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
