//! The card ranges of the directory servers, in memory: for each range of card numbers the newest protocol version, and
//! the issuer's method page.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::message::{CardRangeAction, CardRangeEntry, MessageVersion, PRes};

/// Maximum number of ranges. The largest scheme has a few ten thousand.
const MAX_RANGES: usize = 500_000;

/// The card ranges at one moment. They do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardRangeTable {
    /// Sorted by length and first number.
    ranges: Vec<CardRange>,
    /// Serial number of this list. `None` if the directory server has sent none.
    serial_number: Option<String>,
}

/// A range of card numbers of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRange {
    /// Number of digits.
    length: usize,
    first: u64,
    last: u64,
    /// The newest protocol version that the issuer and this gateway support. `None` if there is none.
    pub version: Option<MessageVersion>,
    /// Address of the issuer's method page.
    pub method_url: Option<Arc<str>>,
}

/// Fault of a list of card ranges. The earlier list stays in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CardRangeFault {
    /// Two ranges have numbers in common, so that a card would have two issuers.
    #[error("two card ranges overlap")]
    Overlap,
    /// A range that is to be removed or modified does not exist.
    #[error("a card range that is to be changed does not exist")]
    UnknownRange,
    /// There are more ranges than the gateway keeps.
    #[error("there are more than {MAX_RANGES} card ranges")]
    TooMany,
    /// The response has no list, although the gateway has none.
    #[error("the response has no card ranges")]
    Missing,
}

impl CardRangeTable {
    /// Returns the serial number, with which only the changes are requested.
    pub fn serial_number(&self) -> Option<&str> {
        self.serial_number.as_deref()
    }

    /// Returns the number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns true if there are no ranges.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Finds the range of a card number. Returns `None` if no range has the number.
    pub fn find(&self, digits: &str) -> Option<&CardRange> {
        let key = (digits.len(), digits.parse::<u64>().ok()?);
        let after = self.ranges.partition_point(|range| (range.length, range.first) <= key);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (range.length == key.0 && key.1 <= range.last).then_some(range)
    }

    /// Returns the list after a response: its changes are applied if this list has a serial number, because only then
    /// changes were requested; otherwise the response has the whole list.
    ///
    /// # Errors
    /// The fault of the new list.
    pub fn updated(&self, response: PRes) -> Result<Self, CardRangeFault> {
        let serial_number = response.serial_number.clone();
        let newest_of_directory = response.ds_end_version.as_deref().and_then(parse_version);
        let Some(entries) = response.ranges else {
            return match &self.serial_number {
                Some(_) => Ok(Self { serial_number: serial_number.or(self.serial_number.clone()), ..self.clone() }),
                None => Err(CardRangeFault::Missing),
            };
        };
        let earlier = self.serial_number.as_ref().map_or(&[][..], |_| &self.ranges);
        let mut ranges: BTreeMap<(usize, u64), CardRange> =
            earlier.iter().map(|range| ((range.length, range.first), range.clone())).collect();
        for entry in &entries {
            apply_entry(&mut ranges, entry, newest_of_directory)?;
            if ranges.len() > MAX_RANGES {
                return Err(CardRangeFault::TooMany);
            }
        }
        let ranges: Vec<CardRange> = ranges.into_values().collect();
        if ranges.is_empty() {
            // No card would be authenticated any more, and nobody would notice.
            return Err(CardRangeFault::Missing);
        }
        let overlaps = ranges.windows(2).any(|pair| match pair {
            [one, next] => one.length == next.length && next.first <= one.last,
            _ => false,
        });
        if overlaps { Err(CardRangeFault::Overlap) } else { Ok(Self { ranges, serial_number }) }
    }
}

