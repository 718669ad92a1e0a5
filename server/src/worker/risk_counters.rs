//! Deletes the velocity counters of risk rules that have ended, at the start and once an hour.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::app::App;

/// Interval of the deletions. Counters end at full hours, and one that has ended only takes space.
const INTERVAL: Duration = Duration::from_secs(3_600);

/// Deletes expired counters now and every hour until `stop` changes. It is a task of its own, because there may be many
/// of them and other expired data does not wait. Failures are logged.
pub(super) async fn delete_periodically(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => return,
            _ = ticks.tick() => {}
        }
        tokio::select! {
            _ = stop.changed() => return,
            deleted = app.gateway.store.delete_expired_risk_counters(app.gateway.now()) => {
                if let Err(error) = deleted {
                    tracing::warn!(%error, "deleting velocity counters of risk rules that have ended");
                }
            }
        }
    }
}
