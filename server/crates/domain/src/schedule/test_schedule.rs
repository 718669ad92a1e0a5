//! The schedule that the tests of its plan and of clock jumps run.
#![allow(clippy::unwrap_used)]

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::plan::{NextAction, RunResult};
use super::retry::RetryPlan;
use super::{ClockJump, MissedRuns, Schedule, ScheduleRun, ScheduleStep, StepType};
use crate::id::{EntityId, PaymentId, RegistrationId, ScheduleId};
use crate::payment::retry_rules::RetryAdvice;

/// Creates a schedule from 2026-11-01T00:30:00Z on, with these parameters.
pub(super) fn create_schedule(job: &[(&str, &str)], missed: MissedRuns) -> Schedule {
    let created = "2026-11-01T00:30:00Z".parse::<Timestamp>().unwrap();
    let id = ScheduleId::new(created, [1; 9]);
    let mut schedule = Schedule {
        id: id.clone(),
        entity: EntityId::new(created, [2; 9]),
        registration: RegistrationId::new(created, [3; 9]),
        created,
        live: ScheduleStep { id, step_type: StepType::Schedule, at: created, ndc: None },
        parameters: Parameters::default(),
        job: job.iter().copied().collect(),
        zone: "UTC".to_owned(),
        missed,
        ends: None,
        ended: None,
        next: None,
        open: None,
        paused: None,
        requested: None,
        version: 0,
    };
    schedule.next = Some(schedule.terms().unwrap().first_run(&schedule.job, created).unwrap());
    schedule
}

/// Does everything that is due. Returns the records.
pub(super) fn run_due(mut schedule: Schedule, jumps: &[ClockJump], now: Timestamp) -> (Schedule, Vec<ScheduleRun>) {
    let terms = schedule.terms().unwrap();
    let mut runs = Vec::new();
    loop {
        let at = schedule.action_time(jumps, now);
        let (next, run) = match schedule.next_action(&terms, at) {
            NextAction::Run(due) => {
                let payment = Some(PaymentId::new(at, [9; 9]));
                let result = RunResult {
                    code: codes::TEST_INTERNAL,
                    payment,
                    is_approved: true,
                    reason: None,
                    advice: RetryAdvice::ByPlan,
                };
                schedule.after_run(&terms, &due, result, &RetryPlan::default(), at)
            }
            NextAction::Skip(due) => schedule.after_skip(&terms, &due, at),
            _ => return (schedule, runs),
        };
        runs.push(run);
        schedule = next;
    }
}
