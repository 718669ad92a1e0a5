//! Debits in two steps at their connector: a preauthorization, then its capture. The risk check or the review of the
//! payment comes between the steps.

use jiff::Timestamp;
use tillgate_shared::result::codes;

use crate::payment::debit_step::DebitStep;
use crate::payment::{ModificationType, Payment, PaymentType};
use crate::review::ReviewStage;

impl Payment {
    /// Returns its step, if it is a debit that is preauthorized first. `None` for any other payment.
    pub fn debit_step(&self) -> Option<DebitStep> {
        match self.review().map(|review| review.stage) {
            Some(ReviewStage::Authorized) => Some(DebitStep::Authorization),
            Some(ReviewStage::Captured) => Some(DebitStep::Capture),
            _ => self.risk.as_ref()?.debit_step,
        }
    }

    /// Changes the step of a debit that is preauthorized first, also in its review. Changes no other payment.
    pub fn set_debit_step(&mut self, step: DebitStep) {
        let Some(risk) = &mut self.risk else { return };
        let stage = match step {
            DebitStep::Authorization => ReviewStage::Authorized,
            DebitStep::Capture => ReviewStage::Captured,
        };
        if let Some(review) = &mut risk.review
            && matches!(review.stage, ReviewStage::Authorized | ReviewStage::Captured)
        {
            review.stage = stage;
        }
        risk.debit_step = risk.debit_step.map(|_| step);
    }

    /// Returns this payment, pending until its connector has captured it. `now` is the time of the request by the
    /// entity's clock.
    #[must_use]
    pub fn into_capture(mut self, now: Timestamp) -> Self {
        self.set_debit_step(DebitStep::Capture);
        if let Some(page) = &mut self.redirect {
            // Its shopper has decided. From now on the payment waits for its connector.
            page.asked = Some(now);
        }
        Self { result: codes::PENDING, ..self }
    }

    /// Returns its type at the connector: a preauthorization in place of a debit that is not yet captured.
    pub fn type_at_connector(&self) -> PaymentType {
        match self.debit_step() {
            Some(DebitStep::Authorization) => PaymentType::Preauthorization,
            _ => self.payment_type,
        }
    }

    /// Returns the reference of the request that captures a debit in two steps.
    pub fn capture_key(&self) -> String {
        format!("{}-capture", self.id)
    }

    /// Returns the reference of the request that captures or has captured it. `None` if there is no such request.
    pub fn capture_reference(&self) -> Option<String> {
        (self.debit_step() == Some(DebitStep::Capture)).then(|| self.capture_key())
    }

    /// Returns the reference of the request at its connector that a modification refers to: a refund to the capture, if
    /// there is one.
    pub fn reference_for(&self, modification: ModificationType) -> String {
        match self.capture_reference() {
            Some(reference) if modification == ModificationType::Refund => reference,
            _ => self.id.as_str().to_owned(),
        }
    }
}
