//! State of a payment, derived from the payment and its follow-up payments at a given time.

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::money::Amount;

use super::overcapture::Overcapture;
use super::{Payment, PaymentType};

/// The fields of a follow-up payment that the rules depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowUpSummary {
    /// The type of the follow-up payment.
    pub payment_type: PaymentType,
    /// The amount, in hundredths of the currency of the payment that it refers to.
    pub hundredths: i64,
    /// True if it is part of the sums, see [`Payment::is_effective_follow_up`].
    pub is_effective: bool,
    /// True if it is the last capture of its preauthorization.
    pub is_final: bool,
}

impl FollowUpSummary {
    /// Extracts these fields from a follow-up payment.
    pub fn from_payment(payment: &Payment) -> Self {
        let Payment { payment_type, amount, .. } = payment;
        Self {
            payment_type: *payment_type,
            hundredths: amount.hundredths(),
            is_effective: payment.is_effective_follow_up(),
            is_final: payment.is_final_capture(),
        }
    }
}

/// Returns the sum of the refunds among the follow-up payments of a payment, in hundredths. Pending ones count, because
/// they may still succeed.
pub fn sum_refunds(follow_ups: &[FollowUpSummary]) -> i64 {
    sum_amounts(follow_ups.iter().filter(|one| one.is_effective && one.payment_type == PaymentType::Refund))
}

/// Returns the sum of amounts, in hundredths.
fn sum_amounts<'a>(follow_ups: impl Iterator<Item = &'a FollowUpSummary>) -> i64 {
    follow_ups.fold(0, |sum, one| sum.saturating_add(one.hundredths))
}

/// State of a payment for later modifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentState {
    /// It is pending.
    Pending,
    /// It did not succeed.
    Declined,
    /// It succeeded, and there are no follow-up payments.
    Open,
    /// It was captured or refunded, in part or as a whole.
    Used,
    /// Its time limit has passed: the authorization expired, or the reversal window ended.
    Closed,
    /// It was reversed; for a chargeback, its amount was returned.
    Reversed,
    /// It was charged back.
    ChargedBack,
    /// It is an increment: a part of the preauthorization that it refers to.
    Included,
    /// Its last capture was made, and the rest of its amount is released.
    Finished,
}

/// The properties of a payment that decide which modifications are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentStatus {
    /// The payment type.
    pub payment_type: PaymentType,
    /// The amount of the payment; of a preauthorization, together with its approved increments.
    pub amount: Amount,
    /// The part of the amount that was captured or refunded, in hundredths of its currency.
    pub used: i64,
    /// Tolerance of captures above the amount, in hundredths of its currency.
    pub tolerance: i64,
    /// The state.
    pub state: PaymentState,
}

impl PaymentState {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Declined,
        Self::Open,
        Self::Used,
        Self::Closed,
        Self::Reversed,
        Self::ChargedBack,
        Self::Included,
        Self::Finished,
    ];
}

impl PaymentStatus {
    /// Computes the status of a payment from its follow-up payments. Declined ones are ignored, and pending ones count
    /// like successful ones, except increments: a pending one raises no amount. The first state that applies is:
    /// pending, declined, included, reversed, charged back, finished, closed, open, used. So a closed payment may be
    /// used in part.
    pub fn from_follow_ups(
        payment: &Payment,
        follow_ups: &[FollowUpSummary],
        limits: &FollowUpLimits,
        now: Timestamp,
    ) -> Self {
        let of_type = |payment_type: PaymentType| {
            follow_ups.iter().filter(move |one| one.is_effective && one.payment_type == payment_type)
        };
        let parts = || of_type(PaymentType::Capture).chain(of_type(PaymentType::Refund));
        let used = sum_amounts(parts());
        let increments = sum_amounts(of_type(PaymentType::Preauthorization));
        let own = payment.amount;
        // An increment is approved only if the sum is an amount.
        let amount = Amount::from_hundredths(own.hundredths().saturating_add(increments), own.currency());
        let state = if payment.result.is_pending() {
            PaymentState::Pending
        } else if !payment.is_approved() {
            PaymentState::Declined
        } else if payment.is_increment() {
            PaymentState::Included
        } else if of_type(PaymentType::Reversal).chain(of_type(PaymentType::ChargebackReversal)).next().is_some() {
            PaymentState::Reversed
        } else if of_type(PaymentType::Chargeback).next().is_some() {
            PaymentState::ChargedBack
        } else if of_type(PaymentType::Capture).any(|capture| capture.is_final) {
            PaymentState::Finished
        } else if now.duration_since(payment.created) >= limits.times.open_duration(payment.payment_type) {
            PaymentState::Closed
        } else if parts().next().is_none() {
            PaymentState::Open
        } else {
            PaymentState::Used
        };
        let amount = amount.unwrap_or(own);
        let tolerance = match payment.payment_type {
            PaymentType::Preauthorization => limits.overcapture.of_amount(amount),
            _ => 0,
        };
        Self { payment_type: payment.payment_type, amount, used, tolerance, state }
    }

    /// Returns how much captures can still take, in hundredths of its currency.
    pub fn capturable(&self) -> i64 {
        self.amount.hundredths().saturating_add(self.tolerance).saturating_sub(self.used).max(0)
    }

    /// Returns the part of a capture that exceeds what is authorized. `None` if nothing of it does.
    pub fn find_excess(&self, capture: Amount) -> Option<Amount> {
        let excess = capture.hundredths().saturating_sub(self.remaining());
        Amount::from_hundredths(excess, capture.currency()).filter(|_| excess > 0)
    }

    /// Returns the part of the amount that was not captured or refunded yet, in hundredths of its currency.
    pub fn remaining(&self) -> i64 {
        // Captures can take more than the amount, if the merchant's channel tolerates it.
        self.amount.hundredths().saturating_sub(self.used).max(0)
    }
}

/// Limits of the modifications of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowUpLimits {
    /// The time limits.
    pub times: TimeLimits,
    /// Tolerance of captures above the authorized amount.
    pub overcapture: Overcapture,
}

/// Time limits of modifications, counted from the creation of the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// Time in which a preauthorization may be captured or reversed. Afterwards the amount that was not captured is
    /// released.
    pub authorization_lifetime: SignedDuration,
    /// The connector's reversal window: time in which a debit or credit may be reversed.
    pub reversal_window: SignedDuration,
}

impl TimeLimits {
    /// Returns the time for which a payment of a type stays open: the authorization's lifetime for a preauthorization,
    /// otherwise the time for reversals.
    fn open_duration(&self, payment_type: PaymentType) -> SignedDuration {
        if payment_type == PaymentType::Preauthorization { self.authorization_lifetime } else { self.reversal_window }
    }
}
