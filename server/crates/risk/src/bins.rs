//! The operator's table of first digits of cards: lines `BIN,COUNTRY,FUNDING`, such as `41111100-41111199,DE,debit`.

use std::collections::BTreeSet;

use super::TextError;

/// Largest number of ranges in a table. A range takes up to 32 bytes of memory.
const MAX_RANGES: usize = 1_000_000;
/// Largest number of digits that tell cards apart.
const DIGITS: usize = 11;
const HEADING: &str = "bin,country,funding";
const ADVICE: &str = "write a BIN or a range, a country and a funding: 41111100-41111199,DE,debit";

/// Funding of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardFunding {
    /// The holder pays later, perhaps in parts.
    Credit,
    /// A bank account is charged at once.
    Debit,
    /// The holder has paid before.
    Prepaid,
    /// The holder pays everything at the end of a period.
    Charge,
}

impl CardFunding {
    const ALL: [Self; 4] = [Self::Credit, Self::Debit, Self::Prepaid, Self::Charge];

    /// Returns its name in conditions and in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::Debit => "debit",
            Self::Prepaid => "prepaid",
            Self::Charge => "charge",
        }
    }
}

/// Facts about the cards of a range. Those that are not known are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BinFacts {
    country: Option<[u8; 2]>,
    /// The funding.
    pub funding: Option<CardFunding>,
}

impl BinFacts {
    /// Returns the issuer's country, two uppercase letters.
    pub fn country(&self) -> Option<&str> {
        self.country.as_ref().and_then(|country| std::str::from_utf8(country).ok())
    }
}

/// Facts by the first digits of card numbers. Of several ranges with a number, the smallest decides.
#[derive(Debug, Clone, Default)]
pub struct BinTable {
    /// First number of each section, 11 digits, with the facts of the numbers up to the next section. Sorted, and
    /// neighbours differ. Numbers before the first section are unknown.
    sections: Vec<(u64, BinFacts)>,
}

/// A line of the table.
#[derive(Debug)]
struct BinRange {
    /// First and last number, 11 digits.
    first: u64,
    last: u64,
    line: usize,
    facts: BinFacts,
}

impl BinRange {
    fn size(&self) -> u64 {
        self.last - self.first
    }
}

impl BinTable {
    /// Reads a table. Empty lines, lines that begin with `#` and the heading `bin,country,funding` are skipped.
    ///
    /// # Errors
    /// The first line that is not of this form, with the column of the wrong part; two ranges of the same size that
    /// overlap; more than 1,000,000 ranges.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut ranges = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.trim();
            let is_heading = index == 0 && content.eq_ignore_ascii_case(HEADING);
            if content.is_empty() || content.starts_with('#') || is_heading {
                continue;
            }
            let make_error = |(column, message)| TextError { line: index + 1, column, message };
            if ranges.len() == MAX_RANGES {
                return Err(make_error((1, format!("a table has at most {MAX_RANGES} ranges"))));
            }
            ranges.push(parse_line(line, index + 1).map_err(make_error)?);
        }
        Self::from_ranges(&ranges)
    }

    /// Divides the numbers at the ends of all ranges. In each section the smallest range decides.
    fn from_ranges(ranges: &[BinRange]) -> Result<Self, TextError> {
        let mut ends: Vec<(u64, bool, usize)> = Vec::with_capacity(ranges.len() * 2);
        for (index, range) in ranges.iter().enumerate() {
            ends.push((range.first, true, index));
            ends.push((range.last + 1, false, index));
        }
        ends.sort_unstable();
        let mut sections: Vec<(u64, BinFacts)> = Vec::new();
        // The ranges with the current number, by size and line.
        let mut open = BTreeSet::new();
        let mut rest = ends.as_slice();
        while let Some((number, ..)) = rest.first().copied() {
            let (here, later) = rest.split_at(rest.partition_point(|(other, ..)| *other == number));
            rest = later;
            for (_, begins, index) in here {
                let Some(range) = ranges.get(*index) else { continue };
                let entry = (range.size(), range.line, *index);
                if *begins {
                    open.insert(entry)
                } else {
                    open.remove(&entry)
                };
            }
            let mut smallest = open.iter();
            let (first, second) = (smallest.next(), smallest.next());
            if let (Some((size, line, _)), Some((other_size, other_line, _))) = (first, second)
                && size == other_size
            {
                let message = format!("this range and the range of line {line} have the same size and overlap");
                return Err(TextError { line: *other_line, column: 1, message });
            }
            let facts = first.and_then(|(.., index)| ranges.get(*index)).map(|range| range.facts).unwrap_or_default();
            if sections.last().map(|(_, known)| *known).unwrap_or_default() != facts {
                sections.push((number, facts));
            }
        }
        Ok(Self { sections })
    }

    /// Returns the facts about a card number, or about all numbers that begin with these digits. Nothing is known if
    /// they differ.
    pub fn find_facts(&self, digits: &str) -> BinFacts {
        let digits = digits.get(..DIGITS).unwrap_or(digits);
        let Some((first, last)) = widen_digits(digits) else { return BinFacts::default() };
        let section_of = |number: u64| self.sections.partition_point(|(start, _)| *start <= number);
        let section = section_of(first);
        let known = section.checked_sub(1).filter(|_| section == section_of(last));
        known.and_then(|section| self.sections.get(section)).map(|(_, facts)| *facts).unwrap_or_default()
    }
}

