//! The abilities of a connector, as far as they differ from one to another.

use jiff::civil::Time;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Currency;

use crate::domain::payment::PaymentType;

/// The abilities of a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The payment types that it takes.
    pub payment_types: &'static [PaymentType],
    /// The brands that it takes, by their codes. `None` if it takes all.
    pub brands: Option<&'static [&'static str]>,
    /// The currencies that it takes, ISO 4217. `None` if it takes all.
    pub currencies: Option<&'static [&'static str]>,
    /// True if a part of a preauthorization can be captured.
    pub captures_partially: bool,
    /// True if a preauthorization can be captured more than once.
    pub captures_repeatedly: bool,
    /// The time of the day, UTC, at which it books the day's transactions: a later reversal has to be a refund. `None` if it
    /// has no such time, and the gateway's own cut-off counts.
    pub cut_off: Option<Time>,
    /// True if a request to it leaves this process, so that its outcome may stay unknown. One that does not leave is a pure
    /// function of the request: it needs one commit, and nothing is reserved before it is asked.
    pub leaves_process: bool,
}

impl Capabilities {
    /// The abilities of a connector that limits nothing and answers inside this process.
    pub const EVERYTHING_IN_PROCESS: Self = Self {
        payment_types: &PaymentType::ALL,
        brands: None,
        currencies: None,
        captures_partially: true,
        captures_repeatedly: true,
        cut_off: None,
        leaves_process: false,
    };

    /// Returns true if the connector takes a payment of this type, brand and currency.
    pub fn takes(&self, payment_type: PaymentType, brand: &Brand, currency: Currency) -> bool {
        self.payment_types.contains(&payment_type)
            && self.brands.is_none_or(|brands| brands.contains(&brand.code))
            && self.currencies.is_none_or(|currencies| currencies.contains(&currency.code()))
    }
}
