//! Money: an amount is a whole number of hundredths in a currency, and never negative.
//!
//! On the wire every currency has two decimals (`"92.00"`, also for yen), which is why hundredths and not the
//! currency's own minor units are counted. There are no floats anywhere.

mod currency;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

pub use currency::Currency;

use crate::format::amount;

/// An amount of money in one currency.
///
/// Comparing amounts of different currencies has no answer ([`PartialOrd`] gives `None`), and adding or subtracting
/// them gives `None`, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amount {
    hundredths: i64,
    currency: Currency,
}

/// Why a text is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountError {
    /// It does not match [`amount::PATTERN`].
    Pattern,
    /// The currency has no unit that small: 12.50 JPY.
    Precision(Currency),
}

impl Amount {
    /// Reads an amount as it travels: up to ten digits, optionally a dot and two decimals.
    ///
    /// # Errors
    /// [`AmountError::Pattern`] for another shape, [`AmountError::Precision`] for a value that the currency cannot
    /// express.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, AmountError> {
        let hundredths = amount::hundredths(text).ok_or(AmountError::Pattern)?;
        Self::from_hundredths(hundredths, currency).ok_or(AmountError::Precision(currency))
    }

    /// An amount from its hundredths; `None` when it is negative or the currency cannot express it.
    pub fn from_hundredths(hundredths: i64, currency: Currency) -> Option<Self> {
        let step = match currency.decimals() {
            0 => 100,
            1 => 10,
            _ => 1,
        };
        (hundredths >= 0 && hundredths % step == 0).then_some(Self { hundredths, currency })
    }

    /// The currency.
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// The value in hundredths of the currency's main unit: 92.00 EUR is 9200, 92 JPY is 9200, too.
    pub fn hundredths(&self) -> i64 {
        self.hundredths
    }

    /// Whether nothing is left.
    pub fn is_zero(&self) -> bool {
        self.hundredths == 0
    }

    /// The sum; `None` when the currencies differ or the sum is beyond any number we can hold.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.combine(other, i64::checked_add)
    }

    /// The difference; `None` when the currencies differ or it would be negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.combine(other, i64::checked_sub)
    }

    fn combine(self, other: Self, operation: fn(i64, i64) -> Option<i64>) -> Option<Self> {
        if self.currency != other.currency {
            return None;
        }
        Self::from_hundredths(operation(self.hundredths, other.hundredths)?, self.currency)
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.currency == other.currency).then(|| self.hundredths.cmp(&other.hundredths))
    }
}

impl fmt::Display for Amount {
    /// The amount as it travels, without the currency: `92.00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.hundredths / 100, self.hundredths % 100)
    }
}

impl AmountError {
    /// What is wrong, in the words of `parameterErrors`.
    pub fn message(&self) -> Cow<'static, str> {
        match self {
            Self::Pattern => Cow::Borrowed(amount::MESSAGE),
            Self::Precision(currency) => {
                let places = if currency.decimals() == 0 { "no decimals" } else { "one decimal" };
                Cow::Owned(format!("{} has {places}: the rest must be zero", currency.code()))
            }
        }
    }
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for AmountError {}

#[cfg(test)]
mod tests;
