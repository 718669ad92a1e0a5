//! Numbers of a file: amounts with the institute's marks or in minor units, and rates of exchange.

use rust_decimal::Decimal;
use tillgate_shared::money::{Amount, Currency};

use crate::settlement::file_format::loose_number::LooseNumber;
use crate::settlement::file_format::loose_number::is_same_mark;

/// Largest amount, in hundredths: ten digits before the decimal mark, as in requests.
const MAX_HUNDREDTHS: i64 = 999_999_999_999;
/// Largest number of digits before the decimals that are read at all.
const MAX_WHOLE_DIGITS: usize = 15;
/// Largest number of decimals of a rate or of a fee.
const MAX_DECIMALS: usize = 10;

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
    /// True if numbers may be written as spreadsheets and banks write them, such as `1.234,56-` and `(12.00)`.
    pub loose: bool,
}

/// Decimals that a number may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Those of an amount: two.
    Amount,
    /// Those of a fee, which may be parts of the smallest unit.
    Fee,
}

/// A number of a line, in units of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedNumber {
    /// The number with its sign.
    pub value: Decimal,
    /// True if the sign tells the direction of the money.
    pub is_signed: bool,
}

/// An amount and its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedAmount {
    /// The amount without its sign.
    pub amount: Amount,
    /// True if it is below zero. Zero is never negative.
    pub is_negative: bool,
    /// True if the sign tells the direction of the money.
    pub is_signed: bool,
}

/// The digits of a number.
struct Digits {
    is_negative: bool,
    whole: String,
    fraction: String,
}

impl NumberNotation {
    /// Parses a number of a currency.
    ///
    /// # Errors
    /// A message that completes the name of the field.
    pub fn parse_number(&self, text: &str, currency: Currency, precision: Precision) -> Result<ParsedNumber, String> {
        let has_fraction = !self.minor_units || precision == Precision::Fee;
        let digits = self.split_digits(text, Some(currency), has_fraction)?;
        if digits.is_negative && !self.signed {
            return Err("may not be negative: the mapping has no signed_amounts".to_owned());
        }
        let whole = digits.whole.trim_start_matches('0');
        let fraction = digits.fraction.trim_end_matches('0');
        if whole.len() > MAX_WHOLE_DIGITS {
            return Err(too_large());
        }
        let (limit, name) = match precision {
            Precision::Amount => (2, "two"),
            Precision::Fee => (MAX_DECIMALS, "ten"),
        };
        if fraction.len() > limit {
            return Err(format!("has more than {name} decimals"));
        }
        let value: Decimal = format!("{whole:0>1}.{fraction:0<1}").parse().map_err(|_| too_large())?;
        let value = if self.minor_units { scale_minor_units(value, currency) } else { value };
        let value = if digits.is_negative { -value } else { value };
        Ok(ParsedNumber { value: value.normalize(), is_signed: self.signed })
    }

    /// Parses a rate of exchange, which is always a decimal number: at least 0 and at most 1,000,000.
    ///
    /// # Errors
    /// A message that completes the name of the field.
    pub fn parse_rate(&self, text: &str) -> Result<Decimal, String> {
        let refuse = || "must be a number from 0 to 1000000 with at most ten decimals".to_owned();
        let digits = Self { minor_units: false, ..*self }.split_digits(text, None, true)?;
        if digits.is_negative || digits.fraction.len() > MAX_DECIMALS {
            return Err(refuse());
        }
        let rate: Decimal = format!("{}.{}0", digits.whole, digits.fraction).parse().map_err(|_| refuse())?;
        if rate <= Decimal::from(1_000_000) { Ok(rate.normalize()) } else { Err(refuse()) }
    }

    /// Splits a number at its marks. Every character has to be a digit, a mark at its place, or a sign in front, unless
    /// numbers are loose.
    fn split_digits(&self, text: &str, currency: Option<Currency>, has_fraction: bool) -> Result<Digits, String> {
        let refuse = || self.describe_number();
        let (is_negative, unsigned) = if self.loose {
            let loose = LooseNumber::parse(text, currency)?;
            (loose.is_negative, loose.unsigned)
        } else {
            match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text.strip_prefix('+').filter(|_| self.signed).unwrap_or(text)),
            }
        };
        let (whole, fraction) = match unsigned.split_once(self.decimal_mark).filter(|_| has_fraction) {
            Some((_, "")) if !self.loose => return Err(refuse()),
            Some(("", fraction)) if self.loose && !fraction.is_empty() => ("0", fraction),
            Some(parts) => parts,
            None => (unsigned, ""),
        };
        let whole = match self.thousands_mark.filter(|mark| whole.contains(|c| is_same_mark(*mark, c))) {
            Some(mark) => self.join_groups(whole, mark).ok_or_else(refuse)?,
            None => whole.to_owned(),
        };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(&whole) || !is_number(fraction) {
            return Err(refuse());
        }
        Ok(Digits { is_negative, whole, fraction: fraction.to_owned() })
    }

    /// Joins groups of digits: one to three, then three each. In loose numbers, groups of two before the last three are
    /// possible, as in India.
    fn join_groups(&self, whole: &str, mark: char) -> Option<String> {
        let groups: Vec<&str> = whole.split(|c| is_same_mark(mark, c)).collect();
        let (first, others) = groups.split_first()?;
        let (last, middle) = others.split_last()?;
        let fits = |first_limit: usize, length: usize| {
            (1..=first_limit).contains(&first.len())
                && last.len() == 3
                && middle.iter().all(|group| group.len() == length)
        };
        (fits(3, 3) || (self.loose && fits(2, 2))).then(|| groups.concat())
    }

    fn describe_number(&self) -> String {
        if self.minor_units {
            return "must be a whole number of the smallest unit".to_owned();
        }
        format!("must be a number such as 1234{}50", self.decimal_mark)
    }
}

