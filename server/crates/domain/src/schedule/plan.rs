//! The next thing that a schedule does, and its state afterwards.

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::result::{ResultCode, codes};

use super::act::{SKIPPED_IN_PAUSE, SKIPPED_TOO_LATE};
use super::record::{EndReason, OpenRun, RunOutcome, Schedule, ScheduleRun};
use super::retry::RetryPlan;
use super::terms::{MissedRuns, ScheduleTerms};
use crate::id::PaymentId;
use crate::payment::retry_rules::RetryAdvice;

/// Time after which an occurrence counts as missed, if missed runs are skipped.
const SKIPPED_AFTER: SignedDuration = SignedDuration::from_hours(1);
/// Shortest and longest interval of looks at a pending payment. It is a quarter of the time since the attempt.
const PENDING_CHECKS: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(10), SignedDuration::from_hours(1));
/// Longest time for which a pending payment delays the next run.
const LONGEST_DELAY: SignedDuration = SignedDuration::from_hours(1);
/// Number of attempts that are repeated at once if the connector does not know their payment.
const MAX_REPEATS: u32 = 3;
/// Result codes with which a cardholder's bank reports that the agreement is revoked, by their beginning.
const REVOKED: [&str; 6] = ["800.100.197", "800.100.204", "800.100.205", "800.100.403", "800.100.500", "800.100.501"];

/// The next thing that a schedule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextAction {
    /// Nothing is due.
    Nothing,
    /// An attempt of a run.
    Run(DueRun),
    /// Occurrences were missed, and are skipped.
    Skip(DueRun),
    /// The payment of the open run may have an outcome.
    CheckPayment(PaymentId),
}

/// An attempt that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRun {
    /// The occurrence.
    pub occurrence: Timestamp,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The first missed occurrence that the run stands for, too.
    pub since: Option<Timestamp>,
}

/// Result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// The result code of the payment or of the refusal.
    pub code: ResultCode,
    /// The payment. `None` if the attempt was refused.
    pub payment: Option<PaymentId>,
    /// True if the payment succeeded.
    pub is_approved: bool,
    /// The reason of a refusal.
    pub reason: Option<String>,
    /// The consequence of a decline for a retry.
    pub advice: RetryAdvice,
}

/// The outcome of a payment that was pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedOutcome {
    /// The result code of the payment.
    pub code: ResultCode,
    /// True if the payment succeeded.
    pub is_approved: bool,
    /// The consequence of a decline for a retry.
    pub advice: RetryAdvice,
}

impl Schedule {
    /// Determines the next action at a moment.
    pub fn next_action(&self, terms: &ScheduleTerms, now: Timestamp) -> NextAction {
        if !self.is_active() {
            return NextAction::Nothing;
        }
        let next = self.next.filter(|next| *next <= now);
        if let Some(occurrence) = self.waiting_run().filter(|requested| *requested <= now && self.open.is_none()) {
            let run = DueRun { occurrence, attempt: 1, since: None };
            // The person wanted a run at once, and may have helped otherwise when the gateway was down.
            let is_late = now.duration_since(occurrence) > SKIPPED_AFTER || self.ends.is_some_and(|ends| ends <= now);
            return if is_late { NextAction::Skip(run) } else { NextAction::Run(run) };
        }
        match (&self.open, next) {
            (Some(OpenRun { pending: Some(payment), due, .. }), _) if *due <= now => {
                NextAction::CheckPayment(payment.clone())
            }
            (Some(OpenRun { pending: Some(_), .. }), _) => NextAction::Nothing,
            (Some(open), next) if open.due <= now && (open.is_repeat || next.is_none()) => {
                NextAction::Run(DueRun { occurrence: open.occurrence, attempt: open.attempts + 1, since: None })
            }
            (_, Some(next)) => self.choose_missed(terms, next, now),
            _ => NextAction::Nothing,
        }
    }

