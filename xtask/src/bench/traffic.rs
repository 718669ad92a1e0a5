//! Runs the load generator, a process of its own, and reads what it tells.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::child::Server;

/// Connections of every run.
const CONNECTIONS: u64 = 64;

/// One kind of request to one server.
pub struct Target<'a> {
    /// Who is asked.
    pub server: &'a Server,
    /// Whole requests, sent in turn.
    pub requests: Vec<String>,
}

/// How long a run is.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Before anything counts.
    pub warm_up: Duration,
    /// While it counts.
    pub measure: Duration,
}

/// What a run came to.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Answers a second.
    pub per_second: f64,
    /// Microseconds that half of the answers stayed within.
    pub p50: f64,
    /// Microseconds that 99 of 100 answers stayed within.
    pub p99: f64,
    /// Microseconds of processor time that the server spent on an answer.
    pub cpu: f64,
}

/// What came of requests that were sent once.
pub struct Once {
    /// The ids in the answers.
    pub ids: Vec<String>,
    /// Bytes of the last answer's body.
    pub bytes: usize,
}

impl Target<'_> {
    /// Sends as fast as the server answers (`rate` absent), or so many a second whatever it does.
    ///
    /// # Errors
    /// When an answer is not 200.
    pub fn run(&self, load: &Path, span: Span, rate: Option<f64>) -> Result<Run> {
        let before = self.server.cpu_time()?;
        let outcome = self.send(
            load,
            &json!({ "warm_up": milliseconds(span.warm_up), "measure": milliseconds(span.measure), "rate": rate }),
            CONNECTIONS,
        )?;
        let spent = self.server.cpu_time()?.saturating_sub(before);
        let number = |name: &str| outcome[name].as_f64().with_context(|| format!("no {name} from the load generator"));
        Ok(Run {
            per_second: number("per_second")?,
            p50: number("p50")?,
            p99: number("p99")?,
            cpu: spent.as_secs_f64() * 1e6 / number("sent")?.max(1.0),
        })
    }

    /// Sends each request once.
    ///
    /// # Errors
    /// When an answer is not 200.
    pub fn once(&self, load: &Path) -> Result<Once> {
        let outcome = self.send(load, &json!({ "count": self.requests.len(), "collect": true }), CONNECTIONS)?;
        // Absent where no answer has one, as with queries.
        let ids = outcome["ids"].as_array().into_iter().flatten();
        Ok(Once {
            ids: ids.filter_map(Value::as_str).map(str::to_owned).collect(),
            bytes: usize::try_from(outcome["bytes"].as_u64().unwrap_or(0))?,
        })
    }

    /// Sends over some connections, each as fast as it is answered, while something else runs that takes `span`.
    ///
    /// # Errors
    /// When an answer is not 200, or what the other says.
    pub fn beside<T>(&self, load: &Path, connections: u64, span: Span, other: impl FnOnce() -> Result<T>) -> Result<T> {
        // Starting the other takes a moment.
        let measure = milliseconds(span.warm_up + span.measure) + 500;
        let how = json!({ "warm_up": 0, "measure": measure, "rate": null });
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| self.send(load, &how, connections));
            let outcome = other()?;
            sent.join().map_err(|_| anyhow::anyhow!("the load generator's thread panicked"))??;
            Ok(outcome)
        })
    }

    fn send(&self, load: &Path, how: &Value, connections: u64) -> Result<Value> {
        let mut plan = how.clone();
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

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
