//! Completes the reconciliation files of days that are over.

use std::sync::Arc;
use std::time::Duration;

use tillgate_gateway::App;
use tillgate_gateway::settlement::reconciliation_days::ListedDays;
use tillgate_store::cluster::background_work::BackgroundWork;
use tokio::sync::watch;
use tokio::time::Instant;

use super::ticks::Ticks;

/// Interval of checks for news.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Interval of passes without news: days end by themselves.
const PASS_INTERVAL: Duration = Duration::from_secs(10);

/// Completes files until `stop` changes. A pass runs after every change of entities, which includes the clocks of
/// sandboxes, and otherwise every few seconds. A failed pass is repeated.
pub(super) async fn complete_periodically(app: Arc<App>, stop: watch::Receiver<bool>) {
    let mut ticks = Ticks::new(CHECK_INTERVAL, stop);
    let mut listed = ListedDays::default();
    let mut latest = None;
    while ticks.wait().await {
        let reloads = app.gateway.directory.reloads();
        let is_current = |(at, seen): (Instant, u64)| seen == reloads && at.elapsed() < PASS_INTERVAL;
        if latest.is_some_and(is_current) || !app.gateway.store.may_work(BackgroundWork::ReconciliationFiles) {
            continue;
        }
        match app.gateway.complete_files(&mut listed).await {
            Ok(completed) => {
                latest = Some((Instant::now(), reloads));
                // The first pass of a store with a past completes many.
                if let Some(latest) = completed.last() {
                    tracing::info!(count = completed.len(), %latest, "reconciliation files are complete");
                }
            }
            Err(error) => tracing::warn!(%error, "completing reconciliation files failed"),
        }
    }
}
