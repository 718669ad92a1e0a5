//! The ticks of a task, which end when the server stops.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

/// Ticks at an interval, the first at once. After a delay the next one comes an interval later, not at once.
pub(super) struct Ticks {
    interval: Interval,
    stop: watch::Receiver<bool>,
}

impl Ticks {
    /// Begins to tick until `stop` changes.
    pub(super) fn new(interval: Duration, stop: watch::Receiver<bool>) -> Self {
        let mut interval = tokio::time::interval(interval);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, stop }
    }

    /// Waits for the next tick. Returns false when the server stops.
    pub(super) async fn wait(&mut self) -> bool {
        tokio::select! {
            _ = self.stop.changed() => false,
            _ = self.interval.tick() => true,
        }
    }
}