    /// Determines the run of the first occurrence that is due, by the treatment of missed ones.
    fn choose_missed(&self, terms: &ScheduleTerms, next: Timestamp, now: Timestamp) -> NextAction {
        let run = |occurrence| DueRun { occurrence, attempt: 1, since: Some(next).filter(|next| *next != occurrence) };
        if self.paused.is_some() {
            return NextAction::Skip(run(terms.recurrence.latest_until(next, now)));
        }
        match self.missed {
            MissedRuns::All => NextAction::Run(run(next)),
            MissedRuns::Once => NextAction::Run(run(terms.recurrence.latest_until(next, now))),
            MissedRuns::Skip => {
                let late = now.checked_sub(SKIPPED_AFTER).unwrap_or(Timestamp::MIN);
                if next >= late {
                    return NextAction::Run(run(next));
                }
                NextAction::Skip(run(terms.recurrence.latest_until(next, late)))
            }
        }
    }

    /// Returns the schedule after an attempt, and the record of the attempt.
    pub fn after_run(
        &self,
        terms: &ScheduleTerms,
        due: &DueRun,
        result: RunResult,
        retries: &RetryPlan,
        now: Timestamp,
    ) -> (Self, ScheduleRun) {
        let RunResult { code, payment, is_approved, reason, advice } = result;
        let outcome = match &payment {
            None => RunOutcome::Refused,
            Some(_) if is_approved => RunOutcome::Charged,
            Some(_) if code.is_pending() => RunOutcome::Pending,
            Some(_) => RunOutcome::Declined,
        };
        let next = self.next_after_run(terms, due.occurrence);
        let retry = match outcome {
            RunOutcome::Declined => {
                let retry = |earlier| retries.next_retry(code, advice, earlier, now);
                self.find_retry(terms, next, due.attempt, retry)
            }
            _ => None,
        };
        let open = match outcome {
            // Due at once, because the connector may still be asked: only a look at the payment puts it off.
            RunOutcome::Pending => payment.clone().map(|payment| (Some(payment), now)),
            _ => retry.map(|retry| (None, retry)),
        };
        let open = open.map(|(pending, time)| OpenRun {
            occurrence: due.occurrence,
            attempts: due.attempt,
            pending,
            due: time,
            is_repeat: false,
            asked: None,
        });
        let run = ScheduleRun {
            occurrence: due.occurrence,
            attempt: due.attempt,
            at: now,
            since: due.since,
            outcome,
            code,
            reason,
            payment,
            retry,
        };
        let requested = self.begin_requested(due.occurrence);
        let schedule = Self { next, open, requested, ..self.clone() };
        (schedule.with_outcome(outcome, code), run)
    }

    /// Returns the schedule after occurrences were skipped, and the record of that.
    pub fn after_skip(&self, terms: &ScheduleTerms, due: &DueRun, now: Timestamp) -> (Self, ScheduleRun) {
        let is_requested = self.waiting_run() == Some(due.occurrence);
        let reason = match self.paused {
            Some(_) => Some(SKIPPED_IN_PAUSE),
            None => is_requested.then_some(SKIPPED_TOO_LATE),
        };
        let run = ScheduleRun {
            occurrence: due.occurrence,
            attempt: due.attempt,
            at: now,
            since: due.since,
            outcome: RunOutcome::Skipped,
            code: codes::REQUEST_SUCCEEDED,
            reason: reason.map(str::to_owned),
            payment: None,
            retry: None,
        };
        let next = self.next_after_run(terms, due.occurrence);
        let schedule = Self { next, open: None, requested: self.begin_requested(due.occurrence), ..self.clone() };
        (schedule.with_completion(), run)
    }

