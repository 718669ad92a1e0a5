//! Jumps of a sandbox clock over occurrences of schedules. None of them is missed: they run as if the time had passed,
//! each at its own time.

use jiff::Timestamp;

use super::record::Schedule;
use super::terms::ScheduleTerms;
use crate::refusal::Refusal;

/// Maximum number of runs that become due by a jump of a clock, with those that are still due from earlier ones.
pub const MAX_RUNS_OF_JUMP: u64 = 10_000;

/// Time that a clock has left out while a gateway was running, by that clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockJump {
    /// The time at which the clock was moved.
    pub began: Timestamp,
    /// The time that it showed then.
    pub ended: Timestamp,
}

/// Checks the number of runs of schedules that are due after a move of a clock by `advance`.
///
/// # Errors
/// 400 if there are too many. The refusal names `advance`.
pub fn check_runs_of_jump(advance: &str, runs: u64) -> Result<(), Refusal> {
    if runs <= MAX_RUNS_OF_JUMP {
        return Ok(());
    }
    let message = format!(
        "makes more than {MAX_RUNS_OF_JUMP} runs of schedules due at once: move the clock in smaller steps, and \
         wait for the runs of each"
    );
    Err(Refusal::invalid_parameter("advance", Some(advance), message))
}

impl Schedule {
    /// Returns the time at which the schedule does its next thing. `jumps` are those of the clock of its entity, oldest
    /// first, and `now` is the time of that clock. What a jump left out is done at its own time. What was due before a
    /// jump is late, and is done as late as it was when the jump began. A pending payment is looked at now, because its
    /// connector has no part in the jumps.
    pub fn action_time(&self, jumps: &[ClockJump], now: Timestamp) -> Timestamp {
        let awaits_payment = self.open.as_ref().is_some_and(|open| open.pending.is_some());
        // Occurrences of a pause are skipped together.
        let is_now = awaits_payment || self.paused.is_some();
        let Some(due) = self.due().filter(|due| *due <= now && !is_now) else { return now };
        match jumps.iter().find(|jump| jump.ended >= due) {
            Some(jump) if jump.began < due => due,
            Some(jump) => jump.began.min(now),
            None => now,
        }
    }

    /// Returns the number of occurrences up to a time that have not run, but at most `limit`.
    pub fn count_due_runs(&self, terms: &ScheduleTerms, until: Timestamp, limit: u64) -> u64 {
        let mut next = self.next.filter(|_| self.is_active());
        // One record has all that a pause skips.
        let limit = if self.paused.is_some() { limit.min(1) } else { limit };
        let mut count = 0;
        while let Some(occurrence) = next.filter(|next| *next <= until && count < limit) {
            count += 1;
            next = terms.recurrence.next_after(occurrence);
        }
        count
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;
    use crate::schedule::test_schedule::{create_schedule, run_due};
    use crate::schedule::{MissedRuns, RunOutcome};

    proptest! {
        /// The clock jumps and goes on by turns, and sometimes the gateway is down meanwhile.
        #[test]
        fn what_a_jump_leaves_out_runs_once_at_its_own_time(
            expression in prop::sample::select(vec!["0 0 * * * ?", "0 0 6,18 * * ?", "0 */20 1-5 * * ?"]),
            missed in prop::sample::select(vec![MissedRuns::Once, MissedRuns::All, MissedRuns::Skip]),
            turns in prop::collection::vec((1_i64..200_000, 0_i64..40_000, any::<bool>()), 1..8),
        ) {
            let mut schedule = create_schedule(&[("job.expression", expression)], missed);
            let terms = schedule.terms().unwrap();
            let (mut jumps, mut now, mut runs) = (Vec::new(), schedule.created, Vec::new());
            for (jump, time, is_down) in turns {
                let began = now;
                now += SignedDuration::from_secs(jump);
                jumps.push(ClockJump { began, ended: now });
                let down_since = now;
                now += SignedDuration::from_secs(time);
                // A gateway that is up does what is due in between.
                if !is_down {
                    let made;
                    (schedule, made) = run_due(schedule, &jumps, down_since);
                    runs.extend(made);
                }
            }
            let (_, made) = run_due(schedule.clone(), &jumps, now);
            runs.extend(made);
            let charged: Vec<_> = runs.iter().filter(|run| run.outcome == RunOutcome::Charged).collect();
            prop_assert!(charged.is_sorted_by(|one, next| one.occurrence < next.occurrence));
            for jump in &jumps {
                let mut next = terms.recurrence.next_from(jump.began + SignedDuration::from_secs(1));
                while let Some(occurrence) = next.filter(|next| *next <= jump.ended) {
                    let own = charged.iter().find(|run| run.occurrence == occurrence);
                    prop_assert!(own.is_some_and(|run| run.at == occurrence && run.since.is_none()), "{occurrence}");
                    next = terms.recurrence.next_after(occurrence);
                }
            }
        }
    }

    #[test]
    fn runs_are_counted_up_to_a_limit() {
        let schedule = create_schedule(&[("job.expression", "* * * * * ?")], MissedRuns::Once);
        let terms = schedule.terms().unwrap();
        let until = |seconds| schedule.created + SignedDuration::from_secs(seconds);
        assert_eq!(schedule.count_due_runs(&terms, until(-1), 100), 0);
        assert_eq!(schedule.count_due_runs(&terms, until(59), 100), 60);
        assert_eq!(schedule.count_due_runs(&terms, until(315_360_000), 100), 100);
    }
}
