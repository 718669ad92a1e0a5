//! Decisions of people: of those at the gateway's machine, about the payments of all entities, and of users of the back
//! office. The running gateway carries them out, because it has the connectors and the vault.

use std::sync::Arc;

use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::{DecisionType, RequestedDecision};
use tillgate_domain::review::queue::{parse_cancel_reason, parse_note};
use tillgate_domain::risk::list::parse_author;

use super::administration::{describe_actor, not_held, refuse_review};
use crate::access::actor::Actor;
use crate::administration::ActError;
use crate::{Failure, Gateway};

/// A decision as it is sent, before it is checked.
#[derive(Debug, Clone)]
pub struct SentDecision {
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
    pub actor: Actor,
}

impl Gateway {
    /// Decides a held payment as [`Gateway::decide_payment`] does, whatever entity owns it. Returns the payment with
    /// its current state. The same decision by the same analyst changes nothing.
    ///
    /// # Errors
    /// The refusal names the input at fault. It names `payment` if the payment was never held, is not held any more, or
    /// is claimed by another analyst.
    pub async fn decide_for_operator(&self, input: &SentDecision) -> Result<Arc<Payment>, ActError> {
        self.decide_if(input, |_| Ok(())).await
    }

    /// Decides a held payment for a user of the back office, as [`Gateway::decide_for_operator`] does. The user's
    /// session and permission are checked again, because the form may have arrived long after its head.
    ///
    /// # Errors
    /// Same as [`Gateway::decide_for_operator`]; also if the session has ended, or the user may not decide about the
    /// payments of this entity (any more).
    pub async fn decide_for_user(&self, input: &SentDecision) -> Result<Arc<Payment>, ActError> {
        let check = |payment: &Payment| {
            let reach = Reach::Entity(payment.entity.clone());
            self.check_right_of(&input.actor, (Permission::DecideReviews, &reach))
        };
        self.decide_if(input, check).await
    }

    /// Decides a held payment if a check of the person who acts allows it.
    async fn decide_if(
        &self,
        input: &SentDecision,
        check: impl FnOnce(&Payment) -> Result<(), ActError>,
    ) -> Result<Arc<Payment>, ActError> {
        let id = PaymentId::parse(&input.payment);
        let id =
            id.ok_or_else(|| ActError::refuse("payment", "a payment's id has 32 lowercase hexadecimal characters"))?;
        let record = self.store.load_review_record(&id)?;
        let payment = record.map(|(_, payment, _)| payment);
        // The right comes first, so that nobody learns about a payment from the refusal of an input.
        if let Some(payment) = &payment {
            check(payment)?;
        }
        let analyst = parse_author(&input.analyst).map_err(|message| ActError::refuse("analyst", message))?;
        let (note, cancel_reason) = (input.check_note()?, input.check_reason()?);
        let payment = payment.ok_or_else(|| not_held(&id))?;
        let actor = describe_actor(input.actor.name().to_owned(), input.actor.address());
        let decision = RequestedDecision {
            cancel_reason,
            note,
            actor: Some(actor),
            ..RequestedDecision::about(&payment, input.decision, analyst)
        };
        self.decide_payment(&payment, decision).await.map_err(|failure| match failure {
            Failure::Refused(refusal) => refuse_review(&refusal),
            failure => failure.into(),
        })
    }
}

impl SentDecision {
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
