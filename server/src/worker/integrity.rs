//! Checks the store's file at the start and daily. Damage stops all writes.

use std::sync::Arc;
use std::time::Duration;

use tillgate_gateway::App;
use tokio::sync::watch;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Checks the store's file now and every 24 hours, until `stop` changes. Logs an error if the file cannot be checked;
/// the store itself handles damage.
pub(super) async fn check_store_daily(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(DAY);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        // A check of a large file takes minutes. A stopping server does not wait for it.
        tokio::select! {
            _ = stop.changed() => break,
            checked = app.gateway.store.check_file() => if let Err(error) = checked {
                tracing::error!(%error, "the store's file cannot be checked");
            }
        }
    }
}
