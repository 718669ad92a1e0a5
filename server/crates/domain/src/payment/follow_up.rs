//! Follow-up payments: the modifications of a payment (capture, increment, reversal, refund, chargeback), and the rules
//! that allow them. [`ModificationType::check_state`] is the matrix of types and states, and
//! [`ModificationType::decide_amount`] limits the amount, such as that of a partial refund.

use tillgate_shared::money::Amount;
use tillgate_shared::parameter::{Operation, Parameters};
use tillgate_shared::result::{ResultCode, codes};

use super::{PaymentState, PaymentStatus, PaymentType};

/// Name of the parameter with the reason of a charge.
pub const INDUSTRY_PRACTICE: &str = "standingInstruction.industryPractice";
/// Its value for an increment of a preauthorization.
pub const INCREMENT: &str = "INCREMENTAL_AUTH";

/// Type of a modification of an earlier payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModificationType {
    /// Captures the amount of a preauthorization, at once or in parts.
    Capture,
    /// Raises the amount of a preauthorization.
    Increment,
    /// Reverses a whole payment, of a preauthorization with its increments. The shopper sees no booking.
    Reversal,
    /// Refunds a captured or debited amount, at once or in parts.
    Refund,
    /// Records that the shopper's bank has charged the amount back.
    Chargeback,
    /// Records that the shopper's bank has returned the amount of a chargeback, or a part of it.
    ChargebackReversal,
}

impl ModificationType {
    /// Every type.
    pub const ALL: [Self; 6] =
        [Self::Capture, Self::Increment, Self::Reversal, Self::Refund, Self::Chargeback, Self::ChargebackReversal];

    /// Returns the operation in the parameter catalogue.
    pub fn catalogue_operation(self) -> Operation {
        match self {
            Self::Capture => Operation::Capture,
            Self::Increment => Operation::Increment,
            Self::Reversal => Operation::Reversal,
            Self::Refund => Operation::Refund,
            Self::Chargeback => Operation::Chargeback,
            Self::ChargebackReversal => Operation::ChargebackReversal,
        }
    }

    /// Checks the matrix of modifications, payment types and states. Every combination that is not allowed has a
    /// documented code. Sums are checked afterwards by [`ModificationType::decide_amount`].
    ///
    /// A preauthorization is closed when its lifetime ends, and finished after its final capture. The amount that was
    /// not captured is released then. Its increments are captured and reversed with it, so nothing refers to them. A
    /// debit or credit is closed when the connector's reversal window has ended and it is booked. After that it can
    /// only be refunded, and a debit charged back.
    #[rustfmt::skip] // keeps each rule on one line
    pub fn check_state(self, referenced: PaymentType, state: PaymentState) -> Result<(), ResultCode> {
        use ModificationType::{Capture, Chargeback, ChargebackReversal, Increment, Refund, Reversal};
        use PaymentType::{Capture as CP, Chargeback as CB, Credit as CD, Debit as DB, Preauthorization as PA, TwoStepDebit as PACP};
        use PaymentState::{ChargedBack, Closed, Declined, Finished, Included, Open, Pending, Reversed, Used};

        match (self, referenced, state) {
            // change    referenced             state                   result
            (_,          _,                     Pending)             => Err(codes::REFERENCE_PENDING),

            (Capture,    PA,                    Open | Used)         => Ok(()),
            (Capture,    PA,                    Closed)              => Err(codes::CAPTURE_TOO_LATE),
            (Capture,    PA,                    Reversed | Finished) => Err(codes::CAPTURE_VOLUME_EXCEEDED),
            (Capture,    _,                     _)                   => Err(codes::CAPTURE_NEEDS_PREAUTHORIZATION),

            (Increment,  PA,                    Open | Used)         => Ok(()),
            (Increment,  PA,                    Closed)              => Err(codes::PREAUTHORIZATION_TOO_LATE),
            (Increment,  PA,                    Reversed | Finished) => Err(codes::REFERENCE_USED),
            (Increment,  PA,                    Declined)            => Err(codes::REFERENCE_DECLINED),
            (Increment,  _,                     _)                   => Err(codes::REFERENCE_OF_OTHER_TYPE),

            (Reversal,   PA,                    Included)            => Err(codes::REFERENCE_TYPE_NOT_POSSIBLE),
            (Reversal,   PA | DB | PACP | CD,   Open)                => Ok(()),
            (Reversal,   PA,                    Finished)            => Err(codes::REVERSAL_OF_USED),
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

            (ChargebackReversal, CB,            Open | Used | Closed) => Ok(()),
            (ChargebackReversal, CB,            Reversed)            => Err(codes::REVERSAL_OF_USED),
            (ChargebackReversal, CB,            _)                   => Err(codes::REVERSAL_NOT_POSSIBLE),
            (ChargebackReversal, _,             _)                   => Err(codes::REFERENCE_TYPE_NOT_POSSIBLE),
        }
    }

