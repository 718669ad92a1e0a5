//! The terms of settlement between a merchant and its clearing institute: settlement cut-off, currency, fees and
//! reserve. The operator writes them as TOML.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tillgate_shared::money::{Amount, Currency};

use super::fee::FeeRule;

/// Terms of settlement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettlementTerms {
    /// The time of day at which a day's payments end, by the clock of the entity's time zone. Midnight by default.
    pub cut_off: Time,
    /// Code of the currency in which everything is paid out. `None` for the currency of each payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The part of each payout that is kept for a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve: Option<ReserveTerms>,
    /// The fees. For each event the first rule applies that fits brand and currency.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fee: Vec<FeeRule>,
}

/// A rolling reserve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReserveTerms {
    /// Percentage of the debits and captures of a day, above 0 and at most 100.
    pub percent: Decimal,
    /// Number of days after which it is paid out, 1 to 730.
    pub days: u16,
}

/// Longest time for which a reserve may be kept, in days.
const MAX_RESERVE_DAYS: u16 = 730;

impl SettlementTerms {
    /// Parses terms.
    ///
    /// # Errors
    /// A message that names the key at fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let terms: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        terms.check()?;
        Ok(terms)
    }

    /// Checks what the types do not say. Fails with a message that names the key at fault.
    fn check(&self) -> Result<(), String> {
        if let Some(currency) = &self.currency {
            Currency::parse(currency).ok_or_else(|| format!("currency: {currency} is not a currency of ISO 4217"))?;
        }
        if let Some(reserve) = &self.reserve {
            check_percent("reserve.percent", reserve.percent)?;
            if !(1..=MAX_RESERVE_DAYS).contains(&reserve.days) {
                return Err(format!("reserve.days: must be 1 to {MAX_RESERVE_DAYS}"));
            }
        }
        for (number, rule) in (1..).zip(&self.fee) {
            rule.check(self.currency.as_deref()).map_err(|error| format!("fee {number}: {error}"))?;
        }
        Ok(())
    }

    /// Returns the currency in which an amount is paid out.
    pub fn settlement_currency(&self, of: Currency) -> Currency {
        self.currency.as_deref().and_then(Currency::parse).unwrap_or(of)
    }

    /// Returns the first settlement cut-off after a moment, with the day that ends then: the day of the cut-off in the
    /// time zone, or the day before if the cut-off is midnight.
    pub fn next_cut_off(&self, after: Timestamp, zone: &TimeZone) -> (Timestamp, Date) {
        let mut day = zone.to_datetime(after).date();
        loop {
            // A time that the zone leaves out is that after the gap.
            let cut_off = zone.to_timestamp(DateTime::from_parts(day, self.cut_off)).unwrap_or(Timestamp::MAX);
            if cut_off > after {
                let ended = if self.cut_off == Time::midnight() { day.yesterday().unwrap_or(day) } else { day };
                return (cut_off, ended);
            }
            day = day.saturating_add(1.day());
        }
    }
}

/// Checks a percentage: above 0 and at most 100. Fails with a message that names `key`.
pub(super) fn check_percent(key: &str, percent: Decimal) -> Result<(), String> {
    let fits = percent > Decimal::ZERO && percent <= Decimal::ONE_HUNDRED;
    if fits { Ok(()) } else { Err(format!("{key}: must be above 0 and at most 100")) }
}

/// Returns an amount of a decimal number in a currency, rounded to the smallest unit that the currency and two decimals
/// can express; half a unit is rounded up. `None` if it is negative or too large.
pub fn round_amount(value: Decimal, currency: Currency) -> Option<Amount> {
    use rust_decimal::RoundingStrategy::MidpointAwayFromZero;
    let decimals = u32::from(currency.decimals().min(2));
    let rounded = value.round_dp_with_strategy(decimals, MidpointAwayFromZero);
    let hundredths = rounded.checked_mul(Decimal::ONE_HUNDRED)?.try_into().ok()?;
    Amount::from_hundredths(hundredths, currency)
}

/// Returns the decimal number of an amount.
pub fn to_decimal(amount: Amount) -> Decimal {
    Decimal::new(amount.hundredths(), 2)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn next(cut_off: &str, zone: &str, after: &str) -> (String, String) {
        let terms = SettlementTerms { cut_off: cut_off.parse().unwrap(), ..SettlementTerms::default() };
        let (moment, day) = terms.next_cut_off(after.parse().unwrap(), &TimeZone::get(zone).unwrap());
        (moment.to_string(), day.to_string())
    }

    #[test]
    fn a_day_ends_at_its_cut_off_in_the_zone_of_the_entity() {
        let expect = |moment: &str, day: &str| (moment.to_owned(), day.to_owned());
        assert_eq!(next("18:00", "UTC", "2026-03-10T17:59:59Z"), expect("2026-03-10T18:00:00Z", "2026-03-10"));
        assert_eq!(next("18:00", "UTC", "2026-03-10T18:00:00Z"), expect("2026-03-11T18:00:00Z", "2026-03-11"));
        assert_eq!(next("00:00", "UTC", "2026-03-10T18:00:00Z"), expect("2026-03-11T00:00:00Z", "2026-03-10"));
        assert_eq!(next("00:00", "Asia/Tokyo", "2026-03-10T18:00:00Z"), expect("2026-03-11T15:00:00Z", "2026-03-11"));
        // The clock jumps from two to three.
        assert_eq!(
            next("02:30", "Europe/Berlin", "2026-03-28T12:00:00Z"),
            expect("2026-03-29T01:30:00Z", "2026-03-29")
        );
    }

    #[test]
    fn terms_that_cannot_be_meant_are_refused_with_the_key() {
        for (text, key) in [
            ("cutoff = \"18:00\"", "cutoff"),
            ("currency = \"EURO\"", "currency"),
            ("[reserve]\npercent = \"0\"\ndays = 30", "reserve.percent"),
            ("[reserve]\npercent = \"5\"\ndays = 0", "reserve.days"),
            ("[[fee]]\non = \"charge\"", "fee 1"),
            ("[[fee]]\non = \"charge\"\nfixed = \"0.10\"", "currency"),
            ("[[fee]]\non = \"charge\"\npercent = \"101\"", "percent"),
            ("[[fee]]\non = \"charge\"\npercent = \"-1\"", "percent"),
            ("[[fee]]\non = \"lunch\"\npercent = \"1\"", "on"),
            ("currency = \"JPY\"\n[[fee]]\non = \"charge\"\nfixed = \"0.10\"", "fixed"),
        ] {
            let error = SettlementTerms::parse(text).unwrap_err();
            assert!(error.contains(key), "{text}: {error}");
        }
    }

    #[test]
    fn amounts_are_rounded_to_what_the_currency_can_express() {
        for (value, currency, expected) in
            [("1.005", "EUR", "1.01"), ("1.004", "EUR", "1.00"), ("32.5", "JPY", "33.00"), ("1.2345", "KWD", "1.23")]
        {
            let amount = round_amount(value.parse().unwrap(), Currency::parse(currency).unwrap()).unwrap();
            assert_eq!(amount.to_string(), expected);
        }
    }
}
