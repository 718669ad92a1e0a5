//! The stored dispute, its steps and its times.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;
use tillgate_shared::result::ResultCode;

use super::{DisputeAction, DisputePosition, DisputeStage, EVIDENCE_RETENTION, REMINDER_LEAD, default_response_days};
use crate::id::{DisputeId, EntityId, PaymentId};
use crate::payment::{Payment, money, result_code as code};
use crate::refusal::Refusal;

/// A dispute about a charged payment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispute {
    /// Its id.
    pub id: DisputeId,
    /// The entity that owns the payment.
    pub entity: EntityId,
    /// The disputed payment.
    pub payment: PaymentId,
    /// The merchant's reference of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_transaction_id: Option<String>,
    /// The brand of the payment.
    pub brand: String,
    /// The disputed amount: that of the chargeback once there is one.
    #[serde(with = "money")]
    pub amount: Amount,
    /// The reason, the code of a chargeback.
    #[serde(with = "code")]
    pub reason: ResultCode,
    /// The reason code of the card scheme, such as `10.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme_reason: Option<String>,
    /// The stage and the side that has to act.
    #[serde(flatten)]
    pub position: DisputePosition,
    /// The time of the first step, by the clock of the entity, as all times of a dispute.
    pub opened: Timestamp,
    /// The time until which the merchant has to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// The time of the reminder of that deadline. `None` once it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_at: Option<Timestamp>,
    /// The time of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The chargeback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chargeback: Option<PaymentId>,
    /// The reversal of the chargeback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversal: Option<PaymentId>,
    /// Part of the chargeback that was refunded as well, in hundredths: the shopper gets it twice. The merchant's
    /// defence is that a credit has been issued already.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub double_payout: i64,
    /// Number of evidence files that are stored.
    #[serde(default)]
    pub evidence_files: u32,
    /// Size of these files together, in bytes.
    #[serde(default)]
    pub evidence_bytes: u64,
    /// The steps, oldest first. No dispute has more than a few, because no stage comes twice.
    pub steps: Vec<DisputeStep>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_zero(hundredths: &i64) -> bool {
    *hundredths == 0
}

/// A step of a dispute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisputeStep {
    /// The time.
    pub at: Timestamp,
    /// The action.
    pub action: DisputeAction,
    /// The stage after it.
    pub stage: DisputeStage,
    /// The token or user that acted. `None` for the gateway itself, and for a chargeback that was made as a payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// A note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Data of a step besides its action.
#[derive(Debug, Clone)]
pub struct StepDetails {
    /// The time, by the clock of the entity.
    pub at: Timestamp,
    /// The token or user that acts. `None` for the gateway itself.
    pub actor: Option<String>,
    /// A note.
    pub note: Option<String>,
    /// Days for the merchant's answer, if another number than the scheme's applies.
    pub response_days: Option<u16>,
}

impl StepDetails {
    /// Creates the details of a step of the gateway itself.
    pub fn of_gateway(at: Timestamp) -> Self {
        Self { at, actor: None, note: None, response_days: None }
    }
}

/// Data of a new dispute.
#[derive(Debug)]
pub struct NewDispute<'a> {
    /// The id.
    pub id: DisputeId,
    /// The disputed payment.
    pub payment: &'a Payment,
    /// The disputed amount.
    pub amount: Amount,
    /// The reason.
    pub reason: ResultCode,
    /// The reason code of the card scheme.
    pub scheme_reason: Option<String>,
    /// The chargeback, if it opens the dispute.
    pub chargeback: Option<PaymentId>,
}

/// Act of the timer of a dispute.
#[derive(Debug, Clone, PartialEq)]
pub enum DisputeTimerAction {
    /// Reminds the merchant of its deadline.
    Remind(Dispute),
    /// Ends the dispute, because the deadline has passed.
    Expire(Dispute),
    /// Deletes the evidence, because its retention has ended.
    DeleteEvidence(Dispute),
}

impl NewDispute<'_> {
    /// Opens the dispute: with its chargeback, or without one with a retrieval request.
    pub fn open(self, details: StepDetails) -> Dispute {
        let action =
            if self.chargeback.is_some() { DisputeAction::ChargeBack } else { DisputeAction::RequestRetrieval };
        let stage = if self.chargeback.is_some() { DisputeStage::Chargeback } else { DisputeStage::RetrievalRequest };
        let mut dispute = Dispute {
            id: self.id,
            entity: self.payment.entity.clone(),
            payment: self.payment.id.clone(),
            merchant_transaction_id: self.payment.merchant_transaction_id().map(str::to_owned),
            brand: self.payment.brand.clone(),
            amount: self.amount,
            reason: self.reason,
            scheme_reason: self.scheme_reason,
            position: DisputePosition { stage, awaits_merchant: true },
            opened: details.at,
            deadline: None,
            remind_at: None,
            ended: None,
            chargeback: self.chargeback,
            reversal: None,
            double_payout: 0,
            evidence_files: 0,
            evidence_bytes: 0,
            steps: Vec::new(),
        };
        dispute.start_stage(action, details);
        dispute
    }
}

