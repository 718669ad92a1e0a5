//! Drafts of follow-up payments: of those that a merchant requests, and of the reversal or refund of a payment that
//! must not stay charged.

use jiff::Timestamp;
use tillgate_domain::id::PaymentId;
use tillgate_domain::parameter_defaults;
use tillgate_domain::payment::{ModificationType, NOTIFICATION_URL, Payment, statement_descriptor};
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use crate::payment::echo::is_echoed;
use crate::payment::order;

/// The parameter with the mode of a payment.
const TEST_MODE: &str = "testMode";

/// Drafts a follow-up payment with this result. Brand, account and mode are those of the earlier payment. So are the
/// merchant's references and the text on the shopper's statement, unless the request has its own. It has no checkout,
/// redirect or registration.
pub(crate) fn draft_follow_up(
    id: PaymentId,
    now: Timestamp,
    referenced: &Payment,
    modification_type: ModificationType,
    amount: Amount,
    result: ResultCode,
    mut parameters: Parameters,
) -> Payment {
    // The earlier descriptor starts with the earlier payment's own short id and a space.
    let earlier = referenced.descriptor.split_once(' ').map(|(_, text)| text);
    let text = order::statement_text(&parameters).or(earlier).unwrap_or_default();
    let descriptor = statement_descriptor(&id, text);
    // Webhook receivers identify the order by these references.
    for name in ["merchantTransactionId", "merchantInvoiceId"] {
        if let Some(reference) = referenced.parameters.get(name).filter(|_| !parameters.contains(name)) {
            parameters.set(name, reference);
        }
    }
    // Each payment has its mode in its own parameters, so that the refund of a capture runs in that of the capture.
    if let Some(mode) = referenced.parameters.get(TEST_MODE) {
        parameters.set(TEST_MODE, mode);
    }
    parameter_defaults::add_default_values(&mut parameters, &referenced.brand, now);
    parameters.retain(|name, _| is_echoed(name, &referenced.account));
    let (entity, payment_type) = (referenced.entity.clone(), modification_type.payment_type());
    Payment {
        referenced: Some(referenced.id.clone()),
        connector: referenced.connector.clone(),
        acquirer_merchant: referenced.acquirer_merchant.clone(),
        descriptor,
        account: referenced.account.clone(),
        parameters,
        ..Payment::draft(id, entity, now, payment_type, &referenced.brand, amount, result)
    }
}

/// Makes the reversal, or refund (`modification_type`), of the whole amount of a payment that its shopper has
/// abandoned, or that its risk check has refused after the approval. It belongs to no request, so its notifications are
/// sent to the address of the payment.
pub(super) fn draft_reversal(
    payment: &Payment,
    modification_type: ModificationType,
    (id, result): (PaymentId, ResultCode),
    now: Timestamp,
) -> Payment {
    let mut parameters = Parameters::default();
    if let Some(address) = payment.parameters.get(NOTIFICATION_URL) {
        parameters.set(NOTIFICATION_URL, address);
    }
    let reversal = draft_follow_up(id, now, payment, modification_type, payment.amount, result, parameters);
    // The reversal has no request of its own, so it carries the request identifier of the payment.
    Payment { ndc: Some(payment.ndc()), unannounced: reversal.awaits_connector(), ..reversal }
}
