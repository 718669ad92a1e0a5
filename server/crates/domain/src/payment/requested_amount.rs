//! The amount that a request names.

use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;

use crate::refusal::Refusal;

/// Parses `amount` in its `currency`.
///
/// # Errors
/// `amount` or `currency` by name, also if the currency cannot express the amount (contract: 12.50 JPY).
pub fn parse_requested_amount(parameters: &Parameters) -> Result<Amount, Refusal> {
    let (amount, currency) = (required_parameter(parameters, "amount")?, required_parameter(parameters, "currency")?);
    let currency = Currency::parse(currency)
        .ok_or_else(|| Refusal::invalid_parameter("currency", Some(currency), "must be an ISO 4217 code in use"))?;
    Amount::parse(amount, currency).map_err(|error| Refusal::invalid_parameter("amount", Some(amount), error.message()))
}

/// Returns the value of a parameter.
///
/// # Errors
/// The parameter by name, if it was not sent.
pub fn required_parameter<'a>(parameters: &'a Parameters, name: &str) -> Result<&'a str, Refusal> {
    parameters.get(name).ok_or_else(|| Refusal::invalid_parameter(name, None, "may not be empty"))
}
