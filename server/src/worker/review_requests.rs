//! Carries out the review decisions that the command line requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::api::AppState;
use crate::domain::id::log_tag;

/// Interval of checks for requests.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of decisions that are carried out at the same time.
const BATCH: u32 = 32;

/// Carries out requested decisions until `stop` changes; a run in progress is then dropped, and its requests are taken
/// up at the next start. Connectors may be slow, so this is separate from the rest of the worker.
pub(super) async fn carry_out_periodically(state: Arc<AppState>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        tokio::select! {
            _ = stop.changed() => break,
            () = carry_out_requests(&state) => {}
        }
    }
}

/// Carries out the requests that wait, at most [`BATCH`] at the same time, and waits for all of them. If one fails,
/// logs a warning, and the request still waits.
async fn carry_out_requests(state: &Arc<AppState>) {
    let waiting = match state.gateway.store.load_waiting_requests(BATCH) {
        Ok(waiting) => waiting,
        Err(error) => return tracing::warn!(%error, "looking for requested review decisions"),
    };
    let mut decisions = JoinSet::new();
    for request in waiting {
        let state = Arc::clone(state);
        decisions.spawn(async move {
            let payment = log_tag(request.payment.as_str());
            if let Err(error) = state.gateway.carry_out_request(request).await {
                tracing::warn!(%error, payment, "carrying out a requested review decision");
            }
        });
    }
    while decisions.join_next().await.is_some() {}
}
