//! Card numbers without a separator from the other card data: an expiry date, a security code, or both, as forms and
//! terminals write them into one field (`41111111111111111229`).

use std::ops::Range;

use super::{LONGEST, Strictness};

/// Minimum number of digits of a card number that is looked for in a longer one.
const SHORTEST: usize = 13;
/// Years of expiry dates, two digits. A date outside of these is another number.
const YEARS: Range<u8> = 15..50;

/// Finds the card number in digits that are longer than it: the place of its digits. The rest has to be a date, with or
/// without a security code after it; or, in free text, a security code alone.
pub(super) fn find_glued(digits: &str, strictness: Strictness) -> Option<Range<usize>> {
    let lengths = (SHORTEST..=LONGEST.min(digits.len().saturating_sub(3))).rev();
    let ends = lengths.flat_map(|length| [0..length, digits.len() - length..digits.len()]);
    ends.into_iter().find(|place| {
        let (before, after) = (digits.get(..place.start), digits.get(place.end..));
        let is_other_data = match (before, after) {
            (Some(""), Some(rest)) => follows_number(rest, strictness),
            (Some(rest), Some("")) => is_date(rest),
            _ => false,
        };
        is_other_data && digits.get(place.clone()).is_some_and(|number| strictness.allows_number(number, false))
    })
}

/// Returns true if digits after a card number are its date, its code, or the one and the other.
fn follows_number(rest: &str, strictness: Strictness) -> bool {
    let is_code = |digits: &str| matches!(digits.len(), 3 | 4);
    let has_date = |length: usize| {
        rest.split_at_checked(length).is_some_and(|(date, code)| is_date(date) && (code.is_empty() || is_code(code)))
    };
    (strictness == Strictness::Allowed && is_code(rest)) || has_date(4) || has_date(6)
}

/// Returns true if digits are a month with its year, or a day.
fn is_date(digits: &str) -> bool {
    let part = |range: Range<usize>| digits.get(range).and_then(|part| part.parse::<u8>().ok());
    let is_month = |range| part(range).is_some_and(|month| (1..=12).contains(&month));
    let is_day = |range| part(range).is_some_and(|day| (1..=31).contains(&day));
    let is_year = |range| part(range).is_some_and(|year| YEARS.contains(&year));
    let is_long_year = |start: usize| digits.get(start..start + 2) == Some("20") && is_year(start + 2..start + 4);
    match digits.len() {
        4 => is_month(0..2) && is_year(2..4) || is_year(0..2) && is_month(2..4),
        6 => {
            is_month(0..2) && is_long_year(2)
                || is_long_year(0) && is_month(4..6)
                || is_day(0..2) && is_month(2..4) && is_year(4..6)
                || is_year(0..2) && is_month(2..4) && is_day(4..6)
        }
        8 => is_day(0..2) && is_month(2..4) && is_long_year(4) || is_long_year(0) && is_month(4..6) && is_day(6..8),
        _ => false,
    }
}
