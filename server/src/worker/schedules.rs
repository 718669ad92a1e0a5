//! Runs the schedules that are due.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::id::{EntityId, ScheduleId, log_tag};
use tillgate_domain::schedule::Schedule;
use tillgate_gateway::{App, Failure};
use tillgate_store::cluster::background_work::BackgroundWork;
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};

/// Interval of checks for due schedules.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of runs in progress. It leaves most of the queue of the store's writer to requests.
const MAX_RUNNING: usize = 256;
/// Maximum number of runs of an entity in progress. It fills the groups of the store's writer, and leaves room for the
/// runs of other entities while a connector is slow.
const MAX_RUNNING_OF_ENTITY: usize = 64;
/// Number of schedules that are loaded at once, besides those in progress.
const BATCH: usize = 256;

/// Runs in progress, and those that wait for room.
#[derive(Default)]
struct RunningSchedules {
    tasks: JoinSet<bool>,
    /// The schedule of each task, so that no run is started twice, and its entity.
    schedules: HashMap<Id, (ScheduleId, EntityId)>,
    /// Number of runs of each entity in progress.
    counts: HashMap<EntityId, usize>,
    waiting: VecDeque<Schedule>,
    /// The entity that was visited last: see [`DueSchedules`](tillgate_store::schedule::due::DueSchedules).
    last: String,
    /// True if the store may have further due schedules.
    has_more: bool,
    /// True if they may be loaded although some wait.
    may_reload: bool,
}

/// Runs due schedules until `stop` changes; runs in progress are then dropped. Their writes stay, and what
/// they have not is due at the next start.
pub(super) async fn run_periodically(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut running = RunningSchedules::default();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => {
                running.has_more = true;
                running.may_reload = true;
            }
            Some(ended) = running.tasks.join_next_with_id() => {
                let (id, may_go_on) = ended.unwrap_or_else(|error| (error.id(), false));
                running.end_run(id);
                // The next occurrence of the same schedule may be due.
                running.has_more |= may_go_on;
            }
        }
        if app.gateway.store.may_work(BackgroundWork::Schedules) {
            running.start_waiting(&app);
        } else {
            // Another node has continued them by the time at which this one may.
            running.waiting.clear();
        }
    }
}

impl RunningSchedules {
    /// Starts runs while there is room. Loads the next ones when none waits. If all that wait are of entities without
    /// room, it does so once after each check: a load is expensive, and each run that ends comes here.
    fn start_waiting(&mut self, app: &Arc<App>) {
        while self.tasks.len() < MAX_RUNNING {
            if let Some(schedule) = self.take_startable() {
                self.start_run(app, schedule);
                continue;
            }
            if !self.has_more || !(self.waiting.is_empty() || self.may_reload) {
                return;
            }
            self.may_reload = false;
            self.load_waiting(app);
            if !self.waiting.iter().any(|schedule| self.may_start(schedule)) {
                return;
            }
        }
    }

    /// Takes out the first schedule that waits and may start.
    fn take_startable(&mut self) -> Option<Schedule> {
        let index = self.waiting.iter().position(|schedule| self.may_start(schedule))?;
        self.waiting.remove(index)
    }

    /// Returns true if the entity of a schedule has room for a run.
    fn may_start(&self, schedule: &Schedule) -> bool {
        self.counts.get(&schedule.entity).is_none_or(|count| *count < MAX_RUNNING_OF_ENTITY)
    }

    /// Forgets a run that has ended.
    fn end_run(&mut self, id: Id) {
        let Some((_, entity)) = self.schedules.remove(&id) else { return };
        if let Some(count) = self.counts.get_mut(&entity) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&entity);
            }
        }
    }

    /// Loads schedules that are due and not in progress. If that fails, logs a warning.
    fn load_waiting(&mut self, app: &Arc<App>) {
        let limit = BATCH + self.schedules.len();
        match app.gateway.load_due_schedules(limit, &self.last) {
            Ok(due) => {
                self.has_more = due.has_more;
                self.last = due.last;
                let running: HashSet<&ScheduleId> = self.schedules.values().map(|(id, _)| id).collect();
                let is_new = |schedule: &Schedule| !running.contains(&schedule.id);
                self.waiting = due.schedules.into_iter().filter(is_new).collect();
            }
            Err(error) => {
                self.has_more = false;
                tracing::warn!(%error, "loading due schedules failed");
            }
        }
    }

    /// Starts a run. If it fails, logs a warning, and the schedule is due again later.
    fn start_run(&mut self, app: &Arc<App>, schedule: Schedule) {
        let (id, entity) = (schedule.id.clone(), schedule.entity.clone());
        let (app, run_app, tenant) = (Arc::clone(app), Arc::clone(app), entity.clone());
        let task = self.tasks.spawn(async move {
            let tag = log_tag(schedule.id.as_str());
            // A run that is due can wait longer than the payment of a shopper.
            let run = async move { run_app.gateway.run_schedule(schedule).await };
            let ended = app.low_priority.run(tenant.as_str(), run).await;
            ended.unwrap_or(Err(Failure::Interrupted)).unwrap_or_else(|error| {
                tracing::warn!(%error, schedule = tag, "running a schedule failed");
                false
            })
        });
        *self.counts.entry(entity.clone()).or_default() += 1;
        self.schedules.insert(task.id(), (id, entity));
    }
}
