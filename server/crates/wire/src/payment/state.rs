//! State of a payment after its follow-up payments, in its status response; absent as long as there are none. The
//! payment's own result never changes; these fields are additional.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::payment::{Payment, PaymentState, PaymentStatus, PaymentType};
use tillgate_shared::money::Amount;

use super::PaymentFields;
use crate::AmountText;

/// A payment with its state after its follow-up payments.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Payment")]
pub struct PaymentStatusFields<'a> {
    #[serde(flatten)]
    payment: PaymentFields<'a>,
    #[serde(flatten)]
    state: PaymentStateFields,
}

/// State of a payment after its follow-up payments. Pending ones count.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PaymentState")]
pub struct PaymentStateFields {
    /// The state. Absent as long as there are no follow-up payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Amount of a preauthorization together with its approved increments. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    authorized_amount: Option<AmountText>,
    /// Captured part of a preauthorization.
    #[serde(skip_serializing_if = "Option::is_none")]
    captured_amount: Option<AmountText>,
    /// Refunded part.
    #[serde(skip_serializing_if = "Option::is_none")]
    refunded_amount: Option<AmountText>,
    /// Part of a closed, reversed or finally captured preauthorization that was released.
    #[serde(skip_serializing_if = "Option::is_none")]
    released_amount: Option<AmountText>,
}

impl<'a> PaymentStatusFields<'a> {
    /// Creates the fields of a payment with its state.
    pub fn new(payment: &'a Payment, status: &PaymentStatus) -> Self {
        let (mut fields, mut state) = (PaymentFields::from(payment), PaymentStateFields::from(status));
        state.authorized_amount = (status.amount != payment.amount).then_some(AmountText(status.amount));
        for (name, is_set) in [
            ("state", state.state.is_some()),
            ("authorizedAmount", state.authorized_amount.is_some()),
            ("capturedAmount", state.captured_amount.is_some()),
            ("refundedAmount", state.refunded_amount.is_some()),
            ("releasedAmount", state.released_amount.is_some()),
        ] {
            if is_set {
                fields.parameters.remove_all(&[name]);
            }
        }
        Self { payment: fields, state }
    }
}

impl From<&PaymentStatus> for PaymentStateFields {
    /// Returns `state`, `capturedAmount` (of a preauthorization) or `refundedAmount`, and `releasedAmount` of a closed,
    /// reversed or finished preauthorization. An amount of zero is left out. Returns nothing if [`state_name`] is
    /// `None`.
    fn from(status: &PaymentStatus) -> Self {
        let Some(state) = state_name(status) else { return Self::default() };
        let reserves = status.payment_type == PaymentType::Preauthorization;
        let is_released =
            reserves && matches!(status.state, PaymentState::Closed | PaymentState::Reversed | PaymentState::Finished);
        let amount_of = |hundredths: i64| {
            let amount = Amount::from_hundredths(hundredths, status.amount.currency());
            amount.filter(|_| hundredths > 0).map(AmountText)
        };
        let used = amount_of(status.used);
        let (captured_amount, refunded_amount) = if reserves { (used, None) } else { (None, used) };
        let released_amount = amount_of(status.remaining()).filter(|_| is_released);
        Self { state: Some(state), authorized_amount: None, captured_amount, refunded_amount, released_amount }
    }
}

/// Returns the `state` of a payment. A closed preauthorization with a remaining amount is `EXPIRED`. Returns `None` for
/// a pending, declined or open payment, for an increment, and for a closed debit of which nothing was refunded.
fn state_name(status: &PaymentStatus) -> Option<&'static str> {
    let (untouched, nothing_left) = (status.used == 0, status.remaining() == 0);
    let reserves = status.payment_type == PaymentType::Preauthorization;
    match status.state {
        PaymentState::Pending | PaymentState::Declined | PaymentState::Open | PaymentState::Included => None,
        PaymentState::Reversed => Some("REVERSED"),
        PaymentState::Finished => Some("CAPTURED"),
        PaymentState::ChargedBack => Some("CHARGED_BACK"),
        PaymentState::Closed if reserves && !nothing_left => Some("EXPIRED"),
        PaymentState::Closed if untouched => None,
        PaymentState::Used | PaymentState::Closed => Some(match (reserves, nothing_left) {
            (true, true) => "CAPTURED",
            (true, false) => "PARTIALLY_CAPTURED",
            (false, true) => "REFUNDED",
            (false, false) => "PARTIALLY_REFUNDED",
        }),
    }
}
