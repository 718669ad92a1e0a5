//! Binds the ends of the audit log's chains every minute, and logs the head of the log at the start and every day. An
//! operator who keeps the head on another machine can verify later that the entries up to there are unchanged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tillgate_gateway::App;
use tillgate_store::cluster::background_work::BackgroundWork;
use tokio::sync::watch;

use super::ticks::Ticks;

/// Interval of bindings: the longest time for which a chain could lose its end without a trace.
const INTERVAL: Duration = Duration::from_mins(1);
/// Interval of lines in the log.
const DAY: Duration = Duration::from_hours(24);

/// Binds the chains until `stop` changes, if this process may. Failures are logged.
pub(super) async fn bind_periodically(app: Arc<App>, stop: watch::Receiver<bool>) {
    let mut ticks = Ticks::new(INTERVAL, stop);
    let mut logged: Option<Instant> = None;
    while ticks.wait().await {
        if !app.gateway.store.may_work(BackgroundWork::Timers) {
            continue;
        }
        match app.gateway.store.bind_audit_chains(app.gateway.now()).await {
            Ok(Some(head)) if logged.is_none_or(|logged| logged.elapsed() >= DAY) => {
                tracing::info!(target: "tillgate::audit", %head, "head of the audit log");
                logged = Some(Instant::now());
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "binding the audit log failed"),
        }
    }
}
