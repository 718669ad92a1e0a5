//! Currencies: ISO 4217 as the `iso_currency` crate has it, less what cannot be paid in (any more).

use std::fmt;

/// A currency that payments can be made in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency(iso_currency::Currency);

/// Codes that the table of `iso_currency` still holds although their currency is no longer legal tender: the kuna and
/// the lev gave way to the euro, the Cuban convertible peso was abolished, Sierra Leone and Zimbabwe have new money.
const WITHDRAWN: [&str; 5] = ["BGN", "CUC", "HRK", "SLL", "ZWL"];

impl Currency {
    /// Finds a currency by its three uppercase letters. Precious metals, test codes and units of account have no
    /// decimals defined and are not money that a shopper has: they are not found.
    pub fn parse(code: &str) -> Option<Self> {
        let currency = iso_currency::Currency::from_code(code)?;
        (currency.exponent().is_some() && !WITHDRAWN.contains(&code)).then_some(Self(currency))
    }

    /// The three letters.
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// How many decimals the currency itself has: 0 for yen, 2 for euro, 3 for Kuwaiti dinar. The wire has two for
    /// all of them.
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
