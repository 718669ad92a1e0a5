//! The dry runs that users have started: the one that is running of each merchant, or its latest report. They are in
//! memory, so a restart of the gateway forgets them.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::dry_run::DryRunReport;
use tillgate_gateway::risk::dry_run::{DryRun, DryRunProgress, DryRunSlot};
use tillgate_os::process::{BACKGROUND, lower_priority};

/// Largest number of merchants whose dry run is kept. The oldest one that has ended makes room.
const MAX_KEPT: usize = 64;

/// State of a dry run.
#[derive(Debug, Clone)]
pub(super) enum DryRunState {
    /// It is running.
    Running(DryRunProgress),
    /// It has ended.
    Done(Arc<DryRunReport>),
    /// A user has stopped it.
    Stopped,
    /// The store could not be read. The reason is in the log.
    Failed,
}

/// A dry run that a user has started.
#[derive(Debug, Clone)]
pub(super) struct StartedDryRun {
    /// The entity whose payments, and those below it, are replayed.
    pub(super) entity: EntityId,
    /// The version.
    pub(super) version: String,
    /// First and last day, in UTC.
    pub(super) period: (String, String),
    /// The time of the start, by the machine's clock.
    pub(super) started: Timestamp,
    /// The state.
    pub(super) state: DryRunState,
    /// True if a user wants to stop it.
    is_cancelled: bool,
}

/// The dry runs by merchant. Clones share them. The mutex is held for a few instructions only.
#[derive(Debug, Clone, Default)]
pub struct DryRunBoard(Arc<Mutex<HashMap<EntityId, StartedDryRun>>>);

impl DryRunBoard {
    fn lock(&self) -> MutexGuard<'_, HashMap<EntityId, StartedDryRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the dry run of an entity. `None` if there is none, or if that of its merchant is of another entity.
    pub(super) fn find(&self, entity: &Entity) -> Option<StartedDryRun> {
        self.lock().get(entity.merchant_or_self()).filter(|run| run.entity == entity.id).cloned()
    }

    /// Asks the dry run of an entity to stop, which it does within a second.
    pub(super) fn stop(&self, entity: &Entity) {
        if let Some(run) = self.lock().get_mut(entity.merchant_or_self()).filter(|run| run.entity == entity.id) {
            run.is_cancelled = true;
        }
    }

    /// Starts a dry run on a thread with a low priority. Returns false if the system starts no thread.
    pub(super) fn start(&self, entity: &Entity, dry_run: DryRun, slot: DryRunSlot) -> bool {
        let merchant = entity.merchant_or_self().clone();
        let run = StartedDryRun {
            entity: dry_run.entity.clone(),
            version: dry_run.rules.version().to_string(),
            period: (dry_run.request.date_from.clone(), dry_run.request.date_to.clone()),
            started: Timestamp::now(),
            state: DryRunState::Running(DryRunProgress { payments: 0, fraction: 0.0 }),
            is_cancelled: false,
        };
        self.keep(&merchant, run);
        let board = self.clone();
        let started = thread::Builder::new().name("dry-run".to_owned()).spawn({
            let merchant = merchant.clone();
            move || {
                lower_priority(BACKGROUND);
                board.run(&merchant, &dry_run, slot);
            }
        });
        if let Err(error) = &started {
            tracing::error!(%error, "a thread for a dry run does not start");
            self.lock().remove(&merchant);
        }
        started.is_ok()
    }

    /// Keeps a new dry run in place of the merchant's earlier one.
    fn keep(&self, merchant: &EntityId, run: StartedDryRun) {
        let mut runs = self.lock();
        if runs.len() >= MAX_KEPT && !runs.contains_key(merchant) {
            let ended = runs.iter().filter(|(_, run)| !matches!(run.state, DryRunState::Running(_)));
            let oldest = ended.min_by_key(|(_, run)| run.started).map(|(merchant, _)| merchant.clone());
            oldest.and_then(|merchant| runs.remove(&merchant));
        }
        runs.insert(merchant.clone(), run);
    }

    fn run(&self, merchant: &EntityId, dry_run: &DryRun, slot: DryRunSlot) {
        let outcome = dry_run.run(&mut |progress| match self.lock().get_mut(merchant) {
            Some(run) if !run.is_cancelled => {
                run.state = DryRunState::Running(progress);
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        });
        let state = match outcome {
            Ok(Some(report)) => DryRunState::Done(Arc::new(report)),
            Ok(None) => DryRunState::Stopped,
            Err(error) => {
                tracing::error!(%error, "a dry run failed to read the store");
                DryRunState::Failed
            }
        };
        if let Some(run) = self.lock().get_mut(merchant) {
            run.state = state;
        }
        // The slot is free after the state is known, so that another dry run of the merchant cannot be overwritten.
        drop(slot);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn merchant(number: u8) -> EntityId {
        EntityId::new(Timestamp::UNIX_EPOCH, [number; 9])
    }

    fn ended(number: u8, state: DryRunState) -> StartedDryRun {
        StartedDryRun {
            entity: merchant(number),
            version: String::new(),
            period: (String::new(), String::new()),
            started: Timestamp::from_second(i64::from(number)).unwrap(),
            state,
            is_cancelled: false,
        }
    }

    #[test]
    fn the_oldest_report_makes_room_and_a_running_one_never_does() {
        let board = DryRunBoard::default();
        let running = DryRunState::Running(DryRunProgress { payments: 0, fraction: 0.0 });
        board.keep(&merchant(0), ended(0, running));
        for number in 1..=80 {
            board.keep(&merchant(number), ended(number, DryRunState::Stopped));
        }
        let kept = board.lock();
        assert_eq!(kept.len(), MAX_KEPT);
        assert!(kept.contains_key(&merchant(0)) && kept.contains_key(&merchant(80)));
        assert!(!kept.contains_key(&merchant(1)));
    }
}
