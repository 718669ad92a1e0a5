use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::id::PaymentId;
use crate::payment::retry_rules::RetryAdvice;
use crate::schedule::plan::{CheckedOutcome, NextAction, RunResult};
use crate::schedule::retry::RetryPlan;
use crate::schedule::test_schedule::{create_schedule, run_due};
use crate::schedule::{ClockJump, MissedRuns, ScheduleStep, StepType};

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn act(schedule: &Schedule, act: ScheduleAct, now: Timestamp) -> Result<Option<ActedSchedule>, ActRefusal> {
    schedule.act(act, &schedule.terms().unwrap(), now)
}

/// Carries out an act that has an effect, and counts the write.
fn carry_out(schedule: &Schedule, done: ScheduleAct, now: Timestamp) -> Schedule {
    let acted = act(schedule, done, now).unwrap().unwrap().schedule;
    Schedule { version: schedule.version + 1, ..acted }
}

/// Makes the attempt that is due.
fn run(schedule: &Schedule, code: &str, now: Timestamp) -> (Schedule, ScheduleRun) {
    let terms = schedule.terms().unwrap();
    let NextAction::Run(due) = schedule.next_action(&terms, now) else { panic!("nothing runs at {now}") };
    let code = tillgate_shared::result::ResultCode::find(code).unwrap();
    let payment = Some(PaymentId::new(now, [9; 9]));
    let result = RunResult { code, payment, is_approved: code.is_success(), reason: None, advice: RetryAdvice::ByPlan };
    let (after, run) = schedule.after_run(&terms, &due, result, &"800.100.155=2h".parse().unwrap(), now);
    (Schedule { version: schedule.version + 1, ..after }, run)
}

#[test]
fn a_requested_run_is_due_at_once_runs_once_and_leaves_the_plan_as_it_is() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let now = time("2026-11-03T10:00:00.250Z");
    let request = ScheduleAct::Run { version: schedule.version };
    let requested = carry_out(&schedule, request, now);
    assert_eq!((requested.due(), requested.next), (Some(now), schedule.next));
    // The form is sent again before and after the run.
    assert_eq!(act(&requested, request, now), Ok(None));
    assert_eq!(act(&requested, ScheduleAct::Run { version: requested.version }, now), Err(ActRefusal::UnderWay));
    let (after, made) = run(&requested, "000.100.110", now);
    assert_eq!((made.occurrence, made.attempt, made.outcome), (now, 1, RunOutcome::Charged));
    assert_eq!((after.due(), after.next, after.open.is_none()), (schedule.next, schedule.next, true));
    assert_eq!(after.next_action(&after.terms().unwrap(), now), NextAction::Nothing);
    assert_eq!(act(&after, request, now), Ok(None));
    // Somebody else has seen the schedule before that run.
    let stale = ScheduleAct::Run { version: requested.version };
    assert_eq!(act(&after, stale, now), Err(ActRefusal::Changed));
    assert!(act(&after, ScheduleAct::Run { version: after.version }, now).unwrap().is_some());
}

#[test]
fn a_run_is_refused_while_one_is_due_retried_or_pending_and_after_the_end() {
    let schedule = create_schedule(&[("job.hour", "06")], MissedRuns::Once);
    let due = schedule.next.unwrap();
    let ask = |schedule: &Schedule, now| act(schedule, ScheduleAct::Run { version: schedule.version }, now);
    assert_eq!(ask(&schedule, due), Err(ActRefusal::UnderWay));
    for code in ["800.100.155", "000.200.000"] {
        let (open, _) = run(&schedule, code, due);
        assert_eq!(ask(&open, due + SignedDuration::from_mins(1)), Err(ActRefusal::UnderWay), "{code}");
    }
    let paused = carry_out(&schedule, ScheduleAct::Pause, schedule.created);
    assert_eq!(ask(&paused, schedule.created), Err(ActRefusal::Paused));
    let step = ScheduleStep { step_type: StepType::Deschedule, ..schedule.live.clone() };
    let ended = schedule.deschedule(step).unwrap();
    for done in [ScheduleAct::Pause, ScheduleAct::Resume, ScheduleAct::Run { version: ended.version }] {
        assert_eq!(act(&ended, done, due), Err(ActRefusal::Ended), "{done:?}");
    }
}

#[test]
fn a_declined_requested_run_is_retried_by_the_plan_and_pause_drops_the_retry_and_the_request() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let now = time("2026-11-03T10:00:00Z");
    let requested = carry_out(&schedule, ScheduleAct::Run { version: 0 }, now);
    let (declined, first) = run(&requested, "800.100.155", now);
    let retry = now + SignedDuration::from_hours(2);
    assert_eq!((first.retry, declined.due()), (Some(retry), Some(retry)));
    let (_, second) = run(&declined, "000.100.110", retry);
    assert_eq!((second.occurrence, second.attempt), (now, 2));
    for before in [&requested, &declined] {
        let paused = carry_out(before, ScheduleAct::Pause, now);
        assert_eq!((paused.due(), &paused.open), (schedule.next, &None));
        let resumed = carry_out(&paused, ScheduleAct::Resume, retry);
        assert_eq!(resumed.next_action(&resumed.terms().unwrap(), retry), NextAction::Nothing);
    }
}

