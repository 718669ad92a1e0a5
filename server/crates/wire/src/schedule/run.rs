//! Runs of schedules.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::schedule::ScheduleRun;

use crate::{LocalTime, ResultFields};

/// An attempt of a schedule's run. Times are in the time zone of the schedule.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScheduleRun")]
pub struct ScheduleRunFields<'a> {
    /// Planned time of the run.
    occurrence: LocalTime,
    /// Number of the attempt, from 1.
    #[schemars(range(min = 1))]
    attempt: u32,
    /// Time of the attempt.
    at: LocalTime,
    /// Outcome of the attempt.
    outcome: &'static str,
    /// Result of the payment, or of the refusal.
    result: ResultFields<'a>,
    /// The first missed occurrence that this run stands for as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed_since: Option<LocalTime>,
    /// Reason of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// The payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_id: Option<&'a str>,
    /// Time of the next try.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<LocalTime>,
}

impl<'a> ScheduleRunFields<'a> {
    /// Creates the fields of a run, with its times in this zone.
    pub(super) fn new(run: &'a ScheduleRun, zone: &TimeZone) -> Self {
        Self {
            occurrence: LocalTime::new(run.occurrence, zone),
            attempt: run.attempt,
            at: LocalTime::new(run.at, zone),
            outcome: run.outcome.as_str(),
            result: run.code.into(),
            missed_since: run.since.map(|since| LocalTime::new(since, zone)),
            reason: run.reason.as_deref(),
            payment_id: run.payment.as_ref().map(|id| id.as_str()),
            retry_at: run.retry.map(|retry| LocalTime::new(retry, zone)),
        }
    }
}
