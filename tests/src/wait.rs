//! Polling for a condition that another process fulfils, with a time limit.

use std::time::{Duration, Instant};

use anyhow::bail;

/// Maximum time to wait for anything. It is so long that only a fault exceeds it, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// Shortest and longest pause between two polls.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Returns a sixth of the waiting time so far, but at least 20 ms and at most 1 s. It grows because polling makes a
/// busy machine busier.
fn next_pause(waited: Duration) -> Duration {
    (waited / 6).clamp(PAUSES.0, PAUSES.1)
}

/// Calls `probe` until it returns a value. Blocks the thread; for use outside of a runtime.
///
/// # Errors
/// If `probe` fails, or after two minutes. The time-out error names `condition`.
pub fn poll_until_blocking<T>(
    condition: &str,
    mut probe: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(value) = probe()? {
            return Ok(value);
        }
        if started.elapsed() > PATIENCE {
            bail!("waited in vain: {condition}");
        }
        std::thread::sleep(next_pause(started.elapsed()));
    }
}

/// Calls `probe` until it returns a value.
///
/// # Errors
/// If `probe` fails, or after two minutes. The time-out error names `condition`.
pub async fn poll_until<T>(
    condition: &str,
    mut probe: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let started = Instant::now();
    loop {
        if let Some(value) = probe().await? {
            return Ok(value);
        }
        if started.elapsed() > PATIENCE {
            bail!("waited in vain: {condition}");
        }
        tokio::time::sleep(next_pause(started.elapsed())).await;
    }
}
