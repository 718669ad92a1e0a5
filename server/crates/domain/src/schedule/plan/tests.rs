use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::schedule::test_schedule::create_schedule;
use crate::schedule::{ScheduleStep, StepType};

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns a result with a payment.
fn result(code: &str) -> RunResult {
    let code = ResultCode::find(code).unwrap();
    let payment = PaymentId::new(Timestamp::UNIX_EPOCH, [9; 9]);
    RunResult {
        code,
        payment: Some(payment),
        is_approved: code.is_success(),
        reason: None,
        advice: RetryAdvice::ByPlan,
    }
}

/// Returns the outcome of a payment, without an advice about retries.
fn checked(code: ResultCode, is_approved: bool) -> CheckedOutcome {
    CheckedOutcome { code, is_approved, advice: RetryAdvice::ByPlan }
}

fn due_run(action: NextAction) -> DueRun {
    match action {
        NextAction::Run(due) => due,
        other => panic!("{other:?} is no run"),
    }
}

#[test]
fn a_retry_is_dropped_if_the_next_occurrence_or_the_end_comes_first() {
    let retries: RetryPlan = "800.100.155=2h".parse().unwrap();
    for (job, is_retried) in [
        (&[("job.hour", "*")][..], false),
        (&[("job.hour", "03,05")], false),
        (&[("job.hour", "03,06")], true),
        (&[("job.hour", "03"), ("job.endDate", "2026-11-01 04:00:00")], false),
    ] {
        let schedule = create_schedule(job, MissedRuns::Once);
        let terms = schedule.terms().unwrap();
        let now = schedule.next.unwrap();
        let due = due_run(schedule.next_action(&terms, now));
        let (after, run) = schedule.after_run(&terms, &due, result("800.100.155"), &retries, now);
        assert_eq!((run.retry.is_some(), after.open.is_some()), (is_retried, is_retried), "{job:?}");
    }
}

#[test]
fn a_run_is_not_retried_after_never_and_not_before_the_time_that_the_scheme_allows() {
    let retries: RetryPlan = "800.100=2h".parse().unwrap();
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let terms = schedule.terms().unwrap();
    let now = schedule.next.unwrap();
    let due = due_run(schedule.next_action(&terms, now));
    let (next, hours) = (terms.recurrence.next_after(now).unwrap(), |hours| now + SignedDuration::from_hours(hours));
    for (code, advice, retry) in [
        ("800.100.155", RetryAdvice::ByPlan, Some(hours(2))),
        ("800.100.155", RetryAdvice::NotBefore(hours(72)), Some(hours(72))),
        ("800.100.155", RetryAdvice::NotBefore(next), None),
        ("800.100.155", RetryAdvice::Never, None),
        ("700.600.002", RetryAdvice::RefusedUntil(hours(71)), Some(hours(71))),
        ("700.600.002", RetryAdvice::RefusedUntil(next), None),
        ("700.601.003", RetryAdvice::Never, None),
    ] {
        let declined = RunResult { advice, ..result(code) };
        let (after, run) = schedule.after_run(&terms, &due, declined, &retries, now);
        assert_eq!((run.retry, after.open.map(|open| open.due)), (retry, retry), "{code} {advice:?}");
        let (pending, run) = schedule.after_run(&terms, &due, result("000.200.000"), &retries, now);
        let outcome = CheckedOutcome { advice, ..checked(ResultCode::find(code).unwrap(), false) };
        let (_, run) = pending.after_check(&terms, &run, Some(outcome), &retries, now).unwrap();
        assert_eq!(run.retry, retry, "{code} {advice:?}");
    }
}

#[test]
fn a_pending_payment_delays_the_next_run_for_an_hour_at_most() {
    let schedule = create_schedule(&[("job.minute", "*")], MissedRuns::Once);
    let terms = schedule.terms().unwrap();
    let now = schedule.next.unwrap();
    let due = due_run(schedule.next_action(&terms, now));
    let retries = RetryPlan::default();
    let (mut pending, run) = schedule.after_run(&terms, &due, result("000.200.000"), &retries, now);
    assert_eq!(run.outcome, RunOutcome::Pending);
    // The connector may still be asked, so nobody may take the run for done.
    assert_eq!(pending.due(), Some(now));
    let mut now = now;
    while pending.open.is_some() {
        now = pending.due().unwrap();
        assert!(matches!(pending.next_action(&terms, now), NextAction::CheckPayment(_)));
        pending = pending.after_check(&terms, &run, None, &retries, now).unwrap().0;
    }
    let waited = now.duration_since(run.at);
    assert!(waited >= LONGEST_DELAY && waited < LONGEST_DELAY * 2, "{waited:?}");
    assert!(matches!(pending.next_action(&terms, now), NextAction::Run(_)));
}

#[test]
fn the_outcome_of_a_pending_payment_is_that_of_the_run() {
    let schedule = create_schedule(&[("job.dayOfMonth", "15")], MissedRuns::Once);
    let terms = schedule.terms().unwrap();
    let now = schedule.next.unwrap();
    let due = due_run(schedule.next_action(&terms, now));
    let retries = RetryPlan::default();
    let (pending, run) = schedule.after_run(&terms, &due, result("000.200.000"), &retries, now);
    for (code, outcome, is_retried) in
        [("000.100.112", RunOutcome::Charged, false), ("800.100.203", RunOutcome::Declined, true)]
    {
        let result = ResultCode::find(code).map(|code| checked(code, code.is_success()));
        let (after, changed) = pending.after_check(&terms, &run, result, &retries, now).unwrap();
        assert_eq!((changed.outcome, changed.attempt, changed.at), (outcome, 1, run.at));
        assert_eq!((after.open.is_some(), after.next), (is_retried, pending.next));
    }
}

