//! Looks up the outcome of payments whose connectors have not answered.

use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::id::log_tag;
use tillgate_gateway::App;
use tillgate_store::timer::TimerKind;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::timers;

/// Interval of checks for due intents.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of concurrent lookups.
const MAX_LOOKUPS: usize = 32;

/// Resolves the due payments until `stop` changes; lookups in progress are then dropped. Connectors may be slow, so
/// this is separate from the rest of the worker, and a slow lookup delays no other one.
pub(super) async fn resolve_periodically(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut lookups = JoinSet::new();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        while lookups.try_join_next().is_some() {}
        start_lookups(&app, &mut lookups);
    }
}

/// Starts the lookups of the payments that are due, as far as there is room for them. If a lookup fails, logs a
/// warning, and the payment stays due.
fn start_lookups(app: &Arc<App>, lookups: &mut JoinSet<()>) {
    let room = MAX_LOOKUPS.saturating_sub(lookups.len());
    if room == 0 {
        return;
    }
    let due = match app.gateway.load_due_intents(room) {
        Ok(due) => due,
        Err(error) => return tracing::warn!(%error, "loading payments without an outcome failed"),
    };
    for timer in due {
        let app = Arc::clone(app);
        lookups.spawn(async move {
            if let Err(error) = timers::run_timer(&app.gateway, TimerKind::Inquire, &timer).await {
                let payment = log_tag(&timer.subject);
                tracing::warn!(%error, payment, "requesting the outcome of a payment failed");
            }
        });
    }
}
