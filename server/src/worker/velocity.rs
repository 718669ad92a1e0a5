//! Keeps the counts of the card-testing limits in step with the stored ones, to which other nodes add theirs.

use std::sync::Arc;
use std::time::Duration;

use tillgate_gateway::App;
use tokio::sync::watch;

use super::ticks::Ticks;

/// Interval of the exchange. A decline waits for the interval of the node that counts it, and for that of each other
/// node, so all have counted it within two seconds.
const INTERVAL: Duration = Duration::from_millis(500);

/// Exchanges counts until `stop` changes, and once more at the end. It is a separate task, because a slow timer must
/// not delay it.
pub(super) async fn sync_periodically(app: Arc<App>, stop: watch::Receiver<bool>) {
    let mut ticks = Ticks::new(INTERVAL, stop);
    while ticks.wait().await {
        sync_velocity(&app).await;
    }
    sync_velocity(&app).await;
}

/// Exchanges counts once. Logs a warning if that fails.
async fn sync_velocity(app: &App) {
    if let Err(error) = app.gateway.sync_velocity().await {
        tracing::warn!(%error, "storing the counts of the card-testing limits failed; a restart now would lose some declines");
    }
}
