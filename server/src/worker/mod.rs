//! What happens later, while the server runs: timers do what they are for, card numbers, registrations and answers whose time has passed are deleted, and
//! the build of the form is marked as still in use.

mod courier;
mod integrity;
mod intents;
mod timers;
pub(crate) mod tokens;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use crate::api::Edge;

/// How often expired card numbers are looked for; a window shorter than this ends within a second.
const SWEEP: Duration = Duration::from_secs(1);
/// How often, in sweeps, the write-ahead log is emptied of what was deleted.
const LEFTOVERS: u32 = 10;
/// Sweeps between two writes of the times at which tokens were used.
const USAGE: u32 = 10;
/// How often the build is marked, in sweeps.
const MARK: u32 = 600;
/// How often it is summed up what merchants did not take, in sweeps.
const DAY: u32 = 24 * 60 * 60;

/// Runs until it is asked to stop, and ends what it has begun.
pub async fn run(edge: Arc<Edge>, stop: watch::Receiver<bool>) {
    tokio::join!(
        sweep_often(Arc::clone(&edge), stop.clone()),
        integrity::run(Arc::clone(&edge), stop.clone()),
        intents::run(Arc::clone(&edge), stop.clone()),
        courier::run(edge, stop)
    );
}

async fn sweep_often(edge: Arc<Edge>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(SWEEP);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut count = 0u32;
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {}
        }
        let now = edge.gateway.now();
        edge.gateway.saved.forget(now);
        if let Err(error) = timers::run_due(&edge.gateway, now).await {
            tracing::warn!(%error, "doing what is due");
        }
        edge.gateway.codes.forget(now);
        save_velocity(&edge).await;
        if let Err(error) = sweep(&edge, now).await {
            tracing::warn!(%error, "deleting account data whose time has passed");
        }
        if let Err(error) = edge.gateway.store.purge_answers(now).await {
            tracing::warn!(%error, "deleting answers whose day is over");
        }
        if count.is_multiple_of(LEFTOVERS)
            && let Err(error) = edge.gateway.store.overwrite_deleted().await
        {
            tracing::warn!(%error, "overwriting what deleted account data left behind");
        }
        if let Err(error) = tokens::key_hashes(&edge).await {
            tracing::warn!(%error, "keying the hashes of tokens");
        }
        if count.is_multiple_of(USAGE)
            && let Err(error) = tokens::write_usage(&edge).await
        {
            tracing::warn!(%error, "writing when tokens were used");
        }
        if count.is_multiple_of(DAY) {
            sum_up(&edge, now);
        }
        count = count.wrapping_add(1);
        if count.is_multiple_of(MARK)
            && let Err(error) = edge.builds.touch(&edge.gateway.store, now).await
        {
            tracing::warn!(%error, "marking the form's build as in use");
        }
    }
    save_velocity(&edge).await;
    if let Err(error) = edge.gateway.take_reminders_back().await {
        tracing::warn!(%error, "taking reminders back");
    }
    if let Err(error) = tokens::write_usage(&edge).await {
        tracing::warn!(%error, "writing when tokens were used");
    }
}

/// Writes the counts against card testing.
async fn save_velocity(edge: &Edge) {
    if let Err(error) = edge.gateway.save_velocity().await {
        tracing::warn!(%error, "writing the counts against card testing; a restart now would forget some declines");
    }
}

/// Tells in the log what merchants have not taken in the last day; there is no mail yet.
fn sum_up(edge: &Edge, now: Timestamp) {
    match edge.gateway.store.failures_since(now - SignedDuration::from_hours(24)) {
        Ok(failures) => {
            for (receiver, attempts) in failures {
                tracing::warn!(receiver, attempts, "attempts in the last 24 hours that a receiver did not take");
            }
        }
        Err(error) => tracing::warn!(%error, "summing up what was not taken"),
    }
}

/// Deletes what is due: sealed cards, registrations, promised ones and used wallet tokens. Looks with a reader first, so that an idle
/// server writes nothing.
async fn sweep(edge: &Edge, now: Timestamp) -> Result<(), crate::store::StoreError> {
    let store = &edge.gateway.store;
    store.forget_wallet_tokens(now).await?;
    store.forget_promises(now).await?;
    store.forget_messages(now).await?;
    if store.cards_due(now)? {
        let deleted = store.purge_cards(now).await?;
        tracing::info!(deleted, "card numbers deleted at the end of their window");
    }
    if store.registrations_due(now)? {
        let deleted = store.end_registrations(now).await?;
        tracing::info!(deleted, "registrations deleted at the end of their retention");
    }
    Ok(())
}
