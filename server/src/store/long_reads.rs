//! Long reads: queries that read many rows run on threads of their own, a fair share for each tenant.
//!
//! Payments and status reads never wait for them. The threads have a low priority, so that on a busy machine they get
//! what the payments leave. A tenant runs [`SHARE`] long reads at a time and tenants take turns; one that
//! waits longer than [`PATIENCE`] is refused. A read whose client is gone does not start, or ends at its next step.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::StoreError;
use crate::domain::id::EntityId;

/// Long reads of one tenant that run at once.
const SHARE: usize = 1;
/// Long reads of one tenant that wait.
const WAITING: usize = 32;
/// Long reads of all tenants that wait.
const WAITING_IN_ALL: usize = 1024;
/// Priority of the threads, as `nice` has it.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;
/// Longest wait for a turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// The queue and its threads, which start with the first long read.
#[derive(Default)]
pub struct LongReads {
    shared: Arc<Shared>,
    started: OnceLock<()>,
}

/// State that the threads share.
#[derive(Default)]
struct Shared {
    /// Held for a few instructions, never while a read runs.
    state: Mutex<State>,
    /// Notified when there may be something to run.
    work: Condvar,
}

#[derive(Default)]
struct State {
    tenants: HashMap<EntityId, Tenant>,
    /// The tenants that wait, each once; the first is next.
    turns: VecDeque<EntityId>,
    waiting: usize,
    is_closed: bool,
}

#[derive(Default)]
struct Tenant {
    waiting: VecDeque<Job>,
    running: usize,
}

/// A long read that waits.
struct Job {
    run: Box<dyn FnOnce() + Send>,
    /// Set by its waiter when it gives up, and by the thread that takes it: the first one decides.
    is_taken: Arc<AtomicBool>,
}

/// Tells a running long read if its client is gone.
pub struct Cancelled<'a>(&'a dyn Fn() -> bool);

impl Cancelled<'_> {
    /// Returns true if nobody waits for the result any more.
    pub fn is_cancelled(&self) -> bool {
        (self.0)()
    }
}

impl LongReads {
    /// Runs a read when it is its tenant's turn.
    ///
    /// # Errors
    /// [`StoreError::TooManyReads`] if the tenant has too many waiting, or the turn does not come in time.
    pub async fn run<T: Send + 'static>(
        &self,
        tenant: &EntityId,
        read: impl FnOnce(&Cancelled<'_>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        self.started.get_or_init(|| start_threads(&self.shared));
        let (answer, mut answered) = oneshot::channel();
        let is_taken = Arc::new(AtomicBool::new(false));
        let run = Box::new(move || {
            // The client is gone, and so is the reader of the result.
            if !answer.is_closed() {
                let value = read(&Cancelled(&|| answer.is_closed()));
                let _ = answer.send(value);
            }
        });
        self.shared.push(tenant, Job { run, is_taken: Arc::clone(&is_taken) })?;
        let answer = match tokio::time::timeout(PATIENCE, &mut answered).await {
            Ok(answer) => answer,
            Err(_) if !is_taken.swap(true, Ordering::AcqRel) => return Err(StoreError::TooManyReads),
            Err(_) => answered.await,
        };
        // A read that panicked sends nothing.
        answer.map_err(|_| StoreError::Stopped)
    }
}

impl Drop for LongReads {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, tenant: &EntityId, job: Job) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.forget_taken(tenant);
        let waiting = state.tenants.get(tenant).map_or(0, |it| it.waiting.len());
        if waiting >= WAITING || state.waiting >= WAITING_IN_ALL {
            return Err(StoreError::TooManyReads);
        }
        state.waiting += 1;
        state.tenants.entry(tenant.clone()).or_default().waiting.push_back(job);
        if waiting == 0 {
            state.turns.push_back(tenant.clone());
        }
        drop(state);
        self.work.notify_one();
        Ok(())
    }

    /// Runs what waits until the queue is closed.
    fn serve(&self) {
        while let Some((tenant, job)) = self.next() {
            if !job.is_taken.swap(true, Ordering::AcqRel) && catch_unwind(AssertUnwindSafe(job.run)).is_err() {
                tracing::error!("a long read panicked");
            }
            let mut state = self.lock();
            if let Some(of) = state.tenants.get_mut(&tenant) {
                of.running -= 1;
                if of.running == 0 && of.waiting.is_empty() {
                    state.tenants.remove(&tenant);
                }
            }
            drop(state);
            // Another thread may have passed this tenant over.
            self.work.notify_one();
        }
    }

    /// Waits for the next job: the oldest of the first tenant whose share is free.
    fn next(&self) -> Option<(EntityId, Job)> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(next) = state.take() {
                return Some(next);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    fn take(&mut self) -> Option<(EntityId, Job)> {
        let is_free = |id: &EntityId| self.tenants.get(id).is_some_and(|tenant| tenant.running < SHARE);
        let place = self.turns.iter().position(is_free)?;
        let id = self.turns.remove(place)?;
        let tenant = self.tenants.get_mut(&id)?;
        let job = tenant.waiting.pop_front()?;
        tenant.running += 1;
        self.waiting -= 1;
        if !tenant.waiting.is_empty() {
            self.turns.push_back(id.clone());
        }
        Some((id, job))
    }

    /// Removes a tenant's jobs whose waiters gave up.
    fn forget_taken(&mut self, id: &EntityId) {
        let Some(tenant) = self.tenants.get_mut(id) else { return };
        let before = tenant.waiting.len();
        tenant.waiting.retain(|job| !job.is_taken.load(Ordering::Acquire));
        self.waiting -= before - tenant.waiting.len();
        if tenant.waiting.is_empty() {
            self.turns.retain(|waiting| waiting != id);
        }
    }
}