    /// Returns the schedule after a look at its pending payment, and the changed record of that attempt. `result` is
    /// `None` if the payment is still pending: it is looked at again later, unless the next run has waited for it long
    /// enough. Returns `None` if no payment is pending.
    pub fn after_check(
        &self,
        terms: &ScheduleTerms,
        run: &ScheduleRun,
        result: Option<CheckedOutcome>,
        retries: &RetryPlan,
        now: Timestamp,
    ) -> Option<(Self, ScheduleRun)> {
        let open = self.open.as_ref().filter(|open| open.pending.is_some())?;
        let asked = open.asked.unwrap_or(run.at);
        let Some(CheckedOutcome { code, is_approved, advice }) = result else {
            let has_waited = now.duration_since(asked) >= LONGEST_DELAY;
            let is_over = has_waited && self.next.is_some_and(|next| next <= now);
            let open = OpenRun { due: next_check(asked, now), ..open.clone() };
            let schedule = Self { open: Some(open).filter(|_| !is_over), ..self.clone() };
            return Some((schedule.with_completion(), run.clone()));
        };
        // Retries of a run that a jump of the clock left out are planned by the time of that run.
        let now = if open.asked.is_some() { run.at } else { now };
        let due = DueRun { occurrence: open.occurrence, attempt: open.attempts, since: run.since };
        let payment = open.pending.clone();
        let result = RunResult { code, payment, is_approved, reason: None, advice };
        let (mut schedule, mut changed) = self.after_run(terms, &due, result, retries, now);
        if code == codes::OUTCOME_UNCERTAIN && due.attempt <= MAX_REPEATS && self.paused.is_none() {
            let repeat = OpenRun { pending: None, due: now, is_repeat: true, ..open.clone() };
            changed.retry = Some(now);
            schedule = Self { open: Some(repeat), ended: None, ..schedule };
        }
        Some((schedule, ScheduleRun { at: run.at, ..changed }))
    }

    /// Returns the schedule with the time at which the connector of its pending payment was asked, if it has one. That
    /// is later than the run if the clock jumped over the run.
    #[must_use]
    pub fn with_request_time(self, now: Timestamp) -> Self {
        let asked = |open: OpenRun| match open.pending {
            Some(_) => OpenRun { asked: Some(now), due: now, ..open },
            None => open,
        };
        Self { open: self.open.map(asked), ..self }
    }

    /// Returns the occurrence after one that has run. One that was planned for later already stays.
    fn next_after_run(&self, terms: &ScheduleTerms, occurrence: Timestamp) -> Option<Timestamp> {
        match self.next {
            Some(next) if next > occurrence => Some(next),
            _ => terms.recurrence.next_after(occurrence),
        }
    }

    /// Returns the time of the retry after a decline. `next_retry` is the plan, by the number of earlier retries.
    /// `None` if the plan has none, or if it would be at or after the next occurrence or the end of the schedule.
    fn find_retry(
        &self,
        terms: &ScheduleTerms,
        next: Option<Timestamp>,
        attempt: u32,
        next_retry: impl FnOnce(usize) -> Option<Timestamp>,
    ) -> Option<Timestamp> {
        if self.paused.is_some() {
            return None;
        }
        let earlier = usize::try_from(attempt).ok()?.checked_sub(1)?;
        let at = next_retry(earlier)?;
        let is_before = |limit: Option<Timestamp>| limit.is_none_or(|limit| at < limit);
        Some(at).filter(|_| is_before(next) && is_before(self.ends) && is_before(terms.recurrence.end))
    }

    /// Returns the schedule after an outcome: ended if the agreement is revoked, or nothing follows.
    fn with_outcome(self, outcome: RunOutcome, code: ResultCode) -> Self {
        let is_revoked = REVOKED.iter().any(|revoked| code.code().starts_with(revoked));
        if outcome == RunOutcome::Declined && is_revoked {
            return self.with_end(EndReason::AgreementRevoked);
        }
        self.with_completion()
    }
}

/// Returns the time of the next look at a pending payment, after an attempt at `since`.
fn next_check(since: Timestamp, now: Timestamp) -> Timestamp {
    let (shortest, longest) = PENDING_CHECKS;
    let wait = (now.duration_since(since) / 4).clamp(shortest, longest);
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
