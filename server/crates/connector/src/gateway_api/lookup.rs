//! Payments of the other gateway by this gateway's references.

use tillgate_domain::payment::PaymentType;
use tillgate_domain::payment::connector_message::{ConnectorOperation, MessageOutcome};
use tillgate_shared::money::{Amount, Currency};

use super::answer::{PaymentAnswer, read_payments};
use super::call::{ApiCall, ApiFault, CallFailure};
use super::connector::{GatewayConnector, log_failure};
use super::expectation::Expectation;
use super::recorded_message::{ApiCallEnd, RecordedApiCall};
use crate::ConnectorOutcome;
use crate::http::codes::not_executed_code;

/// The payments of a reference.
#[derive(Debug, Default)]
pub(super) struct FoundPayments {
    /// The payments whose requests had the reference. More than one only if the other gateway does not know
    /// idempotency keys.
    pub(super) own: Vec<PaymentAnswer>,
    /// All other payments of the answer.
    pub(super) others: Vec<PaymentAnswer>,
}

impl FoundPayments {
    /// Selects the payments of a reference from an answer. Follow-up payments that the other gateway's users have made
    /// have the reference of their payment, so they are told from it by what they refer to.
    fn select(payments: Vec<PaymentAnswer>, reference: &str) -> Self {
        let has_reference = |payment: &PaymentAnswer| payment.merchant_transaction_id.as_deref() == Some(reference);
        let ids: Vec<String> =
            payments.iter().filter(|payment| has_reference(payment)).filter_map(|payment| payment.id.clone()).collect();
        let is_own = |payment: &PaymentAnswer| {
            has_reference(payment) && !payment.referenced_id.as_ref().is_some_and(|id| ids.contains(id))
        };
        let (own, others) = payments.into_iter().partition(is_own);
        Self { own, others }
    }

    /// Returns the approved follow-up payments of a type, of one of the payments.
    pub(super) fn approved_follow_ups<'a>(
        &'a self,
        payment: &'a PaymentAnswer,
        payment_type: PaymentType,
    ) -> impl Iterator<Item = &'a PaymentAnswer> {
        self.others.iter().filter(move |other| {
            other.is_approved()
                && other.payment_type.as_deref() == Some(payment_type.code())
                && other.referenced_id.is_some()
                && other.referenced_id == payment.id
        })
    }

    /// Returns the state of the payments, for the message of their query. `None` if there are none.
    fn describe_state(&self) -> Option<MessageOutcome> {
        let open = self.own.iter().find(|payment| !payment.is_declined()).or(self.own.first())?;
        Some(match open {
            payment if self.is_reversed(payment) => MessageOutcome::Reversed,
            payment if payment.is_approved() => MessageOutcome::Approved,
            payment if payment.is_declined() => MessageOutcome::Declined,
            _ => MessageOutcome::Pending,
        })
    }

    /// Returns true if one of the payments was reversed.
    pub(super) fn is_reversed(&self, payment: &PaymentAnswer) -> bool {
        self.approved_follow_ups(payment, PaymentType::Reversal).next().is_some()
    }

    /// Returns the amount of a payment that has not been refunded. `None` if the answer does not tell.
    pub(super) fn remaining_amount(&self, payment: &PaymentAnswer, currency: Currency) -> Option<Amount> {
        let read = |payment: &PaymentAnswer| Amount::parse(payment.amount.as_deref()?, currency).ok();
        let mut refunds = self.approved_follow_ups(payment, PaymentType::Refund);
        refunds.try_fold(read(payment)?, |left, refund| left.checked_sub(read(refund)?))
    }
}

impl GatewayConnector {
    /// Finds the payments of a reference, with their follow-up payments.
    pub(super) async fn find_payments(
        &self,
        operation: ConnectorOperation,
        reference: &str,
        entity: &str,
    ) -> Result<FoundPayments, CallFailure> {
        let judge = |found: &FoundPayments| Ok(found.describe_state().map_or(FoundEnd::NotFound, FoundEnd::Found));
        self.find_and_record(operation, reference, entity, judge).await.map(|(found, _)| found)
    }

    /// Finds the outcome of the request with a reference. `None` if the other gateway does not know the request.
    pub(super) async fn find_outcome(
        &self,
        operation: ConnectorOperation,
        entity: &str,
        expectation: &Expectation<'_>,
    ) -> Result<Option<ConnectorOutcome>, CallFailure> {
        let judge = |found: &FoundPayments| self.judge_found(found, expectation);
        let (_, end) = self.find_and_record(operation, expectation.reference, entity, judge).await?;
        Ok(match end {
            FoundEnd::Outcome(outcome) => Some(*outcome),
            FoundEnd::Reversed => Some(ConnectorOutcome::Declined(not_executed_code().into())),
            FoundEnd::NotFound | FoundEnd::Found(_) => None,
        })
    }

    /// Queries the payments of a reference, and records the query with its judgement.
    async fn find_and_record(
        &self,
        operation: ConnectorOperation,
        reference: &str,
        entity: &str,
        judge: impl Fn(&FoundPayments) -> Result<FoundEnd, ApiFault>,
    ) -> Result<(FoundPayments, FoundEnd), CallFailure> {
        let call = ApiCall::query(operation, reference, entity);
        let recorded = RecordedApiCall::begin(&call, self.client.now());
        // A query that was not sent tells as little about the earlier request as one without an answer.
        let answer = self.client.send(&call).await.and_then(|response| read_payments(&response));
        let answer = answer.map_err(|failure| CallFailure::Unknown(failure.fault().clone()));
        let result = answer.and_then(|payments| {
            let found = FoundPayments::select(payments, reference);
            let end = judge(&found).map_err(CallFailure::Unknown)?;
            Ok((found, end))
        });
        match &result {
            Ok((_, FoundEnd::Outcome(outcome))) => recorded.end(ApiCallEnd::Outcome(outcome)),
            Ok((_, FoundEnd::NotFound)) => recorded.end(ApiCallEnd::NotFound),
            Ok((_, FoundEnd::Reversed)) => recorded.end(ApiCallEnd::Reversed),
            Ok((_, FoundEnd::Found(state))) => recorded.end(ApiCallEnd::Found(*state)),
            Err(failure) => recorded.end(ApiCallEnd::Failed(failure)),
        }
        result.inspect_err(|failure| log_failure(&call, failure))
    }

    /// Judges the payments of a reference: their outcome is that of the only one that was not declined.
    fn judge_found(&self, found: &FoundPayments, expectation: &Expectation<'_>) -> Result<FoundEnd, ApiFault> {
        let mut open = found.own.iter().filter(|payment| !payment.is_declined());
        let payment = match (open.next(), open.next()) {
            (Some(payment), None) => payment,
            (Some(_), Some(_)) => return Err(ApiFault::Mismatch("number of payments")),
            (None, _) => match found.own.last() {
                Some(declined) => declined,
                None => return Ok(FoundEnd::NotFound),
            },
        };
        if found.is_reversed(payment) {
            return Ok(FoundEnd::Reversed);
        }
        expectation.read_outcome(payment, self.client.token()).map(|outcome| FoundEnd::Outcome(Box::new(outcome)))
    }
}

/// The judgement about the payments of a reference.
#[derive(Debug)]
enum FoundEnd {
    Outcome(Box<ConnectorOutcome>),
    Reversed,
    NotFound,
    /// There are payments in this state, whose outcome was not judged.
    Found(MessageOutcome),
}
