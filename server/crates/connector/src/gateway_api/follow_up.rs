//! Captures, refunds and reversals at the other gateway.

use tillgate_domain::id::log_tag;
use tillgate_domain::payment::PaymentType;
use tillgate_domain::payment::connector_message::ConnectorOperation;
use tillgate_shared::money::Amount;
use tillgate_shared::result::codes;

use super::answer::{PaymentAnswer, is_payment_id, read_checkout};
use super::call::{ApiCall, ApiFault, CallFailure};
use super::connector::{GatewayConnector, log_failure, refused_outcome};
use super::expectation::Expectation;
use super::lookup::FoundPayments;
use super::order_parameters::{checkout_parameters, follow_up_parameters, modification_parameters};
use super::recorded_message::{ApiCallEnd, RecordedApiCall};
use crate::{ConnectorOutcome, Modification};

impl GatewayConnector {
    /// Sends a capture or a refund. Without an id of the other gateway for the earlier payment, declines it with
    /// `REFERENCE_UNKNOWN`, and sends nothing.
    pub(super) async fn send_modification(
        &self,
        payment_type: PaymentType,
        modification: &Modification,
    ) -> ConnectorOutcome {
        // The id of another connector's payment has another form, and must not become a part of an address.
        let id = modification.connector_tx_ids.acquirer_id().filter(|id| is_payment_id(id));
        let Some(id) = id else { return codes::REFERENCE_UNKNOWN.into() };
        let operation = name_operation(payment_type);
        let (reference, entity) = (modification.reference.as_str(), modification.merchant_id.as_str());
        let expectation = Expectation {
            payment_type: payment_type.code(),
            reference,
            amount: Some(modification.amount),
            allows_part: false,
            is_live: Some(self.is_live),
        };
        if modification.is_repeated {
            // The other gateway forgets idempotency keys after a day, and payments never.
            match self.find_outcome(operation, entity, &expectation).await {
                Ok(None) => {}
                Ok(Some(outcome)) => return outcome,
                Err(_) => return ConnectorOutcome::Unknown,
            }
        }
        let parameters = modification_parameters(payment_type.code(), modification);
        let call = ApiCall::follow_up(operation, reference, entity, id, parameters);
        follow_up_outcome(modification, self.send_payment(&call, &expectation).await)
    }

    /// Reverses the request with the original reference. If the other gateway has not received it, makes sure that it
    /// is refused when it arrives.
    pub(super) async fn reverse_request(&self, modification: &Modification) -> ConnectorOutcome {
        match self.find_original(modification).await {
            Ok(found) if found.own.is_empty() => self.refuse_late_request(modification).await,
            Ok(found) => self.undo_payments(modification, &found).await,
            Err(_) => ConnectorOutcome::Unknown,
        }
    }

    async fn find_original(&self, modification: &Modification) -> Result<FoundPayments, CallFailure> {
        let Modification { original_reference, merchant_id, .. } = modification;
        self.find_payments(ConnectorOperation::Reversal, original_reference, merchant_id).await
    }

    /// Uses up the idempotency key of a request that the other gateway has not received: creates a checkout with it,
    /// which nobody pays and which expires. The request may still be on its way, for example in the buffers of a host
    /// that was suspended, and is refused then because of its key.
    async fn refuse_late_request(&self, modification: &Modification) -> ConnectorOutcome {
        let Modification { original_reference, merchant_id, amount, .. } = modification;
        let Some(parameters) = checkout_parameters(*amount, self.is_live) else { return ConnectorOutcome::Unknown };
        let call = ApiCall::checkout(original_reference, merchant_id, parameters);
        let recorded = RecordedApiCall::begin(&call, self.client.now());
        let result = self.client.send(&call).await.and_then(|response| read_checkout(&response));
        match &result {
            Ok(()) => recorded.end(ApiCallEnd::Reversed),
            Err(failure) => recorded.end(ApiCallEnd::Failed(failure)),
        }
        match result.inspect_err(|failure| log_failure(&call, failure)) {
            Ok(()) => self.approval_code().into(),
            // The request has arrived since the query.
            Err(CallFailure::Unknown(ApiFault::KeyReused)) => match self.find_original(modification).await {
                Ok(found) if !found.own.is_empty() => self.undo_payments(modification, &found).await,
                _ => ConnectorOutcome::Unknown,
            },
            Err(_) => ConnectorOutcome::Unknown,
        }
    }

