//! The effect of a payment on a dispute: a chargeback opens or continues one, and the reversal of a chargeback ends it.
//! So every chargeback has its dispute, whichever request makes it.

use super::Event;
use crate::dispute::{Dispute, NewDispute, StepDetails};
use crate::id::{DisputeId, PaymentId};
use crate::payment::{FollowUpSummary, Payment, PaymentType, sum_refunds};

/// Effect of the write of a payment on a dispute.
#[derive(Debug)]
pub enum DisputeEffect<'a> {
    /// No dispute changes.
    Unchanged,
    /// The payment with this id is disputed from now on, see [`Chargeback::move_dispute`].
    ChargedBack(&'a PaymentId),
    /// The dispute has this state after the write.
    Moved(Box<Dispute>),
}

/// A chargeback without a dispute, and the records on which its dispute depends.
#[derive(Debug)]
pub struct Chargeback<'a> {
    /// The chargeback.
    pub payment: &'a Payment,
    /// The payment that is charged back.
    pub charged: &'a Payment,
    /// The follow-up payments of that payment.
    pub follow_ups: &'a [FollowUpSummary],
    /// The open dispute of that payment, if it has one.
    pub open: Option<Dispute>,
    /// The id of the dispute, if none is open.
    pub new_id: DisputeId,
}

/// Returns the id of the chargeback that a payment makes or reverses, by which its dispute is found. Returns `None` if
/// the payment does neither.
pub fn concerned_chargeback(payment: &Payment) -> Option<&PaymentId> {
    let referenced = payment.referenced.as_ref().filter(|_| payment.is_approved())?;
    match payment.payment_type {
        PaymentType::Chargeback => Some(&payment.id),
        PaymentType::ChargebackReversal => Some(referenced),
        _ => None,
    }
}

/// Computes the effect of the write of a payment on a dispute. `known` is the dispute of its [`concerned_chargeback`],
/// if it has one: a request that makes a chargeback may have written its dispute before.
pub fn compute_dispute_effect<'a>(payment: &'a Payment, known: Option<&Dispute>) -> DisputeEffect<'a> {
    let Some(referenced) = payment.referenced.as_ref().filter(|_| payment.is_approved()) else {
        return DisputeEffect::Unchanged;
    };
    match (payment.payment_type, known) {
        (PaymentType::Chargeback, None) => DisputeEffect::ChargedBack(referenced),
        (PaymentType::ChargebackReversal, Some(dispute)) if dispute.reversal.is_none() => {
            // The payment is written even if the stage allows no move: the money has moved.
            let moved = dispute.reverse(&payment.id, StepDetails::of_gateway(payment.created));
            moved.map_or(DisputeEffect::Unchanged, |dispute| DisputeEffect::Moved(Box::new(dispute)))
        }
        _ => DisputeEffect::Unchanged,
    }
}

impl Chargeback<'_> {
    /// Returns the dispute after the chargeback: the open one, or else a new one. Returns `None` if the stage of the
    /// open one allows no chargeback. The chargeback is written nevertheless, because the money has moved.
    pub fn move_dispute(self) -> Option<Dispute> {
        let details = StepDetails::of_gateway(self.payment.created);
        let dispute = match self.open {
            Some(open) => open.charge_back(self.payment, details).ok()?,
            None => {
                let dispute = NewDispute {
                    id: self.new_id,
                    payment: self.charged,
                    amount: self.payment.amount,
                    reason: self.payment.result,
                    scheme_reason: None,
                    chargeback: Some(self.payment.id.clone()),
                };
                dispute.open(details)
            }
        };
        Some(dispute.with_double_payout(self.charged.amount.hundredths(), sum_refunds(self.follow_ups)))
    }
}

/// Returns the event for the write of a dispute after a step.
pub fn dispute_event(after: &Dispute) -> Event {
    if after.steps.len() == 1 { Event::DisputeCreated } else { Event::DisputeUpdated }
}
