//! Waiting for something that another process does: asked again and again, for a bounded time.

use std::time::{Duration, Instant};

use anyhow::bail;

/// How long anything may take before a test gives up on it. Nothing that works takes so long even on a busy machine, so that a
/// test which gives up has found a fault.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Shortest and longest time to leave the other side alone between two questions.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How long to leave the other side alone after so long a wait: questions to a busy machine make it busier.
fn pause(waited: Duration) -> Duration {
    (waited / 6).clamp(PAUSES.0, PAUSES.1)
}

/// Asks until there is an answer. Blocks the thread; for what happens outside of a runtime.
///
/// # Errors
/// What the question says, or, after two minutes, what was waited for.
pub fn poll<T>(what: &str, mut question: impl FnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(answer) = question()? {
            return Ok(answer);
        }
        if started.elapsed() > PATIENCE {
            bail!("waited in vain: {what}");
        }
        std::thread::sleep(pause(started.elapsed()));
    }
}

/// Asks until there is an answer.
///
/// # Errors
/// What the question says, or, after two minutes, what was waited for.
pub async fn until<T>(what: &str, mut question: impl AsyncFnMut() -> anyhow::Result<Option<T>>) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(answer) = question().await? {
            return Ok(answer);
        }
        if started.elapsed() > PATIENCE {
            bail!("waited in vain: {what}");
        }
        tokio::time::sleep(pause(started.elapsed())).await;
    }
}