fn start_threads(shared: &Arc<Shared>) {
    let threads = thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    for number in 0..threads {
        let shared = Arc::clone(shared);
        let started = thread::Builder::new().name(format!("long-read-{number}")).spawn(move || {
            lower_priority();
            shared.serve();
        });
        if let Err(error) = started {
            tracing::error!(%error, "a thread for long reads does not start");
        }
    }
}

/// Lowers the priority of this thread to about a tenth of a payment's share. The lowest one could stop a read in the middle
/// of a snapshot, for which the write-ahead log then waits.
#[cfg(target_os = "linux")]
fn lower_priority() {
    // On Linux a thread has a priority of its own, under its own id.
    let lowered = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
    if let Err(error) = lowered {
        tracing::warn!(%error, "long reads run with the priority of payments");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn tenant(number: u8) -> EntityId {
        EntityId::new(jiff::Timestamp::UNIX_EPOCH, [number; 9])
    }

    /// A tenant's read that runs until the sender is dropped.
    fn occupy(
        reads: &Arc<LongReads>,
        id: &EntityId,
    ) -> (mpsc::Sender<()>, mpsc::Receiver<()>, tokio::task::JoinHandle<Result<(), StoreError>>) {
        let (hold, held) = mpsc::channel::<()>();
        let (running, runs) = mpsc::channel();
        let (reads, id) = (Arc::clone(reads), id.clone());
        let task = tokio::spawn(async move {
            reads
                .run(&id, move |_| {
                    running.send(()).unwrap();
                    let _ = held.recv();
                })
                .await
        });
        (hold, runs, task)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_tenant_that_fills_the_queue_delays_no_other_one() {
        let reads = Arc::new(LongReads::default());
        let (greedy, modest) = (tenant(1), tenant(2));
        let (hold, runs, first) = occupy(&reads, &greedy);
        tokio::task::spawn_blocking(move || runs.recv().unwrap()).await.unwrap();
        let waiting: Vec<_> = (0..WAITING).map(|_| occupy(&reads, &greedy)).collect();
        while reads.shared.lock().waiting < WAITING {
            tokio::task::yield_now().await;
        }
        // The other tenant's turn comes at once, and one more of the greedy one is refused.
        assert_eq!(reads.run(&modest, |_| 7).await.unwrap(), 7);
        assert!(matches!(reads.run(&greedy, |_| ()).await, Err(StoreError::TooManyReads)));
        drop(hold);
        first.await.unwrap().unwrap();
        // All are let go before any is awaited: they have queued in any order.
        let (holds, reads_of_greedy): (Vec<_>, Vec<_>) =
            waiting.into_iter().map(|(hold, runs, task)| (hold, (runs, task))).unzip();
        drop(holds);
        for (_runs, task) in reads_of_greedy {
            task.await.unwrap().unwrap();
        }
        // The last thread forgets its tenant a little after it has answered.
        let forgotten = async {
            while !reads.shared.lock().tenants.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), forgotten).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_is_told_that_its_client_is_gone_and_one_that_waits_does_not_start() {
        let reads = Arc::new(LongReads::default());
        let id = tenant(1);
        let (running, runs) = oneshot::channel();
        let (ended, ends) = oneshot::channel();
        let client = tokio::spawn({
            let (reads, id) = (Arc::clone(&reads), id.clone());
            async move {
                let read = move |cancelled: &Cancelled<'_>| {
                    running.send(()).unwrap();
                    while !cancelled.is_cancelled() {
                        thread::yield_now();
                    }
                    ended.send(()).unwrap();
                };
                reads.run(&id, read).await
            }
        });
        runs.await.unwrap();
        let never = tokio::spawn({
            let (reads, id) = (Arc::clone(&reads), id.clone());
            async move { reads.run(&id, |_| panic!("it has started")).await }
        });
        while reads.shared.lock().waiting < 1 {
            tokio::task::yield_now().await;
        }
        never.abort();
        assert!(never.await.unwrap_err().is_cancelled());
        client.abort();
        ends.await.unwrap();
        assert_eq!(reads.run(&id, |_| 7).await.unwrap(), 7);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_that_panics_fails_and_the_next_one_runs() {
        let reads = LongReads::default();
        let panics = |_: &Cancelled<'_>| if thread::current().name().is_some() { panic!("as it must") } else { 1 };
        assert!(matches!(reads.run(&tenant(1), panics).await, Err(StoreError::Stopped)));
        assert_eq!(reads.run(&tenant(1), |_| 7).await.unwrap(), 7);
    }
}
