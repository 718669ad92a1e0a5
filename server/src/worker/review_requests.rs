//! Carries out the review decisions that the command line requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::id::{PaymentId, log_tag};
use tillgate_gateway::App;
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};

/// Interval of checks for requests.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of decisions that are carried out at the same time.
const MAX_RUNNING: usize = 32;
/// Number of requests that are loaded at once: those that run, and as many more.
const BATCH: u32 = 64;

/// Decisions that are being carried out. A slow connector delays no other decision.
#[derive(Default)]
struct RunningDecisions {
    tasks: JoinSet<()>,
    /// The payment of each task, so that no decision is started twice.
    payments: HashMap<Id, PaymentId>,
}

/// Carries out requested decisions until `stop` changes; those in progress are then dropped, and taken up at the next
/// start.
pub(super) async fn carry_out_periodically(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut running = RunningDecisions::default();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => running.start_waiting(&app),
            Some(ended) = running.tasks.join_next_with_id() => {
                running.payments.remove(&ended.map_or_else(|error| error.id(), |(id, ())| id));
            }
        }
    }
}

impl RunningDecisions {
    /// Starts the decisions that wait, oldest first, while fewer than [`MAX_RUNNING`] are in progress. If one fails,
    /// logs a warning, and its request still waits.
    fn start_waiting(&mut self, app: &Arc<App>) {
        let waiting = match app.gateway.store.load_waiting_requests(BATCH) {
            Ok(waiting) => waiting,
            Err(error) => return tracing::warn!(%error, "loading requested review decisions failed"),
        };
        for request in waiting {
            let payment = request.payment.clone();
            if self.payments.len() >= MAX_RUNNING || self.payments.values().any(|running| *running == payment) {
                continue;
            }
            let app = Arc::clone(app);
            let task = self.tasks.spawn(async move {
                let payment = log_tag(request.payment.as_str());
                if let Err(error) = app.gateway.carry_out_request(request).await {
                    tracing::warn!(%error, payment, "executing a requested review decision failed");
                }
            });
            self.payments.insert(task.id(), payment);
        }
    }
}
