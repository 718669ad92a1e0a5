//! Reverses payments whose approvals arrive after their end.

use std::sync::Arc;
use std::time::Duration;

use tillgate_connector::Connector;
use tillgate_domain::id::log_tag;
use tillgate_gateway::App;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Time after which a reversal is tried again that could not be written.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Waits for late approvals of all external connectors until `stop` changes. Each node does so for its own connections.
pub(super) async fn reverse_until_stop(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    for connector in app.gateway.connectors.all_external() {
        tasks.spawn(reverse_late_approvals(Arc::clone(&app), Arc::clone(connector)));
    }
    let _ = stop.changed().await;
}

async fn reverse_late_approvals(app: Arc<App>, connector: Arc<dyn Connector>) {
    loop {
        let reference = connector.next_late_approval().await;
        while let Err(error) = app.gateway.reverse_late_approval(&reference).await {
            tracing::warn!(%error, payment = log_tag(&reference), "writing the reversal of a late approval failed");
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }
}