    /// Reverses all payments of a request. There are several only if the other gateway has executed the request several
    /// times.
    async fn undo_payments(&self, modification: &Modification, found: &FoundPayments) -> ConnectorOutcome {
        let mut outcome = self.approval_code().into();
        for payment in &found.own {
            outcome = self.undo_payment(modification, found, payment).await;
            if !matches!(outcome, ConnectorOutcome::Approved(_)) {
                break;
            }
        }
        outcome
    }

    /// Reverses a payment. Approves the reversal of a payment that has no effect without asking.
    async fn undo_payment(
        &self,
        modification: &Modification,
        found: &FoundPayments,
        payment: &PaymentAnswer,
    ) -> ConnectorOutcome {
        if payment.is_declined() || found.is_reversed(payment) {
            return self.approval_code().into();
        }
        let Some(id) = payment.valid_id().filter(|_| payment.is_approved()) else {
            // The contract does not let a pending payment be reversed. The other gateway ends it, and the reversal is
            // repeated.
            tracing::warn!(
                reference = log_tag(&modification.original_reference),
                "a payment could not be reversed because it is pending at the other gateway"
            );
            return ConnectorOutcome::Unknown;
        };
        if payment.payment_type.as_deref() == Some(PaymentType::Capture.code()) {
            return self.refund_capture(modification, found, payment, id).await;
        }
        let outcome = self.send_undo(modification, PaymentType::Reversal, id, None).await;
        let is_used = outcome.result().is_some_and(|result| result.code == codes::REVERSAL_OF_USED);
        if is_used && self.are_captures_refunded(modification, found, payment).await {
            return self.approval_code().into();
        }
        outcome
    }

    /// Refunds what is left of a capture: the contract has no reversal of captures.
    async fn refund_capture(
        &self,
        modification: &Modification,
        found: &FoundPayments,
        capture: &PaymentAnswer,
        id: &str,
    ) -> ConnectorOutcome {
        match found.remaining_amount(capture, modification.amount.currency()) {
            Some(left) if left.is_zero() => self.approval_code().into(),
            Some(left) => self.send_undo(modification, PaymentType::Refund, id, Some(left)).await,
            None => ConnectorOutcome::Unknown,
        }
    }

    /// Returns true if the payment was captured and all its captures are refunded, so that nothing is left to reverse.
    async fn are_captures_refunded(
        &self,
        modification: &Modification,
        found: &FoundPayments,
        payment: &PaymentAnswer,
    ) -> bool {
        let captures: Vec<_> = found.approved_follow_ups(payment, PaymentType::Capture).collect();
        for capture in &captures {
            // The list has the follow-up payments of the payment, and not those of its captures.
            let Some(reference) = capture.merchant_transaction_id.as_deref() else { return false };
            let entity = &modification.merchant_id;
            let Ok(found) = self.find_payments(ConnectorOperation::Reversal, reference, entity).await else {
                return false;
            };
            let left = found.remaining_amount(capture, modification.amount.currency());
            if !left.is_some_and(|left| left.is_zero()) {
                return false;
            }
        }
        !captures.is_empty()
    }

    /// Sends the reversal of a payment, or the refund of a capture in place of one. Its approval counts in either mode.
    async fn send_undo(
        &self,
        modification: &Modification,
        payment_type: PaymentType,
        id: &str,
        amount: Option<Amount>,
    ) -> ConnectorOutcome {
        let (reference, entity) = (modification.reference.as_str(), modification.merchant_id.as_str());
        let parameters = follow_up_parameters(payment_type.code(), reference, amount);
        let call = ApiCall::follow_up(ConnectorOperation::Reversal, reference, entity, id, parameters);
        let expectation =
            Expectation { payment_type: payment_type.code(), reference, amount, allows_part: false, is_live: None };
        follow_up_outcome(modification, self.send_payment(&call, &expectation).await)
    }
}

/// Returns the outcome of a follow-up payment. If it was not executed this time but may have been sent before, its
/// outcome is unknown.
fn follow_up_outcome(modification: &Modification, result: Result<ConnectorOutcome, CallFailure>) -> ConnectorOutcome {
    match result {
        Ok(outcome) => outcome,
        Err(CallFailure::NotExecuted(fault)) if !modification.is_repeated => refused_outcome(&fault),
        Err(_) => ConnectorOutcome::Unknown,
    }
}

fn name_operation(payment_type: PaymentType) -> ConnectorOperation {
    if payment_type == PaymentType::Capture { ConnectorOperation::Capture } else { ConnectorOperation::Refund }
}