impl Dispute {
    /// Returns the dispute after an action that makes no payment.
    ///
    /// # Errors
    /// 409 if the action is not allowed at this stage.
    pub fn advance(&self, action: DisputeAction, details: StepDetails) -> Result<Self, Refusal> {
        let Some(position) = self.position.after_action(action) else { return Err(self.refuse_action(action)) };
        let mut next = Self { position, ..self.clone() };
        next.start_stage(action, details);
        Ok(next)
    }

    /// Returns the dispute after a chargeback.
    ///
    /// # Errors
    /// 409 if there can be none at this stage.
    pub fn charge_back(&self, chargeback: &Payment, details: StepDetails) -> Result<Self, Refusal> {
        let next = self.advance(DisputeAction::ChargeBack, details)?;
        let (amount, reason) = (chargeback.amount, chargeback.result);
        Ok(Self { amount, reason, chargeback: Some(chargeback.id.clone()), ..next })
    }

    /// Returns the dispute with the part of its chargeback that the merchant has refunded. `charged` is the amount of
    /// the payment, and `refunded` the sum of its refunds when it was charged back, both in hundredths.
    #[must_use]
    pub fn with_double_payout(self, charged: i64, refunded: i64) -> Self {
        let paid_twice = self.amount.hundredths().saturating_add(refunded).saturating_sub(charged).max(0);
        let double_payout = if self.chargeback.is_some() { paid_twice } else { 0 };
        Self { double_payout, ..self }
    }

    /// Returns the part of the chargeback that was refunded as well. `None` if there is none.
    pub fn double_payout_amount(&self) -> Option<Amount> {
        Amount::from_hundredths(self.double_payout, self.amount.currency()).filter(|amount| !amount.is_zero())
    }

    /// Returns the dispute after the reversal of its chargeback.
    ///
    /// # Errors
    /// 409 if there is no chargeback, or if it was reversed before.
    pub fn reverse(&self, reversal: &PaymentId, details: StepDetails) -> Result<Self, Refusal> {
        if self.chargeback.is_none() {
            return Err(self.refuse_action(DisputeAction::Reverse));
        }
        let next = self.advance(DisputeAction::Reverse, details)?;
        Ok(Self { reversal: Some(reversal.clone()), ..next })
    }

    /// Returns the refusal of an action that the stage does not allow.
    pub fn refuse_action(&self, action: DisputeAction) -> Refusal {
        let side = match (self.position.stage.has_ended(), self.position.awaits_merchant) {
            (true, _) => "has ended",
            (false, true) => "awaits the merchant",
            (false, false) => "awaits the institute",
        };
        let (stage, action) = (self.position.stage.as_str(), action.as_str());
        Refusal::dispute_conflict(format!("The dispute is at {stage} and {side}: {action} is not possible"))
    }

    /// Sets the times of the stage that an action begins, and adds the step.
    fn start_stage(&mut self, action: DisputeAction, details: StepDetails) {
        let StepDetails { at, actor, note, response_days } = details;
        let DisputePosition { stage, awaits_merchant } = self.position;
        (self.deadline, self.remind_at) = (None, None);
        if awaits_merchant {
            let days = response_days.unwrap_or_else(|| default_response_days(&self.brand, stage));
            let time = SignedDuration::from_hours(i64::from(days) * 24);
            let deadline = at.checked_add(time).unwrap_or(Timestamp::MAX);
            self.deadline = Some(deadline);
            self.remind_at = Some(deadline - REMINDER_LEAD.min(time / 2));
        }
        // A dispute that ended before keeps that time, so that its evidence is not kept for longer.
        self.ended = stage.has_ended().then(|| self.ended.unwrap_or(at));
        self.steps.push(DisputeStep { at, action, stage, actor, note });
    }

    /// Returns the next moment at which [`Self::run_timer`] has something to do, by the clock of the entity.
    pub fn next_timer(&self) -> Option<Timestamp> {
        if self.position.awaits_merchant {
            return self.remind_at.or(self.deadline);
        }
        let ended = self.ended.filter(|_| self.evidence_files > 0)?;
        Some(ended.checked_add(EVIDENCE_RETENTION).unwrap_or(Timestamp::MAX))
    }

    /// Returns the act that is due at `now`, or `None` if nothing is. A reminder that is due together with the deadline
    /// is left out.
    pub fn run_timer(&self, now: Timestamp) -> Option<DisputeTimerAction> {
        self.next_timer().filter(|due| *due <= now)?;
        match self.deadline.filter(|_| self.position.awaits_merchant) {
            Some(deadline) if deadline <= now => {
                let expired = self.advance(DisputeAction::Expire, StepDetails::of_gateway(now)).ok()?;
                Some(DisputeTimerAction::Expire(expired))
            }
            Some(_) => Some(DisputeTimerAction::Remind(Self { remind_at: None, ..self.clone() })),
            None => {
                Some(DisputeTimerAction::DeleteEvidence(Self { evidence_files: 0, evidence_bytes: 0, ..self.clone() }))
            }
        }
    }
}
