//! The webhook about a schedule.

use serde::Serialize;
use tillgate_domain::schedule::{Schedule, ScheduleRun, StepType};
use tillgate_shared::result::codes;

use super::{ScheduleFields, ScheduleRunFields, zone_of};
use crate::webhook::AuthenticationFields;

/// The cause of an event about a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleEventSource {
    /// A request of the merchant.
    Request,
    /// An act of the gateway itself.
    Scheduler,
}

/// The payload of a webhook about a schedule.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleMessage<'a> {
    #[serde(flatten)]
    schedule: ScheduleFields<'a>,
    source: &'static str,
    authentication: AuthenticationFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<ScheduleRunFields<'a>>,
}

impl<'a> ScheduleMessage<'a> {
    /// Creates the payload of an event, with the run that it reports. Actions of the gateway itself have the type `SD`
    /// and the source `SCHEDULER` (contract, 3.6). `channel_name` is the name of the entity, if it still exists.
    pub fn new(
        schedule: &'a Schedule,
        source: ScheduleEventSource,
        run: Option<&'a ScheduleRun>,
        channel_name: Option<&'a str>,
    ) -> Self {
        let code = run.map_or(codes::REQUEST_SUCCEEDED, |run| run.code);
        let mut fields = ScheduleFields::new(schedule, &schedule.live, code);
        // The webhook's own fields replace parameters of the same names.
        fields.parameters.remove_all(&["source", "authentication", "channelName", "run"]);
        let source = match source {
            ScheduleEventSource::Request => "API",
            ScheduleEventSource::Scheduler => {
                fields.payment_type = StepType::Schedule.code();
                "SCHEDULER"
            }
        };
        Self {
            schedule: fields,
            source,
            authentication: AuthenticationFields::new(&schedule.entity),
            channel_name,
            run: run.map(|run| ScheduleRunFields::new(run, &zone_of(schedule))),
        }
    }
}
