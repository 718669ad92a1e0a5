//! Pushes reconciliation files to the servers of merchants. The files of a server are sent one after the other, in the
//! order of their days. Servers are independent of each other: one that is down or slow holds only its own slot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::delivery;
use tillgate_domain::delivery::file_push::PushAddress;
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_file_transfer::file_push::{PushFault, push_file};
use tillgate_gateway::App;
use tillgate_store::StoreError;
use tillgate_store::cluster::background_work::BackgroundWork;
use tillgate_store::delivery::file_delivery::{ClaimedPush, PushOutcome};
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};

/// Maximum number of servers to which files are sent at once.
const SLOTS: usize = 64;
/// Interval of checks for due files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which a claim is renewed. An attempt ends within it when its server is changed or removed.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(10);
/// Time limit of an attempt, for servers that receive just fast enough for the time limits of the steps.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(60 * 60);

/// The attempts in progress.
#[derive(Default)]
struct PushScheduler {
    attempts: JoinSet<()>,
    /// The claim of each attempt.
    claims: HashMap<Id, ClaimedPush>,
}

/// Sends due files until `stop` changes. Attempts in progress end then, and begin anew at the next start. Failures of
/// the store are logged.
pub(super) async fn push_files(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    release_claims(&app).await;
    let mut scheduler = PushScheduler::default();
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
            Some(ended) = scheduler.attempts.join_next_with_id() => scheduler.finish_attempt(&app, &ended).await,
        }
        if app.gateway.store.may_work(BackgroundWork::FilePushes)
            && let Err(error) = scheduler.start_due(&app).await
        {
            tracing::warn!(%error, "loading the reconciliation files to push failed");
        }
    }
    scheduler.attempts.shutdown().await;
    release_claims(&app).await;
}

/// Releases the claims of this node, which is not sending.
async fn release_claims(app: &App) {
    if let Err(error) = app.gateway.store.release_push_claims(app.gateway.options.node.clone()).await {
        tracing::warn!(%error, "releasing the claims of file pushes failed");
    }
}

impl PushScheduler {
    /// Claims the servers with due files for which there are free slots, and starts an attempt for each.
    async fn start_due(&mut self, app: &Arc<App>) -> Result<(), StoreError> {
        let (store, now) = (&app.gateway.store, app.gateway.now());
        let free = SLOTS.saturating_sub(self.attempts.len());
        if free == 0 {
            return Ok(());
        }
        // The server of an attempt in progress may be due, because it was changed meanwhile.
        let running: HashSet<EntityId> = self.claims.values().map(|claim| claim.target.entity.clone()).collect();
        let due = store.find_due_pushes(now, SLOTS * 2)?;
        for entity in due.into_iter().filter(|entity| !running.contains(entity)).take(free) {
            let node = app.gateway.options.node.clone();
            let Some(claim) = store.claim_push(entity, node, now).await? else { continue };
            let (app, claimed) = (Arc::clone(app), claim.clone());
            let attempt = self.attempts.spawn(async move { attempt_push(&app, claimed).await });
            self.claims.insert(attempt.id(), claim);
        }
        Ok(())
    }

    /// Frees the slot of a finished attempt. One that panicked has recorded nothing, and counts as a failure, so that
    /// it is not repeated without end.
    async fn finish_attempt(&mut self, app: &App, ended: &Result<(Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        if let Some(claim) = self.claims.remove(&id)
            && ended.is_err()
        {
            record_outcome(app, &claim, fail_attempt(&claim, "the attempt was interrupted".to_owned())).await;
        }
    }
}

/// Sends a file and records the outcome. Records nothing if the server is changed or removed meanwhile.
async fn attempt_push(app: &App, claim: ClaimedPush) {
    let attempt = tokio::time::timeout(ATTEMPT_LIMIT, push_file(app, &claim));
    let outcome = tokio::select! {
        () = hold_claim(app, &claim) => return,
        pushed = attempt => match pushed {
            Ok(Ok(())) => PushOutcome::Sent,
            // An entity that was moved to a level without files gets none any more.
            Ok(Err(fault @ PushFault::NoFiles)) => {
                PushOutcome::Failed { fault: fault.to_string(), retry_after: None }
            }
            Ok(Err(fault)) => fail_attempt(&claim, fault.to_string()),
            Err(_) => fail_attempt(&claim, format!("the file took longer than {} minutes", ATTEMPT_LIMIT.as_secs() / 60)),
        },
    };
    record_outcome(app, &claim, outcome).await;
}

/// Logs and stores the outcome of an attempt. A failed write is logged; the file is then sent again, with the same
/// bytes and the same name.
async fn record_outcome(app: &App, claim: &ClaimedPush, outcome: PushOutcome) {
    log_outcome(claim, &outcome);
    if let Err(error) = app.gateway.store.record_push(claim, outcome, app.gateway.now()).await {
        tracing::warn!(%error, "recording the outcome of a file push failed");
    }
}

/// Renews a claim until it is lost.
async fn hold_claim(app: &App, claim: &ClaimedPush) {
    loop {
        tokio::time::sleep(RENEWAL_INTERVAL).await;
        match app.gateway.store.renew_push_claim(claim, app.gateway.now()).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, "renewing the claim of a file push failed"),
        }
    }
}

/// Returns the outcome of a failed attempt, with the wait of the outbox until the next one.
fn fail_attempt(claim: &ClaimedPush, fault: String) -> PushOutcome {
    let mut jitter = [128];
    // Without random bytes the delays have no jitter.
    let _ = getrandom::fill(&mut jitter);
    PushOutcome::Failed { fault, retry_after: delivery::retry::retry_delay(claim.failures + 1, jitter[0], None) }
}

/// Logs the outcome of an attempt, without the user's name.
fn log_outcome(claim: &ClaimedPush, outcome: &PushOutcome) {
    let file = FileName { entity: claim.target.entity.clone(), day: claim.day };
    let server = PushAddress::parse(&claim.target.url).map(|address| address.host_and_port()).unwrap_or_default();
    match outcome {
        PushOutcome::Sent => tracing::info!(%file, server, "a reconciliation file was pushed"),
        PushOutcome::Failed { fault, retry_after: Some(wait) } => {
            let minutes = wait.as_mins();
            tracing::warn!(%file, server, fault, minutes, "a reconciliation file was not pushed; it is sent again");
        }
        PushOutcome::Failed { fault, retry_after: None } => tracing::error!(
            %file,
            server,
            fault,
            "a reconciliation file was not pushed and is given up; `tillgate file-push retry` sends it again"
        ),
    }
}
