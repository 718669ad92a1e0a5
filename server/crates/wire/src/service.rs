//! The service itself: its health and its result codes.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::access::setup_fault::SetupFault;
use tillgate_shared::result::ResultCode;

/// Health of the service.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub struct HealthFields {
    /// `ok`; `unavailable` while the store cannot write and read; `draining` while the server is about to stop.
    status: &'static str,
    /// Fault of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The fault in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    /// Mistakes in the set-up, for which no live entity is served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<SetupFaultFields>,
    /// Lines to acquirers, in the order of the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<LineFields>,
}

/// A line to an acquirer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct LineFields {
    /// Name of the line.
    pub name: String,
    /// `waiting`, `connecting`, `signing on`, `connected`, `circuit open`, `leaving`, `taken out` or `stopped`.
    pub phase: &'static str,
}

/// A mistake in the set-up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SetupFault")]
struct SetupFaultFields {
    /// Option of the program, or `clock`.
    option: &'static str,
    /// The mistake in words.
    description: &'static str,
}

/// All result codes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ResultCodes")]
pub struct ResultCodesFields {
    /// The codes.
    result_codes: Vec<ResultCodeFields>,
}

/// A result code.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ResultCode")]
struct ResultCodeFields {
    /// The code.
    code: &'static str,
    /// Group of the code.
    group: &'static str,
    /// The code in words.
    description: &'static str,
}

impl HealthFields {
    /// Creates the health of a service whose store works.
    pub fn ok(faults: &[SetupFault]) -> Self {
        Self { status: "ok", reason: None, description: None, warnings: list_warnings(faults), lines: Vec::new() }
    }

    /// Creates the health of a service whose store has a fault.
    pub fn unavailable(reason: &'static str, description: &'static str, faults: &[SetupFault]) -> Self {
        Self {
            status: "unavailable",
            reason: Some(reason),
            description: Some(description),
            warnings: list_warnings(faults),
            lines: Vec::new(),
        }
    }

    /// Creates the health of a service that is about to stop.
    pub fn draining(faults: &[SetupFault]) -> Self {
        let description = Some("This server is about to stop: send requests to another one");
        Self { status: "draining", reason: None, description, warnings: list_warnings(faults), lines: Vec::new() }
    }

    /// Adds the lines to acquirers.
    #[must_use]
    pub fn with_lines(self, lines: Vec<LineFields>) -> Self {
        Self { lines, ..self }
    }
}

fn list_warnings(faults: &[SetupFault]) -> Vec<SetupFaultFields> {
    faults.iter().map(|fault| SetupFaultFields { option: fault.as_str(), description: fault.description() }).collect()
}

impl ResultCodesFields {
    /// Lists every result code.
    pub fn list_all() -> Self {
        let describe = |code: ResultCode| ResultCodeFields {
            code: code.code(),
            group: code.group().as_str(),
            description: code.description(),
        };
        Self { result_codes: ResultCode::all().map(describe).collect() }
    }
}
