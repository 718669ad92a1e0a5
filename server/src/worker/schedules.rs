//! Runs the schedules that are due.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinSet};

use crate::app::App;
use crate::domain::id::{ScheduleId, log_tag};
use crate::domain::schedule::Schedule;

/// Interval of checks for due schedules.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of runs in progress. It fills the groups of the store's writer, and leaves most of its queue to
/// requests.
const MAX_RUNNING: usize = 64;
/// Number of schedules that are loaded at once, besides those in progress.
const BATCH: usize = 256;

/// Runs in progress, and those that wait for room. A slow connector delays only its own runs until all are slow.
#[derive(Default)]
struct RunningSchedules {
    tasks: JoinSet<bool>,
    /// The schedule of each task, so that no run is started twice.
    schedules: HashMap<Id, ScheduleId>,
    waiting: VecDeque<Schedule>,
    /// True if the store may have further due schedules.
    has_more: bool,
}

/// Runs due schedules until `stop` changes; runs in progress are then dropped. What they have written stays, and what
/// they have not is due at the next start.
pub(super) async fn run_periodically(app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut running = RunningSchedules::default();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            _ = ticks.tick() => running.has_more = true,
            Some(ended) = running.tasks.join_next_with_id() => {
                let (id, may_go_on) = ended.unwrap_or_else(|error| (error.id(), false));
                running.schedules.remove(&id);
                // The next occurrence of the same schedule may be due.
                running.has_more |= may_go_on;
            }
        }
        running.start_waiting(&app);
    }
}

impl RunningSchedules {
    /// Starts runs while there is room, and loads the next ones if none waits.
    fn start_waiting(&mut self, app: &Arc<App>) {
        while self.tasks.len() < MAX_RUNNING {
            if self.waiting.is_empty() && self.has_more {
                self.load_waiting(app);
            }
            let Some(schedule) = self.waiting.pop_front() else { return };
            self.start_run(app, schedule);
        }
    }

    /// Loads the schedules that are due and not in progress. If that fails, logs a warning.
    fn load_waiting(&mut self, app: &Arc<App>) {
        let limit = BATCH + self.schedules.len();
        match app.gateway.load_due_schedules(limit) {
            Ok(due) => {
                self.has_more = due.len() == limit;
                let is_new = |schedule: &Schedule| !self.schedules.values().any(|running| *running == schedule.id);
                self.waiting = due.into_iter().filter(is_new).collect();
            }
            Err(error) => {
                self.has_more = false;
                tracing::warn!(%error, "looking for due schedules");
            }
        }
    }

    /// Starts a run. If it fails, logs a warning, and the schedule is due again later.
    fn start_run(&mut self, app: &Arc<App>, schedule: Schedule) {
        let id = schedule.id.clone();
        let app = Arc::clone(app);
        let task = self.tasks.spawn(async move {
            let tag = log_tag(schedule.id.as_str());
            app.gateway.run_schedule(schedule).await.unwrap_or_else(|error| {
                tracing::warn!(%error, schedule = tag, "running a schedule");
                false
            })
        });
        self.schedules.insert(task.id(), id);
    }
}
