//! Finds card numbers in other texts, with up to three characters between digits, and masks them.
//!
//! A card number is a sequence of digits of any script with a correct check digit, and with a length and a range that a
//! scheme issues. It begins and ends at characters that are not digits. Up to three characters that are neither letters
//! nor digits may separate its digits (`4111-1111`, `4111 / 1111`, `4111%201111`), or any characters if they are the
//! same everywhere (`4111x1111x1111x1111`). A number may also be glued to its expiry date or its security code. Phone
//! numbers after a plus sign, IBANs, dates, times and hexadecimal ids are not card numbers.

use std::borrow::Cow;

use super::card_number::is_luhn_valid;
use super::digits;
use crate::brand::Scheme;

mod glued;
mod scan;

use glued::find_glued;
use scan::{DigitRun, WIDEST, find_runs};

/// Maximum number of digits of a card number.
const LONGEST: usize = 19;
/// Number of passes over a text, for numbers that a mask has joined.
const PASSES: usize = 8;
/// Maximum number of digits of a phone number (ITU-T E.164).
const LONGEST_PHONE: usize = 15;

/// Selects the numbers that count as card numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Every number that a scheme's rules allow, from 12 digits on. For free text, in which a mask does no harm.
    Allowed,
    /// Numbers in the formats of today's cards: 14 digits of Diners in groups, 15 of American Express, 16 or 19 of any
    /// scheme. For values that are stored unchanged, which would otherwise be refused for product codes (13 or 14
    /// digits), identity numbers (13 or 18) and the schemes' transaction ids (15).
    InUse,
}

impl Strictness {
    /// Returns true if digits, written in groups or not, count as a card number: the check digit is correct, a scheme
    /// issues numbers of this range and length, and for `InUse` the format is one of today's cards.
    fn allows_number(self, number: &str, grouped: bool) -> bool {
        let in_use = || match number.len() {
            14 => grouped && number.starts_with('3'),
            15 => number.starts_with("34") || number.starts_with("37"),
            16 | 19 => true,
            _ => false,
        };
        (self == Self::Allowed || in_use()) && is_luhn_valid(number) && Scheme::is_issued_number(number)
    }
}

/// Replaces every card number in a text with its first six and last four digits and asterisks between them. The
/// separators in the number go, too. Returns the text itself if there is none.
pub fn mask_card_numbers(text: &str) -> Cow<'_, str> {
    mask_repeatedly(text, &mask_numbers_once)
}

/// Masks until `mask` finds no number any more: the last digits of one number may be the first ones of the next. After
/// eight passes, replaces every digit of the text with an asterisk.
fn mask_repeatedly<'a>(text: &'a str, mask: &dyn Fn(&str) -> Option<String>) -> Cow<'a, str> {
    let mut masked = Cow::Borrowed(text);
    for _ in 0..PASSES {
        match mask(&masked) {
            Some(next) => masked = Cow::Owned(next),
            None => return masked,
        }
    }
    // An attacker constructed this text so that each mask reveals another number.
    Cow::Owned(
        masked
            .chars()
            .map(|character| if digits::digit_value(character).is_some() { '*' } else { character })
            .collect(),
    )
}

/// Returns true if a text contains a number that this strictness counts as a card number.
pub fn has_card_number(text: &str, strictness: Strictness) -> bool {
    let runs = find_runs(text);
    (0..runs.len()).any(|first| find_number_from(&runs, first, strictness).is_some())
}

/// Replaces a given number by its mask, with up to three characters of any kind between its digits. The digits around
/// it do not matter. A number of at most ten digits is not masked.
pub(crate) fn mask_known_number<'a>(text: &'a str, secret: &str) -> Cow<'a, str> {
    // A mask of ten digits would hide none.
    if secret.len() <= 10 || !digits::may_have_digits(text, secret.len()) {
        return Cow::Borrowed(text);
    }
    mask_repeatedly(text, &|text| mask_known_once(text, secret))
}

/// Returns the first six digits, asterisks, and the last four. A number of at most ten digits gets no asterisks.
fn mask_digits(number: &str) -> String {
    let mut masked = String::from(number.get(..6).unwrap_or_default());
    masked.extend(std::iter::repeat_n('*', number.len().saturating_sub(10)));
    masked.push_str(number.get(number.len().saturating_sub(4)..).unwrap_or_default());
    masked
}

