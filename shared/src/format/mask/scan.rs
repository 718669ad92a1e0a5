//! Splits a text into runs of digits with their separators, and leaves out those of dates, times, IBANs and hexadecimal
//! ids.

use std::ops::Range;

use super::super::{digits, iban};

/// Minimum number of digits of a card number.
pub(super) const SHORTEST: usize = 12;
/// Maximum number of characters between two digits of one number.
pub(super) const WIDEST: usize = 3;
/// Minimum length of a word that counts as a hexadecimal id.
const SHORTEST_ID: usize = 24;
/// Minimum number of digits after the separator in track data: a date and a service code.
const TRACK_REST: usize = 7;
/// Lengths of the groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// Consecutive digits in a text.
pub(super) struct DigitRun<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The digits in ASCII.
    pub(super) digits: String,
    /// Text between this run and the previous one. `None` if they cannot belong together.
    pub(super) gap: Option<Gap<'a>>,
    /// True if a plus sign precedes it.
    pub(super) after_plus: bool,
}

/// Up to three characters between two runs.
#[derive(Clone, Copy)]
pub(super) struct Gap<'a> {
    pub(super) text: &'a str,
    /// True if no character is a letter or a digit.
    pub(super) plain: bool,
    /// True if it is a space or a hyphen.
    pub(super) usual: bool,
}

/// Returns the runs that may be part of a card number: all but those in dates, times, hexadecimal ids and IBANs. A run
/// after one of these has no gap. Returns no runs if they have fewer than 12 digits in all.
pub(super) fn find_runs(text: &str) -> Vec<DigitRun<'_>> {
    // The usual cases.
    if !digits::may_have_digits(text, SHORTEST) || is_hexadecimal_id(text) {
        return Vec::new();
    }
    let mut runs = find_all_runs(text);
    if runs.iter().map(|run| run.digits.len()).sum::<usize>() < SHORTEST {
        return Vec::new();
    }
    let mut other: Vec<Range<usize>> = Vec::new();
    find_dates_and_times(text, &runs, &mut other);
    find_ids_and_ibans(text, &mut other);
    other.sort_unstable_by_key(|span| span.start);
    // Digits after a run that is left out begin a new number.
    let (mut cut, mut next, mut end) = (false, other.iter().peekable(), 0);
    runs.retain_mut(|run| {
        while let Some(span) = next.next_if(|span| span.start <= run.start) {
            end = end.max(span.end);
        }
        let taken = run.start < end;
        if cut || taken {
            run.gap = None;
        }
        cut = taken;
        !taken
    });
    runs
}

/// Returns true for a word of at least 24 hexadecimal digits that contains a letter, unless it is track data.
fn is_hexadecimal_id(word: &str) -> bool {
    word.len() >= SHORTEST_ID && is_hexadecimal(word) && has_letter(word) && !is_track_data(word)
}

/// Returns true for the second track of a card as terminals send it (ISO/IEC 7813): the number, `D`, and at least the
/// date and the service code, perhaps with a padding `F`.
fn is_track_data(word: &str) -> bool {
    let Some((number, rest)) = word.split_once(['D', 'd']) else { return false };
    let rest = rest.strip_suffix(['F', 'f']).unwrap_or(rest);
    let has_digits = |text: &str, least: usize| text.len() >= least && text.bytes().all(|byte| byte.is_ascii_digit());
    has_digits(number, SHORTEST) && has_digits(rest, TRACK_REST)
}

fn is_hexadecimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has_letter(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns all runs of consecutive digits, each with the gap before it. Invisible characters do not end a run; digits
/// of an encoded separator (`%20`) are in none.
fn find_all_runs(text: &str) -> Vec<DigitRun<'_>> {
    let mut runs: Vec<DigitRun<'_>> = Vec::new();
    let mut before = '\0';
    let mut skip = 0;
    for (start, character) in text.char_indices() {
        // A space encoded as %20 in a URL is a separator.
        if character == '%' && is_encoded_separator(&text[start..]) {
            skip = start + 3;
        }
        // Invisible characters do not separate digits.
        if is_invisible(character)
            && let Some(run) = runs.last_mut().filter(|run| run.end == start)
        {
            run.end = start + character.len_utf8();
            continue;
        }
        let digit = digits::to_ascii(character).filter(|_| start >= skip);
        if let Some(digit) = digit {
            let end = start + character.len_utf8();
            match runs.last_mut() {
                Some(run) if run.end == start => {
                    run.digits.push(digit);
                    run.end = end;
                }
                last => {
                    let gap = last.and_then(|run| classify_gap(text.get(run.end..start)?));
                    runs.push(DigitRun { start, end, digits: String::from(digit), gap, after_plus: before == '+' });
                }
            }
        }
        before = character;
    }
    runs
}