/// Applies an entry to the ranges, by length and first number.
///
/// # Errors
/// If a range is added twice, or a range to change does not exist.
fn apply_entry(
    ranges: &mut BTreeMap<(usize, u64), CardRange>,
    entry: &CardRangeEntry,
    newest_of_directory: Option<[u32; 3]>,
) -> Result<(), CardRangeFault> {
    let (version, method_url) = newest_version(entry, newest_of_directory);
    let method_url: Option<Arc<str>> = method_url.map(Arc::from);
    for (start, end) in entry.number_ranges() {
        // The message has been checked, so both are numbers of up to 19 digits, which fit.
        let (Ok(first), Ok(last)) = (start.parse::<u64>(), end.parse::<u64>()) else {
            return Err(CardRangeFault::UnknownRange);
        };
        let key = (start.len(), first);
        let known = ranges.get(&key).is_some_and(|range| range.last == last);
        let range = CardRange { length: start.len(), first, last, version, method_url: method_url.clone() };
        match entry.action {
            CardRangeAction::Add if ranges.contains_key(&key) => return Err(CardRangeFault::Overlap),
            CardRangeAction::Modify | CardRangeAction::Delete if !known => return Err(CardRangeFault::UnknownRange),
            CardRangeAction::Add | CardRangeAction::Modify => drop(ranges.insert(key, range)),
            CardRangeAction::Delete => drop(ranges.remove(&key)),
        }
    }
    Ok(())
}

/// Returns the newest version that an entry, the directory server and this gateway have in common, and the address of
/// the method page. An entry that names no versions has 2.2.0.
fn newest_version(
    entry: &CardRangeEntry,
    newest_of_directory: Option<[u32; 3]>,
) -> (Option<MessageVersion>, Option<&str>) {
    let allowed = |version: &MessageVersion| {
        newest_of_directory.is_none_or(|newest| parse_version(version.as_str()).is_some_and(|parsed| parsed <= newest))
    };
    if entry.acs_versions.is_empty() {
        let first = entry.acs_start_version.as_deref().and_then(parse_version);
        let last = entry.acs_end_version.as_deref().and_then(parse_version);
        let is_supported = |version: &MessageVersion| {
            let parsed = parse_version(version.as_str());
            match (first, last) {
                (None, None) => *version == MessageVersion::V22,
                _ => first.is_none_or(|first| parsed >= Some(first)) && last.is_none_or(|last| parsed <= Some(last)),
            }
        };
        let version = MessageVersion::ALL.into_iter().rev().filter(allowed).find(is_supported);
        return (version, entry.method_url.as_deref());
    }
    let listed = |version: MessageVersion| entry.acs_versions.iter().find(|row| row.version == version.as_str());
    let newest =
        MessageVersion::ALL.into_iter().rev().filter(allowed).find_map(|version| Some((version, listed(version)?)));
    (newest.map(|(version, _)| version), newest.and_then(|(_, row)| row.method_url.as_deref()))
}

