//! Violations of content security policies, as browsers report them.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::policy_report::PolicyReport;

use crate::{ResultFields, WireTime};

/// Confirmation that a report was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Noted")]
pub struct NotedFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
}

/// Violations about a merchant's pages and forms, the latest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PolicyReports")]
pub struct PolicyReportsFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// The violations.
    #[schemars(length(max = 201))]
    pub policy_reports: Vec<PolicyReportFields<'a>>,
    /// Number of requests that were dropped since the start of the process.
    pub dropped: u64,
}

/// A violation.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PolicyReport")]
pub struct PolicyReportFields<'a> {
    /// The directive that was violated.
    directive: &'a str,
    /// Origin of the blocked resource, or a word such as `inline`.
    blocked: &'a str,
    /// Origin and path of the page.
    document: &'a str,
    /// Origin and path of the script that caused the violation. Empty if unknown.
    source: &'a str,
    /// `enforce` if the browser blocked the resource.
    #[schemars(extend("enum" = ["enforce", "report"]))]
    disposition: &'static str,
    /// Number of reports.
    #[schemars(range(min = 1))]
    count: i64,
    /// Time of the first report.
    first: WireTime,
    /// Time of the last report.
    last: WireTime,
}

impl<'a> PolicyReportFields<'a> {
    /// Creates the fields of a violation that was reported `count` times, from `first` to `last`.
    pub fn new(report: &'a PolicyReport, count: i64, first: WireTime, last: WireTime) -> Self {
        Self {
            directive: &report.directive,
            blocked: &report.blocked,
            document: &report.document,
            source: &report.source,
            disposition: if report.enforced { "enforce" } else { "report" },
            count,
            first,
            last,
        }
    }
}
