//! Acts of people on a schedule that are no requests of its chain: pause, resume, and a run at once.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::result::codes;

use super::record::{RunOutcome, Schedule, ScheduleRun};
use super::terms::ScheduleTerms;

/// Reason in the record of occurrences that were skipped during a pause.
pub const SKIPPED_IN_PAUSE: &str = "The schedule was paused";
/// Reason in the record of a requested run that was not made.
pub const SKIPPED_TOO_LATE: &str =
    "The run was not made within an hour of its request, or before the end of the schedule";

/// An act of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleAct {
    /// Nothing runs until the schedule is resumed.
    Pause,
    /// The schedule runs at its times again.
    Resume,
    /// One run at once. `version` is that of the schedule that the person has seen.
    Run {
        /// The version.
        version: u64,
    },
}

impl ScheduleAct {
    /// Returns its name in the audit log.
    pub fn action(self) -> &'static str {
        match self {
            Self::Pause => "schedule pause",
            Self::Resume => "schedule resume",
            Self::Run { .. } => "schedule run",
        }
    }
}

/// A run that a person has asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedRun {
    /// Its occurrence: the time of the request.
    pub occurrence: Timestamp,
    /// The version of the schedule that the person has seen. A form that is sent again has the same one.
    pub version: u64,
    /// True until the first attempt is made.
    pub waits: bool,
}

/// Reason why an act is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ActRefusal {
    /// The schedule has ended.
    #[error("the schedule has ended")]
    Ended,
    /// It is paused.
    #[error("the schedule is paused: resume it before a run")]
    Paused,
    /// A run is due, is retried later, or its payment is pending.
    #[error("a run of the schedule has not ended: wait for its outcome, or for its retry")]
    UnderWay,
    /// It has changed since the person has seen it.
    #[error("the schedule has changed since the page was loaded: check its runs first")]
    Changed,
}

/// A schedule after an act.
#[derive(Debug, Clone, PartialEq)]
pub struct ActedSchedule {
    /// The schedule.
    pub schedule: Schedule,
    /// The record of the occurrences that the pause has skipped last.
    pub skipped: Option<ScheduleRun>,
}

impl Schedule {
    /// Returns the schedule after an act at `now`. Returns `None` if the act has nothing to change, because it was done
    /// before.
    ///
    /// # Errors
    /// The reason why the act is refused.
    pub fn act(
        &self,
        act: ScheduleAct,
        terms: &ScheduleTerms,
        now: Timestamp,
    ) -> Result<Option<ActedSchedule>, ActRefusal> {
        if let ScheduleAct::Run { version } = act
            && self.requested.as_ref().is_some_and(|requested| requested.version == version)
        {
            return Ok(None);
        }
        if !self.is_active() {
            return Err(ActRefusal::Ended);
        }
        match act {
            ScheduleAct::Pause => Ok(self.pause(now)),
            ScheduleAct::Resume => Ok(self.resume(terms, now)),
            ScheduleAct::Run { version } => self.request_run(version, now).map(Some),
        }
    }

    /// Returns the occurrence of the requested run that no attempt was made for.
    pub(super) fn waiting_run(&self) -> Option<Timestamp> {
        self.requested.as_ref().filter(|requested| requested.waits).map(|requested| requested.occurrence)
    }

    /// Returns the requested run as begun, if `occurrence` is its occurrence.
    pub(super) fn begin_requested(&self, occurrence: Timestamp) -> Option<RequestedRun> {
        let begin = |requested: RequestedRun| {
            let waits = requested.waits && requested.occurrence != occurrence;
            RequestedRun { waits, ..requested }
        };
        self.requested.clone().map(begin)
    }

    /// Returns the requested run as one that no attempt is made for any more.
    pub(super) fn drop_requested(&self) -> Option<RequestedRun> {
        self.requested.clone().map(|requested| RequestedRun { waits: false, ..requested })
    }

    /// Returns the schedule as paused. The payment of a pending run is still waited for; a retry is dropped.
    fn pause(&self, now: Timestamp) -> Option<ActedSchedule> {
        if self.paused.is_some() {
            return None;
        }
        let open = self.open.clone().filter(|open| open.pending.is_some());
        let paused = Self { paused: Some(now), open, requested: self.drop_requested(), ..self.clone() };
        // Stays active also with nothing to do: it ends when it is resumed, and not by a pause.
        Some(ActedSchedule { schedule: paused, skipped: None })
    }

    /// Returns the schedule as running again. Occurrences of the pause that are not recorded yet are recorded as
    /// skipped, so that none of them is made up.
    fn resume(&self, terms: &ScheduleTerms, now: Timestamp) -> Option<ActedSchedule> {
        self.paused?;
        let missed = self.next.filter(|next| *next <= now);
        let Some(first) = missed else {
            let schedule = Self { paused: None, ..self.clone() }.with_completion();
            return Some(ActedSchedule { schedule, skipped: None });
        };
        let last = terms.recurrence.latest_until(first, now);
        let since = Some(first).filter(|first| *first != last);
        let next = terms.recurrence.next_after(last);
        let schedule = Self { paused: None, next, ..self.clone() }.with_completion();
        Some(ActedSchedule { schedule, skipped: Some(skipped_run(last, since, now)) })
    }

    /// Returns the schedule with a run that is due at once.
    fn request_run(&self, version: u64, now: Timestamp) -> Result<ActedSchedule, ActRefusal> {
        if self.paused.is_some() {
            return Err(ActRefusal::Paused);
        }
        if self.ends.is_some_and(|ends| ends <= now) {
            return Err(ActRefusal::Ended);
        }
        let is_due = self.next.is_some_and(|next| next <= now);
        if is_due || self.open.is_some() || self.waiting_run().is_some() {
            return Err(ActRefusal::UnderWay);
        }
        // Somebody else, or the plan, may have charged the customer meanwhile.
        if version != self.version {
            return Err(ActRefusal::Changed);
        }
        let requested = Some(RequestedRun { occurrence: now, version, waits: true });
        Ok(ActedSchedule { schedule: Self { requested, ..self.clone() }, skipped: None })
    }
}

/// Returns the record of occurrences that were skipped during a pause.
fn skipped_run(occurrence: Timestamp, since: Option<Timestamp>, now: Timestamp) -> ScheduleRun {
    ScheduleRun {
        occurrence,
        attempt: 1,
        at: now,
        since,
        outcome: RunOutcome::Skipped,
        code: codes::REQUEST_SUCCEEDED,
        reason: Some(SKIPPED_IN_PAUSE.to_owned()),
        payment: None,
        retry: None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
