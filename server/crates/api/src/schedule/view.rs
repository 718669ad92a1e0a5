//! JSON representation of schedules and their runs.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tillgate_domain::schedule::{Schedule, ScheduleRun, ScheduleStep};
use tillgate_gateway::schedule::ScheduleDetails;
use tillgate_shared::result::{ResultCode, codes};

use crate::json_object::JsonObject;
use crate::response::result_fields;
use crate::view::echo_parameters;

/// Number of next runs that an answer previews.
const PREVIEWED: usize = 5;

/// Formats a time in the time zone of a schedule, as `yyyy-MM-dd HH:mm:ss+0100`.
fn local_time(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%z").to_string()
}

/// Returns the time zone of a schedule, or UTC if this build does not know it.
fn zone_of(schedule: &Schedule) -> TimeZone {
    TimeZone::get(&schedule.zone).unwrap_or(TimeZone::UTC)
}

/// Returns the fields of a schedule as it is after a request of its chain, with the plan and its parameters.
pub(crate) fn schedule_fields<'a>(schedule: &'a Schedule, step: &'a ScheduleStep, code: ResultCode) -> JsonObject<'a> {
    let mut fields = JsonObject::new().with("id", step.id.as_str()).with("paymentType", step.step_type.code());
    if step.id != schedule.id {
        fields.set("referencedId", schedule.id.as_str());
    }
    fields.set("registrationId", schedule.registration.as_str());
    echo_parameters(&mut fields, &schedule.parameters);
    echo_parameters(&mut fields, &schedule.job);
    fields.set("result", result_fields(code));
    fields.set("plan", plan_fields(schedule, step));
    fields
}

/// Returns the plan: whether this request is the live one, the next runs, and the end.
fn plan_fields<'a>(schedule: &'a Schedule, step: &ScheduleStep) -> JsonObject<'a> {
    let zone = zone_of(schedule);
    let runs = schedule.preview(PREVIEWED).unwrap_or_default();
    let runs: Vec<String> = runs.into_iter().map(|run| local_time(run, &zone)).collect();
    let mut plan = JsonObject::default()
        .with("active", json!(schedule.is_active() && step.id == schedule.live.id))
        .with("timeZone", schedule.zone.as_str())
        .with("missedRuns", schedule.missed.as_str())
        .with("nextRuns", json!(runs));
    if let Some(open) = schedule.open.as_ref().filter(|open| open.pending.is_none()) {
        plan.set("retryAt", local_time(open.due, &zone));
    }
    if let Some(ends) = schedule.ends {
        plan.set("endsAt", local_time(ends, &zone));
    }
    if let Some(ended) = schedule.ended {
        plan.set("ended", ended.as_str());
    }
    plan
}

/// Returns the fields of a schedule with its chain and its runs, newest first.
pub(crate) fn detail_fields(details: &ScheduleDetails) -> JsonObject<'_> {
    let ScheduleDetails { schedule, step, steps, runs } = details;
    let zone = zone_of(schedule);
    let chain: Vec<Value> = steps
        .iter()
        .map(|step| {
            json!({
                "id": step.id.as_str(),
                "paymentType": step.step_type.code(),
                "at": local_time(step.at, &zone),
                "active": schedule.is_active() && step.id == schedule.live.id,
            })
        })
        .collect();
    let runs: Vec<JsonObject<'_>> = runs.iter().map(|run| run_fields(run, &zone)).collect();
    schedule_fields(schedule, step, codes::REQUEST_SUCCEEDED).with("chain", Value::Array(chain)).with("runs", runs)
}

/// Returns the fields of the run in an event about a schedule.
pub(crate) fn event_run_fields<'a>(schedule: &Schedule, run: &'a ScheduleRun) -> JsonObject<'a> {
    run_fields(run, &zone_of(schedule))
}

/// Returns the fields of an attempt of a run.
fn run_fields<'a>(run: &'a ScheduleRun, zone: &TimeZone) -> JsonObject<'a> {
    let mut fields = JsonObject::default()
        .with("occurrence", local_time(run.occurrence, zone))
        .with("attempt", json!(run.attempt))
        .with("at", local_time(run.at, zone))
        .with("outcome", run.outcome.as_str())
        .with("result", result_fields(run.code));
    if let Some(since) = run.since {
        fields.set("missedSince", local_time(since, zone));
    }
    if let Some(reason) = &run.reason {
        fields.set("reason", reason.as_str());
    }
    if let Some(payment) = &run.payment {
        fields.set("paymentId", payment.as_str());
    }
    if let Some(retry) = run.retry {
        fields.set("retryAt", local_time(retry, zone));
    }
    fields
}