/// Returns true if the second and third character of a text encode a byte that is neither a letter nor a digit. The
/// caller checks the percent sign before them. `%B` before a card number begins the first track of a card (ISO/IEC
/// 7813) and encodes nothing.
fn is_encoded_separator(text: &str) -> bool {
    let is_track = text.get(1..2).is_some_and(|format| format.eq_ignore_ascii_case("B"))
        && text.bytes().skip(2).take_while(u8::is_ascii_digit).count() >= SHORTEST;
    if is_track {
        return false;
    }
    let byte = text.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    byte.is_some_and(|byte| !byte.is_ascii_alphanumeric())
}

/// Describes the text between two runs. `None` if it has more than three characters.
fn classify_gap(text: &str) -> Option<Gap<'_>> {
    let short = text.chars().count() <= WIDEST;
    let plain = is_encoded_separator(text) && text.starts_with('%') || !text.chars().any(char::is_alphanumeric);
    let mut characters = text.chars();
    let usual = characters.next().is_some_and(is_usual_separator) && characters.next().is_none();
    short.then_some(Gap { text, plain, usual })
}

/// Returns true for soft hyphens, characters without width, and marks of direction.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Returns true for a space or hyphen, including no-break spaces and dashes.
fn is_usual_separator(character: char) -> bool {
    matches!(character, ' ' | '-' | '\u{a0}' | '\u{202f}' | '\u{2010}'..='\u{2014}')
}

/// Returns the text between a run and the one before. Empty if there is no run, or no gap before it.
fn separator_before<'a>(run: Option<&DigitRun<'a>>) -> &'a str {
    run.and_then(|run| run.gap).map_or("", |gap| gap.text)
}

/// Adds to `found` the spans of dates with a year of four digits at their beginning or end (`2029-12-31`, `31.12.2029`)
/// and of times of day with seconds, with their fraction. Months and days are not checked.
fn find_dates_and_times(text: &str, runs: &[DigitRun<'_>], found: &mut Vec<Range<usize>>) {
    for (index, group) in runs.windows(3).enumerate() {
        let [one, two, three] = group else { continue };
        let sign = separator_before(Some(two));
        if sign != separator_before(Some(three))
            || sign == separator_before(Some(one))
            || sign == separator_before(runs.get(index + 3))
        {
            continue;
        }
        let lengths = group.iter().map(|run| run.digits.len());
        let is_year = |run: &DigitRun<'_>| run.digits.starts_with("19") || run.digits.starts_with("20");
        let date = matches!(sign, "-" | "." | "/")
            && (is_year(one) && lengths.clone().eq([4, 2, 2]) || is_year(three) && lengths.clone().eq([2, 2, 4]));
        let below = |run: &DigitRun<'_>, most: u8| run.digits.parse::<u8>().is_ok_and(|number| number < most);
        let time = sign == ":" && lengths.eq([2, 2, 2]) && below(one, 24) && below(two, 60) && below(three, 60);
        if date || time {
            // The fraction of a second belongs to the time.
            let fraction = runs.get(index + 3).filter(|run| time && text.get(three.end..run.start) == Some("."));
            found.push(one.start..fraction.unwrap_or(three).end);
        }
    }
}

/// Adds to `found` the spans of IBANs, and of UUIDs and words of at least 24 hexadecimal digits that contain a letter.
fn find_ids_and_ibans(text: &str, found: &mut Vec<Range<usize>>) {
    let is_word = |character: &char| character.is_ascii_alphanumeric();
    let mut words: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(|character| is_word(&character))).map(|it| at + it)
    {
        let rest = text.get(start..).unwrap_or_default();
        let word = rest.split(|character| !is_word(&character)).next().unwrap_or_default();
        words.push((start, word));
        at = start + word.len();
    }
    for (index, (start, word)) in words.iter().enumerate() {
        if is_hexadecimal_id(word) {
            found.push(*start..start + word.len());
        }
        if let Some(group) = words.get(index..index + UUID.len()) {
            let end = start + UUID.iter().sum::<usize>() + UUID.len() - 1;
            let shaped = group.iter().zip(UUID).all(|((_, word), length)| word.len() == length && is_hexadecimal(word));
            let whole = text.get(*start..end).is_some_and(|text| text.split('-').map(str::len).eq(UUID));
            if shaped && whole && group.iter().any(|(_, word)| has_letter(word)) {
                found.push(*start..end);
            }
        }
        found.extend(find_iban(text, words.get(index..).unwrap_or_default()));
    }
}

/// Returns the span of the IBAN that begins with the first of some words: in one word, or in groups separated by single
/// spaces.
fn find_iban(text: &str, words: &[(usize, &str)]) -> Option<Range<usize>> {
    let (start, first) = words.first()?;
    if !first.get(..2)?.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let mut compact = String::new();
    let mut end = *start;
    for (at, word) in words {
        let gap = text.get(end..*at)?;
        if !compact.is_empty() && gap != " " || compact.len() + word.len() > 34 {
            return None;
        }
        compact.push_str(word);
        end = at + word.len();
        if iban::is_registered(&compact) {
            return Some(*start..end);
        }
    }
    None
}
