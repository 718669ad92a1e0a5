//! Numbers as spreadsheets and banks write them: with signs behind, in parentheses, with currencies and spaces.

use tillgate_shared::money::Currency;

/// Spaces between groups of digits, which files use for each other.
const SPACES: [char; 4] = [' ', '\u{a0}', '\u{202f}', '\u{2009}'];
/// Apostrophes between groups of digits, which files use for each other.
const APOSTROPHES: [char; 2] = ['\'', '\u{2019}'];
/// Signs of currencies, with the code if only one currency has the sign.
const CURRENCY_SIGNS: [(char, Option<&str>); 13] = [
    ('€', Some("EUR")),
    ('₹', Some("INR")),
    ('₺', Some("TRY")),
    ('₴', Some("UAH")),
    ('₪', Some("ILS")),
    ('₫', Some("VND")),
    ('₱', Some("PHP")),
    ('฿', Some("THB")),
    ('₽', Some("RUB")),
    ('£', None),
    ('¥', None),
    ('$', None),
    ('₩', None),
];

/// A number without its sign and its currency.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LooseNumber<'a> {
    pub(super) is_negative: bool,
    pub(super) unsigned: &'a str,
}

/// Returns true if a character is a mark, or one that files use in its place.
pub(super) fn is_same_mark(mark: char, found: char) -> bool {
    let are_both = |marks: &[char]| marks.contains(&mark) && marks.contains(&found);
    mark == found || are_both(&SPACES) || are_both(&APOSTROPHES)
}

impl<'a> LooseNumber<'a> {
    /// Takes sign, parentheses and currency off a number, each at most once and in any order.
    ///
    /// # Errors
    /// A message that completes the name of the field, if the number has the sign of another currency.
    pub(super) fn parse(text: &'a str, currency: Option<Currency>) -> Result<Self, String> {
        let mut rest = text;
        let (mut sign, mut has_currency) = (None, false);
        loop {
            rest = rest.trim_matches(|c: char| SPACES.contains(&c));
            // The currency first, because the code IDR ends like a sign.
            if let Some((code, inner)) = split_currency(rest).filter(|_| !has_currency) {
                if let (Some(code), Some(currency)) = (code, currency)
                    && code != currency.code()
                {
                    return Err(format!("has a sign of {code}, the line is in {currency}"));
                }
                (has_currency, rest) = (true, inner);
            } else if let Some((is_negative, inner)) = split_sign(rest).filter(|_| sign.is_none()) {
                (sign, rest) = (Some(is_negative), inner);
            } else {
                return Ok(Self { is_negative: sign.unwrap_or(false), unsigned: rest });
            }
        }
    }
}

/// Splits a sign off: true for a negative one.
fn split_sign(text: &str) -> Option<(bool, &str)> {
    if let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        return Some((true, inner));
    }
    let minus = ['-', '\u{2212}'];
    let negative = text.strip_prefix(minus).or_else(|| text.strip_suffix(minus)).or_else(|| text.strip_suffix("DR"));
    let positive = || text.strip_prefix('+').or_else(|| text.strip_suffix('+')).or_else(|| text.strip_suffix("CR"));
    negative.map(|rest| (true, rest)).or_else(|| positive().map(|rest| (false, rest)))
}

/// Splits the sign or the code of a currency off. Returns the code, if the sign has only one meaning.
fn split_currency(text: &str) -> Option<(Option<&str>, &str)> {
    for (sign, code) in CURRENCY_SIGNS {
        if let Some(rest) = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)) {
            return Some((code, rest));
        }
    }
    let (start, behind) = text.split_at_checked(3).unwrap_or(("", ""));
    if Currency::parse(start).is_some() {
        return Some((Some(start), behind));
    }
    let (before, end) = text.split_at_checked(text.len().saturating_sub(3)).unwrap_or(("", ""));
    Currency::parse(end).map(|_| (Some(end), before))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use crate::settlement::file_format::loose_number::*;

    fn parse(text: &str) -> (bool, &str) {
        let parsed = LooseNumber::parse(text, Currency::parse("EUR")).unwrap();
        (parsed.is_negative, parsed.unsigned)
    }

    #[test]
    fn sign_and_currency_stand_on_either_side() {
        for text in
            ["1,5-", "- 1,5", "-1,5", "\u{2212}1,5", "(1,5)", "(€1,5)", "-€ 1,5", "€-1,5", "1,5- €", "1,5\u{a0}€-"]
        {
            assert_eq!(parse(text), (true, "1,5"), "{text}");
        }
        for text in ["1,5", "+1,5", "1,5+", "1,5 €", "EUR 1,5", "1,5 EUR", "1,5 CR"] {
            assert_eq!(parse(text), (false, "1,5"), "{text}");
        }
        assert_eq!(parse("1,5 DR"), (true, "1,5"));
    }

    #[test]
    fn a_second_sign_stays_and_another_currency_is_refused() {
        for (text, rest) in [("--1", "-1"), ("(-1)", "-1"), ("-(1)", "(1)"), ("-1-", "1-"), ("€1€", "1€"), ("-", "")]
        {
            assert_eq!(parse(text).1, rest, "{text}");
        }
        for text in ["1,5 USD", "₹1,5", "JPY1"] {
            assert!(LooseNumber::parse(text, Currency::parse("EUR")).is_err(), "{text}");
        }
        assert!(LooseNumber::parse("$1", Currency::parse("USD")).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = LooseNumber::parse(&text, Currency::parse("EUR"));
            let _ = LooseNumber::parse(&text, None);
        }
    }
}
