//! Card numbers in other texts: found with up to three characters between digits, and masked.
//!
//! A card number is a row of digits of any script with a right check digit, a length and a range that a scheme issues. It
//! begins and ends where the digits next to it are no further digits. Between its digits may stand up to three characters
//! that are neither letters nor digits (`4111-1111`, `4111 / 1111`, `4111%201111`), or any characters if they are the same
//! at every place (`4111x1111x1111x1111`). Phone numbers behind a plus sign, IBANs, dates, times and hexadecimal ids are
//! no card numbers.

use std::borrow::Cow;

use super::card_number::luhn_valid;
use super::digits;
use crate::brand::Scheme;

mod scan;

use scan::{Run, WIDEST, runs};

/// Most digits of a card number.
const LONGEST: usize = 19;
/// Number of passes over a text, for numbers that a mask has brought together.
const PASSES: usize = 8;
/// Most digits of a phone number (ITU-T E.164).
const LONGEST_PHONE: usize = 15;

/// Which numbers are taken for card numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Every number that a scheme's rules allow, from 12 digits on: for free text, where nothing breaks if it is masked.
    Allowed,
    /// Numbers as cards have them today: 14 digits of Diners in groups, 15 of American Express, 16 or 19 of any scheme. For
    /// values that are kept to the letter, which would otherwise be refused for product codes (13 or 14 digits), identity
    /// numbers (13 or 18) and the schemes' transaction ids (15).
    InUse,
}

impl Strictness {
    /// Returns true if a number, written in groups or not, is taken for a card's.
    fn takes(self, number: &str, grouped: bool) -> bool {
        let in_use = || match number.len() {
            14 => grouped && number.starts_with('3'),
            15 => number.starts_with("34") || number.starts_with("37"),
            16 | 19 => true,
            _ => false,
        };
        (self == Self::Allowed || in_use()) && luhn_valid(number) && Scheme::issues(number)
    }
}

/// Replaces every card number in a text by its first six and last four digits with asterisks between.
pub fn mask_numbers(text: &str) -> Cow<'_, str> {
    mask_all(text, &|text| mask_once(text, &|number, grouped| Strictness::Allowed.takes(number, grouped)))
}

/// Masks until nothing is left to mask: the last digits of one number may be the first ones of the next.
fn mask_all<'a>(text: &'a str, mask: &dyn Fn(&str) -> Option<String>) -> Cow<'a, str> {
    let mut masked = Cow::Borrowed(text);
    for _ in 0..PASSES {
        match mask(&masked) {
            Some(once) => masked = Cow::Owned(once),
            None => return masked,
        }
    }
    // Somebody made this text so that each mask shows another number.
    Cow::Owned(
        masked.chars().map(|character| if digits::value(character).is_some() { '*' } else { character }).collect(),
    )
}

/// Returns true if there is a card number in a text.
pub fn has_card_number(text: &str, strictness: Strictness) -> bool {
    let runs = runs(text);
    (0..runs.len())
        .any(|first| number_from(&runs, first, &|number, grouped| strictness.takes(number, grouped)).is_some())
}

/// Replaces one given number, with whatever stands between its digits, by its mask. The digits around it do not matter.
pub(crate) fn mask_number<'a>(text: &'a str, secret: &str) -> Cow<'a, str> {
    // A mask of ten digits hides none.
    if secret.len() <= 10 || text.len() < secret.len() {
        return Cow::Borrowed(text);
    }
    mask_all(text, &|text| mask_known(text, secret))
}

/// The first six digits, asterisks, the last four.
fn mask(number: &str) -> String {
    let mut masked = String::from(number.get(..6).unwrap_or_default());
    masked.extend(std::iter::repeat_n('*', number.len().saturating_sub(10)));
    masked.push_str(number.get(number.len().saturating_sub(4)..).unwrap_or_default());
    masked
}

fn mask_once(text: &str, takes: &dyn Fn(&str, bool) -> bool) -> Option<String> {
    let runs = runs(text);
    let mut masked = String::new();
    let mut copied = 0;
    let mut first = 0;
    while first < runs.len() {
        let Some((last, number)) = number_from(&runs, first, takes) else {
            first += 1;
            continue;
        };
        masked.push_str(text.get(copied..runs[first].start).unwrap_or_default());
        masked.push_str(&mask(&number));
        copied = runs[last].end;
        first = last + 1;
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    (copied > 0).then_some(masked)
}

/// Returns the longest number that begins with a run: the run it ends with, and its digits.
fn number_from(runs: &[Run<'_>], first: usize, takes: &dyn Fn(&str, bool) -> bool) -> Option<(usize, String)> {
    let mut number = String::new();
    let mut found = None;
    for (index, run) in runs.iter().enumerate().skip(first) {
        number.push_str(&run.digits);
        let follows = index == first || run.gap.is_some();
        if !follows || number.len() > LONGEST {
            break;
        }
        let parts = runs.get(first..=index).unwrap_or_default();
        let phone = runs[first].plus && number.len() <= LONGEST_PHONE;
        if !phone && belong_together(parts) && takes(&number, parts.len() > 1) {
            found = Some((index, number.clone()));
        }
    }
    found
}

/// Returns true if runs can be the groups of one number, judged by what stands between them. Single spaces and hyphens may
/// stand anywhere. Other separators also stand in lists of numbers, so the groups must have the lengths of a card's; and
/// letters or digits must be the same at two places at least.
fn belong_together(runs: &[Run<'_>]) -> bool {
    let gaps = || runs.iter().skip(1).filter_map(|run| run.gap);
    if gaps().all(|gap| gap.usual) {
        return true;
    }
    let letters_repeat = || runs.len() > 2 && gaps().zip(gaps().skip(1)).all(|(one, two)| one.text == two.text);
    has_groups(runs) && (gaps().all(|gap| gap.plain) || letters_repeat())
}

/// Returns true if the groups are equally long but for the last one, or those of American Express or Diners.
fn has_groups(runs: &[Run<'_>]) -> bool {
    let length = |run: &Run<'_>| run.digits.len();
    let (Some(first), Some(last)) = (runs.first().map(length), runs.last().map(length)) else { return false };
    let equal = runs.iter().rev().skip(1).all(|run| length(run) == first) && last <= first;
    equal || runs.iter().map(length).eq([4, 6, 5]) || runs.iter().map(length).eq([4, 6, 4])
}

/// Masks the occurrences of a number, digit by digit.
fn mask_known(text: &str, secret: &str) -> Option<String> {
    let digits: Vec<(usize, char)> =
        text.char_indices().filter_map(|(at, character)| Some((at, digits::ascii(character)?))).collect();
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
        masked.push_str(&mask(secret));
        copied = last + text.get(last..)?.chars().next()?.len_utf8();
        from = at + secret.len();
    }
    masked.push_str(text.get(copied..)?);
    (copied > 0).then_some(masked)
}

#[cfg(test)]
mod tests;
