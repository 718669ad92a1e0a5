//! Dry runs of risk rules.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use tillgate_domain::risk::dry_run::DryRunReport;
use tillgate_shared::result::ResultCode;

use crate::ResultFields;

/// A line of a dry run that is still running.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DryRunProgressLine {
    /// The progress.
    pub progress: DryRunProgressFields,
}

/// Progress of a dry run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DryRunProgress")]
pub struct DryRunProgressFields {
    /// Number of payments that were read.
    pub payments: u64,
    /// Progress in percent.
    pub percent: f64,
}

/// The last line of a dry run: its report, or an error without one.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DryRunReportLine")]
pub struct DryRunReportLine<'a> {
    /// Result of the dry run.
    result: ResultFields<'a>,
    // Its JSON is the domain's own, because the command line prints the same.
    /// The report. Absent if the dry run has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "report_schema")]
    report: Option<&'a DryRunReport>,
}

impl<'a> DryRunReportLine<'a> {
    /// Creates the last line of a dry run that has ended.
    pub fn new(report: &'a DryRunReport) -> Self {
        Self { result: ResultFields::success(), report: Some(report) }
    }

    /// Creates the last line of a dry run that has failed.
    pub fn failed(code: ResultCode) -> Self {
        Self { result: code.into(), report: None }
    }
}

/// Returns the schema of a report. It is written by hand, because the report's JSON is the domain's own.
fn report_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "required": [
            "entityId", "version", "dateFrom", "dateTo", "listsAt", "checked", "changed", "outcomes", "rules",
            "withoutRiskData", "leftOut", "countedBefore", "forgottenCounters",
        ],
        "properties": {
            "version": { "type": "string" },
            "checked": { "type": "object" }, "changed": { "type": "object" }, "leftOut": { "type": "object" },
            "outcomes": { "type": "array", "items": { "type": "object", "required": ["before", "after", "isChange"] } },
            "rules": { "type": "array", "items": { "type": "object", "required": ["name", "fired", "changed"] } },
        },
    })
}
