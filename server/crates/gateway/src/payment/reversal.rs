//! Reversals that nobody requests: of a payment that must not stay charged, because its shopper has abandoned it or it
//! was declined after its connector's approval. A refund replaces a reversal that is declined.

use tillgate_connector::{ConnectorResult, Modification};
use tillgate_domain::id::{PaymentId, log_tag};
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_shared::result::{ResultCode, codes};

use super::super::{Failure, Gateway};

impl Gateway {
    /// Returns the payment that stays charged although it must not, because its reversal or refund (`follow_up`) is
    /// declined: its shopper has abandoned it, or it was declined after its connector's approval. `None` for any other
    /// payment and for any other result.
    pub(super) fn find_charged_payment(
        &self,
        follow_up: &Payment,
        result: &ConnectorResult,
    ) -> Result<Option<Payment>, Failure> {
        let is_reversal = matches!(follow_up.payment_type, PaymentType::Reversal | PaymentType::Refund);
        let is_declined = !result.code.is_success() && !result.code.is_pending();
        let Some(referenced) = follow_up.referenced.as_ref().filter(|_| is_reversal && is_declined) else {
            return Ok(None);
        };
        let referenced = self.store.load_payment(&follow_up.entity, referenced)?;
        // A merchant's own reversal of an approved payment may be declined, and that payment rightly stays charged.
        Ok(referenced.filter(|payment| payment.is_abandoned() || !payment.is_approved()))
    }

    /// Makes the id of a reversal of a payment, and asks an in-process connector for its result.
    pub(super) async fn prepare_reversal(&self, payment: &Payment) -> Result<(PaymentId, ResultCode), Failure> {
        let reversal = Self::new_payment_id(self.next_id_time_of_id(&payment.entity))?;
        let result = self.reverse_in_process(payment, &reversal).await;
        Ok((reversal, result))
    }

    /// Asks an in-process connector to reverse a payment, and returns the result. Such a connector is a pure function,
    /// so it may be asked before it is known whether a reversal is needed. Returns pending for an external connector,
    /// for which the intent of a reversal is written instead, and the code of a missing configuration if the connector
    /// no longer exists.
    async fn reverse_in_process(&self, payment: &Payment, reversal: &PaymentId) -> ResultCode {
        if payment.connector.is_some() {
            return codes::PENDING;
        }
        let modification = Modification::reversal_of(payment, reversal.as_str().to_owned(), false);
        let Some(route) = self.route_of(payment) else { return codes::METHOD_NOT_CONFIGURED };
        route.connector.reverse(&modification).await.result().map_or(codes::PENDING, |result| result.code)
    }
}

/// Returns true if a payment is refunded after its reversal was declined, for example because the reversal window of
/// its connector has ended. A preauthorization cannot be refunded: its amount is released when its lifetime ends. The
/// refund is tried once, so a declined refund is not followed by another one.
pub(super) fn can_refund_instead(reversal: &Payment, charged: &Payment) -> bool {
    reversal.payment_type == PaymentType::Reversal && charged.type_at_connector() != PaymentType::Preauthorization
}

/// Logs that the reversal or refund of a payment that must not stay charged was declined.
pub(super) fn log_declined_reversal(declined: &Payment) {
    tracing::error!(
        payment = log_tag(declined.id.as_str()),
        original = declined.referenced.as_ref().map(|original| log_tag(original.as_str())),
        payment_type = declined.payment_type.code(),
        code = declined.result.code(),
        "a payment that must not stay charged could not be reversed or refunded; look it up at the acquirer"
    );
}
