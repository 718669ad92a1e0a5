//! The result of a request or a payment, and the response to a refused request.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::ParameterError;
use tillgate_shared::result::{ResultCode, codes};

/// Result of a request or a payment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Result")]
pub struct ResultFields<'a> {
    /// Code, 2 to 11 digits and dots.
    #[schemars(regex(pattern = r"^[0-9.]{2,11}$"))]
    code: &'static str,
    /// The code in words.
    #[schemars(length(max = 255))]
    description: &'a str,
    /// Letter of the address check.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["A", "Z", "N", "U", "F"]))]
    avs_response: Option<char>,
    /// Letter of the check of the security code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["M", "N", "P", "S", "U"]))]
    cvv_response: Option<char>,
    /// Parameters at fault, each with an error message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameter_errors: Vec<ParameterErrorFields<'a>>,
}

/// A parameter at fault.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ParameterError")]
pub struct ParameterErrorFields<'a> {
    /// Name of the parameter.
    name: &'a str,
    /// Its value. Null if it is missing or secret.
    value: Option<&'a str>,
    /// Description of the fault.
    message: &'a str,
}

/// Response to a request that is not carried out.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refusal")]
pub struct RefusalFields<'a> {
    /// Reason of the refusal.
    result: ResultFields<'a>,
}

impl<'a> ResultFields<'a> {
    /// Returns the result of a request that succeeded.
    pub fn success() -> Self {
        codes::REQUEST_SUCCEEDED.into()
    }

    /// Returns a result with another description than the code's own.
    pub fn with_description(code: ResultCode, description: &'a str) -> Self {
        Self { code: code.code(), description, avs_response: None, cvv_response: None, parameter_errors: Vec::new() }
    }

    /// Adds the letters of the address and security code checks.
    #[must_use]
    pub fn with_checks(self, avs_response: Option<char>, cvv_response: Option<char>) -> Self {
        Self { avs_response, cvv_response, ..self }
    }
}

impl From<ResultCode> for ResultFields<'_> {
    fn from(code: ResultCode) -> Self {
        Self::with_description(code, code.description())
    }
}

impl<'a> From<&'a ParameterError> for ParameterErrorFields<'a> {
    fn from(fault: &'a ParameterError) -> Self {
        Self { name: &fault.name, value: fault.value.as_deref(), message: &fault.message }
    }
}

impl<'a> From<&'a Refusal> for RefusalFields<'a> {
    fn from(refusal: &'a Refusal) -> Self {
        let description = refusal.description.as_deref().unwrap_or(refusal.code.description());
        let parameter_errors = refusal.parameters.iter().map(ParameterErrorFields::from).collect();
        Self { result: ResultFields { parameter_errors, ..ResultFields::with_description(refusal.code, description) } }
    }
}

impl From<ResultCode> for RefusalFields<'_> {
    fn from(code: ResultCode) -> Self {
        Self { result: code.into() }
    }
}
