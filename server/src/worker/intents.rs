//! Looks up the outcome of payments whose connectors have not answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::timers;
use crate::api::AppState;
use crate::domain::id::log_tag;
use crate::store::timer::TimerKind;

/// Interval of checks for due intents.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of concurrent lookups.
const BATCH: u32 = 32;

/// Resolves the due payments every second until `stop` changes; a run in progress is then dropped. Connectors may be
/// slow, so this is separate from the rest of the worker.
pub(super) async fn resolve_periodically(state: Arc<AppState>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        tokio::select! {
            _ = stop.changed() => break,
            () = resolve_due_payments(&state) => {}
        }
    }
}

/// Looks up the outcome of the payments that are due, at most [`BATCH`] at the same time, and waits for all of them. If
/// a lookup fails, logs a warning, and the payment stays due.
async fn resolve_due_payments(state: &Arc<AppState>) {
    let due = match state.gateway.store.load_due_timers(TimerKind::Inquire, state.gateway.now(), BATCH) {
        Ok(due) => due,
        Err(error) => return tracing::warn!(%error, "looking for payments without an outcome"),
    };
    let mut lookups = JoinSet::new();
    for timer in due {
        let state = Arc::clone(state);
        lookups.spawn(async move {
            if let Err(error) = timers::run_timer(&state.gateway, TimerKind::Inquire, &timer).await {
                let payment = log_tag(&timer.subject);
                tracing::warn!(%error, payment, "finding out the outcome of a payment");
            }
        });
    }
    while lookups.join_next().await.is_some() {}
}
