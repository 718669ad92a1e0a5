//! Checks the store's file at the start and daily, beside everything else. Damage stops all writing.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::api::Edge;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) async fn run(edge: Arc<Edge>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(DAY);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        // A check of a large file takes minutes; a server that stops does not wait for it.
        tokio::select! {
            _ = stop.changed() => break,
            checked = edge.gateway.store.check_file() => if let Err(error) = checked {
                tracing::error!(%error, "the store's file cannot be checked");
            }
        }
    }
}
