//! Numbers of a file: amounts with the institute's marks or in minor units, and rates of exchange.

use rust_decimal::Decimal;
use tillgate_shared::money::{Amount, Currency};

/// Largest amount, in hundredths: ten digits before the decimal mark, as in requests.
const MAX_HUNDREDTHS: i128 = 999_999_999_999;
/// Largest number of decimals of a rate.
const MAX_RATE_DECIMALS: usize = 10;

/// Notation of a file's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberNotation {
    /// The mark before the decimals.
    pub decimal_mark: char,
    /// The mark between groups of three digits, if there is one.
    pub thousands_mark: Option<char>,
    /// True if amounts are whole numbers of the currency's smallest unit.
    pub minor_units: bool,
    /// True if amounts have a sign: a negative one is money from the merchant.
    pub signed: bool,
}

/// An amount and its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedAmount {
    /// The amount without its sign.
    pub amount: Amount,
    /// True if it is below zero. Zero is never negative.
    pub is_negative: bool,
}

/// The digits of a number.
struct Digits {
    is_negative: bool,
    whole: String,
    fraction: String,
}

impl NumberNotation {
    /// Parses an amount.
    ///
    /// # Errors
    /// A message that completes the name of the field.
    pub fn parse_amount(&self, text: &str, currency: Currency) -> Result<SignedAmount, String> {
        let digits = self.split_digits(text)?;
        if digits.is_negative && !self.signed {
            return Err("may not be negative: the mapping has no signed_amounts".to_owned());
        }
        let hundredths = if self.minor_units {
            scale_minor_units(&digits, currency)?
        } else {
            let fraction = digits.fraction.trim_end_matches('0');
            if fraction.len() > 2 {
                return Err("has more than two decimals".to_owned());
            }
            let joined = format!("{}{fraction:0<2}", digits.whole);
            joined.parse().map_err(|_| too_large())?
        };
        let fitting = i64::try_from(hundredths).ok().filter(|_| hundredths <= MAX_HUNDREDTHS).ok_or_else(too_large)?;
        let amount =
            Amount::from_hundredths(fitting, currency).ok_or_else(|| format!("has more decimals than {currency}"))?;
        Ok(SignedAmount { amount, is_negative: digits.is_negative && !amount.is_zero() })
    }

    /// Parses a rate of exchange, which is always a decimal number: at least 0 and at most 1,000,000.
    ///
    /// # Errors
    /// A message that completes the name of the field.
    pub fn parse_rate(&self, text: &str) -> Result<Decimal, String> {
        let refuse = || "must be a number from 0 to 1000000 with at most ten decimals".to_owned();
        let digits = Self { minor_units: false, ..*self }.split_digits(text)?;
        if digits.is_negative || digits.fraction.len() > MAX_RATE_DECIMALS {
            return Err(refuse());
        }
        let rate: Decimal = format!("{}.{}0", digits.whole, digits.fraction).parse().map_err(|_| refuse())?;
        if rate <= Decimal::from(1_000_000) { Ok(rate.normalize()) } else { Err(refuse()) }
    }

    /// Splits a number at its marks. Every character has to be a digit, a mark at its place, or a sign in front.
    fn split_digits(&self, text: &str) -> Result<Digits, String> {
        let refuse = || self.describe_number();
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').filter(|_| self.signed).unwrap_or(text)),
        };
        let (whole, fraction) = match unsigned.split_once(self.decimal_mark).filter(|_| !self.minor_units) {
            Some((_, "")) => return Err(refuse()),
            Some(parts) => parts,
            None => (unsigned, ""),
        };
        let whole = match self.thousands_mark.filter(|mark| whole.contains(*mark)) {
            Some(mark) => join_groups(whole, mark).ok_or_else(refuse)?,
            None => whole.to_owned(),
        };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(&whole) || !is_number(fraction) {
            return Err(refuse());
        }
        Ok(Digits { is_negative, whole, fraction: fraction.to_owned() })
    }

    fn describe_number(&self) -> String {
        if self.minor_units {
            return "must be a whole number of the smallest unit".to_owned();
        }
        format!("must be a number such as 1234{}50", self.decimal_mark)
    }
}

/// Joins groups of digits: one to three, then three each.
fn join_groups(whole: &str, mark: char) -> Option<String> {
    let groups: Vec<&str> = whole.split(mark).collect();
    let (first, others) = groups.split_first()?;
    let fits = (1..=3).contains(&first.len()) && others.iter().all(|group| group.len() == 3);
    fits.then(|| groups.concat())
}

