//! What has become of a payment, as its status says it: nothing as long as nothing has followed. A payment's own outcome
//! never changes; these fields stand beside it.

use tillgate_shared::money::Amount;

use super::fields::Fields;
use crate::domain::payment::{PaymentType, Standing, State};

/// Adds `state`, and with it what was captured, refunded or released so far; what is pending counts.
pub(super) fn add(fields: &mut Fields<'_>, standing: &Standing) {
    let Some(state) = word(standing) else { return };
    fields.set("state", state);
    let reserves = standing.payment_type == PaymentType::Preauthorization;
    let used = standing.amount.hundredths() - standing.left;
    let released = reserves && matches!(standing.state, State::Closed | State::Reversed);
    for (name, hundredths, told) in [
        (if reserves { "capturedAmount" } else { "refundedAmount" }, used, used > 0),
        ("releasedAmount", standing.left, released && standing.left > 0),
    ] {
        if told && let Some(amount) = Amount::from_hundredths(hundredths, standing.amount.currency()) {
            fields.set(name, amount.to_string());
        }
    }
}

/// The word for where a payment stands; none as long as nothing has followed.
fn word(standing: &Standing) -> Option<&'static str> {
    let (untouched, nothing_left) = (standing.left == standing.amount.hundredths(), standing.left == 0);
    let reserves = standing.payment_type == PaymentType::Preauthorization;
    match standing.state {
        State::Pending | State::Declined | State::Open => None,
        State::Reversed => Some("REVERSED"),
        State::ChargedBack => Some("CHARGED_BACK"),
        State::Closed if reserves && !nothing_left => Some("EXPIRED"),
        State::Closed if untouched => None,
        State::Used | State::Closed => Some(match (reserves, nothing_left) {
            (true, true) => "CAPTURED",
            (true, false) => "PARTIALLY_CAPTURED",
            (false, true) => "REFUNDED",
            (false, false) => "PARTIALLY_REFUNDED",
        }),
    }
}