#[test]
fn an_attempt_that_never_reached_its_connector_is_repeated_before_the_next_run() {
    let schedule = create_schedule(&[("job.hour", "*")], MissedRuns::All);
    let terms = schedule.terms().unwrap();
    let (first, now) = (schedule.next.unwrap(), schedule.next.unwrap() + SignedDuration::from_hours(5));
    let (mut schedule, retries) = (schedule, RetryPlan::default());
    let lost = Some(checked(codes::OUTCOME_UNCERTAIN, false));
    for attempt in 1..=4 {
        let due = due_run(schedule.next_action(&terms, now));
        assert_eq!((due.occurrence, due.attempt), (first, attempt));
        let (pending, run) = schedule.after_run(&terms, &due, result("000.200.000"), &retries, now);
        let (after, run) = pending.after_check(&terms, &run, lost, &retries, now).unwrap();
        assert_eq!(run.outcome, RunOutcome::Declined);
        schedule = after;
    }
    // After three repeats it is given up, as any other decline.
    assert_eq!(due_run(schedule.next_action(&terms, now)).occurrence, terms.recurrence.next_after(first).unwrap());
}

#[test]
fn a_descheduled_schedule_runs_what_comes_before_its_end() {
    let notice = [("job.hour", "*"), ("job.noticeNumber", "2"), ("job.noticeUnit", "HOUR")];
    let schedule = create_schedule(&notice, MissedRuns::Once);
    let at = time("2026-11-01T00:45:00Z");
    let step = ScheduleStep { step_type: StepType::Deschedule, at, ..schedule.live.clone() };
    let ended = schedule.deschedule(step.clone()).unwrap();
    let runs = [time("2026-11-01T01:00:00Z"), time("2026-11-01T02:00:00Z")];
    assert_eq!((ended.preview(9).unwrap(), ended.ended), (runs.to_vec(), None));
    let at_once = create_schedule(&[("job.hour", "*")], MissedRuns::Once).deschedule(step).unwrap();
    assert_eq!((at_once.next, at_once.ended, at_once.due()), (None, Some(EndReason::Descheduled), None));
}

proptest! {
    /// Whatever comes of the runs, and however late they are: attempts ascend, none is made twice, and in the end each
    /// occurrence was treated as the policy says.
    #[test]
    fn no_history_runs_an_occurrence_twice_or_leaves_one_out(
        expression in prop::sample::select(vec!["0 0 * * * ?", "0 */30 1-5 * * ?", "0 0 6 ? * 1,4", "0 10 0 L * ?"]),
        missed in prop::sample::select(vec![MissedRuns::Once, MissedRuns::All, MissedRuns::Skip]),
        steps in prop::collection::vec(
            (0_i64..200_000, prop::sample::select(vec!["000.100.110", "800.100.155", "800.100.159", "000.200.000", ""])),
            1..40,
        ),
    ) {
        let mut schedule = create_schedule(
            &[("job.expression", expression), ("job.endDate", "2026-12-24 12:00:00")],
            missed,
        );
        let terms = schedule.terms().unwrap();
        let retries: RetryPlan = "800.100.155=20m,3h".parse().unwrap();
        let (mut now, mut attempts, mut covered) = (schedule.created, BTreeSet::new(), schedule.next.unwrap());
        let mut last_run = None;
        for (later, code) in steps {
            now += SignedDuration::from_secs(later);
            let run = match schedule.next_action(&terms, now) {
                NextAction::Nothing => continue,
                NextAction::Skip(due) => {
                    prop_assert_eq!(missed, MissedRuns::Skip);
                    let (next, run) = schedule.after_skip(&terms, &due, now);
                    schedule = next;
                    run
                }
                NextAction::Run(due) => {
                    let outcome = if code.is_empty() {
                        RunResult { payment: None, ..result("600.200.501") }
                    } else {
                        result(code)
                    };
                    let (next, run) = schedule.after_run(&terms, &due, outcome, &retries, now);
                    schedule = next;
                    run
                }
                NextAction::CheckPayment(_) => {
                    let outcome = ResultCode::find("000.100.110").map(|code| checked(code, true));
                    let run: &ScheduleRun = last_run.as_ref().unwrap();
                    schedule = schedule.after_check(&terms, run, outcome, &retries, now).unwrap().0;
                    continue;
                }
            };
            prop_assert!(run.occurrence <= now && attempts.insert((run.occurrence, run.attempt)));
            if run.attempt == 1 {
                // The attempt begins where the earlier ones have ended.
                prop_assert_eq!(run.since.unwrap_or(run.occurrence), covered);
                prop_assert!(missed != MissedRuns::All || run.since.is_none());
                covered = terms.recurrence.next_after(run.occurrence).unwrap_or(Timestamp::MAX);
            }
            prop_assert!(schedule.next.is_none_or(|next| next == covered));
            prop_assert!(schedule.due().is_some() == schedule.is_active());
            last_run = Some(run);
        }
    }
}