/// Converts whole minor units to hundredths, which every currency has here.
fn scale_minor_units(digits: &Digits, currency: Currency) -> Result<i128, String> {
    let units: i128 = digits.whole.parse().map_err(|_| too_large())?;
    let scale = 10_i128.checked_pow(u32::from(currency.decimals())).ok_or_else(too_large)?;
    let hundredths = units.checked_mul(100).ok_or_else(too_large)?;
    if hundredths % scale == 0 { Ok(hundredths / scale) } else { Err("has more than two decimals".to_owned()) }
}

fn too_large() -> String {
    "may have ten digits before the decimals".to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn notation(decimal_mark: char, thousands_mark: Option<char>) -> NumberNotation {
        NumberNotation { decimal_mark, thousands_mark, minor_units: false, signed: true }
    }

    const MINOR: NumberNotation =
        NumberNotation { decimal_mark: '.', thousands_mark: None, minor_units: true, signed: true };

    fn parse(notation: NumberNotation, text: &str, currency: &str) -> Result<(String, bool), String> {
        let parsed = notation.parse_amount(text, Currency::parse(currency).unwrap())?;
        Ok((parsed.amount.to_string(), parsed.is_negative))
    }

    #[test]
    fn amounts_have_the_marks_of_their_institute() {
        let (dot, comma) = (notation('.', None), notation(',', Some('.')));
        for (notation, text, currency, expected) in [
            (dot, "92.00", "EUR", ("92.00", false)),
            (dot, "-92.5", "EUR", ("92.50", true)),
            (dot, "+0.01", "EUR", ("0.01", false)),
            (dot, "12.340", "KWD", ("12.34", false)),
            (dot, "0092", "JPY", ("92.00", false)),
            (dot, "-0.00", "EUR", ("0.00", false)),
            (dot, "9999999999.99", "EUR", ("9999999999.99", false)),
            (comma, "1.234.567,89", "EUR", ("1234567.89", false)),
            (comma, "1234567,89", "EUR", ("1234567.89", false)),
            (MINOR, "9200", "EUR", ("92.00", false)),
            (MINOR, "-92", "JPY", ("92.00", true)),
            (MINOR, "12340", "KWD", ("12.34", false)),
        ] {
            let expected = (expected.0.to_owned(), expected.1);
            assert_eq!(parse(notation, text, currency), Ok(expected), "{text} {currency}");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        let (dot, comma) = (notation('.', None), notation(',', Some('.')));
        for (notation, text, currency) in [
            (dot, "", "EUR"),
            (dot, "-", "EUR"),
            (dot, ".5", "EUR"),
            (dot, "5.", "EUR"),
            (dot, "1.005", "EUR"),
            (dot, "12.345", "KWD"),
            (dot, "0.5", "JPY"),
            (dot, "1e3", "EUR"),
            (dot, "1,5", "EUR"),
            (dot, "--1", "EUR"),
            (dot, "=1+1", "EUR"),
            (dot, "١", "EUR"),
            (dot, "NaN", "EUR"),
            (dot, "10000000000.00", "EUR"),
            (dot, "99999999999999999999999999999999999999999999", "EUR"),
            (comma, "1.23,45", "EUR"),
            (comma, "1..234,5", "EUR"),
            (comma, ".234,5", "EUR"),
            (comma, "1,2,3", "EUR"),
            (MINOR, "92.00", "EUR"),
            (MINOR, "12345", "KWD"),
            (MINOR, "99999999999999999999999999999999999999999999", "JPY"),
        ] {
            assert!(parse(notation, text, currency).is_err(), "{text} {currency}");
        }
        let unsigned = NumberNotation { signed: false, ..dot };
        assert!(parse(unsigned, "-1.00", "EUR").unwrap_err().contains("signed_amounts"));
        for rate in ["-1", "1000001", "0.12345678901", "x", "1."] {
            assert!(dot.parse_rate(rate).is_err(), "{rate}");
        }
        assert_eq!(dot.parse_rate("1.0800").unwrap().to_string(), "1.08");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", code in prop::sample::select(vec!["EUR", "JPY", "KWD", "CLF"])) {
            for notation in [notation('.', None), notation(',', Some('.')), MINOR] {
                let _ = parse(notation, &text, code);
                let _ = notation.parse_rate(&text);
            }
        }

        #[test]
        fn an_amount_is_read_as_it_was_written(hundredths in 0..=999_999_999_999_i64) {
            let text = format!("{},{:02}", hundredths / 100, hundredths % 100);
            let parsed = notation(',', None).parse_amount(&text, Currency::parse("EUR").unwrap()).unwrap();
            prop_assert_eq!(parsed.amount.hundredths(), hundredths);
            let minor = MINOR.parse_amount(&hundredths.to_string(), Currency::parse("EUR").unwrap()).unwrap();
            prop_assert_eq!(minor, parsed);
        }
    }
}