/// Parses a version such as `2.2.0`. Returns `None` for any other text.
fn parse_version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => Some([major, minor, patch]),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn entry(start: &str, end: &str, action: CardRangeAction) -> CardRangeEntry {
        CardRangeEntry {
            start: Some(start.to_owned()),
            end: Some(end.to_owned()),
            action,
            acs_start_version: Some("2.1.0".to_owned()),
            acs_end_version: Some("2.2.0".to_owned()),
            method_url: Some(format!("https://acs.example/{start}")),
            ..CardRangeEntry::default()
        }
    }

    fn response(serial: Option<&str>, ranges: Option<Vec<CardRangeEntry>>) -> PRes {
        PRes { serial_number: serial.map(str::to_owned), ranges, ..PRes::default() }
    }

    fn sample_table() -> CardRangeTable {
        let ranges = vec![
            entry("4300000000000000", "4399999999999999", CardRangeAction::Add),
            entry("4200000000000000", "4200000000009999", CardRangeAction::Add),
            entry("4200000000000", "4200000009999", CardRangeAction::Add),
            entry("6000000000000000000", "9999999999999999999", CardRangeAction::Add),
        ];
        CardRangeTable::default().updated(response(Some("1"), Some(ranges))).unwrap()
    }

    #[test]
    fn a_card_is_found_in_the_range_of_its_length() {
        let table = sample_table();
        for (number, start) in [
            ("4200000000000000", Some("4200000000000000")),
            ("4200000000009999", Some("4200000000000000")),
            ("4200000000010000", None),
            ("4200000000000", Some("4200000000000")),
            ("42000000000000", None),
            ("4199999999999999", None),
            ("4350000000000000", Some("4300000000000000")),
            ("4400000000000000", None),
            ("9999999999999999999", Some("6000000000000000000")),
            ("", None),
            ("99999999999999999999", None),
        ] {
            let found = table.find(number).and_then(|range| range.method_url.as_deref());
            assert_eq!(found.map(|url| url.trim_start_matches("https://acs.example/")), start, "{number}");
        }
        assert_eq!(CardRangeTable::default().find("4200000000000000"), None);
    }

    #[test]
    fn changes_apply_to_the_list_with_a_serial_number() {
        let changes = vec![
            entry("4300000000000000", "4399999999999999", CardRangeAction::Delete),
            entry("4300000000000000", "4349999999999999", CardRangeAction::Add),
            entry("4200000000000", "4200000009999", CardRangeAction::Modify),
        ];
        let table = sample_table().updated(response(Some("2"), Some(changes))).unwrap();
        assert_eq!((table.len(), table.serial_number()), (4, Some("2")));
        assert!(table.find("4350000000000000").is_none() && table.find("4349999999999999").is_some());
        let same = table.updated(response(Some("2"), None)).unwrap();
        assert_eq!(same, table);
        // Without a serial number, the next response is the whole list.
        let without = table.updated(response(None, Some(Vec::new()))).unwrap();
        assert_eq!(without.serial_number(), None);
        let whole = vec![entry("4500000000000000", "4599999999999999", CardRangeAction::Add)];
        assert_eq!(without.updated(response(None, Some(whole))).unwrap().len(), 1);
    }

    #[test]
    fn a_wrong_list_is_refused() {
        use CardRangeAction::{Add, Delete, Modify};
        for (start, end, action, fault) in [
            ("4200000000005000", "4200000000020000", Add, CardRangeFault::Overlap),
            ("4100000000000000", "4999999999999999", Add, CardRangeFault::Overlap),
            ("4200000000000000", "4200000000009999", Add, CardRangeFault::Overlap),
            ("4200000000000001", "4200000000000002", Add, CardRangeFault::Overlap),
            ("4200000000000000", "4200000000009998", Modify, CardRangeFault::UnknownRange),
            ("4700000000000000", "4700000000009999", Delete, CardRangeFault::UnknownRange),
        ] {
            let changed = sample_table().updated(response(Some("2"), Some(vec![entry(start, end, action)])));
            assert_eq!(changed, Err(fault), "{start} {action:?}");
        }
        assert_eq!(CardRangeTable::default().updated(response(Some("1"), None)), Err(CardRangeFault::Missing));
    }

    #[test]
    fn the_newest_common_version_is_used() {
        let versions = |first: Option<&str>, last: Option<&str>, directory: Option<&str>| {
            let entry = CardRangeEntry {
                acs_start_version: first.map(str::to_owned),
                acs_end_version: last.map(str::to_owned),
                ..CardRangeEntry::default()
            };
            newest_version(&entry, directory.and_then(parse_version)).0.map(MessageVersion::as_str)
        };
        assert_eq!(versions(Some("2.1.0"), Some("2.3.1"), None), Some("2.3.1"));
        assert_eq!(versions(Some("2.1.0"), Some("2.3.1"), Some("2.2.0")), Some("2.2.0"));
        assert_eq!(versions(Some("2.1.0"), Some("2.1.0"), None), Some("2.1.0"));
        assert_eq!(versions(Some("2.4.0"), Some("2.10.0"), None), None);
        assert_eq!(versions(None, None, None), Some("2.2.0"));
        assert_eq!([parse_version("2.2"), parse_version("2.2.0.0"), parse_version("x.2.0")], [None, None, None]);
    }
}
