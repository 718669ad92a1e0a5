//! Terms of a schedule, from its parameters.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::period::{NoticeCallable, Period, read_local_time};
use super::recurrence::Recurrence;
use super::timing::{is_time_parameter, read_times};
use crate::refusal::Refusal;

/// Parameter with the policy for missed runs.
pub const MISSED_RUNS: &str = "job.missedRuns";

/// Treatment of occurrences that passed while nothing could run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum MissedRuns {
    /// One run for all of them, that of the latest one.
    #[default]
    Once,
    /// A run for each, in order.
    All,
    /// No run. An occurrence counts as missed an hour after its time.
    Skip,
}

/// Terms of a schedule.
#[derive(Debug, Clone)]
pub struct ScheduleTerms {
    /// The moments at which it runs. Its start is that of the durations, too.
    pub recurrence: Recurrence,
    /// The notice that a descheduling needs.
    pub notice: Option<Period>,
    /// The duration, which repeats.
    pub duration: Option<Period>,
    /// The moments at which it can be descheduled.
    pub callable: NoticeCallable,
}

impl MissedRuns {
    /// Reads `job.missedRuns`, in any case. Returns `None` if it was not sent.
    ///
    /// # Errors
    /// 400 by name for another value.
    pub fn read(parameters: &Parameters) -> Result<Option<Self>, Refusal> {
        let Some(text) = parameters.get(MISSED_RUNS) else { return Ok(None) };
        match text {
            "ONCE" => Ok(Some(Self::Once)),
            "ALL" => Ok(Some(Self::All)),
            "SKIP" => Ok(Some(Self::Skip)),
            _ => Err(Refusal::invalid_choice(MISSED_RUNS, text, &["ONCE", "ALL", "SKIP"])),
        }
    }

    /// Returns the value of the parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "ONCE",
            Self::All => "ALL",
            Self::Skip => "SKIP",
        }
    }
}

impl ScheduleTerms {
    /// Reads the terms. `created` is the moment from which the schedule runs without `job.startDate`.
    ///
    /// # Errors
    /// 400 by name, for everything that the parameters lack or contradict.
    pub fn read(job: &Parameters, zone: &TimeZone, created: Timestamp) -> Result<Self, Refusal> {
        let times = read_times(job)?;
        let start = read_local_time(job, "job.startDate", zone)?.unwrap_or(created);
        let end = read_local_time(job, "job.endDate", zone)?;
        let duration = Period::read_duration(job)?;
        Ok(Self {
            recurrence: Recurrence { times, zone: zone.clone(), start, end },
            notice: Period::read_notice(job)?,
            duration,
            callable: NoticeCallable::read(job, duration)?,
        })
    }

    /// Returns the first occurrence from `now` on.
    ///
    /// # Errors
    /// 400 with 100.250.120 if there is none.
    pub fn first_run(&self, job: &Parameters, now: Timestamp) -> Result<Timestamp, Refusal> {
        self.recurrence.next_from(now).ok_or_else(|| {
            let time = job.iter().find(|(name, _)| is_time_parameter(name));
            let (name, value) = time.unwrap_or(("job.expression", ""));
            let message = "never comes between the start and the end of the schedule: nothing would run";
            Refusal::invalid_job(codes::JOB_TIMES_INVALID, name, Some(value), message)
        })
    }
}

/// Returns the `job.` parameters after a change: each one that was sent replaces the earlier one, and a new time
/// replaces all times.
#[must_use]
pub fn merge_job(earlier: &Parameters, sent: &Parameters) -> Parameters {
    let has_new_times = sent.iter().any(|(name, _)| is_time_parameter(name));
    let mut merged = sent.clone();
    let kept: Parameters = earlier.iter().filter(|(name, _)| !(has_new_times && is_time_parameter(name))).collect();
    merged.extend_missing(&kept);
    merged
}
