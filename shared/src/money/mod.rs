//! Money: an amount is a whole number of hundredths in a currency, and never negative.
//!
//! On the wire every currency has two decimals (`"92.00"`, also for yen), so amounts are counted in hundredths and not
//! in the currency's own minor units. There are no floats anywhere.

mod currency;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

pub use currency::Currency;

use crate::format::amount;

/// An amount of money in one currency.
///
/// Amounts of different currencies cannot be compared ([`PartialOrd`] returns `None`), added or subtracted (these
/// return `None`, too).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amount {
    hundredths: i64,
    currency: Currency,
}

/// Reason why a text is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountError {
    /// It does not match [`amount::PATTERN`].
    Pattern,
    /// The currency has no unit that small: 12.50 JPY.
    Precision(Currency),
}

impl Amount {
    /// Reads an amount in its format on the wire: up to ten digits, optionally a dot and two decimals.
    ///
    /// # Errors
    /// [`AmountError::Pattern`] for another format, [`AmountError::Precision`] for a value that the currency cannot
    /// express.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, AmountError> {
        let hundredths = amount::parse_hundredths(text).ok_or(AmountError::Pattern)?;
        Self::from_hundredths(hundredths, currency).ok_or(AmountError::Precision(currency))
    }

    /// Creates an amount from its hundredths. Returns `None` if it is negative or the currency cannot express it.
    pub fn from_hundredths(hundredths: i64, currency: Currency) -> Option<Self> {
        let step = match currency.decimals() {
            0 => 100,
            1 => 10,
            _ => 1,
        };
        (hundredths >= 0 && hundredths % step == 0).then_some(Self { hundredths, currency })
    }

    /// Returns the currency.
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// Returns the value in hundredths of the currency's main unit: 92.00 EUR is 9200, and 92 JPY is also 9200.
    pub fn hundredths(&self) -> i64 {
        self.hundredths
    }

    /// Returns true if the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.hundredths == 0
    }

    /// Returns the sum. `None` if the currencies differ or the sum overflows.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.combine_hundredths(other, i64::checked_add)
    }

    /// Returns the difference. `None` if the currencies differ or it would be negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.combine_hundredths(other, i64::checked_sub)
    }

    /// Returns the result of a checked operation on both amounts. `None` if the currencies differ, the operation
    /// overflows, or the result is negative.
    fn combine_hundredths(self, other: Self, operation: fn(i64, i64) -> Option<i64>) -> Option<Self> {
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
    /// Formats the amount for the wire, without the currency: `92.00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.hundredths / 100, self.hundredths % 100)
    }
}

impl AmountError {
    /// Returns the message for `parameterErrors`.
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