/// Returns the first and the last number of 11 digits that begin with these digits. `None` if these are no digits.
fn widen_digits(digits: &str) -> Option<(u64, u64)> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_number)?;
    let width = 10_u64.pow(u32::try_from(DIGITS.checked_sub(digits.len())?).ok()?);
    Some((number * width, number * width + (width - 1)))
}

/// Reads a line. An error has the column of the wrong part.
fn parse_line(text: &str, line: usize) -> Result<BinRange, (usize, String)> {
    let mut column = 1;
    let mut parts = Vec::new();
    for part in text.split(',') {
        let blanks = part.chars().take_while(|c| c.is_whitespace()).count();
        parts.push((column + blanks, part.trim().trim_matches('"')));
        column += part.chars().count() + 1;
    }
    let [(at, digits), (country_at, country), (funding_at, funding)] = parts.as_slice() else {
        return Err((1, ADVICE.to_owned()));
    };
    let (first, last) = parse_digits(digits).map_err(|message| (*at, message))?;
    let country = match country.as_bytes() {
        [] => None,
        [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            Some([a.to_ascii_uppercase(), b.to_ascii_uppercase()])
        }
        _ => return Err((*country_at, "the country has two letters, such as DE, or is empty".to_owned())),
    };
    let known = CardFunding::ALL.into_iter().find(|known| funding.eq_ignore_ascii_case(known.as_str()));
    if known.is_none() && !funding.is_empty() {
        return Err((*funding_at, "the funding is credit, debit, prepaid or charge, or empty".to_owned()));
    }
    Ok(BinRange { first, last, line, facts: BinFacts { country, funding: known } })
}

/// Reads a BIN or a range. Both ends of a range have the same number of digits.
fn parse_digits(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once('-').map_or((text, text), |(from, to)| (from.trim(), to.trim()));
    if [from, to].iter().any(|digits| !(6..=DIGITS).contains(&digits.len())) || from.len() != to.len() {
        return Err("a BIN has 6 to 11 digits, and both ends of a range have as many".to_owned());
    }
    match (widen_digits(from), widen_digits(to)) {
        (Some((first, _)), Some((_, last))) if first <= last => Ok((first, last)),
        (Some(_), Some(_)) => Err("the range ends before it begins".to_owned()),
        _ => Err("a BIN has only digits".to_owned()),
    }
}
