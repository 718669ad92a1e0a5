//! Reverses payments whose approvals arrive after their end.

use std::sync::Arc;
use std::time::Duration;

use tillgate_connector::Connector;
use tillgate_domain::id::log_tag;
use tillgate_gateway::App;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// First and last wait before a payment is looked at again, which is still pending or whose reversal was not written.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LAST_WAIT: Duration = Duration::from_secs(60);

/// Waits for late approvals of all external connectors until `stop` changes. Each node does so for its own connections.
pub(super) async fn reverse_until_stop(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    for connector in app.gateway.connectors.all_external() {
        tasks.spawn(take_late_approvals(Arc::clone(&app), Arc::clone(connector)));
    }
    let _ = stop.changed().await;
}

/// Starts a task for each late approval, so that a payment that stays pending delays no other.
async fn take_late_approvals(app: Arc<App>, connector: Arc<dyn Connector>) {
    let mut reversals = JoinSet::new();
    loop {
        let reference = connector.next_late_approval().await;
        while reversals.try_join_next().is_some() {}
        reversals.spawn(reverse_when_ended(Arc::clone(&app), reference));
    }
}

/// Reverses a payment as soon as it has ended, unless it has ended as approved.
async fn reverse_when_ended(app: Arc<App>, reference: String) {
    let mut wait = FIRST_WAIT;
    loop {
        match app.gateway.reverse_late_approval(&reference).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, payment = log_tag(&reference), "writing the reversal of a late approval failed");
            }
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LAST_WAIT);
    }
}
