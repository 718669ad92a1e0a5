//! The schedule that the tests of its plan and of clock jumps run.
#![allow(clippy::unwrap_used)]

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;

use super::{MissedRuns, Schedule, ScheduleStep, StepType};
use crate::id::{EntityId, RegistrationId, ScheduleId};

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
