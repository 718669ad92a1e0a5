//! The load loops: closed for capacity, open for latency.
//!
//! Everything runs on one thread, so that the servers have the rest of the machine. In the open loop, arrivals are
//! random (Poisson, with the same sequence in every run). Latency is measured from the scheduled send time, so a server
//! that stalls cannot hide the stall by delaying the generator.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::sync::{Mutex, mpsc};
use tokio::task::LocalSet;

use super::connection::{BenchResponse, KeepAliveConnection};
use super::latency::Latencies;
use super::plan::{LoadPlan, LoadResult, StopCondition};

/// Executes a plan.
///
/// # Errors
/// If there is nothing to send, or no connection can be opened. Responses other than 200 are counted and are no error.
pub fn run_plan(plan: &LoadPlan) -> anyhow::Result<LoadResult> {
    ensure!(!plan.requests.is_empty() && plan.connections > 0, "a plan without requests or connections");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, execute_plan(plan))
}

/// State shared by all connections, which run on one thread.
struct LoadState {
    requests: Vec<Vec<u8>>,
    /// Index of the next request.
    next: Cell<usize>,
    /// If true, the ids in the responses are collected.
    collect: bool,
    /// Latencies of the measured responses.
    latencies: RefCell<Latencies>,
    /// Counts of all requests, those of the warm-up included.
    outcome: RefCell<LoadResult>,
}

