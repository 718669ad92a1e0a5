//! Currencies: ISO 4217 from the `iso_currency` crate, without those that cannot be paid in (any more).

use std::fmt;

/// A currency for payments.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency(iso_currency::Currency);

/// Codes that the table of `iso_currency` still contains although their currency is no longer legal tender: the kuna
/// and the lev were replaced by the euro, the Cuban convertible peso was abolished, Sierra Leone and Zimbabwe have new
/// money.
const WITHDRAWN: [&str; 5] = ["BGN", "CUC", "HRK", "SLL", "ZWL"];

impl Currency {
    /// Finds a currency by its three uppercase letters. Precious metals, test codes and units of account are not found:
    /// they have no decimals defined, and shoppers do not have them.
    pub fn parse(code: &str) -> Option<Self> {
        let currency = iso_currency::Currency::from_code(code)?;
        (currency.exponent().is_some() && !WITHDRAWN.contains(&code)).then_some(Self(currency))
    }

    /// Finds a currency by its number in ISO 4217: three digits, of which spreadsheets drop leading zeros.
    pub fn parse_number(text: &str) -> Option<Self> {
        let is_number = (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number)?;
        Self::parse(iso_currency::Currency::from_numeric(number)?.code())
    }

    /// Returns the number in ISO 4217 in three digits, such as `978`.
    pub fn number(&self) -> String {
        format!("{:03}", self.0.numeric())
    }

    /// Returns the three letters.
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// Returns the number of the currency's own decimals: 0 for yen, 2 for euro, 3 for Kuwaiti dinar. On the wire all
    /// currencies have two.
    pub fn decimals(&self) -> u8 {
        self.0.exponent().map_or(0, |decimals| u8::try_from(decimals).unwrap_or(u8::MAX))
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
