//! Webhooks about payments.

use serde::Serialize;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::method_code;
use tillgate_shared::result::ResultCode;

use super::PaymentFields;
use crate::webhook::AuthenticationFields;
use crate::{AmountText, ResultFields};

/// Names that [`PaymentMessage`] adds.
const ADDED_NAMES: [&str; 8] = [
    "presentationAmount",
    "presentationCurrency",
    "shortId",
    "source",
    "paymentMethod",
    "authentication",
    "channelName",
    "referencedId",
];

/// The payload of a webhook about a payment: the fields of its status, and those that only webhooks have.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentMessage<'a> {
    #[serde(flatten)]
    payment: PaymentFields<'a>,
    /// Present even if there is no redirect; a payment with one has it in its own fields.
    #[serde(rename = "redirect", skip_serializing_if = "Option::is_none")]
    no_redirect: Option<NoRedirect>,
    presentation_amount: AmountText,
    presentation_currency: &'static str,
    short_id: String,
    source: &'static str,
    payment_method: &'static str,
    authentication: AuthenticationFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referenced_id: Option<&'a str>,
}

/// The redirect of a payment without one.
#[derive(Debug, Serialize)]
struct NoRedirect {
    parameters: [&'static str; 0],
}

/// Fields of the webhook about a payment's risk check, in place of those of the payment.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RiskCheckMessage<'a> {
    id: String,
    payment_type: &'static str,
    referenced_id: &'a str,
    amount: AmountText,
    currency: &'static str,
    result: ResultFields<'a>,
    risk: RiskScoreFields,
}

/// The score of a risk check.
#[derive(Debug, Serialize)]
struct RiskScoreFields {
    score: String,
}

impl<'a> PaymentMessage<'a> {
    /// Creates the payload. `channel_name` is the name of the entity, if it still exists.
    pub fn new(payment: &'a Payment, channel_name: Option<&'a str>) -> Self {
        let mut fields = PaymentFields::from(payment);
        fields.parameters.remove_all(&ADDED_NAMES);
        let no_redirect = fields.redirect.is_none().then_some(NoRedirect { parameters: [] });
        Self {
            payment: fields,
            no_redirect,
            presentation_amount: AmountText(payment.amount),
            presentation_currency: payment.amount.currency().code(),
            short_id: payment.id.short_id(),
            source: source_of(payment),
            payment_method: method_code(payment),
            authentication: AuthenticationFields::new(&payment.entity),
            channel_name,
            referenced_id: payment.referenced.as_ref().map(|id| id.as_str()),
        }
    }
}

/// Returns where a payment comes from: a form, a schedule, or a request to the API.
fn source_of(payment: &Payment) -> &'static str {
    if payment.checkout.is_some() {
        "FORM"
    } else if payment.schedule.is_some() {
        "SCHEDULER"
    } else {
        "API"
    }
}

impl<'a> RiskCheckMessage<'a> {
    /// Creates the fields of a payment's check with this result. The score is 0 without a decision.
    pub fn new(payment: &'a Payment, code: ResultCode) -> Self {
        let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
        Self {
            id: payment.id.risk_check_id(),
            payment_type: "RI",
            referenced_id: payment.id.as_str(),
            amount: AmountText(payment.amount),
            currency: payment.amount.currency().code(),
            result: code.into(),
            risk: RiskScoreFields { score: decision.map_or(0, |decision| decision.score).to_string() },
        }
    }
}
