//! Tests of lines against small hosts in this process.

mod chaos;
mod circuit;
mod control;
mod faults;
mod group;
mod host;
mod in_flight;
mod keys;
mod operators;
mod scripted;
mod stop;
mod table;
mod tls;
mod words;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::*;
use host::PeerHost;
use words::WordProtocol;

/// Time after which a test counts as hanging.
const HANG_LIMIT: Duration = Duration::from_secs(60);

/// A sink that passes late answers to a test.
struct LateChannel(mpsc::UnboundedSender<LateAnswer>);

impl LateAnswers for LateChannel {
    fn take_late_answer(&self, answer: LateAnswer) {
        let _ = self.0.send(answer);
    }
}

/// A line with its sink.
struct TestLine {
    line: Arc<HostLine>,
    late: mpsc::UnboundedReceiver<LateAnswer>,
}

impl TestLine {
    fn start(config: LineConfig, protocol: WordProtocol) -> Self {
        let (sink, late) = mpsc::unbounded_channel();
        let line = HostLine::start(config, Arc::new(protocol), Arc::new(LateChannel(sink))).unwrap();
        Self { line: Arc::new(line), late }
    }

    /// Starts a line to a host, without a sign-on.
    fn connect(host: &PeerHost, limits: LineLimits) -> Self {
        Self::start(plain_config(host, limits), WordProtocol::default())
    }

    /// Sends a request in a task.
    fn spawn(&self, key: &str) -> tokio::task::JoinHandle<Result<String, SendFault>> {
        let (line, key) = (Arc::clone(&self.line), key.to_owned());
        tokio::spawn(async move { send(&line, &key).await })
    }

    async fn next_late(&mut self) -> LateAnswer {
        within(self.late.recv()).await.unwrap()
    }
}

fn plain_config(host: &PeerHost, limits: LineLimits) -> LineConfig {
    LineConfig { name: "test/1".to_owned(), address: host.address(), security: LineSecurity::Plain, limits }
}

/// Limits that end no test by themselves, with a short wait before a new connection.
fn patient() -> LineLimits {
    LineLimits {
        write_timeout: Duration::from_secs(30),
        echo_interval: Duration::from_secs(300),
        echo_timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(30),
        first_backoff: Duration::from_millis(5),
        max_backoff: Duration::from_millis(20),
        ..LineLimits::default()
    }
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn key(text: &str) -> RequestKey {
    RequestKey::new(text)
}

/// Sends a request with an empty body, and returns the body of its answer.
async fn send(line: &HostLine, key: &str) -> Result<String, SendFault> {
    let answer = line.send_request(RequestKey::new(key), KeyUse::New, format!("Q:{key}:").as_bytes()).await?;
    Ok(words::body(&answer))
}

/// Waits for something that has to happen.
async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG_LIMIT, wait).await.expect("nothing happened")
}

async fn reach(line: &HostLine, phase: LinePhase) {
    let mut phases = line.watch_phase();
    let reached = within(phases.wait_for(|current| *current == phase)).await.map(|_| ());
    reached.unwrap();
}

/// Waits until a snapshot has a property that no event announces.
async fn observe(line: &HostLine, is_reached: impl Fn(&LineState) -> bool) {
    within(async {
        while !is_reached(&line.read_state()) {
            tokio::time::sleep(ms(2)).await;
        }
    })
    .await;
}

fn is_not_sent(result: &Result<String, SendFault>) -> bool {
    matches!(result, Err(SendFault::NotSent(_)))
}

fn is_unknown(result: &Result<String, SendFault>) -> bool {
    matches!(result, Err(SendFault::Unknown(_)))
}
