//! Deletes the velocity counters of risk rules that have ended, at the start and after each full hour.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tillgate_gateway::App;
use tillgate_store::cluster::background_work::BackgroundWork;
use tokio::sync::watch;

/// Counters end at full hours.
const HOUR: i64 = 3_600;
/// Time after a failure until the next try.
const RETRY: Duration = Duration::from_secs(60);

/// Deletes expired counters now and after each full hour until `stop` changes. It is a task of its own, because there
/// may be many of them and other expired data does not wait. Failures are logged.
pub(super) async fn delete_periodically(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    loop {
        let now = app.gateway.now();
        let pause = if app.gateway.store.may_work(BackgroundWork::Deletions) {
            let deleted = tokio::select! {
                _ = stop.changed() => return,
                deleted = app.gateway.store.delete_expired_risk_counters(now) => deleted,
            };
            match deleted {
                Ok(_) => time_to_next_hour(now),
                Err(error) => {
                    tracing::warn!(%error, "deleting ended velocity counters failed");
                    RETRY
                }
            }
        } else {
            // The node that does it may end within the hour.
            RETRY
        };
        tokio::select! {
            _ = stop.changed() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Returns the time to the first second of the next hour, 1 s to 1 h.
fn time_to_next_hour(now: Timestamp) -> Duration {
    let seconds = HOUR - now.as_second().rem_euclid(HOUR);
    Duration::from_secs(seconds.unsigned_abs())
}
