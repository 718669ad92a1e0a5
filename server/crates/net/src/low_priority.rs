//! Threads for work that needs much computation, and of which a tenant can send any amount.
//!
//! The threads have a low priority, so that on a busy machine they get only the processor time that other requests
//! leave. A tenant computes on at most half of them at a time, and waits for its turn without keeping a thread or the
//! turn of another tenant.

use std::io;
use std::pin::pin;
use std::task::ready;
use std::thread;

use tillgate_os::process::{HEAVY_REQUESTS, lower_priority};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::shares::Shares;

/// The threads, which end when this is dropped. What has not ended by then is dropped at its next pause.
#[derive(Debug)]
pub struct LowPriorityThreads {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    /// Turns to compute. One is held for a single step of a future, never while it waits for something.
    turns: Shares,
}

impl LowPriorityThreads {
    /// Starts a thread for each processor, and at least two.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start() -> io::Result<Self> {
        let threads = thread::available_parallelism().map_or(2, usize::from).max(2);
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("low-priority")
            .on_thread_start(|| lower_priority(HEAVY_REQUESTS))
            .enable_all()
            .build()?;
        Ok(Self { runtime: Some(runtime), turns: Shares::new(threads, threads / 2) })
    }

    /// Runs a future of a tenant on the threads. Drops it when the returned future is dropped. Returns `None` if it
    /// panics, or if the threads end first.
    pub async fn run<T: Send + 'static>(
        &self,
        tenant: &str,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let runtime = self.runtime.as_ref()?;
        // The set drops its task together with itself.
        let mut task = JoinSet::new();
        task.spawn_on(run_in_turns(self.turns.clone(), tenant.to_owned(), work), runtime.handle());
        task.join_next().await?.ok()
    }
}

impl Drop for LowPriorityThreads {
    fn drop(&mut self) {
        // A runtime that waits for its threads must not be dropped by a task.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs a future, with a turn of its tenant for each step.
async fn run_in_turns<T>(turns: Shares, tenant: String, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut turn = pin!(turns.take(&tenant));
    std::future::poll_fn(|cx| {
        let _turn = ready!(turn.as_mut().poll(cx));
        turn.set(turns.take(&tenant));
        work.as_mut().poll(cx)
    })
    .await
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use super::*;

    #[tokio::test]
    async fn a_tenant_that_computes_without_end_leaves_a_thread_to_others() {
        let threads = Arc::new(LowPriorityThreads::start().unwrap());
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let greedy: Vec<_> = (0..64)
            .map(|_| {
                let (threads, ended) = (Arc::clone(&threads), Arc::clone(&ended));
                // Blocks its thread until the test ends.
                tokio::spawn(async move { threads.run("greedy", async move { ended.lock().unwrap().recv() }).await })
            })
            .collect();
        for _ in 0..100 {
            assert_eq!(threads.run("other", async { 1 }).await, Some(1));
        }
        drop(end);
        for task in greedy {
            assert!(task.await.unwrap().unwrap().is_err(), "it has computed until the end of the test");
        }
    }

    #[tokio::test]
    async fn a_tenant_that_waits_keeps_no_turn() {
        let threads = Arc::new(LowPriorityThreads::start().unwrap());
        let (release, released) = tokio::sync::watch::channel(false);
        let waiting: Vec<_> = (0..64)
            .map(|_| {
                let (threads, mut released) = (Arc::clone(&threads), released.clone());
                tokio::spawn(async move {
                    threads.run("a", async move { released.wait_for(|released| *released).await.is_ok() }).await
                })
            })
            .collect();
        assert_eq!(threads.run("a", async { 1 }).await, Some(1));
        release.send(true).unwrap();
        for task in waiting {
            assert_eq!(task.await.unwrap(), Some(true));
        }
    }

    #[tokio::test]
    async fn work_is_dropped_with_its_caller_and_a_panic_is_no_result() {
        struct Counted(Arc<AtomicUsize>, Option<tokio::sync::oneshot::Sender<()>>);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
                let _ = self.1.take().unwrap().send(());
            }
        }
        let threads = LowPriorityThreads::start().unwrap();
        let (dropped, count) = (tokio::sync::oneshot::channel(), Arc::new(AtomicUsize::new(0)));
        let counted = Counted(Arc::clone(&count), Some(dropped.0));
        let work = async move {
            let _counted = counted;
            std::future::pending::<()>().await;
        };
        let mut run = Box::pin(threads.run("a", work));
        assert!(futures_util::FutureExt::now_or_never(run.as_mut()).is_none());
        drop(run);
        dropped.1.await.unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!(threads.run("a", async { panic!("on purpose") }).await, None::<()>);
        assert_eq!(threads.run("a", async { 1 }).await, Some(1), "a panic keeps no turn");
    }
}
