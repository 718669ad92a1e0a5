//! Occurrences of a schedule: the matches of its expression as moments, in its time zone and between its first and last
//! moment.
//!
//! A local time that the time zone skips occurs at the moment after the gap. A local time that exists twice occurs
//! once, the first time. Local times that share a moment are one occurrence.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp};

use super::expression::CronExpression;

const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// Window in which missed occurrences are enumerated. It is longer than any hour that exists twice.
const NEAR: SignedDuration = SignedDuration::from_hours(4);

/// Moments at which a schedule runs.
#[derive(Debug, Clone)]
pub struct Recurrence {
    /// The local times.
    pub times: CronExpression,
    /// The time zone of the local times.
    pub zone: TimeZone,
    /// No occurrence is earlier.
    pub start: Timestamp,
    /// No occurrence is later. `None` for no limit.
    pub end: Option<Timestamp>,
}

impl Recurrence {
    /// Returns the first occurrence at or after a moment. Returns `None` if there is none.
    pub fn next_from(&self, from: Timestamp) -> Option<Timestamp> {
        let from = round_up_to_second(from.max(self.start))?;
        // Begins in front of a gap that ends at this moment, because the skipped local times occur at its end.
        let mut local = self.zone.to_datetime(from.checked_sub(SECOND).ok()?).checked_add(SECOND).ok()?;
        loop {
            let found = self.times.next_from(local)?;
            let moment = self.to_moment(found)?;
            if moment >= from {
                return Some(moment).filter(|moment| self.end.is_none_or(|end| *moment <= end));
            }
            // The second pass of an hour that exists twice.
            local = found.checked_add(Span::new().seconds(1)).ok()?;
        }
    }

    /// Returns the first occurrence after a moment. Returns `None` if there is none.
    pub fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        self.next_from(moment.checked_add(SECOND).ok()?)
    }

    /// Returns the latest occurrence from `first`, which is one, up to a moment. Enumerates only the last hours, so
    /// that years of missed occurrences cost little.
    pub fn latest_until(&self, first: Timestamp, until: Timestamp) -> Timestamp {
        let near = until.checked_sub(NEAR).ok().filter(|near| *near > first);
        let mut latest = near.and_then(|near| self.latest_before(first, near)).unwrap_or(first);
        while let Some(next) = self.next_after(latest).filter(|next| *next <= until) {
            latest = next;
        }
        latest
    }

    /// Returns an occurrence between `first` and `limit` after which none but those of the last hours follow. Halves
    /// the range, because an expression is evaluated forwards.
    fn latest_before(&self, first: Timestamp, limit: Timestamp) -> Option<Timestamp> {
        let (mut low, mut high) = (first.as_second(), limit.as_second());
        while high - low > SECOND.as_secs() {
            let middle = low + (high - low) / 2;
            match self.next_from(Timestamp::from_second(middle).ok()?) {
                Some(found) if found <= limit => low = found.as_second().max(middle),
                _ => high = middle,
            }
        }
        Some(self.next_from(Timestamp::from_second(low).ok()?)?).filter(|found| *found <= limit)
    }

    /// Converts a local time to its moment.
    fn to_moment(&self, local: DateTime) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        let is_skipped = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let moment = ambiguous.compatible().ok()?;
        if !is_skipped {
            return Some(moment);
        }
        // The moment is after the gap by as much as the local time is into it. The gap is the transition before it.
        let gap = self.zone.preceding(moment.checked_add(SECOND).ok()?).next();
        Some(gap.map_or(moment, |gap| gap.timestamp()))
    }
}

