//! Where a payment stands: the payment itself and everything that refers to it, at a moment.

use jiff::Timestamp;
use tillgate_shared::money::Amount;

use super::{Payment, PaymentType, Terms};

/// A payment that refers to another, as far as the rules look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What it does to the payment that it refers to.
    pub payment_type: PaymentType,
    /// How much, in hundredths of the currency of the payment that it refers to.
    pub hundredths: i64,
    /// Whether it was carried out, or may yet be: what is pending is not to be had twice.
    pub approved: bool,
}

impl Link {
    /// The link of a payment to the one that it refers to.
    pub fn of(payment: &Payment) -> Self {
        let Payment { payment_type, amount, .. } = payment;
        Self { payment_type: *payment_type, hundredths: amount.hundredths(), approved: payment.counts() }
    }
}

/// What has become of a payment, as far as a later command must know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is not decided yet.
    Pending,
    /// It did not succeed.
    Declined,
    /// It succeeded, and nothing has followed.
    Open,
    /// It has been captured or refunded, in part or as a whole.
    Used,
    /// Its time is over: the authorisation has expired, or the cut-off for a reversal has passed.
    Closed,
    /// It was undone.
    Reversed,
    /// The shopper's bank has taken the money back.
    ChargedBack,
}

/// A payment as the rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// What it does.
    pub payment_type: PaymentType,
    /// How much it was about.
    pub amount: Amount,
    /// How much of that has not been captured or refunded yet, in hundredths of its currency.
    pub left: i64,
    /// What has become of it.
    pub state: State,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 7] =
        [Self::Pending, Self::Declined, Self::Open, Self::Used, Self::Closed, Self::Reversed, Self::ChargedBack];
}

impl Standing {
    /// Where a payment stands, given everything that refers to it.
    pub fn of(payment: &Payment, links: &[Link], terms: &Terms, now: Timestamp) -> Self {
        let followed = |kind: PaymentType| links.iter().filter(move |link| link.approved && link.payment_type == kind);
        let parts = || followed(PaymentType::Capture).chain(followed(PaymentType::Refund));
        let used: i64 = parts().fold(0, |sum, link| sum.saturating_add(link.hundredths));
        // Sums never exceed the whole; were a file to say so all the same, nothing is left.
        let left = payment.amount.hundredths().saturating_sub(used).max(0);
        let state = if payment.result.is_pending() {
            State::Pending
        } else if !payment.approved() {
            State::Declined
        } else if followed(PaymentType::Reversal).next().is_some() {
            State::Reversed
        } else if followed(PaymentType::Chargeback).next().is_some() {
            State::ChargedBack
        } else if now.duration_since(payment.created) >= terms.of(payment.payment_type) {
            State::Closed
        } else if parts().next().is_none() {
            State::Open
        } else {
            State::Used
        };
        Self { payment_type: payment.payment_type, amount: payment.amount, left, state }
    }
}

impl Terms {
    /// How long a payment of a type is open.
    fn of(&self, payment_type: PaymentType) -> jiff::SignedDuration {
        if payment_type == PaymentType::Preauthorization { self.authorization_lifetime } else { self.reversal_window }
    }
}
