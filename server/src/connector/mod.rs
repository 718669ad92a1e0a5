//! Who moves the money. A connector takes an order and answers.
//!
//! INTERNAL payments go to the [`simulator`], a pure function of the order. No acquirer is connected yet, so an order
//! for one is answered with the code that says so.

mod account;
mod answer;
pub mod http;
pub mod simulator;

use jiff::civil::Date;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, codes};

pub use account::{BankNumber, Cryptogram, Entry, FullAccount, FullBank, FullCard, NationalNumber};
pub use answer::Answer;

use crate::domain::authentication::Proof;
use crate::domain::payment::PaymentType;

/// Everything a connector needs to carry out a payment that refers to no other. Lives in memory only.
#[derive(Debug)]
pub struct Order {
    /// What to do with the money.
    pub payment_type: PaymentType,
    /// How much.
    pub amount: Amount,
    /// The way to pay.
    pub brand: &'static Brand,
    /// The account that is charged.
    pub account: FullAccount,
    /// Street and postcode of the billing address, for the address check.
    pub address: Address,
    /// `bankAccount.mandate.dateOfSignature`.
    pub mandate_signed: Option<Date>,
    /// Whether the shopper takes part; a merchant's repeated payment goes without.
    pub shopper_present: bool,
    /// The authentication of the cardholder, ours or one that the merchant brings.
    pub proof: Option<Proof>,
    /// True if a sandbox takes card numbers that are no documented test numbers.
    pub any_number: bool,
    /// The outcome that a sandbox merchant asks for (`customParameters[forceResultCode]`).
    pub forced: Option<String>,
}

impl Order {
    /// Whether its cardholder is authenticated, as far as an issuer asks for it.
    pub fn is_authenticated(&self) -> bool {
        self.proof.as_ref().is_some_and(Proof::is_authenticated)
    }

    /// Whether the brand's own page decides: not that of a brand which answers at once, nor where the merchant charges an
    /// account with a provider without the shopper, who agreed to that before.
    pub fn shopper_leaves(&self) -> bool {
        let agreed = !self.shopper_present && matches!(self.account, FullAccount::Virtual(_));
        !self.brand.synchronous() && !agreed
    }
}

/// What the address check looks at.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// `billing.street1`.
    pub street: Option<String>,
    /// `billing.postcode`.
    pub postcode: Option<String>,
}

/// Where an order goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The simulator of this service (`testMode=INTERNAL`, and the default of a sandbox entity).
    Simulator,
    /// An acquirer's host (`testMode=EXTERNAL`, and every payment of a live entity).
    Acquirer,
}

impl Route {
    /// Authorises an order on a day.
    pub fn authorize(self, order: &Order, today: Date) -> Answer {
        match self {
            Self::Simulator => simulator::authorize(order, today),
            Self::Acquirer => codes::METHOD_NOT_CONFIGURED.into(),
        }
    }

    /// Returns the result code with which every order of this account is declined, without anything being asked or kept; or
    /// `None` if there is no such reason.
    pub fn refused_account(self, order: &Order) -> Option<ResultCode> {
        match self {
            Self::Simulator => simulator::refused_number(order).map(|outcome| outcome.result),
            Self::Acquirer => None,
        }
    }

    /// Verifies an account on a day, with an order that moves nothing. The shopper stays here: an account with a brand that
    /// has a page of its own is confirmed there when it pays.
    pub fn verify(self, order: &Order, today: Date) -> ResultCode {
        match self {
            Self::Simulator => simulator::verify(order, today),
            Self::Acquirer => codes::METHOD_NOT_CONFIGURED,
        }
    }

    /// Captures, reverses or refunds an earlier payment, which the rules allow; `forced` is the outcome that a sandbox
    /// merchant asks for.
    pub fn follow(self, forced: Option<&str>) -> ResultCode {
        match self {
            Self::Simulator => simulator::follow(forced),
            Self::Acquirer => codes::METHOD_NOT_CONFIGURED,
        }
    }
}
