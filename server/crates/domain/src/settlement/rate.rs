//! Rates of exchange by date, from the operator's table.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rust_decimal::Decimal;
use tillgate_shared::money::Currency;

/// Rates by the codes of two currencies and by date: units of the second for one unit of the first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FxRates(BTreeMap<(String, String), BTreeMap<Date, Decimal>>);

impl FxRates {
    /// Adds a rate.
    pub fn insert(&mut self, from: &str, to: &str, date: Date, rate: Decimal) {
        self.0.entry((from.to_owned(), to.to_owned())).or_default().insert(date, rate);
    }

    /// Returns the rate from one currency to another on a day: the latest one that is not later. 1 between a currency
    /// and itself. `None` if there is none.
    pub fn find_rate(&self, from: Currency, to: Currency, day: Date) -> Option<Decimal> {
        if from == to {
            return Some(Decimal::ONE);
        }
        let rates = self.0.get(&(from.code().to_owned(), to.code().to_owned()))?;
        rates.range(..=day).next_back().map(|(_, rate)| *rate)
    }
}
