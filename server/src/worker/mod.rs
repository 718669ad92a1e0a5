//! Background work of a running server: runs due timers, delivers messages, resolves unknown outcomes, runs schedules,
//! settles payments, completes and pushes reconciliation files, deletes expired data, checks the store's file, binds
//! the audit log, and marks the form's build as still in use.

mod audit_chains;
mod file_push;
mod integrity;
mod intents;
mod late_approvals;
mod outbox;
mod reconciliation_files;
mod review_callback;
mod risk_counters;
mod schedules;
mod settlements;
mod ticks;
pub(crate) mod timers;
pub(crate) mod tokens;
mod velocity;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::registration::Registration;
use tillgate_gateway::App;
use tillgate_store::cluster::background_work::BackgroundWork;
use tokio::sync::watch;

use tillgate_api::form::Builds;

use self::ticks::Ticks;

/// Interval of sweeps for expired card numbers, so a card number is deleted at most about a second after its time.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// Number of sweeps between two overwrites of deleted data in the WAL.
const SWEEPS_PER_WAL_SCRUB: u32 = 10;
/// Number of sweeps between two writes of the times of token use.
const SWEEPS_PER_USAGE_WRITE: u32 = 10;
/// Number of sweeps between two marks of the form's build.
const SWEEPS_PER_BUILD_MARK: u32 = 600;
/// Number of sweeps between two summaries of failed deliveries.
const SWEEPS_PER_DAY: u32 = 24 * 60 * 60;

/// Runs all background tasks until `stop` changes, and returns when they have finished the work in progress. Of the
/// nodes of a cluster, one does the work of a kind at a time; a task that has ended gives its lease to the others, and
/// the last one also the name of the node.
pub async fn run_tasks(app: Arc<App>, builds: Arc<Builds>, stop: watch::Receiver<bool>) {
    use BackgroundWork::{
        Deletions, Deliveries, FilePushes, Inquiries, ReconciliationFiles, Schedules, Settlements, Timers,
    };
    let task_app = || Arc::clone(&app);
    tokio::join!(
        integrity::check_store_daily(task_app(), stop.clone()),
        audit_chains::bind_periodically(task_app(), stop.clone()),
        give_back_after(&app, Timers, sweep_periodically(task_app(), builds, stop.clone())),
        velocity::sync_periodically(task_app(), stop.clone()),
        late_approvals::reverse_until_stop(task_app(), stop.clone()),
        give_back_after(&app, Deletions, delete_periodically(task_app(), stop.clone())),
        give_back_after(&app, Inquiries, intents::resolve_periodically(task_app(), stop.clone())),
        give_back_after(
            &app,
            ReconciliationFiles,
            reconciliation_files::complete_periodically(task_app(), stop.clone())
        ),
        give_back_after(&app, FilePushes, file_push::push_files(task_app(), stop.clone())),
        give_back_after(&app, Schedules, schedules::run_periodically(task_app(), stop.clone())),
        give_back_after(&app, Settlements, settlements::run_periodically(task_app(), stop.clone())),
        give_back_after(&app, Deliveries, outbox::run_deliveries(task_app(), stop))
    );
    app.gateway.store.leave_cluster().await;
}

/// Runs a task, and gives the lease on its work back.
async fn give_back_after(app: &App, work: BackgroundWork, task: impl Future<Output = ()>) {
    task.await;
    app.gateway.store.give_back(work).await;
}

