//! Formats of days and times in a file: the defaults, and the parser.

use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::tz::{Offset, TimeZone};

/// The format of days without one in the mapping.
pub(super) const DEFAULT_DATE_FORMAT: &str = "%Y-%m-%d";
/// The format of times without one in the mapping.
pub(super) const DEFAULT_TIME_FORMAT: &str = "%Y-%m-%d %H:%M:%S";

/// Directives of an offset at the end of a format.
const OFFSETS: [&str; 4] = ["%z", "%:z", "%::z", "%:::z"];
/// Words of an offset of zero.
const ZERO_OFFSETS: [&str; 4] = ["Z", "z", "UTC", "GMT"];

/// A format of strptime. An offset at its end may be written in every common way, also as `Z`.
#[derive(Debug, Clone)]
pub(super) struct TimeFormat {
    /// The format.
    text: String,
    /// The format without an offset at its end. `None` if it ends otherwise.
    before_offset: Option<String>,
}

impl TimeFormat {
    /// Creates a format. It is not checked.
    pub(super) fn new(text: &str) -> Self {
        // The longest directive first, because each one ends with the next one's letters.
        let before = OFFSETS.iter().rev().find_map(|offset| text.strip_suffix(offset));
        Self { text: text.to_owned(), before_offset: before.map(str::to_owned) }
    }

    /// Returns the format as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Parses a day. A time with an offset is converted to the day in a time zone.
    pub(super) fn parse_day(&self, text: &str, zone: &TimeZone) -> Option<Date> {
        match self.parse_time(text, zone) {
            Some(time) => Some(time.date()),
            None => strtime::parse(&self.text, text).ok()?.to_date().ok(),
        }
    }

    /// Parses a time. One with an offset is converted to a time zone.
    pub(super) fn parse_time(&self, text: &str, zone: &TimeZone) -> Option<DateTime> {
        let Some(before) = &self.before_offset else {
            let parsed = strtime::parse(&self.text, text).ok()?;
            return match parsed.offset() {
                Some(_) => Some(zone.to_datetime(parsed.to_timestamp().ok()?)),
                None => parsed.to_datetime().ok(),
            };
        };
        let (text, offset) = split_offset(text)?;
        let time = strtime::parse(before, text).ok()?.to_datetime().ok()?;
        Some(zone.to_datetime(offset.to_timestamp(time).ok()?))
    }
}

/// Splits an offset off the end of a time: `Z`, `UTC`, `+02`, `+0200`, `+02:00` or `+02:00:00`.
fn split_offset(text: &str) -> Option<(&str, Offset)> {
    if let Some(before) = ZERO_OFFSETS.iter().find_map(|word| text.strip_suffix(word)) {
        return Some((before, Offset::UTC));
    }
    let start = text.rfind(['+', '-', '\u{2212}'])?;
    let (before, offset) = text.split_at_checked(start)?;
    let sign = if offset.starts_with('+') { 1 } else { -1 };
    let digits = offset.trim_start_matches(['+', '-', '\u{2212}']);
    let has_colons = digits.contains(':');
    let parts: Vec<&str> = if has_colons {
        digits.split(':').collect()
    } else {
        (0..digits.len()).step_by(2).map(|at| digits.get(at..at + 2)).collect::<Option<Vec<_>>>()?
    };
    let is_two_digits = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !(1..=3).contains(&parts.len()) || !parts.iter().all(is_two_digits) {
        return None;
    }
    let mut seconds = 0;
    for (part, (unit, limit)) in parts.iter().zip([(3600, 24), (60, 60), (1, 60)]) {
        let value: i32 = part.parse().ok()?;
        seconds += (value < limit).then_some(value * unit)?;
    }
    Some((before, Offset::from_seconds(sign * seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::settlement::file_format::time_format::*;

    fn parse(format: &str, text: &str) -> Option<String> {
        TimeFormat::new(format).parse_time(text, &TimeZone::UTC).map(|time| time.to_string())
    }

    #[test]
    fn an_offset_at_the_end_is_written_in_every_common_way() {
        for directive in OFFSETS {
            let format = format!("%Y-%m-%dT%H:%M:%S%.f{directive}");
            for offset in ["Z", "z", "UTC", "+00", "+0000", "+00:00", "-00:00", "+00:00:00"] {
                let parsed = parse(&format, &format!("2026-10-12T23:30:00{offset}"));
                assert_eq!(parsed.as_deref(), Some("2026-10-12T23:30:00"), "{directive} {offset}");
            }
            let parsed = parse(&format, "2026-10-12T23:30:00.250-05:30");
            assert_eq!(parsed.as_deref(), Some("2026-10-13T05:00:00.25"), "{directive}");
            for text in ["2026-10-12T23:30:00", "2026-10-12T23:30:00+24:00", "2026-10-12T23:30:00+1", "Z", "", "+"] {
                assert_eq!(parse(&format, text), None, "{directive} {text}");
            }
        }
        assert_eq!(parse("%Y-%m-%d %z %H:%M", "2026-10-12 +0200 01:00").as_deref(), Some("2026-10-11T23:00:00"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = split_offset(&text);
            let _ = TimeFormat::new("%Y-%m-%dT%H:%M:%S%z").parse_day(&text, &TimeZone::UTC);
        }
    }
}
