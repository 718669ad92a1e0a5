//! Decisions of people at the gateway's machine, about the payments of all entities. The running gateway carries them
//! out, because it has the connectors and the vault.

use std::sync::Arc;

use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::{DecisionType, RequestedDecision};
use tillgate_domain::review::queue::{parse_cancel_reason, parse_note};
use tillgate_domain::risk::list::parse_author;

use super::administration::{not_held, refuse_review};
use crate::administration::ActError;
use crate::{Failure, Gateway};

/// A decision as it is sent, before it is checked.
#[derive(Debug, Clone)]
pub struct OperatorDecision {
    /// The payment's id.
    pub payment: String,
    /// The decision.
    pub decision: DecisionType,
    /// The name of the analyst.
    pub analyst: String,
    /// The numeric reason of a cancellation.
    pub reason: Option<u32>,
    /// The analyst's note.
    pub note: Option<String>,
    /// The person who sent the decision, for the audit log.
    pub actor: String,
}

impl Gateway {
    /// Decides a held payment as [`Gateway::decide_payment`] does, whatever entity owns it. Returns the payment with
    /// its current state. The same decision by the same analyst changes nothing.
    ///
    /// # Errors
    /// The refusal names the input at fault. It names `payment` if the payment was never held, is not held any more, or
    /// is claimed by another analyst.
    pub async fn decide_for_operator(&self, input: &OperatorDecision) -> Result<Arc<Payment>, ActError> {
        let id = PaymentId::parse(&input.payment);
        let id =
            id.ok_or_else(|| ActError::refuse("payment", "a payment's id has 32 lowercase hexadecimal characters"))?;
        let analyst = parse_author(&input.analyst).map_err(|message| ActError::refuse("analyst", message))?;
        let (note, cancel_reason) = (input.check_note()?, input.check_reason()?);
        let record = self.store.load_review_record(&id)?;
        let (_, payment, _) = record.ok_or_else(|| not_held(&id))?;
        let decision = RequestedDecision {
            cancel_reason,
            note,
            actor: Some(input.actor.clone()),
            ..RequestedDecision::about(&payment, input.decision, analyst)
        };
        self.decide_payment(&payment, decision).await.map_err(|failure| match failure {
            Failure::Refused(refusal) => refuse_review(&refusal),
            failure => failure.into(),
        })
    }
}

impl OperatorDecision {
    fn check_note(&self) -> Result<Option<String>, ActError> {
        let refuse = |message| ActError::refuse("note", format!("a note {message}"));
        self.note.as_deref().map_or(Ok(None), parse_note).map_err(refuse)
    }

    /// Checks that a cancellation, and no other decision, has a reason.
    fn check_reason(&self) -> Result<Option<u32>, ActError> {
        let refuse = |message: &str| ActError::refuse("reason", format!("a reason {message}"));
        match (self.decision, self.reason) {
            (DecisionType::Cancel, Some(reason)) => {
                parse_cancel_reason(&reason.to_string()).map(Some).map_err(|message| refuse(&message))
            }
            (DecisionType::Cancel, None) => Err(refuse("is needed to cancel a payment")),
            (_, Some(_)) => Err(refuse("is possible only to cancel a payment")),
            (_, None) => Ok(None),
        }
    }
}
