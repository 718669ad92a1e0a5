//! The stored schedule, and its runs.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::act::RequestedRun;
use super::period::second_before;
use super::terms::{MissedRuns, ScheduleTerms, merge_job};
use crate::id::{EntityId, PaymentId, RegistrationId, ScheduleId};
use crate::ndc::Ndc;
use crate::payment::result_code;
use crate::refusal::Refusal;

/// A request about a schedule, by its payment type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepType {
    /// The schedule was created.
    #[serde(rename = "SD")]
    Schedule,
    /// It was changed.
    #[serde(rename = "RS")]
    Reschedule,
    /// It was descheduled.
    #[serde(rename = "DS")]
    Deschedule,
}

impl StepType {
    /// Returns the payment type.
    pub fn code(self) -> &'static str {
        match self {
            Self::Schedule => "SD",
            Self::Reschedule => "RS",
            Self::Deschedule => "DS",
        }
    }

    /// Parses a payment type. Returns `None` for another one.
    pub fn parse(code: &str) -> Option<Self> {
        [Self::Schedule, Self::Reschedule, Self::Deschedule].into_iter().find(|step| step.code() == code)
    }
}

/// A request in the chain of a schedule. The id of each leads to the schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleStep {
    /// Its id. That of the first step is the schedule's.
    pub id: ScheduleId,
    /// Its type.
    pub step_type: StepType,
    /// The time of the request, by the clock of the entity.
    pub at: Timestamp,
    /// Identifier of the request.
    pub ndc: Option<Ndc>,
}

/// Reason for which no run follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EndReason {
    /// The last occurrence has passed.
    Completed,
    /// It was descheduled, and its notice is over.
    Descheduled,
    /// Its registration was deleted, or the retention of that is over.
    RegistrationDeleted,
    /// The cardholder has revoked the agreement at the bank.
    AgreementRevoked,
}

impl EndReason {
    /// Returns the name in responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "COMPLETED",
            Self::Descheduled => "DESCHEDULED",
            Self::RegistrationDeleted => "REGISTRATION_DELETED",
            Self::AgreementRevoked => "AGREEMENT_REVOKED",
        }
    }
}

/// A run that has not ended: it is retried, or its payment is pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRun {
    /// The occurrence.
    pub occurrence: Timestamp,
    /// The number of attempts so far.
    pub attempts: u32,
    /// The payment of the latest attempt, if it is pending. `None` if the run is retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PaymentId>,
    /// The time of the retry, or of the next look at the payment.
    pub due: Timestamp,
    /// True if the connector has confirmed that it does not know the payment of the latest attempt, for example because
    /// the gateway was killed before it asked. The attempt is repeated before anything else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeat: bool,
    /// The time at which the connector of the pending payment was asked, if that was not the time of the run: a clock
    /// has jumped over the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Timestamp>,
}

/// A schedule, with its state. Times are by the clock of its entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Its id: that of the request that created it.
    pub id: ScheduleId,
    /// The entity that owns it.
    pub entity: EntityId,
    /// The registration that pays.
    pub registration: RegistrationId,
    /// The time of creation.
    pub created: Timestamp,
    /// The latest request.
    pub live: ScheduleStep,
    /// The parameters of its payments.
    pub parameters: Parameters,
    /// The `job.` parameters.
    pub job: Parameters,
    /// Name of the time zone of its times, from the IANA database.
    pub zone: String,
    /// The treatment of missed runs.
    pub missed: MissedRuns,
    /// The moment from which nothing runs, after a descheduling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Timestamp>,
    /// The reason for which it has ended. `None` while it is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndReason>,
    /// The first occurrence that has not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    /// The run that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenRun>,
    /// The time since which it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Timestamp>,
    /// The latest run that a person has asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<RequestedRun>,
    /// Number of writes. A decision that was prepared for another version is refused.
    pub version: u64,
}

/// Outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RunOutcome {
    /// The payment succeeded.
    Charged,
    /// The payment was declined.
    Declined,
    /// The payment has no outcome yet.
    Pending,
    /// There is no payment: the agreement, or another rule, does not allow it.
    Refused,
    /// There is no payment: the occurrence was missed.
    Skipped,
}

impl RunOutcome {
    /// Returns the name in responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Charged => "CHARGED",
            Self::Declined => "DECLINED",
            Self::Pending => "PENDING",
            Self::Refused => "REFUSED",
            Self::Skipped => "SKIPPED",
        }
    }
}

/// An attempt of a run. There is one row for each occurrence and attempt, so none is charged twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleRun {
    /// The occurrence.
    pub occurrence: Timestamp,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The time of the attempt.
    pub at: Timestamp,
    /// The first occurrence that was missed and that this run stands for, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The outcome.
    pub outcome: RunOutcome,
    /// The result code of the payment or of the refusal.
    #[serde(with = "result_code")]
    pub code: ResultCode,
    /// The reason of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The time of the retry that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Timestamp>,
}

impl Schedule {
    /// Returns true if it still runs.
    pub fn is_active(&self) -> bool {
        self.ended.is_none()
    }

    /// Returns the time at which it has something to do. A pending payment delays the next run. `None` if it has ended.
    pub fn due(&self) -> Option<Timestamp> {
        let due = match &self.open {
            Some(open) if open.pending.is_some() => Some(open.due),
            Some(open) => Some(self.next.map_or(open.due, |next| next.min(open.due))),
            None => self.next.into_iter().chain(self.waiting_run()).min(),
        };
        due.filter(|_| self.is_active())
    }

