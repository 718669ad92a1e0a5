//! Schedules, their runs, and the clock of a sandbox.

mod clock;
mod message;
mod run;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::schedule::{Schedule, ScheduleRun, ScheduleStep};
use tillgate_shared::result::{ResultCode, codes};

use crate::json_object::JsonObject;
use crate::{LocalTime, ResultFields, echo_parameters};

pub use clock::ClockFields;
pub use message::{ScheduleEventSource, ScheduleMessage};
pub use run::ScheduleRunFields;

/// Number of next runs that a response previews.
const PREVIEWED: usize = 5;
/// Names of [`ScheduleFields`], under which no parameter is repeated.
const OWN_NAMES: [&str; 6] = ["id", "paymentType", "referencedId", "registrationId", "result", "plan"];

/// A schedule, as it is after a request of its chain.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Schedule")]
pub struct ScheduleFields<'a> {
    /// Id of the request.
    id: &'a str,
    /// Type of the request: `SD`, `RS` or `DS`.
    payment_type: &'static str,
    /// Id of the schedule, if the request was not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    referenced_id: Option<&'a str>,
    /// The registration that pays.
    registration_id: &'a str,
    // The merchant chooses which parameters of the catalogue it sends, so these fields are a map.
    /// Parameters of the schedule and its payments.
    #[serde(flatten)]
    #[schemars(with = "Option<ScheduleParameters>")]
    parameters: JsonObject<'a>,
    /// Result of the request, or of the run that an event reports.
    result: ResultFields<'a>,
    /// State and next runs.
    plan: SchedulePlanFields<'a>,
}

/// Parameters that most schedules repeat, only for the schema.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct ScheduleParameters {
    /// Amount of each payment.
    amount: String,
    /// Currency of the amount.
    currency: String,
    /// Parameters of the times, without `job.` in their names.
    job: JsonObject<'static>,
}

/// State of a schedule and its next runs, in its time zone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SchedulePlan")]
struct SchedulePlanFields<'a> {
    /// True if the schedule is active and this request is its latest.
    active: bool,
    /// Name of the time zone.
    time_zone: &'a str,
    /// Treatment of missed runs.
    missed_runs: &'static str,
    /// The next runs.
    next_runs: Vec<LocalTime>,
    /// Time of the next try of a run that was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<LocalTime>,
    /// Time from which nothing runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<LocalTime>,
    /// Reason of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'static str>,
}

/// A request of a schedule's chain.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ScheduleStep")]
struct ScheduleStepFields<'a> {
    /// Id of the request.
    id: &'a str,
    /// Type of the request: `SD`, `RS` or `DS`.
    payment_type: &'static str,
    /// Time of the request.
    at: LocalTime,
    /// True if the schedule is active and this request is its latest.
    active: bool,
}

/// A schedule with its chain and its runs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduleDetails")]
pub struct ScheduleDetailFields<'a> {
    #[serde(flatten)]
    schedule: ScheduleFields<'a>,
    /// Requests that created and changed the schedule.
    chain: Vec<ScheduleStepFields<'a>>,
    /// Attempts of its runs.
    runs: Vec<ScheduleRunFields<'a>>,
}

/// The schedules of a registration.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScheduleList")]
pub struct ScheduleListFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// The schedules.
    schedules: Vec<ScheduleFields<'a>>,
}

/// Returns the time zone of a schedule, or UTC if this build does not know it.
fn zone_of(schedule: &Schedule) -> TimeZone {
    TimeZone::get(&schedule.zone).unwrap_or(TimeZone::UTC)
}

/// Returns true if a request of a schedule's chain is the live one.
fn is_live(schedule: &Schedule, step: &ScheduleStep) -> bool {
    schedule.is_active() && step.id == schedule.live.id
}

impl<'a> ScheduleFields<'a> {
    /// Creates the fields of a schedule as it is after `step`, with this result.
    pub fn new(schedule: &'a Schedule, step: &'a ScheduleStep, code: ResultCode) -> Self {
        let mut parameters = JsonObject::new();
        echo_parameters(&mut parameters, &schedule.parameters);
        echo_parameters(&mut parameters, &schedule.job);
        parameters.remove_all(&OWN_NAMES);
        Self {
            id: step.id.as_str(),
            payment_type: step.step_type.code(),
            referenced_id: (step.id != schedule.id).then_some(schedule.id.as_str()),
            registration_id: schedule.registration.as_str(),
            parameters,
            result: code.into(),
            plan: SchedulePlanFields::new(schedule, step),
        }
    }

    /// Creates the fields of a schedule after its latest request.
    pub fn of_live(schedule: &'a Schedule) -> Self {
        Self::new(schedule, &schedule.live, codes::REQUEST_SUCCEEDED)
    }
}

impl<'a> SchedulePlanFields<'a> {
    fn new(schedule: &'a Schedule, step: &ScheduleStep) -> Self {
        let zone = zone_of(schedule);
        let local_time = |time| LocalTime::new(time, &zone);
        let retried = schedule.open.as_ref().filter(|open| open.pending.is_none());
        Self {
            active: is_live(schedule, step),
            time_zone: &schedule.zone,
            missed_runs: schedule.missed.as_str(),
            next_runs: schedule.preview(PREVIEWED).unwrap_or_default().into_iter().map(local_time).collect(),
            retry_at: retried.map(|open| local_time(open.due)),
            ends_at: schedule.ends.map(local_time),
            ended: schedule.ended.map(|reason| reason.as_str()),
        }
    }
}

impl<'a> ScheduleDetailFields<'a> {
    /// Creates the response about a schedule as it is after `step`, with the requests of its chain and its runs.
    pub fn new(
        schedule: &'a Schedule,
        step: &'a ScheduleStep,
        steps: &'a [ScheduleStep],
        runs: &'a [ScheduleRun],
    ) -> Self {
        let zone = zone_of(schedule);
        let chain = steps.iter().map(|step| ScheduleStepFields {
            id: step.id.as_str(),
            payment_type: step.step_type.code(),
            at: LocalTime::new(step.at, &zone),
            active: is_live(schedule, step),
        });
        Self {
            schedule: ScheduleFields::new(schedule, step, codes::REQUEST_SUCCEEDED),
            chain: chain.collect(),
            runs: runs.iter().map(|run| ScheduleRunFields::new(run, &zone)).collect(),
        }
    }
}

impl<'a> ScheduleListFields<'a> {
    /// Creates the response with the schedules of a registration.
    pub fn new(schedules: &'a [Schedule]) -> Self {
        let schedules = schedules.iter().map(ScheduleFields::of_live).collect();
        Self { result: ResultFields::success(), schedules }
    }
}
