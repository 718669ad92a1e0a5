//! Finds out the outcome of payments whose connectors have not been heard of.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::api::Edge;
use crate::domain::id::{PaymentId, log_tag};
use crate::store::timer::Kind;

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Maximum number of payments that are asked about at once.
const BATCH: u32 = 32;

/// Runs until it is asked to stop. Connectors may take their time: the rest of the worker does not wait for them.
pub(super) async fn run(edge: Arc<Edge>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        tokio::select! {
            _ = stop.changed() => break,
            () = resolve_due(&edge) => {}
        }
    }
}

/// Asks about the payments that are due. One that fails stays due.
async fn resolve_due(edge: &Arc<Edge>) {
    let due = match edge.gateway.store.timers_due(Kind::Ask, edge.gateway.now(), BATCH) {
        Ok(due) => due,
        Err(error) => return tracing::warn!(%error, "looking for payments without an outcome"),
    };
    let mut asked = JoinSet::new();
    for timer in due {
        let edge = Arc::clone(edge);
        asked.spawn(async move {
            let Some(payment) = PaymentId::parse(&timer.subject) else { return };
            if let Err(error) = edge.gateway.resolve(&timer.entity, &payment).await {
                let payment = log_tag(payment.as_str());
                tracing::warn!(%error, payment, "finding out the outcome of a payment");
            }
        });
    }
    while asked.join_next().await.is_some() {}
}
