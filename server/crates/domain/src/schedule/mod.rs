//! Schedules: payments that a registration makes at planned times. Everything here is a pure function of the schedule,
//! its parameters and a moment.

pub mod act;
mod clock_jump;
pub mod expression;
pub mod period;
pub mod plan;
pub mod record;
pub mod recurrence;
pub mod retry;
pub mod terms;
#[cfg(test)]
mod test_schedule;
pub mod timing;

pub use act::{ActRefusal, RequestedRun, ScheduleAct};
pub use clock_jump::{ClockJump, MAX_RUNS_OF_JUMP, check_runs_of_jump};
pub use record::{EndReason, OpenRun, RunOutcome, Schedule, ScheduleRun, ScheduleStep, StepType};
pub use terms::{MissedRuns, ScheduleTerms};
