//! Risk checks of payments, and stand-alone ones.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::RiskOutcome;
use tillgate_shared::result::codes;

use super::{AccountFields, OWN_NAMES};
use crate::json_object::JsonObject;
use crate::{AmountText, ResultFields, echo_parameters};

/// Score of a risk check, in place of one that the merchant sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PaymentRisk")]
pub(super) struct PaymentRiskFields<'a> {
    // Parameters of the merchant about the check.
    #[serde(flatten)]
    parameters: JsonObject<'a>,
    /// Sum of the scores of the rules that fired. Absent without a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^-?[0-9]{1,5}$"))]
    score: Option<String>,
    /// Code of a check that has failed. The channel may have accepted the payment nevertheless.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_code: Option<&'static str>,
}

/// A stand-alone risk check: its result and score, and the request. There is no payment, so there is no id.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RiskCheck")]
pub struct RiskCheckFields<'a> {
    /// Type of the check.
    payment_type: &'static str,
    /// Brand of the account.
    payment_brand: &'a str,
    /// Amount of the order.
    amount: AmountText,
    /// Currency of the amount.
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    currency: &'static str,
    /// Text for the statement of the account.
    #[schemars(length(max = 127))]
    descriptor: &'a str,
    /// Result of the check.
    result: ResultFields<'a>,
    #[serde(flatten)]
    account: AccountFields<'a>,
    /// The registration that stores the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_id: Option<&'a str>,
    // The merchant chooses which parameters of the catalogue it sends, so these fields are a map.
    #[serde(flatten)]
    parameters: JsonObject<'a>,
    /// Score of the check, and parameters of the merchant about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<PaymentRiskFields<'a>>,
}

impl<'a> PaymentRiskFields<'a> {
    /// Creates the fields of a payment's check, with those of `parameters` that are about it. `None` without a check:
    /// these parameters are repeated as others are.
    pub(super) fn new(payment: &Payment, parameters: &mut JsonObject<'a>) -> Option<Self> {
        let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref())?;
        let mut parameters = parameters.take_object("risk");
        parameters.remove_all(&["score", "resultCode"]);
        Some(Self {
            parameters,
            score: Some(decision.score.to_string()),
            result_code: (decision.outcome == RiskOutcome::Error).then(|| codes::RISK_ERROR.code()),
        })
    }
}

impl<'a> From<&'a Payment> for RiskCheckFields<'a> {
    fn from(checked: &'a Payment) -> Self {
        let mut parameters = JsonObject::new();
        echo_parameters(&mut parameters, &checked.parameters);
        parameters.remove_all(&OWN_NAMES);
        Self {
            payment_type: checked.payment_type.code(),
            payment_brand: &checked.brand,
            amount: AmountText(checked.amount),
            currency: checked.amount.currency().code(),
            descriptor: &checked.descriptor,
            result: checked.result.into(),
            account: AccountFields::new(&checked.account, &mut parameters),
            registration_id: checked.registration.as_ref().map(|id| id.as_str()),
            risk: PaymentRiskFields::new(checked, &mut parameters),
            parameters,
        }
    }
}
