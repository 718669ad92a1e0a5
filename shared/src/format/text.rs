//! Free text: any characters but control characters, counted in characters. And the numbers that hide in it.

use std::borrow::Cow;

use super::card_number::luhn_valid;
use super::digits;
use crate::brand::Scheme;

/// Checks one line of text.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    if text.chars().any(char::is_control) {
        return Err(Cow::Borrowed("may not contain control characters"));
    }
    check_length(text, min, max)
}

/// Checks text that may have several lines.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_lines(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    if text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        return Err(Cow::Borrowed("may not contain control characters"));
    }
    check_length(text, min, max)
}

/// Checks a length in characters.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_length(text: &str, min: u16, max: u16) -> Result<(), Cow<'static, str>> {
    // Counting stops early: a character has at most four bytes, and at least one.
    let count = if text.len() > 4 * usize::from(max) { usize::MAX } else { text.chars().count() };
    if (usize::from(min)..=usize::from(max)).contains(&count) {
        Ok(())
    } else if text.is_empty() {
        Err(Cow::Borrowed("may not be empty"))
    } else {
        Err(Cow::Owned(format!("must have {min} to {max} characters")))
    }
}

/// The first characters of a text, at most `max` of them.
pub fn cut(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

/// Replaces what looks like a card number by its first six and last four digits with asterisks between.
///
/// That is a row of 12 to 19 digits, spaces or hyphens between them allowed, with a right check digit and a length
/// and range that a known scheme issues. A row behind a plus sign is a phone number and stays.
pub fn mask_numbers(text: &str) -> Cow<'_, str> {
    // Fewer bytes than digits in the shortest number: the usual case.
    if text.len() < 12 {
        return Cow::Borrowed(text);
    }
    let runs = digit_runs(text);
    let mut masked = String::new();
    let mut copied = 0;
    let mut first = 0;
    while first < runs.len() {
        let Some((last, number)) = number_from(&runs, first) else {
            first += 1;
            continue;
        };
        masked.push_str(text.get(copied..runs[first].start).unwrap_or_default());
        masked.push_str(&mask(&number));
        copied = runs[last].end;
        first = last + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(masked)
}

/// Replaces one given number, with or without spaces and hyphens, by its mask.
pub(crate) fn mask_number<'a>(text: &'a str, secret: &str) -> Cow<'a, str> {
    if text.len() < secret.len() {
        return Cow::Borrowed(text);
    }
    let only_digits: String =
        text.chars().filter(|c| !is_separator(*c)).filter_map(|c| digits::ascii(c).or(Some(c))).collect();
    if !only_digits.contains(secret) {
        return Cow::Borrowed(text);
    }
    // The last four digits of one mask can be the first four of the next number: 4242 4242 4242 4242 4242. Each turn
    // takes digits away, so there is a last one.
    let (mask, mut masked) = (mask(secret), only_digits);
    while secret.len() > 10 && masked.contains(secret) {
        masked = masked.replace(secret, &mask);
    }
    Cow::Owned(masked)
}

/// The first six digits, asterisks, the last four.
fn mask(number: &str) -> String {
    let mut masked = String::from(number.get(..6).unwrap_or_default());
    masked.extend(std::iter::repeat_n('*', number.len().saturating_sub(10)));
    masked.push_str(number.get(number.len() - 4..).unwrap_or_default());
    masked
}

/// Digits without anything between them, as they stand in a text.
struct Run {
    start: usize,
    end: usize,
    digits: String,
    /// Only a space or a hyphen stands between this run and the one before.
    joined: bool,
    /// A plus sign stands before it.
    plus: bool,
}

fn digit_runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut between = 0;
    let mut before = '\0';
    for (position, character) in text.char_indices() {
        let end = position + character.len_utf8();
        if let Some(digit) = digits::ascii(character) {
            match runs.last_mut() {
                Some(run) if run.end == position => {
                    run.digits.push(digit);
                    run.end = end;
                }
                _ => runs.push(Run {
                    start: position,
                    end,
                    digits: String::from(digit),
                    joined: !runs.is_empty() && between == 1 && is_separator(before),
                    plus: before == '+',
                }),
            }
        }
        between = if digits::value(character).is_some() { 0 } else { between + 1 };
        before = character;
    }
    runs
}