/// Masks every number that may be a card number, from left to right, the longest at each place. Returns `None` if there
/// is none.
fn mask_numbers_once(text: &str) -> Option<String> {
    let runs = find_runs(text);
    if runs.is_empty() {
        return None;
    }
    let mut masked = String::new();
    let mut copied = 0;
    let mut first = 0;
    while first < runs.len() {
        let Some((last, mask)) = find_number_from(&runs, first, Strictness::Allowed) else {
            first += 1;
            continue;
        };
        masked.push_str(text.get(copied..runs[first].start).unwrap_or_default());
        masked.push_str(&mask);
        copied = runs[last].end;
        first = last + 1;
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    (copied > 0).then_some(masked)
}

/// Finds the longest number that begins with a run: the index of its last run, and the mask of the digits. Otherwise a
/// number in the run that is glued to its date or code, which are masked as a whole. Up to 15 digits after a plus sign
/// are a telephone number and not returned.
fn find_number_from(runs: &[DigitRun<'_>], first: usize, strictness: Strictness) -> Option<(usize, String)> {
    let mut number = String::new();
    let mut found = None;
    for (index, run) in runs.iter().enumerate().skip(first) {
        number.push_str(&run.digits);
        let follows = index == first || run.gap.is_some();
        if !follows || number.len() > LONGEST {
            break;
        }
        let parts = runs.get(first..=index).unwrap_or_default();
        let phone = runs[first].after_plus && number.len() <= LONGEST_PHONE;
        if !phone && can_form_number(parts) && strictness.allows_number(&number, parts.len() > 1) {
            found = Some((index, mask_digits(&number)));
        }
    }
    found.or_else(|| {
        let digits = &runs.get(first)?.digits;
        let place = find_glued(digits, strictness)?;
        let hide = |digits: &str| "*".repeat(digits.len());
        let (before, after) = (digits.get(..place.start)?, digits.get(place.end..)?);
        Some((first, format!("{}{}{}", hide(before), mask_digits(digits.get(place)?), hide(after))))
    })
}

/// Returns true if runs can be the groups of one number, judged by the separators between them. Single spaces and
/// hyphens are allowed everywhere. Other separators also occur in lists of numbers, so the groups must have the lengths
/// of a card's; and separators with letters or digits must be the same at two places at least.
fn can_form_number(runs: &[DigitRun<'_>]) -> bool {
    let gaps = || runs.iter().skip(1).filter_map(|run| run.gap);
    if gaps().all(|gap| gap.usual) {
        return true;
    }
    let letters_repeat = || runs.len() > 2 && gaps().zip(gaps().skip(1)).all(|(one, two)| one.text == two.text);
    has_card_groups(runs) && (gaps().all(|gap| gap.plain) || letters_repeat())
}

/// Returns true if the groups have equal lengths except for the last one, which may be shorter, or have the lengths of
/// American Express (4, 6, 5) or Diners (4, 6, 4).
fn has_card_groups(runs: &[DigitRun<'_>]) -> bool {
    let length = |run: &DigitRun<'_>| run.digits.len();
    let (Some(first), Some(last)) = (runs.first().map(length), runs.last().map(length)) else { return false };
    let equal = runs.iter().rev().skip(1).all(|run| length(run) == first) && last <= first;
    equal || runs.iter().map(length).eq([4, 6, 5]) || runs.iter().map(length).eq([4, 6, 4])
}

/// Masks all occurrences of a number in the digits of a text, with up to three characters between two digits. Returns
/// `None` if there is none.
fn mask_known_once(text: &str, secret: &str) -> Option<String> {
    let digits: Vec<(usize, char)> =
        text.char_indices().filter_map(|(at, character)| Some((at, digits::to_ascii(character)?))).collect();
    let all: String = digits.iter().map(|(_, digit)| digit).collect();
    let mut masked = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = all.get(from..).and_then(|rest| rest.find(secret)).map(|at| from + at) {
        let span = digits.get(at..at + secret.len())?;
        let near = span.windows(2).all(|pair| match pair {
            [(one, _), (two, _)] => {
                text.get(*one..*two).is_some_and(|part| part.chars().take(WIDEST + 2).count() <= WIDEST + 1)
            }
            _ => false,
        });
        if !near {
            from = at + 1;
            continue;
        }
        let (start, last) = (span.first()?.0, span.last()?.0);
        masked.push_str(text.get(copied..start)?);
        masked.push_str(&mask_digits(secret));
        copied = last + text.get(last..)?.chars().next()?.len_utf8();
        from = at + secret.len();
    }
    masked.push_str(text.get(copied..)?);
    (copied > 0).then_some(masked)
}

#[cfg(test)]
mod tests;
