//! Splits a text into runs of digits, with what stands between them, and leaves out those of dates, times, IBANs and
//! hexadecimal ids.

use std::ops::Range;

use super::super::{digits, iban};

/// Most characters between two digits of one number.
pub(super) const WIDEST: usize = 3;
/// Fewest characters of a word that is taken for a hexadecimal id.
const SHORTEST_ID: usize = 24;
/// Lengths of the groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// Digits without anything between them, as they stand in a text.
pub(super) struct Run<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    /// In ASCII.
    pub(super) digits: String,
    /// Text between this run and the one before; `None` if they cannot belong together.
    pub(super) gap: Option<Gap<'a>>,
    /// A plus sign stands before it.
    pub(super) plus: bool,
}

/// Up to three characters between two runs.
#[derive(Clone, Copy)]
pub(super) struct Gap<'a> {
    pub(super) text: &'a str,
    /// None of them is a letter or a digit.
    pub(super) plain: bool,
    /// It is a space or a hyphen.
    pub(super) usual: bool,
}

/// The runs of a text that may be part of a card number.
pub(super) fn runs(text: &str) -> Vec<Run<'_>> {
    // Fewer bytes than digits in the shortest number: the usual case.
    if text.len() < 12 {
        return Vec::new();
    }
    let mut runs = all_runs(text);
    if runs.iter().map(|run| run.digits.len()).sum::<usize>() < 12 {
        return Vec::new();
    }
    let mut other: Vec<Range<usize>> = Vec::new();
    times(text, &runs, &mut other);
    words(text, &mut other);
    other.sort_unstable_by_key(|span| span.start);
    // What stands behind something else begins anew.
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

fn all_runs(text: &str) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut before = '\0';
    let mut skip = 0;
    for (start, character) in text.char_indices() {
        // A separator in the way of an address, %20, is one.
        if character == '%' && encoded(&text[start..]) {
            skip = start + 3;
        }
        // Nobody sees it, so it separates nothing.
        if is_invisible(character)
            && let Some(run) = runs.last_mut().filter(|run| run.end == start)
        {
            run.end = start + character.len_utf8();
            continue;
        }
        let digit = digits::ascii(character).filter(|_| start >= skip);
        if let Some(digit) = digit {
            let end = start + character.len_utf8();
            match runs.last_mut() {
                Some(run) if run.end == start => {
                    run.digits.push(digit);
                    run.end = end;
                }
                last => {
                    let gap = last.and_then(|run| gap(text.get(run.end..start)?));
                    runs.push(Run { start, end, digits: String::from(digit), gap, plus: before == '+' });
                }
            }
        }
        before = character;
    }
    runs
}

/// Returns true if a text begins with an encoded byte that is no letter and no digit.
fn encoded(text: &str) -> bool {
    let byte = text.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    byte.is_some_and(|byte| !byte.is_ascii_alphanumeric())
}

fn gap(text: &str) -> Option<Gap<'_>> {
    let short = text.chars().count() <= WIDEST;
    let plain = encoded(text) && text.starts_with('%') || !text.chars().any(char::is_alphanumeric);
    let mut characters = text.chars();
    let usual = characters.next().is_some_and(is_usual) && characters.next().is_none();
    short.then_some(Gap { text, plain, usual })
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn is_usual(character: char) -> bool {
    matches!(character, ' ' | '-' | '\u{a0}' | '\u{202f}' | '\u{2010}'..='\u{2014}')
}

/// Text before a run, if it is short.
fn separator<'a>(run: Option<&Run<'a>>) -> &'a str {
    run.and_then(|run| run.gap).map_or("", |gap| gap.text)
}

/// Dates with a year of four digits, and times of day.
fn times(text: &str, runs: &[Run<'_>], found: &mut Vec<Range<usize>>) {
    for (index, group) in runs.windows(3).enumerate() {
        let [one, two, three] = group else { continue };
        let sign = separator(Some(two));
        if sign != separator(Some(three)) || sign == separator(Some(one)) || sign == separator(runs.get(index + 3)) {
            continue;
        }
        let lengths = group.iter().map(|run| run.digits.len());
        let is_year = |run: &Run<'_>| run.digits.starts_with("19") || run.digits.starts_with("20");
        let date = matches!(sign, "-" | "." | "/")
            && (is_year(one) && lengths.clone().eq([4, 2, 2]) || is_year(three) && lengths.clone().eq([2, 2, 4]));
        let below = |run: &Run<'_>, most: u8| run.digits.parse::<u8>().is_ok_and(|number| number < most);
        let time = sign == ":" && lengths.eq([2, 2, 2]) && below(one, 24) && below(two, 60) && below(three, 60);
        if date || time {
            // The fraction of a second belongs to the time.
            let fraction = runs.get(index + 3).filter(|run| time && text.get(three.end..run.start) == Some("."));
            found.push(one.start..fraction.unwrap_or(three).end);
        }
    }
}

/// Hexadecimal ids, UUIDs and IBANs.
fn words(text: &str, found: &mut Vec<Range<usize>>) {
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
    let is_hexadecimal = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_letter = |word: &str| word.bytes().any(|byte| byte.is_ascii_alphabetic());
    for (index, (start, word)) in words.iter().enumerate() {
        if word.len() >= SHORTEST_ID && is_hexadecimal(word) && has_letter(word) {
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
        found.extend(iban_from(text, words.get(index..).unwrap_or_default()));
    }
}

/// The IBAN that begins with the first of some words, as it is printed: in groups with a space between.
fn iban_from(text: &str, words: &[(usize, &str)]) -> Option<Range<usize>> {
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
