//! Settles the payments of sandboxes at the settlement cut-offs of their entities.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tillgate_domain::id::{EntityId, log_tag};
use tillgate_gateway::App;
use tillgate_os::process::{BACKGROUND, lower_priority};
use tillgate_store::cluster::background_work::BackgroundWork;
use tokio::sync::watch;

use super::ticks::Ticks;

/// Interval of checks for settlement cut-offs that have passed.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Number of entities that are loaded at once.
const BATCH: u32 = 1000;
/// Time after a failure until the next try of the same entity.
const RETRY: Duration = Duration::from_secs(60);

/// Settles what is due until `stop` changes. A settlement in progress stops after its current part, and continues at
/// the next start. It runs on a thread of its own, with a priority below that of payments, because it reads much.
pub(super) async fn run_periodically(app: Arc<App>, stop: watch::Receiver<bool>) {
    let runtime = tokio::runtime::Handle::current();
    let settle = move || {
        lower_priority(BACKGROUND);
        runtime.block_on(settle_until_stopped(&app, stop));
    };
    let (ended, end) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("settlement".to_owned()).spawn(move || {
        settle();
        // No caller waits for the end after the server has stopped.
        let _ = ended.send(());
    });
    match thread {
        Ok(_) => drop(end.await),
        Err(error) => tracing::error!(%error, "there is no thread for settlements, so nothing is settled"),
    }
}

/// Settles one entity after the other, in the order of their settlement cut-offs.
async fn settle_until_stopped(app: &App, stop: watch::Receiver<bool>) {
    let mut ticks = Ticks::new(CHECK_INTERVAL, stop.clone());
    let goes_on = || !*stop.borrow() && app.gateway.store.may_work(BackgroundWork::Settlements);
    let mut failed: HashMap<EntityId, Instant> = HashMap::new();
    while ticks.wait().await {
        if !goes_on() {
            continue;
        }
        let due = match app.gateway.load_due_settlements(BATCH) {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "loading due settlements failed");
                continue;
            }
        };
        failed.retain(|_, since| since.elapsed() < RETRY);
        for entity in due.into_iter().filter(|entity| !failed.contains_key(entity)).collect::<Vec<_>>() {
            if !goes_on() {
                break;
            }
            if let Err(error) = app.gateway.settle_entity(&entity, &goes_on).await {
                tracing::warn!(%error, entity = log_tag(entity.as_str()), "settling payments failed; the next attempt is in a minute");
                failed.insert(entity, Instant::now());
            }
        }
    }
}