    /// Checks a modification of a payment. Returns the amount of the modification: the requested one, or the payment's
    /// whole amount if none is requested.
    ///
    /// All captures together are at most the authorized amount with its increments and the tolerance, and all refunds
    /// together at most the captured or debited amount. A preauthorization that is captured completely has no
    /// increments any more. A reversal is always for the whole amount. A chargeback is at most the whole amount even
    /// after refunds: the bank has already taken the money, and the merchant disputes an amount that was paid back
    /// twice. The reversal of a chargeback is at most the amount of the chargeback.
    ///
    /// # Errors
    /// The code of [`ModificationType::check_state`], then that of another currency, of an amount that is too high (for
    /// a reversal: any other amount), and of zero, which only a reversal may have.
    pub fn decide_amount(self, referenced: &PaymentStatus, requested: Option<Amount>) -> Result<Amount, ResultCode> {
        self.check_state(referenced.payment_type, referenced.state)?;
        let whole = referenced.amount;
        let amount = requested.unwrap_or(whole);
        if amount.currency() != whole.currency() {
            return Err(codes::REFERENCE_CURRENCY_DIFFERS);
        }
        let (fits, code) = match self {
            Self::Capture => (amount.hundredths() <= referenced.capturable(), codes::CAPTURE_VOLUME_EXCEEDED),
            Self::Refund => (amount.hundredths() <= referenced.remaining(), codes::REFUND_VOLUME_EXCEEDED),
            Self::Increment if referenced.remaining() == 0 => (false, codes::REFERENCE_USED),
            Self::Increment => (adds_to_amount(whole, amount), codes::REFERENCE_AMOUNT_TOO_HIGH),
            Self::Chargeback | Self::ChargebackReversal => (amount <= whole, codes::REFERENCE_AMOUNT_TOO_HIGH),
            Self::Reversal => (amount == whole, codes::REFERENCE_AMOUNT_DIFFERS),
        };
        if !fits {
            return Err(code);
        }
        if amount.is_zero() && self != Self::Reversal {
            return Err(codes::AMOUNT_TOO_SMALL);
        }
        Ok(amount)
    }

    /// Returns the code that refuses this modification if it names no earlier payment, or an unknown one.
    pub fn missing_payment_code(self) -> ResultCode {
        match self {
            Self::Capture => codes::CAPTURE_NEEDS_PREAUTHORIZATION,
            Self::Increment => codes::REFERENCE_UNKNOWN,
            Self::Reversal => codes::REVERSAL_NEEDS_PAYMENT,
            Self::Refund => codes::REFUND_NEEDS_PAYMENT,
            Self::Chargeback => codes::CHARGEBACK_NEEDS_PAYMENT,
            Self::ChargebackReversal => codes::REFERENCE_UNKNOWN,
        }
    }

    /// Returns the type of the payment that the modification creates.
    pub fn payment_type(self) -> PaymentType {
        match self {
            Self::Capture => PaymentType::Capture,
            Self::Increment => PaymentType::Preauthorization,
            Self::Reversal => PaymentType::Reversal,
            Self::Refund => PaymentType::Refund,
            Self::Chargeback => PaymentType::Chargeback,
            Self::ChargebackReversal => PaymentType::ChargebackReversal,
        }
    }

    /// Parses a modification from the code of its payment type, such as `CP`. Returns `None` for a type of an initial
    /// payment and for unknown codes.
    pub fn parse(text: &str) -> Option<Self> {
        let of_type = |modification: &Self| modification.payment_type().code() == text;
        Self::ALL.into_iter().filter(|modification| *modification != Self::Increment).find(of_type)
    }

    /// Finds the modification that the parameters of a request with a reference ask for. A preauthorization is one as
    /// an increment, which the industry practice says. `None` for an initial payment and for unknown codes.
    pub fn from_parameters(parameters: &Parameters) -> Option<Self> {
        let code = parameters.get("paymentType")?;
        let is_preauthorization = code == PaymentType::Preauthorization.code();
        if is_preauthorization && parameters.get(INDUSTRY_PRACTICE) == Some(INCREMENT) {
            return Some(Self::Increment);
        }
        Self::parse(code)
    }
}

/// Returns true if an amount can be added to an authorized one.
fn adds_to_amount(authorized: Amount, more: Amount) -> bool {
    let sum = authorized.hundredths().checked_add(more.hundredths());
    sum.and_then(|sum| Amount::from_hundredths(sum, authorized.currency())).is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