/// Rounds a moment up to a whole second.
fn round_up_to_second(moment: Timestamp) -> Option<Timestamp> {
    let second = Timestamp::from_second(moment.as_second()).ok()?;
    if second >= moment { Some(second) } else { second.checked_add(SECOND).ok() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn recurrence(expression: &str, zone: &str, start: &str) -> Recurrence {
        Recurrence {
            times: CronExpression::parse(expression).unwrap(),
            zone: TimeZone::get(zone).unwrap(),
            start: start.parse().unwrap(),
            end: None,
        }
    }

    /// Returns the first occurrences as local times with their offset.
    fn occurrences(recurrence: &Recurrence, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut next = recurrence.next_from(recurrence.start);
        while let Some(moment) = next.filter(|_| found.len() < count) {
            let local = moment.to_zoned(recurrence.zone.clone());
            found.push(local.strftime("%m-%d %H:%M %z").to_string());
            next = recurrence.next_after(moment);
        }
        found
    }

    #[test]
    fn a_local_time_that_is_skipped_occurs_at_the_end_of_the_gap() {
        // Berlin skips from 02:00 to 03:00 on 2027-03-28.
        let daily = recurrence("0 30 2 * * ?", "Europe/Berlin", "2027-03-27T00:00:00Z");
        assert_eq!(occurrences(&daily, 3), ["03-27 02:30 +0100", "03-28 03:00 +0200", "03-29 02:30 +0200"]);
        let often = recurrence("0 */20 1-3 28 3 ?", "Europe/Berlin", "2027-03-28T00:20:00Z");
        let expected = ["03-28 01:20 +0100", "03-28 01:40 +0100", "03-28 03:00 +0200", "03-28 03:20 +0200"];
        assert_eq!(occurrences(&often, 4), expected);
        // A start at the end of the gap does not lose what was skipped.
        let at_the_end = recurrence("0 30 2 * * ?", "Europe/Berlin", "2027-03-28T01:00:00Z");
        assert_eq!(occurrences(&at_the_end, 1), ["03-28 03:00 +0200"]);
    }

    #[test]
    fn a_local_time_that_exists_twice_occurs_once() {
        // Berlin repeats 02:00 to 03:00 on 2027-10-31.
        let daily = recurrence("0 30 2 * * ?", "Europe/Berlin", "2027-10-30T00:00:00Z");
        assert_eq!(occurrences(&daily, 3), ["10-30 02:30 +0200", "10-31 02:30 +0200", "11-01 02:30 +0100"]);
        let often = recurrence("0 */30 2-3 * * ?", "Europe/Berlin", "2027-10-31T00:00:00Z");
        let expected = ["10-31 02:00 +0200", "10-31 02:30 +0200", "10-31 03:00 +0100", "10-31 03:30 +0100"];
        assert_eq!(occurrences(&often, 4), expected);
        let in_the_second_pass = recurrence("0 */30 2-3 * * ?", "Europe/Berlin", "2027-10-31T01:10:00Z");
        assert_eq!(occurrences(&in_the_second_pass, 1), ["10-31 03:00 +0100"]);
    }

    #[test]
    fn a_day_that_a_zone_skips_occurs_at_the_first_moment_of_the_next_one() {
        // Samoa skipped 2011-12-30.
        let daily = recurrence("0 0 12 * * ?", "Pacific/Apia", "2011-12-29T00:00:00-10:00");
        assert_eq!(occurrences(&daily, 3), ["12-29 12:00 -1000", "12-31 00:00 +1400", "12-31 12:00 +1400"]);
    }

    #[test]
    fn years_of_missed_occurrences_are_passed_over() {
        let second = Recurrence { end: None, ..recurrence("* * * * * ?", "Europe/Berlin", "2016-01-01T00:00:00Z") };
        let until = "2026-11-24T10:00:00Z".parse().unwrap();
        assert_eq!(second.latest_until(second.start, until), until);
        let past = recurrence("* * * 1 1 ? 2017-2020", "Europe/Berlin", "2016-01-01T00:00:00Z");
        let first = past.next_from(past.start).unwrap();
        assert_eq!(past.latest_until(first, until).to_string(), "2020-01-01T22:59:59Z");
    }

    proptest! {
        #[test]
        fn occurrences_ascend_and_none_is_left_out(
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
            expression in prop::sample::select(vec![
                "0 */7 * * * ?", "0 30 1,2 * * ?", "0 0 */3 ? * 1", "30 15 2 L * ?", "0 0 0 31 * ?", "0 59 23 ? * 6#5",
            ]),
            start in 1_700_000_000_i64..1_900_000_000,
            later in 0_i64..4_000_000,
        ) {
            let start = Timestamp::from_second(start).unwrap();
            let recurrence = recurrence(expression, zone, &start.to_string());
            let from = start.checked_add(SignedDuration::from_secs(later)).unwrap();
            let next = recurrence.next_from(from).unwrap();
            prop_assert!(next >= from && recurrence.next_after(next).unwrap() > next);
            // The same occurrence is found from every moment in between, and from itself.
            let middle = Timestamp::from_second(i64::midpoint(from.as_second(), next.as_second())).unwrap();
            prop_assert_eq!(recurrence.next_from(middle.max(from)), Some(next));
            prop_assert_eq!(recurrence.next_from(next), Some(next));
            let first = recurrence.next_from(start).unwrap();
            if first <= from {
                let latest = recurrence.latest_until(first, from);
                prop_assert!(latest <= from && recurrence.next_after(latest).unwrap() > from);
            }
        }
    }
}
