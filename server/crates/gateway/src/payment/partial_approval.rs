//! Approvals of a part of a payment's amount, as its connector answers them.

use tillgate_connector::ConnectorResult;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::partial_approval::accepts_partial_approval;
use tillgate_shared::result::codes;

/// Returns the result as a decline if it approves a part of the amount and the merchant accepts no part. Also returns
/// true then: the part is approved at the connector, and has to be reversed.
pub(super) fn refuse_part(payment: &Payment, result: ConnectorResult) -> (ConnectorResult, bool) {
    let is_part = result.code.is_success() && result.approved_amount.is_some();
    if !is_part || accepts_partial_approval(&payment.parameters) {
        return (result, false);
    }
    (ConnectorResult { code: codes::CREDIT_EXCEEDED, ..result }, true)
}

/// Returns a payment with the amount that its connector has approved, or as it is if the whole amount is approved or
/// none is. A payment that is declined because its merchant accepts no part has the part as well: if the part cannot be
/// reversed, it is refunded, and no more than it.
pub(super) fn apply_approved_amount(payment: Payment, result: &ConnectorResult) -> Payment {
    match result.approved_amount {
        Some(approved) => payment.with_approved_amount(approved),
        None => payment,
    }
}
