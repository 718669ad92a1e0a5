use std::collections::HashSet;

use jiff::SignedDuration;
use tillgate_domain::schedule::{MissedRuns, RunOutcome, StepType};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::*;
use crate::conformance::samples::{empty_directory, sample_entity, sample_registration, sample_time, write_changes};
use crate::{AdminStore, StoreErrorKind};

pub(super) fn sample_schedule(number: u8, next: i64) -> Schedule {
    let id = ScheduleId::new(sample_time(0), [number; 9]);
    Schedule {
        id: id.clone(),
        entity: sample_entity(1).id,
        registration: sample_registration(1).id,
        created: sample_time(0),
        live: ScheduleStep { id, step_type: StepType::Schedule, at: sample_time(0), ndc: None },
        parameters: Parameters::default(),
        job: Parameters::default(),
        zone: "UTC".to_owned(),
        missed: MissedRuns::Once,
        ends: None,
        ended: None,
        next: Some(sample_time(next)),
        open: None,
        paused: None,
        requested: None,
        version: 0,
    }
}

fn sample_run(attempt: u32) -> ScheduleRun {
    ScheduleRun {
        occurrence: sample_time(60),
        attempt,
        at: sample_time(61),
        since: None,
        outcome: RunOutcome::Refused,
        code: codes::REQUEST_SUCCEEDED,
        reason: None,
        payment: None,
        retry: None,
    }
}

/// Opens a store with one entity.
pub(super) fn open_store(folder: &std::path::Path) -> Store {
    AdminStore::open(folder).unwrap().add_entity(&sample_entity(1), sample_time(0)).unwrap();
    Store::open(folder, empty_directory(), Sources::system()).unwrap()
}

#[tokio::test]
async fn an_attempt_is_written_once_and_a_second_one_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(folder.path());
    let schedule = sample_schedule(1, 60);
    write_changes(&store, Changes::default().with_schedule_step(&schedule)).await.unwrap();
    let run = |next, attempt| {
        let schedule = sample_schedule(1, next);
        Changes::default().with_schedule_run(&schedule, Some(RunWrite::New(sample_run(attempt))))
    };
    write_changes(&store, run(120, 1)).await.unwrap();
    let failure = write_changes(&store, run(180, 1)).await.unwrap_err();
    assert_eq!(failure.kind(), StoreErrorKind::ConstraintViolated);
    assert_eq!(store.load_schedule_of_step(&schedule.id).unwrap().unwrap().next, Some(sample_time(120)));
    write_changes(&store, run(180, 2)).await.unwrap();
    let attempts: Vec<u32> = store.load_schedule_runs(&schedule.id).unwrap().iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, [2, 1]);
}

#[tokio::test]
async fn the_longest_due_comes_first_and_an_ended_one_never() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(folder.path());
    for (number, next) in [(1, 300), (2, 100), (3, 200)] {
        let changes = Changes::default().with_schedule_step(&sample_schedule(number, next));
        write_changes(&store, changes).await.unwrap();
    }
    let due = |seconds, limit| -> Vec<Option<Timestamp>> {
        let found = store.load_due_schedules(sample_time(seconds), limit, "").unwrap().schedules;
        found.iter().map(|schedule| schedule.next).collect()
    };
    assert_eq!(due(250, 9), [Some(sample_time(100)), Some(sample_time(200))]);
    assert_eq!(due(999, 1), [Some(sample_time(100))]);
    store.postpone_schedule(&sample_schedule(2, 0).id, sample_time(400)).await.unwrap();
    assert_eq!(due(250, 9), [Some(sample_time(200))]);
    // Moving the clock of the entity moves all of them.
    let by = SignedDuration::from_secs(150);
    write_changes(&store, Changes::default().with_clock_move(&sample_entity(1), by)).await.unwrap();
    assert_eq!(due(150, 9), [Some(sample_time(200)), Some(sample_time(300))]);
    let ended = sample_schedule(3, 200).with_deleted_registration();
    write_changes(&store, Changes::default().with_schedule_run(&ended, None)).await.unwrap();
    assert_eq!(due(999, 9), [Some(sample_time(300)), Some(sample_time(100))]);
}

#[tokio::test]
async fn no_entity_waits_for_all_runs_of_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(folder.path());
    AdminStore::open(folder.path()).unwrap().add_entity(&sample_entity(2), sample_time(0)).unwrap();
    for number in 0..40 {
        let changes = Changes::default().with_schedule_step(&sample_schedule(number, 100));
        write_changes(&store, changes).await.unwrap();
    }
    let last = Schedule { entity: sample_entity(2).id, ..sample_schedule(90, 900) };
    write_changes(&store, Changes::default().with_schedule_step(&last)).await.unwrap();
    for after in [String::new(), sample_entity(1).id.to_string(), sample_entity(2).id.to_string()] {
        let due = store.load_due_schedules(sample_time(999), 8, &after).unwrap();
        let has_last = due.schedules.iter().any(|schedule| schedule.id == last.id);
        let ids: HashSet<&str> = due.schedules.iter().map(|schedule| schedule.id.as_str()).collect();
        assert!(due.has_more && ids.len() == due.schedules.len() && ids.len() <= 8, "{due:?}");
        // After the last entity, the first one is next.
        assert_eq!(has_last, after != sample_entity(2).id.as_str(), "{after}");
        assert_eq!(due.last, "");
    }
    let all = store.load_due_schedules(sample_time(999), 99, "").unwrap();
    assert!(!all.has_more && all.schedules.len() == 41, "{all:?}");
}
