//! Overcapture: captures that together take a little more than was authorized, such as a tip or a minibar.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;

/// Largest tolerance, in percent.
const MAX_PERCENT: u8 = 20;

/// Tolerance of captures above the authorized amount, together: 0 to 20 percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Overcapture(u8);

impl Overcapture {
    /// Nothing more.
    pub const NONE: Self = Self(0);

    /// Returns true if captures can take nothing more.
    #[allow(clippy::trivially_copy_pass_by_ref)] // a signature of serde
    pub fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// Returns this part of an amount in hundredths, rounded down to minor units of its currency.
    pub fn of_amount(self, amount: Amount) -> i64 {
        // A damaged setting is no larger tolerance.
        let percent = i64::from(self.0.min(MAX_PERCENT));
        let part = amount.hundredths().saturating_mul(percent) / 100;
        let minor_unit = match amount.currency().decimals() {
            0 => 100,
            1 => 10,
            _ => 1,
        };
        part - part % minor_unit
    }
}

impl FromStr for Overcapture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let percent = text.parse().ok().filter(|percent| digits && *percent <= MAX_PERCENT);
        percent.map(Self).ok_or_else(|| format!("the tolerance of captures is 0 to {MAX_PERCENT} percent"))
    }
}

impl fmt::Display for Overcapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::money::Currency;

    use super::*;

    #[test]
    fn a_tolerance_is_rounded_down_to_minor_units() {
        for (percent, amount, currency, expected) in [
            ("0", "92.00", "EUR", 0),
            ("15", "92.00", "EUR", 1380),
            ("15", "0.99", "EUR", 14),
            ("20", "99.00", "JPY", 1900),
            ("20", "4.00", "JPY", 0),
        ] {
            let amount = Amount::parse(amount, Currency::parse(currency).unwrap()).unwrap();
            assert_eq!(percent.parse::<Overcapture>().unwrap().of_amount(amount), expected, "{percent} of {amount}");
        }
    }

    #[test]
    fn a_tolerance_is_at_most_a_fifth() {
        for wrong in ["", "21", "-1", "+1", "1.5", "10%", "300"] {
            assert!(wrong.parse::<Overcapture>().is_err(), "{wrong}");
        }
        assert_eq!("20".parse::<Overcapture>().unwrap().to_string(), "20");
        assert!(Overcapture::default().is_none());
    }
}
