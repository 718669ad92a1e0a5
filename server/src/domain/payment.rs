//! A payment: its types, and the rules about what may follow what, which are one matrix: [`Command::takes`].

mod account;
mod kind;
mod outcome;
mod record;
mod redirect;
mod shared;
mod standing;

use jiff::SignedDuration;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, codes};

pub use account::{Account, BankSummary, CardSummary, VirtualSummary};
pub use kind::PaymentType;
pub use outcome::PaymentOutcome;
pub(in crate::domain) use record::code as result_code;
pub use record::{NOTIFICATION_URL, Payment, descriptor};
pub use redirect::{Precondition, Redirect, TransferAccount};
pub use shared::Shared;
pub use standing::{Link, Standing, State};

/// What may be asked of an earlier payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Takes what a preauthorization reserves, at once or in parts.
    Capture,
    /// Undoes a payment as a whole; the shopper sees no booking.
    Reversal,
    /// Gives back what was taken, at once or in parts.
    Refund,
    /// Tells that the shopper's bank has taken the money back.
    Chargeback,
}

/// How long the things that pass are possible, counted from the payment's own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How long a preauthorization may be captured or reversed. Afterwards what was not captured is released.
    pub authorization_lifetime: SignedDuration,
    /// The connector's cut-off: how long a debit or credit may be reversed.
    pub reversal_window: SignedDuration,
}

impl Command {
    /// Every command.
    pub const ALL: [Self; 4] = [Self::Capture, Self::Reversal, Self::Refund, Self::Chargeback];

    /// The matrix: which command takes which payment, in which state; in every other case the documented code that says
    /// why not. Sums are looked at afterwards, by [`Command::decide`].
    ///
    /// A preauthorization is closed when its time is over, and what was not captured is released; a debit or credit is
    /// closed when the connector's cut-off has passed and it is booked. Whoever wants to undo it then refunds it.
    ///
    /// # Errors
    /// The code of the refusal.
    #[rustfmt::skip] // a rule reads as a line
    pub fn takes(self, referenced: PaymentType, state: State) -> Result<(), ResultCode> {
        use Command::{Capture, Chargeback, Refund, Reversal};
        use PaymentType::{Capture as CP, Credit as CD, Debit as DB, Preauthorization as PA, TwoStepDebit as PACP};
        use State::{ChargedBack, Closed, Open, Pending, Reversed, Used};

        match (self, referenced, state) {
            // command   referenced             state                   answer
            (_,          _,                     Pending)             => Err(codes::REFERENCE_PENDING),

            (Capture,    PA,                    Open | Used)         => Ok(()),
            (Capture,    PA,                    Closed)              => Err(codes::CAPTURE_TOO_LATE),
            (Capture,    PA,                    Reversed)            => Err(codes::CAPTURE_VOLUME_EXCEEDED),
            (Capture,    _,                     _)                   => Err(codes::CAPTURE_NEEDS_PREAUTHORIZATION),

            (Reversal,   PA | DB | PACP | CD,   Open)                => Ok(()),
            (Reversal,   PA | DB | PACP | CD,   Used | Reversed)     => Err(codes::REVERSAL_OF_USED),
            (Reversal,   PA | DB | PACP | CD,   Closed)              => Err(codes::REVERSAL_NOT_POSSIBLE),
            (Reversal,   DB | PACP,             ChargedBack)         => Err(codes::REFERENCE_CHARGED_BACK),
            (Reversal,   CP,                    _)                   => Err(codes::REFERENCE_TYPE_NOT_POSSIBLE),
            (Reversal,   _,                     _)                   => Err(codes::REVERSAL_NEEDS_PAYMENT),

            (Refund,     DB | PACP | CD | CP,   Open | Used | Closed) => Ok(()),
            (Refund,     DB | PACP | CD,        Reversed)            => Err(codes::REFUND_VOLUME_EXCEEDED),
            (Refund,     DB | PACP | CP,        ChargedBack)         => Err(codes::REFERENCE_CHARGED_BACK),
            (Refund,     _,                     _)                   => Err(codes::REFUND_NEEDS_PAYMENT),

            (Chargeback, DB | PACP | CP,        Open | Used | Closed) => Ok(()),
            (Chargeback, DB | PACP | CP,        Reversed | ChargedBack) => Err(codes::CHARGEBACK_REPEATED),
            (Chargeback, _,                     _)                   => Err(codes::CHARGEBACK_NEEDS_PAYMENT),
        }
    }

    /// Decides a command about a payment. Returns the amount that it moves: the one asked for, or the payment's own when
    /// none is.
    ///
    /// Captures together are at most what was authorised, refunds together at most what was taken. A reversal is about
    /// the whole. A chargeback is at most the whole, also where refunds have been made: the bank has taken it already,
    /// and the merchant contests what it got twice.
    ///
    /// # Errors
    /// The code of the refusal.
    pub fn decide(self, referenced: &Standing, asked: Option<Amount>) -> Result<Amount, ResultCode> {
        self.takes(referenced.payment_type, referenced.state)?;
        let whole = referenced.amount;
        let amount = asked.unwrap_or(whole);
        if amount.currency() != whole.currency() {
            return Err(codes::REFERENCE_CURRENCY_DIFFERS);
        }
        let (fits, otherwise) = match self {
            Self::Capture => (amount.hundredths() <= referenced.left, codes::CAPTURE_VOLUME_EXCEEDED),
            Self::Refund => (amount.hundredths() <= referenced.left, codes::REFUND_VOLUME_EXCEEDED),
            Self::Chargeback => (amount <= whole, codes::REFERENCE_AMOUNT_TOO_HIGH),
            Self::Reversal => (amount == whole, codes::REFERENCE_AMOUNT_DIFFERS),
        };
        if !fits {
            return Err(otherwise);
        }
        if amount.is_zero() && self != Self::Reversal {
            return Err(codes::AMOUNT_TOO_SMALL);
        }
        Ok(amount)
    }

    /// The refusal of a command that refers to no payment at all: none of these stands alone.
    pub fn without_payment(self) -> ResultCode {
        match self {
            Self::Capture => codes::CAPTURE_NEEDS_PREAUTHORIZATION,
            Self::Reversal => codes::REVERSAL_NEEDS_PAYMENT,
            Self::Refund => codes::REFUND_NEEDS_PAYMENT,
            Self::Chargeback => codes::CHARGEBACK_NEEDS_PAYMENT,
        }
    }

    /// The type of the payment that the command makes.
    pub fn payment_type(self) -> PaymentType {
        match self {
            Self::Capture => PaymentType::Capture,
            Self::Reversal => PaymentType::Reversal,
            Self::Refund => PaymentType::Refund,
            Self::Chargeback => PaymentType::Chargeback,
        }
    }

    /// A command by the letters of its payment type; none for a type that begins a payment.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.payment_type().code() == text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