impl LoadState {
    /// Sends the next request, which after the last is the first again. Records the latency since `intended` if
    /// `is_measured` is true. A status other than 200 and a broken connection are recorded as failures. Pauses 10 ms
    /// after a broken connection.
    async fn send_next_request(&self, connection: &mut KeepAliveConnection, intended: Instant, is_measured: bool) {
        let at = self.next.get();
        self.next.set((at + 1) % self.requests.len());
        self.outcome.borrow_mut().sent += 1;
        match connection.send_request(&self.requests[at]).await {
            Ok(response) if response.status == 200 => {
                if is_measured {
                    self.latencies.borrow_mut().add(intended.elapsed());
                }
                let mut outcome = self.outcome.borrow_mut();
                outcome.bytes = response.body.len();
                if self.collect {
                    outcome.ids.extend(response_id(&response));
                }
            }
            Ok(response) => {
                self.record_failure(format!("{} {}", response.status, String::from_utf8_lossy(response.body)))
            }
            Err(error) => {
                self.record_failure(format!("{error:#}"));
                // The pause avoids a busy loop while the server is down.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    /// Counts a failed request, and keeps the message of the first one.
    fn record_failure(&self, message: String) {
        let mut outcome = self.outcome.borrow_mut();
        outcome.failed += 1;
        outcome.failure.get_or_insert(message);
    }
}

/// Opens all connections, sends requests until the stop condition is met, and sums up. Rate and latencies are those
/// after the warm-up; a run with an exact number of requests has none.
async fn execute_plan(plan: &LoadPlan) -> anyhow::Result<LoadResult> {
    let shared = Rc::new(LoadState {
        requests: plan.requests.iter().map(|request| request.clone().into_bytes()).collect(),
        next: Cell::new(0),
        collect: plan.collect,
        latencies: RefCell::default(),
        outcome: RefCell::default(),
    });
    let mut connections = Vec::new();
    for _ in 0..plan.connections {
        connections.push(KeepAliveConnection::open(&plan.address).await?);
    }
    let started = Instant::now();
    match plan.until {
        StopCondition::Count { count } => send_exact_count(&shared, connections, count).await,
        StopCondition::Time { warm_up, measure, rate } => {
            let from = started + Duration::from_millis(warm_up);
            let to = from + Duration::from_millis(measure);
            match rate {
                None => run_closed_loop(&shared, connections, from, to).await,
                Some(rate) => run_open_loop(&shared, connections, from, to, rate).await,
            }
        }
    }
    let counted = match plan.until {
        StopCondition::Count { .. } => started.elapsed(),
        StopCondition::Time { measure, .. } => Duration::from_millis(measure),
    };
    let [p50, p95, p99, longest] = shared.latencies.borrow_mut().percentiles([50, 95, 99, 100]);
    let answered = shared.latencies.borrow().count();
    let outcome = shared.outcome.take();
    #[allow(clippy::cast_precision_loss)]
    let per_second = answered as f64 / counted.as_secs_f64();
    Ok(LoadResult { answered, per_second, p50, p95, p99, longest, ..outcome })
}

/// Sends `count` requests in all, each connection as fast as it gets responses. All of them are measured.
async fn send_exact_count(shared: &Rc<LoadState>, connections: Vec<KeepAliveConnection>, count: u64) {
    let remaining = Rc::new(Cell::new(count));
    let tasks = connections.into_iter().map(|mut connection| {
        let (shared, remaining) = (Rc::clone(shared), Rc::clone(&remaining));
        tokio::task::spawn_local(async move {
            while let Some(less) = remaining.get().checked_sub(1) {
                remaining.set(less);
                shared.send_next_request(&mut connection, Instant::now(), true).await;
            }
        })
    });
    await_tasks(tasks.collect()).await;
}

/// Sends until `to`, each connection as fast as it gets responses. Requests sent before `from` are not measured.
async fn run_closed_loop(shared: &Rc<LoadState>, connections: Vec<KeepAliveConnection>, from: Instant, to: Instant) {
    let tasks = connections.into_iter().map(|mut connection| {
        let shared = Rc::clone(shared);
        tokio::task::spawn_local(async move {
            loop {
                let now = Instant::now();
                if now >= to {
                    break;
                }
                shared.send_next_request(&mut connection, now, now >= from).await;
            }
        })
    });
    await_tasks(tasks.collect()).await;
}

/// Schedules requests at random intervals (Poisson, the same in every run), on average `rate` a second, until `to`.
/// Free connections send them. Waits for the last response. Requests scheduled before `from` are not measured;
/// latencies begin at the scheduled time.
async fn run_open_loop(
    shared: &Rc<LoadState>,
    connections: Vec<KeepAliveConnection>,
    from: Instant,
    to: Instant,
    rate: f64,
) {
    let (arrivals, waiting) = mpsc::unbounded_channel();
    // A dedicated thread keeps the schedule, because the runtime's timer has a resolution of only one millisecond.
    let clock = thread::spawn(move || {
        let mut intervals = ArrivalIntervals::new(rate);
        let mut intended = Instant::now();
        while intended < to {
            if let Some(early) = intended.checked_duration_since(Instant::now()) {
                thread::sleep(early);
            }
            if arrivals.send(intended).is_err() {
                break;
            }
            intended += intervals.next_interval();
        }
    });
    let waiting = Rc::new(Mutex::new(waiting));
    let tasks = connections.into_iter().map(|mut connection| {
        let (shared, waiting) = (Rc::clone(shared), Rc::clone(&waiting));
        tokio::task::spawn_local(async move {
            loop {
                let arrival = waiting.lock().await.recv().await;
                let Some(intended) = arrival else { break };
                shared.send_next_request(&mut connection, intended, intended >= from).await;
            }
        })
    });
    await_tasks(tasks.collect()).await;
    let _ = clock.join();
}

/// Waits for the end of all tasks.
async fn await_tasks(tasks: Vec<tokio::task::JoinHandle<()>>) {
    for task in tasks {
        // A panic in a task is a bug in this program. It is visible on standard error.
        let _ = task.await;
    }
}

/// Independent intervals between arrivals: exponentially distributed, from a fixed seed.
struct ArrivalIntervals {
    mean: f64,
    state: u64,
}

impl ArrivalIntervals {
    /// Creates intervals for this number of requests a second. A rate below 1 counts as 1.
    fn new(rate: f64) -> Self {
        Self { mean: 1.0 / rate.max(1.0), state: 0x2545_f491_4f6c_dd1d }
    }

    /// Draws the next interval.
    fn next_interval(&mut self) -> Duration {
        // Marsaglia's xorshift64: sufficient for arrival times.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        #[allow(clippy::cast_precision_loss)]
        let uniform = ((self.state >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        Duration::from_secs_f64(-uniform.ln() * self.mean)
    }
}

/// Returns the `id` at the top of a JSON response, or `None` if it has none.
fn response_id(response: &BenchResponse<'_>) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(response.body).ok()?;
    document["id"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_mean_that_was_asked_for_and_are_the_same_every_time() {
        let times = |rate| {
            let mut intervals = ArrivalIntervals::new(rate);
            (0..20_000).map(|_| intervals.next_interval()).collect::<Vec<_>>()
        };
        let mean = times(500.0).iter().sum::<Duration>().as_secs_f64() / 20_000.0;
        assert!((mean - 0.002).abs() < 0.0001, "{mean}");
        assert_eq!(times(500.0), times(500.0));
    }
}
