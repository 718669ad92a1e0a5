//! State of a payment after its follow-up payments, in its status response; absent as long as there are none. The
//! payment's own result never changes; these fields are additional.

use tillgate_domain::payment::{PaymentState, PaymentStatus, PaymentType};
use tillgate_shared::money::Amount;

use tillgate_wire::json_object::JsonObject;

/// Adds `state`, `capturedAmount` (of a preauthorization) or `refundedAmount`, and `releasedAmount` of a closed or
/// reversed preauthorization. Pending follow-up payments count. An amount of zero is left out. Adds nothing if
/// [`state_name`] is `None`.
pub(crate) fn add_state_fields(fields: &mut JsonObject<'_>, status: &PaymentStatus) {
    let Some(state) = state_name(status) else { return };
    fields.set("state", state);
    let reserves = status.payment_type == PaymentType::Preauthorization;
    let used = status.amount.hundredths() - status.remaining;
    let released = reserves && matches!(status.state, PaymentState::Closed | PaymentState::Reversed);
    for (name, hundredths, present) in [
        (if reserves { "capturedAmount" } else { "refundedAmount" }, used, used > 0),
        ("releasedAmount", status.remaining, released && status.remaining > 0),
    ] {
        if present && let Some(amount) = Amount::from_hundredths(hundredths, status.amount.currency()) {
            fields.set(name, amount.to_string());
        }
    }
}

/// Returns the `state` of a payment. A closed preauthorization with a remaining amount is `EXPIRED`. Returns `None` for
/// a pending, declined or open payment, and for a closed debit of which nothing was refunded.
fn state_name(status: &PaymentStatus) -> Option<&'static str> {
    let (untouched, nothing_left) = (status.remaining == status.amount.hundredths(), status.remaining == 0);
    let reserves = status.payment_type == PaymentType::Preauthorization;
    match status.state {
        PaymentState::Pending | PaymentState::Declined | PaymentState::Open => None,
        PaymentState::Reversed => Some("REVERSED"),
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