/// Sweeps every second until `stop` changes: runs due timers, saves what is in memory and forgets what has expired
/// there, and does the rarer upkeep every few sweeps. Failures are logged and do not stop the sweep. At the end saves
/// what is only in memory.
async fn sweep_periodically(app: Arc<App>, builds: Arc<Builds>, stop: watch::Receiver<bool>) {
    let mut ticks = Ticks::new(SWEEP_INTERVAL, stop);
    let mut count = 0u32;
    while ticks.wait().await {
        let now = app.gateway.now();
        app.gateway.saved_forms.remove_expired(now);
        if let Err(error) = timers::run_due_timers(&app.gateway, now).await {
            tracing::warn!(%error, "running due timers failed");
        }
        app.gateway.security_codes.remove_expired(now);
        if count.is_multiple_of(SWEEPS_PER_WAL_SCRUB)
            && let Err(error) = app.gateway.store.scrub_wal().await
        {
            tracing::warn!(%error, "overwriting deleted account data failed");
        }
        if count.is_multiple_of(SWEEPS_PER_USAGE_WRITE)
            && let Err(error) = tokens::write_usage(&app).await
        {
            tracing::warn!(%error, "recording the use of tokens failed");
        }
        if count.is_multiple_of(SWEEPS_PER_DAY) {
            log_failed_deliveries(&app, now);
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(SWEEPS_PER_BUILD_MARK)
            && let Err(error) = builds.mark_in_use(&app.gateway.store, now).await
        {
            tracing::warn!(%error, "marking the form's build as in use failed");
        }
    }
    if let Err(error) = app.gateway.cancel_reminders().await {
        tracing::warn!(%error, "cancelling reminders failed");
    }
    if let Err(error) = tokens::write_usage(&app).await {
        tracing::warn!(%error, "recording the use of tokens failed");
    }
}

/// Logs a warning for each receiver with failed deliveries in the last 24 hours, with their number. There are no emails
/// about them yet.
fn log_failed_deliveries(app: &App, now: Timestamp) {
    match app.gateway.store.count_failures_since(now - SignedDuration::from_hours(24)) {
        Ok(failures) => {
            for (receiver, attempts) in failures {
                tracing::warn!(receiver, attempts, "a receiver refused or missed deliveries in the last 24 hours");
            }
        }
        Err(error) => tracing::warn!(%error, "counting failed deliveries failed"),
    }
}

/// Deletes what has expired until `stop` changes: data every second, and the counters of risk rules after each full
/// hour.
async fn delete_periodically(app: Arc<App>, stop: watch::Receiver<bool>) {
    tokio::join!(
        delete_data_periodically(&app, stop.clone()),
        risk_counters::delete_periodically(Arc::clone(&app), stop)
    );
}

/// Deletes expired data every second until `stop` changes, if this process may. Failures are logged.
async fn delete_data_periodically(app: &App, stop: watch::Receiver<bool>) {
    let mut ticks = Ticks::new(SWEEP_INTERVAL, stop);
    while ticks.wait().await {
        if !app.gateway.store.may_work(BackgroundWork::Deletions) {
            continue;
        }
        let now = app.gateway.now();
        if let Err(error) = delete_expired_data(app, now).await {
            tracing::warn!(%error, "deleting expired account data failed");
        }
        if let Err(error) = app.gateway.store.delete_expired_responses(now).await {
            tracing::warn!(%error, "deleting expired responses failed");
        }
    }
}

/// Deletes what has expired at `now`: sealed cards, registrations, deferred effects, messages, used wallet tokens and
/// records of attempts.
/// Checks with a reader first, so that an idle server writes nothing.
///
/// # Errors
/// The first failure of the store; the rest is then left to the next sweep.
async fn delete_expired_data(app: &App, now: Timestamp) -> Result<(), tillgate_store::StoreError> {
    let store = &app.gateway.store;
    store.delete_expired_wallet_tokens(now).await?;
    store.delete_expired_effects(now).await?;
    store.delete_expired_messages(now).await?;
    store.delete_ended_attempts(now).await?;
    if store.has_expired_cards(now)? {
        let deleted = store.delete_expired_cards(now).await?;
        tracing::info!(deleted, "card numbers were deleted at the end of their window");
    }
    if store.has_expired_registrations(now)? {
        let deleted = store.end_expired_registrations(now, Registration::as_expired).await?;
        tracing::info!(deleted, "registrations were deleted at the end of their retention");
    }
    Ok(())
}
