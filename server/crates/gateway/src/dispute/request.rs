//! Requests about disputes, read from parameters.

use tillgate_domain::dispute::{DisputeAction, INSTITUTE_STAGES, MAX_RESPONSE_DAYS};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::review::queue::parse_note;
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, ResultGroup};

use super::decide::DisputeRequest;

/// Longest reason code of a card scheme.
const MAX_SCHEME_REASON: usize = 32;

impl DisputeRequest {
    /// Reads a step of the institute.
    ///
    /// # Errors
    /// The parameter at fault by name.
    pub fn from_institute(parameters: &Parameters, own: &Parameters, actor: String) -> Result<Self, Refusal> {
        let stage = own.get("stage").unwrap_or_default();
        let choices = INSTITUTE_STAGES.map(|(stage, _)| stage.as_str());
        let action = DisputeAction::parse_institute_stage(stage)
            .ok_or_else(|| Refusal::invalid_choice("stage", stage, &choices))?;
        let sent = |name| own.get(name).filter(|value: &&str| !value.is_empty());
        let reason = parameters.get("chargebackResultCode").map(parse_reason).transpose()?;
        Ok(Self {
            amount: parameters.get("amount").map(str::to_owned),
            reason,
            scheme_reason: sent("schemeReasonCode").map(parse_scheme_reason).transpose()?,
            response_days: sent("responseDays").map(parse_response_days).transpose()?,
            ..Self::from_merchant(action, own, actor)?
        })
    }

    /// Reads a step of the merchant.
    ///
    /// # Errors
    /// `note` by name.
    pub fn from_merchant(action: DisputeAction, own: &Parameters, actor: String) -> Result<Self, Refusal> {
        let refuse = |message| Refusal::invalid_parameter("note", None, message);
        let note = own.get("note").map_or(Ok(None), parse_note).map_err(refuse)?;
        Ok(Self { action, actor, note, amount: None, reason: None, scheme_reason: None, response_days: None })
    }
}

/// Parses the reason of a chargeback, `chargebackResultCode`.
///
/// # Errors
/// The parameter by name.
pub fn parse_reason(text: &str) -> Result<ResultCode, Refusal> {
    ResultCode::find(text).filter(|code| code.group() == ResultGroup::Chargeback).ok_or_else(|| {
        Refusal::invalid_parameter("chargebackResultCode", Some(text), "is not the reason of a chargeback")
    })
}

/// Parses the reason code of a card scheme: letters, digits, dots and hyphens.
///
/// # Errors
/// The parameter by name.
pub fn parse_scheme_reason(text: &str) -> Result<String, Refusal> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b' ');
    let is_code = (1..=MAX_SCHEME_REASON).contains(&text.len())
        && text.bytes().all(is_valid)
        && !has_card_number(text, Strictness::Allowed);
    let message =
        format!("must have 1 to {MAX_SCHEME_REASON} letters, digits, dots, hyphens and spaces, and no card number");
    let code = is_code.then(|| text.to_owned());
    code.ok_or_else(|| Refusal::invalid_parameter("schemeReasonCode", Some(text), message))
}

/// Parses the days for the merchant's answer.
///
/// # Errors
/// The parameter by name.
pub fn parse_response_days(text: &str) -> Result<u16, Refusal> {
    let days = text.parse().ok().filter(|days| (1..=MAX_RESPONSE_DAYS).contains(days));
    let message = format!("must be a number from 1 to {MAX_RESPONSE_DAYS}");
    days.ok_or_else(|| Refusal::invalid_parameter("responseDays", Some(text), message))
}
