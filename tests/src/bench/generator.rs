//! The loops that send: closed for capacity, open for latency.
//!
//! Everything runs on one thread, so that the servers have the rest of the machine. In the open loop arrivals are
//! random (Poisson, the same sequence in every run), and a latency counts from the moment at which the request was
//! meant to be sent: a server that stalls cannot hide it by holding the generator up.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::sync::{Mutex, mpsc};
use tokio::task::LocalSet;

use super::connection::{Answer, Connection};
use super::latency::Latencies;
use super::plan::{Outcome, Plan, Until};

/// Carries a plan out.
///
/// # Errors
/// When there is nothing to send, or no connection can be made. Answers other than 200 are counted, not errors.
pub fn run(plan: &Plan) -> anyhow::Result<Outcome> {
    ensure!(!plan.requests.is_empty() && plan.connections > 0, "a plan without requests or connections");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, send(plan))
}

/// What all connections share.
struct Shared {
    requests: Vec<Vec<u8>>,
    next: Cell<usize>,
    collect: bool,
    latencies: RefCell<Latencies>,
    outcome: RefCell<Outcome>,
}

impl Shared {
    /// Sends the next request; notes its latency since `intended` when it counts.
    async fn exchange(&self, connection: &mut Connection, intended: Instant, counts: bool) {
        let at = self.next.get();
        self.next.set((at + 1) % self.requests.len());
        self.outcome.borrow_mut().sent += 1;
        match connection.exchange(&self.requests[at]).await {
            Ok(answer) if answer.status == 200 => {
                if counts {
                    self.latencies.borrow_mut().add(intended.elapsed());
                }
                let mut outcome = self.outcome.borrow_mut();
                outcome.bytes = answer.body.len();
                if self.collect {
                    outcome.ids.extend(id(&answer));
                }
            }
            Ok(answer) => self.failed(format!("{} {}", answer.status, String::from_utf8_lossy(answer.body))),
            Err(error) => {
                self.failed(format!("{error:#}"));
                // Without a pause a server that is gone would be asked a million times a second.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    fn failed(&self, what: String) {
        let mut outcome = self.outcome.borrow_mut();
        outcome.failed += 1;
        outcome.failure.get_or_insert(what);
    }
}

async fn send(plan: &Plan) -> anyhow::Result<Outcome> {
    let shared = Rc::new(Shared {
        requests: plan.requests.iter().map(|request| request.clone().into_bytes()).collect(),
        next: Cell::new(0),
        collect: plan.collect,
        latencies: RefCell::default(),
        outcome: RefCell::default(),
    });
    let mut connections = Vec::new();
    for _ in 0..plan.connections {
        connections.push(Connection::open(&plan.address).await?);
    }
    let begun = Instant::now();
    match plan.until {
        Until::Count { count } => count_down(&shared, connections, count).await,
        Until::Time { warm_up, measure, rate } => {
            let from = begun + Duration::from_millis(warm_up);
            let to = from + Duration::from_millis(measure);
            match rate {
                None => closed(&shared, connections, from, to).await,
                Some(rate) => open(&shared, connections, from, to, rate).await,
            }
        }
    }
    let counted = match plan.until {
        Until::Count { .. } => begun.elapsed(),
        Until::Time { measure, .. } => Duration::from_millis(measure),
    };
    let [p50, p99, longest] = shared.latencies.borrow_mut().percentiles([50, 99, 100]);
    let answered = shared.latencies.borrow().count();
    let outcome = shared.outcome.take();
    #[allow(clippy::cast_precision_loss)]
    let per_second = answered as f64 / counted.as_secs_f64();
    Ok(Outcome { answered, per_second, p50, p99, longest, ..outcome })
}

async fn count_down(shared: &Rc<Shared>, connections: Vec<Connection>, count: u64) {
    let left = Rc::new(Cell::new(count));
    let tasks = connections.into_iter().map(|mut connection| {
        let (shared, left) = (Rc::clone(shared), Rc::clone(&left));
        tokio::task::spawn_local(async move {
            while let Some(less) = left.get().checked_sub(1) {
                left.set(less);
                shared.exchange(&mut connection, Instant::now(), true).await;
            }
        })
    });
    finish(tasks.collect()).await;
}

async fn closed(shared: &Rc<Shared>, connections: Vec<Connection>, from: Instant, to: Instant) {
    let tasks = connections.into_iter().map(|mut connection| {
        let shared = Rc::clone(shared);
        tokio::task::spawn_local(async move {
            loop {
                let now = Instant::now();
                if now >= to {
                    break;
                }
                shared.exchange(&mut connection, now, now >= from).await;
            }
        })
    });
    finish(tasks.collect()).await;
}

async fn open(shared: &Rc<Shared>, connections: Vec<Connection>, from: Instant, to: Instant, rate: f64) {
    let (arrivals, waiting) = mpsc::unbounded_channel();
    // A thread of its own keeps time: the runtime's timer is a millisecond coarse.
    let clock = thread::spawn(move || {
        let mut intervals = Intervals::new(rate);
        let mut intended = Instant::now();
        while intended < to {
            if let Some(early) = intended.checked_duration_since(Instant::now()) {
                thread::sleep(early);
            }
            if arrivals.send(intended).is_err() {
                break;
            }
            intended += intervals.next();
        }
    });
    let waiting = Rc::new(Mutex::new(waiting));
    let tasks = connections.into_iter().map(|mut connection| {
        let (shared, waiting) = (Rc::clone(shared), Rc::clone(&waiting));
        tokio::task::spawn_local(async move {
            loop {
                let arrival = waiting.lock().await.recv().await;
                let Some(intended) = arrival else { break };
                shared.exchange(&mut connection, intended, intended >= from).await;
            }
        })
    });
    finish(tasks.collect()).await;
    let _ = clock.join();
}

async fn finish(tasks: Vec<tokio::task::JoinHandle<()>>) {
    for task in tasks {
        // A panic in a task is a mistake of this program; it shows on the error stream.
        let _ = task.await;
    }
}

/// Times between arrivals that know nothing of each other: exponentially distributed, from a fixed seed.
struct Intervals {
    mean: f64,
    state: u64,
}

impl Intervals {
    fn new(rate: f64) -> Self {
        Self { mean: 1.0 / rate.max(1.0), state: 0x2545_f491_4f6c_dd1d }
    }

    fn next(&mut self) -> Duration {
        // Marsaglia's xorshift64: enough for arrival times.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        #[allow(clippy::cast_precision_loss)]
        let uniform = ((self.state >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        Duration::from_secs_f64(-uniform.ln() * self.mean)
    }
}

/// The first `id` of a JSON answer, which is the answer's own.
fn id(answer: &Answer<'_>) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_slice(answer.body).ok()?;
    answer["id"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_mean_that_was_asked_for_and_are_the_same_every_time() {
        let times = |rate| {
            let mut intervals = Intervals::new(rate);
            (0..20_000).map(|_| intervals.next()).collect::<Vec<_>>()
        };
        let mean = times(500.0).iter().sum::<Duration>().as_secs_f64() / 20_000.0;
        assert!((mean - 0.002).abs() < 0.0001, "{mean}");
        assert_eq!(times(500.0), times(500.0));
    }
}
