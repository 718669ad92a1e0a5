//! Debits in two steps: a preauthorization, then its capture. The risk check of a `PA.CP` comes between the steps, and
//! so does the review of a debit whose channel reserves the amount first.
//!
//! An in-process connector is asked for both steps before the write lock, because it is a pure function. The capture
//! counts only if the check accepts the payment. An external connector is asked for the capture when the accepted
//! payment is written: pending, with its step. After a crash [`super::resolve`] repeats the capture.

use std::borrow::Cow;
use std::sync::Arc;

use tillgate_connector::{
    CaptureTerms, Connector, ConnectorOutcome, ConnectorResult, EarlierPayment, Modification, Order, PaymentRoute,
};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_shared::result::{ResultCode, codes};

use super::super::{Failure, Gateway};
use super::connector_request::wait_for_answer;
use crate::payment::response_recorder::ResponseRecorder;

/// Decision about the capture of a payment.
#[derive(Debug, Clone, Copy)]
pub(super) enum CaptureDecision {
    /// There is nothing to capture, or it is captured.
    Unneeded,
    /// Its external connector has to be asked.
    Request,
    /// The capture is declined with this code.
    Declined(ResultCode),
}

/// Returns the first step of a payment whose risk check comes between its steps. `None` for any other payment, and if
/// the connector does not take both steps.
pub(super) fn find_first_step(payer: &Entity, payment_type: PaymentType, route: &PaymentRoute) -> Option<DebitStep> {
    let is_checked_between = payer.settings.channel.risk && payment_type == PaymentType::TwoStepDebit;
    (is_checked_between && route.connector.capabilities().supports_two_steps()).then_some(DebitStep::Authorization)
}

/// Returns the order that an in-process connector is asked for: a preauthorization if `step` is the first of two.
pub(super) fn order_of_step(order: &Order, step: Option<DebitStep>) -> Cow<'_, Order> {
    match step {
        Some(DebitStep::Authorization) => {
            Cow::Owned(Order { payment_type: PaymentType::Preauthorization, ..order.clone() })
        }
        _ => Cow::Borrowed(order),
    }
}

/// Asks a connector to capture a preauthorized debit. Writes nothing. Repeating the request is safe.
pub(crate) async fn capture_debit(connector: &dyn Connector, payment: &Payment, is_repeated: bool) -> ConnectorOutcome {
    let modification = Modification {
        reference: payment.capture_key(),
        original_reference: payment.id.as_str().to_owned(),
        earlier: EarlierPayment::of_request(payment, payment.id.as_str()),
        place: None,
        merchant_id: payment.acquirer_merchant_id().to_owned(),
        connector_tx_ids: payment.connector_tx_ids.clone(),
        amount: payment.amount,
        descriptor: Some(payment.descriptor.clone()),
        capture: CaptureTerms::default(),
        forced_result_code: None,
        is_repeated,
    };
    connector.capture(&modification).await
}

/// Returns true if an external connector has to be asked for the capture of a payment that was just written.
pub(super) fn awaits_capture(payment: &Payment) -> bool {
    payment.awaits_connector() && payment.debit_step() == Some(DebitStep::Capture)
}

impl Gateway {
    /// Asks an in-process connector to capture a payment that it has preauthorized. Such a connector is a pure
    /// function, so it may be asked before it is known whether the payment is captured. Returns a decline if the
    /// outcome is unknown. `None` if there is nothing to capture, or the connector is external.
    pub(super) async fn capture_in_process(&self, payment: &Payment) -> Option<ConnectorResult> {
        if payment.connector.is_some() || payment.debit_step() != Some(DebitStep::Authorization) {
            return None;
        }
        let Some(route) = self.route_of(payment) else { return Some(codes::METHOD_NOT_CONFIGURED.into()) };
        Some(match capture_debit(route.connector.as_ref(), payment, false).await {
            ConnectorOutcome::Approved(result) | ConnectorOutcome::Declined(result) => result,
            // An in-process connector is never inquired later, so an unknown outcome counts as a decline.
            _ => codes::OUTCOME_UNCERTAIN.into(),
        })
    }

    /// Captures a payment at its external connector, if its risk check has just accepted it, and writes the outcome.
    /// Returns the payment with its current state. The payment has to be in flight.
    ///
    /// # Errors
    /// If the store fails, or the payment is gone.
    pub(super) async fn capture_accepted(
        &self,
        payment: Arc<Payment>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        let Some(route) = self.route_of(&payment).filter(|_| awaits_capture(&payment)) else { return Ok(payment) };
        let answer = wait_for_answer(capture_debit(route.connector.as_ref(), &payment, false)).await;
        match answer.outcome {
            ConnectorOutcome::Approved(result) | ConnectorOutcome::Declined(result) => {
                Ok(self.complete_with_answer(&payment, result, answer.messages, recorder).await?.payment)
            }
            // The payment stays pending in its second step, and the worker repeats the capture under the same key.
            _ => {
                self.write_messages(&payment, answer.messages).await?;
                Ok(payment)
            }
        }
    }
}
