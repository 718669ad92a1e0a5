//! Runs the load generator, a separate process, and reads its results.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::child::ServerProcess;

/// Connections of every run.
const CONNECTIONS: u64 = 64;

/// One kind of request to one server.
pub struct LoadTarget<'a> {
    /// The server under test.
    pub server: &'a ServerProcess,
    /// Complete requests, sent in turn.
    pub requests: Vec<String>,
}

/// Duration of a run.
#[derive(Debug, Clone, Copy)]
pub struct LoadDuration {
    /// Time before the measurement.
    pub warm_up: Duration,
    /// Time of the measurement.
    pub measure: Duration,
}

/// Results of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunMetrics {
    /// Responses per second.
    pub per_second: f64,
    /// Median response time in microseconds.
    pub p50: f64,
    /// 95th percentile of the response time in microseconds.
    pub p95: f64,
    /// 99th percentile of the response time in microseconds.
    pub p99: f64,
    /// Processor time of the server per request, in microseconds.
    pub cpu: f64,
    /// Requests of the run, the warm-up included.
    pub sent: f64,
}

impl RunMetrics {
    /// Reads the result of the load generator, of a run that took `cpu` of the server's processor time.
    fn read(outcome: &Value, cpu: Duration) -> Result<Self> {
        let number = |name: &str| outcome[name].as_f64().with_context(|| format!("no {name} from the load generator"));
        let sent = number("sent")?.max(1.0);
        Ok(Self {
            per_second: number("per_second")?,
            p50: number("p50")?,
            p95: number("p95")?,
            p99: number("p99")?,
            cpu: cpu.as_secs_f64() * 1e6 / sent,
            sent,
        })
    }

    /// Adds the run of another load generator at the same time. The response times become the longer ones.
    fn join(self, other: Self) -> Self {
        let sent = self.sent + other.sent;
        Self {
            per_second: self.per_second + other.per_second,
            p50: self.p50.max(other.p50),
            p95: self.p95.max(other.p95),
            p99: self.p99.max(other.p99),
            cpu: (self.cpu * self.sent + other.cpu * other.sent) / sent,
            sent,
        }
    }
}

/// Results of requests that were each sent once.
pub struct SentOnce {
    /// The ids in the responses.
    pub ids: Vec<String>,
    /// Size of the last response's body in bytes.
    pub bytes: usize,
}

impl LoadTarget<'_> {
    /// Sends as fast as the server responds (`rate` is `None`), or a fixed number per second, with the load generator
    /// at the path `load`.
    ///
    /// # Errors
    /// If a response is not 200.
    pub fn run_load(&self, load: &Path, span: LoadDuration, rate: Option<f64>) -> Result<RunMetrics> {
        let before = self.server.cpu_time()?;
        let outcome = self.run_generator(load, &timed_options(span, rate), CONNECTIONS)?;
        RunMetrics::read(&outcome, self.server.cpu_time()?.saturating_sub(before))
    }

    /// Sends to two servers, or to one from two load generators, as fast as they respond. Each generator has half of
    /// the connections.
    ///
    /// # Errors
    /// If a response is not 200.
    pub fn run_with(&self, other: &Self, load: &Path, span: LoadDuration) -> Result<RunMetrics> {
        let run = |target: &Self| target.run_generator(load, &timed_options(span, None), CONNECTIONS / 2);
        let before = [self.server.cpu_time()?, other.server.cpu_time()?];
        let (ours, theirs) = std::thread::scope(|scope| {
            let ours = scope.spawn(|| run(self));
            let theirs = run(other);
            (ours.join(), theirs)
        });
        let ours = ours.map_err(|_| anyhow::anyhow!("the load generator's thread panicked"))??;
        let after = [self.server.cpu_time()?, other.server.cpu_time()?];
        let spent = [0, 1].map(|at| after[at].saturating_sub(before[at]));
        // The time of a server that got both loads counts once.
        let second = if std::ptr::eq(self.server, other.server) { Duration::ZERO } else { spent[1] };
        Ok(RunMetrics::read(&ours, spent[0])?.join(RunMetrics::read(&theirs?, second)?))
    }

    /// Sends each request once. Returns the ids in the responses, in no certain order.
    ///
    /// # Errors
    /// If a response is not 200.
    pub fn send_once(&self, load: &Path) -> Result<SentOnce> {
        self.send_once_over(load, CONNECTIONS)
    }

    /// Same as [`Self::send_once`], over so many connections. Over one, each request waits for the response to the one
    /// before.
    pub fn send_once_over(&self, load: &Path, connections: u64) -> Result<SentOnce> {
        let options = json!({ "count": self.requests.len(), "collect": true });
        let outcome = self.run_generator(load, &options, connections)?;
        // Missing if no response has an id, as for queries.
        let ids = outcome["ids"].as_array().into_iter().flatten();
        Ok(SentOnce {
            ids: ids.filter_map(Value::as_str).map(str::to_owned).collect(),
            bytes: usize::try_from(outcome["bytes"].as_u64().unwrap_or(0))?,
        })
    }

    /// Sends over several connections while `other` runs, which takes `span`: each as fast as it gets responses (`rate`
    /// is `None`), or together a fixed number per second. Returns the result of `other`.
    ///
    /// # Errors
    /// If a response is not 200, or `other` fails.
    pub fn run_beside<T>(
        &self,
        load: &Path,
        connections: u64,
        rate: Option<f64>,
        span: LoadDuration,
        other: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        // Starting `other` takes a moment.
        let measure = to_milliseconds(span.warm_up + span.measure) + 500;
        let options = json!({ "warm_up": 0, "measure": measure, "rate": rate });
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| self.run_generator(load, &options, connections));
            let outcome = other()?;
            sent.join().map_err(|_| anyhow::anyhow!("the load generator's thread panicked"))??;
            Ok(outcome)
        })
    }

    /// Runs the load generator, the program `load`, with these options on the requests of this target. Returns its
    /// result, or an error with the first failure.
    fn run_generator(&self, load: &Path, options: &Value, connections: u64) -> Result<Value> {
        let mut plan = options.clone();
        plan["address"] = self.server.address.as_str().into();
        plan["requests"] = json!(self.requests);
        plan["connections"] = connections.into();
        let mut child = Command::new(load).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        child.stdin.take().context("no standard input")?.write_all(plan.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the load generator failed");
        let outcome: Value = serde_json::from_slice(&output.stdout)?;
        ensure!(
            outcome["failed"] == 0,
            "{} requests failed, the first with: {}",
            outcome["failed"],
            outcome["failure"].as_str().unwrap_or_default()
        );
        Ok(outcome)
    }
}

/// Returns the load generator's options of a run that ends after a time.
fn timed_options(span: LoadDuration, rate: Option<f64>) -> Value {
    json!({ "warm_up": to_milliseconds(span.warm_up), "measure": to_milliseconds(span.measure), "rate": rate })
}

fn to_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