fn is_separator(character: char) -> bool {
    matches!(character, ' ' | '-' | '\u{a0}' | '\u{202f}' | '\u{2010}'..='\u{2014}')
}

/// The longest card number that begins with a run: the run it ends with, and its digits.
fn number_from(runs: &[Run], first: usize) -> Option<(usize, String)> {
    if runs[first].plus {
        return None;
    }
    let mut number = String::new();
    let mut found = None;
    for (index, run) in runs.iter().enumerate().skip(first) {
        if index > first && !run.joined || number.len() + run.digits.len() > 19 {
            break;
        }
        number.push_str(&run.digits);
        if number.len() >= 12 && luhn_valid(&number) && Scheme::issues(&number) {
            found = Some((index, number.clone()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn card_numbers_in_text_are_masked() {
        for (text, masked) in [
            ("4111111111111111", "411111******1111"),
            ("my card 4111 1111 1111 1111, thanks", "my card 411111******1111, thanks"),
            ("5454-5454-5454-5454 12/29", "545454******5454 12/29"),
            ("4111 1111 1111 1111 12 29", "411111******1111 12 29"),
            ("3777 777777 77770", "377777*****7770"),
            ("a 4111111111111111 b 371449635398431", "a 411111******1111 b 371449*****8431"),
            ("1 4111111111111111", "1 411111******1111"),
            ("٤١١١١١١١١١١١١١١١", "411111******1111"),
        ] {
            assert_eq!(mask_numbers(text), masked, "{text}");
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "",
            "order 4111111111111112",
            "1111111111111117",
            "+4111111111111111",
            "41111111111111110000",
            "4111 1111  1111 1111",
            "2026-11-21 12:00:00+0000",
            "8a0123456789abcdef0123456789abcdef",
        ] {
            assert!(matches!(mask_numbers(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_known_number_is_masked_wherever_it_stands() {
        assert_eq!(mask_number("x-4111111111111112-y", "4111111111111112"), "x411111******1112y");
        assert_eq!(mask_number("order-1", "4111111111111112"), "order-1");
    }

    #[test]
    fn lengths_are_counted_in_characters_and_control_characters_refused() {
        assert!(check("äöü", 3, 3).is_ok() && check("äöü€", 3, 3).is_err());
        assert!(check("a\u{0}c", 1, 9).is_err() && check("a\nc", 1, 9).is_err() && check("a\u{85}c", 1, 9).is_err());
        assert!(check_lines("a\r\n\tc", 1, 9).is_ok() && check_lines("a\u{1b}c", 1, 9).is_err());
        assert_eq!(check("", 1, 9), Err(Cow::Borrowed("may not be empty")));
        assert_eq!((cut("äöü", 2), cut("äöü", 3), cut("", 3)), ("äö", "äöü", ""));
    }

    proptest! {
        #[test]
        fn no_text_makes_masking_panic_and_short_text_stays(text in "[0-9 \\-+a٣]{0,60}|\\PC*") {
            let digits = text.chars().filter_map(digits::value).count();
            prop_assert!(digits >= 12 || mask_numbers(&text) == text);
        }

        #[test]
        fn a_card_number_never_survives(before in "[a-z ]{0,5}", after in "[a-z ]{0,5}", tail in 0_u64..1_000_000_000_000_000) {
            let mut number = format!("4{tail:015}");
            let check = ('0'..='9').find(|digit| luhn_valid(&format!("{}{digit}", &number[..15])));
            number.truncate(15);
            number.extend(check);
            let text = format!("{before} {number} {after}");
            prop_assert!(!mask_numbers(&text).contains(&number));
        }
    }
}