    /// Reads the terms. The occurrences end before the end of a notice.
    ///
    /// # Errors
    /// If the time zone is unknown to this build, or the stored parameters are not valid any more.
    pub fn terms(&self) -> Result<ScheduleTerms, Refusal> {
        let zone = TimeZone::get(&self.zone)
            .map_err(|_| Refusal::invalid_parameter("timeZone", Some(&self.zone), "is no time zone"))?;
        let mut terms = ScheduleTerms::read(&self.job, &zone, self.created)?;
        if let Some(ends) = self.ends.map(second_before) {
            terms.recurrence.end = Some(terms.recurrence.end.map_or(ends, |end| end.min(ends)));
        }
        Ok(terms)
    }

    /// Returns the next occurrences, at most `count`.
    ///
    /// # Errors
    /// Same as [`Self::terms`].
    pub fn preview(&self, count: usize) -> Result<Vec<Timestamp>, Refusal> {
        let recurrence = self.terms()?.recurrence;
        let first = self.next.filter(|_| self.is_active());
        Ok(std::iter::successors(first, |moment| recurrence.next_after(*moment)).take(count).collect())
    }

    /// Returns the schedule after a reschedule: `job` and `parameters` replace those of the same name, and a new time
    /// replaces all times. An earlier descheduling is revoked, and so are the retry of a run and a requested run.
    ///
    /// # Errors
    /// 400 with 100.360.300 if it has ended; the refusal of the new terms, or 100.250.120 if nothing would run.
    pub fn reschedule(
        &self,
        step: ScheduleStep,
        job: &Parameters,
        parameters: &Parameters,
        missed: Option<MissedRuns>,
        zone: String,
    ) -> Result<Self, Refusal> {
        self.check_active(codes::JOB_NOT_SCHEDULED)?;
        let now = step.at;
        let mut merged = parameters.clone();
        merged.extend_missing(&self.parameters);
        let mut next = Self {
            live: step,
            job: merge_job(&self.job, job),
            parameters: merged,
            missed: missed.unwrap_or(self.missed),
            zone,
            ends: None,
            // The payment of a pending run is still waited for, so that its outcome is recorded.
            open: self.open.clone().filter(|open| open.pending.is_some()),
            // The person has seen another amount.
            requested: self.drop_requested(),
            ..self.clone()
        };
        let ran = self.open.as_ref().map(|open| open.occurrence);
        let from = ran.map_or(now, |ran| now.max(ran.saturating_add_second()));
        next.next = Some(next.terms()?.first_run(&next.job, from)?);
        Ok(next)
    }

    /// Returns the schedule after a descheduling: it ends now, after its notice or with its duration.
    ///
    /// # Errors
    /// 400 with 100.360.303 if it has ended, was descheduled before, or cannot be descheduled now.
    pub fn deschedule(&self, step: ScheduleStep) -> Result<Self, Refusal> {
        self.check_active(codes::JOB_NOT_DESCHEDULED)?;
        let terms = self.terms()?;
        let now = step.at;
        if let Some(ends) = self.ends {
            let ends = ends.to_zoned(terms.recurrence.zone).strftime("%Y-%m-%d %H:%M:%S").to_string();
            let message = format!("is descheduled already, and ends at {ends}");
            return Err(Refusal::invalid_job(codes::JOB_NOT_DESCHEDULED, "id", Some(self.live.id.as_str()), message));
        }
        let ends = terms.end_if_descheduled(now)?;
        let next = Self { live: step, ends: Some(ends), ..self.clone() };
        let last = next.terms()?.recurrence.end;
        let runs_until = |moment: &Timestamp| *moment < ends && last.is_none_or(|last| *moment <= last);
        Ok(Self {
            next: self.next.filter(runs_until),
            open: next.open.clone().filter(|open| open.due < ends || open.pending.is_some()),
            requested: if ends > now { self.requested.clone() } else { self.drop_requested() },
            ..next
        }
        .with_completion())
    }

    /// Returns the schedule as ended for a reason. Nothing runs any more.
    #[must_use]
    pub fn with_end(&self, reason: EndReason) -> Self {
        Self { ended: Some(reason), next: None, open: None, requested: self.drop_requested(), ..self.clone() }
    }

    /// Returns the schedule as ended with its registration, without the data of the shopper.
    #[must_use]
    pub fn with_deleted_registration(&self) -> Self {
        let mut ended = self.with_end(EndReason::RegistrationDeleted);
        ended.parameters.retain(|name, _| matches!(name, "amount" | "currency" | "merchantTransactionId"));
        ended
    }

    /// Returns the schedule, as ended if it has nothing to do any more.
    #[must_use]
    pub fn with_completion(self) -> Self {
        let has_work = self.next.is_some() || self.open.is_some() || self.waiting_run().is_some();
        if has_work || self.ended.is_some() {
            return self;
        }
        let reason = if self.ends.is_some() { EndReason::Descheduled } else { EndReason::Completed };
        self.with_end(reason)
    }

    /// Checks that it is active.
    ///
    /// # Errors
    /// 400 with `code` if it has ended.
    fn check_active(&self, code: ResultCode) -> Result<(), Refusal> {
        let Some(ended) = self.ended else { return Ok(()) };
        let message = format!("names a schedule that has ended: {}", ended.as_str());
        Err(Refusal::invalid_job(code, "id", Some(self.live.id.as_str()), message))
    }
}

/// Steps in time.
pub(super) trait NextSecond {
    /// Returns the moment a second later, or the last possible one.
    fn saturating_add_second(self) -> Self;
}

impl NextSecond for Timestamp {
    fn saturating_add_second(self) -> Self {
        self.checked_add(jiff::SignedDuration::from_secs(1)).unwrap_or(Self::MAX)
    }
}