#[test]
fn a_pending_payment_is_still_waited_for_in_a_pause_but_not_retried() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let now = schedule.next.unwrap();
    let (pending, made) = run(&schedule, "000.200.000", now);
    let paused = carry_out(&pending, ScheduleAct::Pause, now);
    let terms = paused.terms().unwrap();
    assert!(matches!(paused.next_action(&terms, now), NextAction::CheckPayment(_)));
    for code in [tillgate_shared::result::ResultCode::find("800.100.155").unwrap(), codes::OUTCOME_UNCERTAIN] {
        let retries: RetryPlan = "800=2h;900=1h".parse().unwrap();
        let outcome = CheckedOutcome { code, is_approved: false, advice: RetryAdvice::ByPlan };
        let (after, run) = paused.after_check(&terms, &made, Some(outcome), &retries, now).unwrap();
        assert_eq!((run.retry, &after.open, after.paused), (None, &None, Some(now)), "{code:?}");
    }
}

#[test]
fn a_schedule_that_is_ended_before_its_requested_run_does_not_run() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let now = time("2026-11-03T10:00:00Z");
    let requested = carry_out(&schedule, ScheduleAct::Run { version: 0 }, now);
    let step = ScheduleStep { at: now, step_type: StepType::Deschedule, ..schedule.live.clone() };
    let ended = requested.deschedule(step).unwrap();
    assert_eq!((ended.is_active(), ended.due()), (false, None));
    assert_eq!(requested.with_deleted_registration().due(), None);
}

#[test]
fn a_pause_ends_no_schedule_also_if_only_a_retry_was_left() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let now = schedule.next.unwrap();
    let (declined, _) = run(&schedule, "800.100.155", now);
    let last = Schedule { next: None, ..declined };
    let paused = carry_out(&last, ScheduleAct::Pause, now);
    assert_eq!((paused.is_active(), paused.due()), (true, None));
    let resumed = carry_out(&paused, ScheduleAct::Resume, now);
    assert!(!resumed.is_active());
}

#[test]
fn a_requested_run_that_comes_too_late_or_after_a_reschedule_charges_nothing() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let now = time("2026-11-03T10:00:00Z");
    let requested = carry_out(&schedule, ScheduleAct::Run { version: 0 }, now);
    let terms = requested.terms().unwrap();
    let is_run = |at| matches!(requested.next_action(&terms, at), NextAction::Run(_));
    assert_eq!([59, 61].map(|minutes| is_run(now + SignedDuration::from_mins(minutes))), [true, false]);
    let late = now + SignedDuration::from_hours(48);
    let NextAction::Skip(due) = requested.next_action(&terms, late) else { panic!("the run is made") };
    let (after, skipped) = requested.after_skip(&terms, &due, late);
    assert_eq!((skipped.occurrence, skipped.outcome), (now, RunOutcome::Skipped));
    assert_eq!((after.due(), after.is_active()), (schedule.next, true));
    let ends = Some(now + SignedDuration::from_mins(5));
    let ending = Schedule { ends, ..requested.clone() };
    assert!(matches!(ending.next_action(&terms, now + SignedDuration::from_mins(6)), NextAction::Skip(_)));
    let step = ScheduleStep { at: now, ..schedule.live.clone() };
    let (job, none) = (schedule.job.clone(), tillgate_shared::parameter::Parameters::default());
    let changed = requested.reschedule(step, &job, &none, None, schedule.zone.clone()).unwrap();
    assert_eq!((changed.waiting_run(), changed.due()), (None, changed.next));
}

proptest! {
    /// Pauses begin and end at any time, also while the gateway is down or its clock jumps.
    #[test]
    fn no_occurrence_of_a_pause_runs_and_each_one_outside_runs_once(
        missed in prop::sample::select(vec![MissedRuns::Once, MissedRuns::All, MissedRuns::Skip]),
        turns in prop::collection::vec((1_i64..20_000, any::<bool>(), any::<bool>()), 1..12),
    ) {
        let mut schedule = create_schedule(&[("job.minute", "0,20,40")], missed);
        let (mut now, mut pauses, mut runs) = (schedule.created, Vec::new(), Vec::new());
        for (seconds, toggles, serves) in turns {
            let began = now;
            now += SignedDuration::from_secs(seconds);
            if serves {
                let made;
                (schedule, made) = run_due(schedule, &[ClockJump { began, ended: now }], now);
                runs.extend(made);
            }
            // Nothing of the time before is left over, so the pause begins here.
            if toggles && serves && schedule.paused.is_none() {
                schedule = act(&schedule, ScheduleAct::Pause, now).unwrap().unwrap().schedule;
                pauses.push((now, Timestamp::MAX));
            } else if toggles && schedule.paused.is_some() {
                let acted = act(&schedule, ScheduleAct::Resume, now).unwrap().unwrap();
                schedule = acted.schedule;
                runs.extend(acted.skipped);
                if let Some(last) = pauses.last_mut() {
                    last.1 = now;
                }
            }
        }
        let charged: Vec<Timestamp> =
            runs.iter().filter(|run| run.outcome == RunOutcome::Charged).map(|run| run.occurrence).collect();
        for occurrence in &charged {
            let is_paused = pauses.iter().any(|(from, until)| from < occurrence && occurrence <= until);
            prop_assert!(!is_paused, "{occurrence} ran in {pauses:?}");
        }
        let once: std::collections::BTreeSet<_> = runs.iter().map(|run| run.occurrence).collect();
        prop_assert_eq!(once.len(), runs.len());
        prop_assert!(schedule.next.is_none_or(|next| once.last().is_none_or(|last| next > *last)));
    }
}
