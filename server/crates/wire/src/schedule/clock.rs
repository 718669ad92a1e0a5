//! The clock of a sandbox.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{ResultFields, WireTime};

/// The time of a sandbox's clock.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Clock")]
pub struct ClockFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// Time of the clock.
    now: WireTime,
    /// Time by which the clock is ahead of the machine's.
    ahead: String,
    /// Number of things that are still due.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    still_due: Option<u64>,
}

impl ClockFields<'_> {
    /// Creates the response with a time, its lead over the machine's clock, and the number of things that are still
    /// due.
    pub fn new(now: Timestamp, ahead: SignedDuration, still_due: u64) -> Self {
        Self {
            result: ResultFields::success(),
            now: WireTime(now),
            ahead: format!("{ahead:#}"),
            still_due: Some(still_due).filter(|number| *number > 0),
        }
    }
}
