//! Who moves the money. A connector takes an order and answers with a result code.
//!
//! INTERNAL payments go to the [`simulator`], a pure function of the order. No acquirer is connected yet, so an order
//! for one is answered with the code that says so.

pub mod simulator;

use jiff::civil::Date;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::security_code::SecurityCode;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, codes};

use crate::domain::payment::PaymentType;

/// Everything a connector needs to authorise a card payment. Lives in memory only.
#[derive(Debug)]
pub struct Order {
    /// What to do with the money.
    pub payment_type: PaymentType,
    /// How much.
    pub amount: Amount,
    /// The card's brand.
    pub brand: &'static Brand,
    /// The card's number.
    pub number: CardNumber,
    /// The card's expiry.
    pub expiry: Expiry,
    /// The name on the card.
    pub holder: Option<String>,
    /// The security code. Never stored.
    pub code: Option<SecurityCode>,
    /// The outcome that a sandbox merchant asks for (`customParameters[forceResultCode]`).
    pub forced: Option<String>,
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
    pub fn authorize(self, order: &Order, today: Date) -> ResultCode {
        match self {
            Self::Simulator => simulator::authorize(order, today),
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