impl ParsedNumber {
    /// Returns the number as an amount.
    ///
    /// # Errors
    /// A message that completes the name of the field.
    pub fn to_amount(self, currency: Currency) -> Result<SignedAmount, String> {
        let hundredths = self.value.abs() * Decimal::ONE_HUNDRED;
        if !hundredths.fract().is_zero() {
            return Err("has more than two decimals".to_owned());
        }
        let fitting = i64::try_from(hundredths).ok().filter(|hundredths| *hundredths <= MAX_HUNDREDTHS);
        let amount = Amount::from_hundredths(fitting.ok_or_else(too_large)?, currency)
            .ok_or_else(|| format!("has more decimals than {currency}"))?;
        let is_negative = self.value.is_sign_negative() && !amount.is_zero();
        Ok(SignedAmount { amount, is_negative, is_signed: self.is_signed })
    }
}

/// Converts minor units to units.
fn scale_minor_units(units: Decimal, currency: Currency) -> Decimal {
    let scale = Decimal::from(10_u64.saturating_pow(u32::from(currency.decimals())));
    units / scale
}

fn too_large() -> String {
    "may have ten digits before the decimals".to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use crate::settlement::file_format::number::*;

    fn notation(decimal_mark: char, thousands_mark: Option<char>) -> NumberNotation {
        NumberNotation { decimal_mark, thousands_mark, minor_units: false, signed: true, loose: false }
    }

    const MINOR: NumberNotation =
        NumberNotation { decimal_mark: '.', thousands_mark: None, minor_units: true, signed: true, loose: false };

    fn parse_signed(notation: NumberNotation, text: &str, currency: &str) -> Result<SignedAmount, String> {
        let currency = Currency::parse(currency).unwrap();
        notation.parse_number(text, currency, Precision::Amount)?.to_amount(currency)
    }

    fn parse(notation: NumberNotation, text: &str, currency: &str) -> Result<(String, bool), String> {
        let parsed = parse_signed(notation, text, currency)?;
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

    #[test]
    fn loose_numbers_are_those_of_spreadsheets_and_banks() {
        let loose =
            |decimal_mark, thousands_mark| NumberNotation { loose: true, ..notation(decimal_mark, thousands_mark) };
        let (comma, dot) = (loose(',', Some('.')), loose('.', Some(',')));
        for (notation, text, expected) in [
            (comma, "1.234,56-", ("1234.56", true)),
            (dot, "(1,234.56)", ("1234.56", true)),
            (comma, "- 12,00", ("12.00", true)),
            (comma, "1.234,56 €", ("1234.56", false)),
            (comma, "EUR 1.234,56-", ("1234.56", true)),
            (comma, ",50", ("0.50", false)),
            (comma, ",50-", ("0.50", true)),
            (comma, "5,", ("5.00", false)),
            (dot, "+12.00", ("12.00", false)),
            (dot, "12,34,567.80", ("1234567.80", false)),
            (loose('.', Some('\'')), "1\u{2019}234.50", ("1234.50", false)),
            (loose(',', Some(' ')), "1\u{a0}234\u{202f}567,5", ("1234567.50", false)),
            (loose('.', Some('\u{2019}')), "1'234.50", ("1234.50", false)),
        ] {
            assert_eq!(parse(notation, text, "EUR"), Ok((expected.0.to_owned(), expected.1)), "{text}");
        }
        for (notation, text) in [
            (comma, "--1"),
            (comma, "(-1,00)"),
            (comma, "1.23,45"),
            (comma, ","),
            (comma, "€"),
            (comma, "12 34,00"),
            (comma, "1,00 USD"),
            (dot, "1,2345.00"),
            (dot, "(1.00"),
        ] {
            assert!(parse(notation, text, "EUR").is_err(), "{text}");
        }
        let strict = notation(',', Some('.'));
        for text in ["1.234,56-", "(1,00)", "- 12,00", "1,00 €", ",50"] {
            assert!(parse(strict, text, "EUR").is_err(), "{text}");
        }
    }

    #[test]
    fn a_fee_has_parts_of_the_smallest_unit() {
        let parse_fee = |notation: NumberNotation, text, currency| {
            notation
                .parse_number(text, Currency::parse(currency).unwrap(), Precision::Fee)
                .map(|fee| fee.value.to_string())
        };
        assert_eq!(parse_fee(notation('.', None), "0.1753", "EUR").unwrap(), "0.1753");
        assert_eq!(parse_fee(MINOR, "17.53", "EUR").unwrap(), "0.1753");
        assert_eq!(parse_fee(MINOR, "17.5", "JPY").unwrap(), "17.5");
        assert!(parse_fee(notation('.', None), "0.12345678901", "EUR").is_err());
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
            let parsed = parse_signed(notation(',', None), &text, "EUR").unwrap();
            prop_assert_eq!(parsed.amount.hundredths(), hundredths);
            let minor = parse_signed(MINOR, &hundredths.to_string(), "EUR").unwrap();
            prop_assert_eq!(minor, parsed);
        }
    }
}
