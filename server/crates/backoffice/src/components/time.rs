//! Time in a zone, and the time that is left until a deadline.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use super::badge::{Tone, badge};
use crate::layout::texts::Texts;

/// Parts of the whole time, as divisors: a deadline is urgent below the first part, and near below the second.
const LITTLE_TIME: (i32, i32) = (8, 3);

/// Renders a time in a zone to the minute. Its title is the time to the second with the zone.
pub fn time(texts: &Texts, zone: &TimeZone, moment: Timestamp) -> Markup {
    let shown = moment.to_zoned(zone.clone());
    html! { time.nowrap datetime=(moment) title=(texts.exact_time(&shown)) { (texts.date_time(&shown)) } }
}

/// Renders the time that is left at `now` of the time from `begin` to `end`. The colour depends on the part that is
/// left, because an hour is little time of a week and much of a morning.
pub fn time_left_badge(texts: &Texts, (begin, end): (Timestamp, Timestamp), now: Timestamp) -> Markup {
    let left = end.duration_since(now);
    badge(urgency(left, end.duration_since(begin)), &describe_time_left(texts, left))
}

/// Returns the tone of the time that is left of a whole.
fn urgency(left: SignedDuration, whole: SignedDuration) -> Tone {
    let (urgent, near) = LITTLE_TIME;
    match left {
        left if left <= SignedDuration::ZERO || left < whole / urgent => Tone::Bad,
        left if left < whole / near => Tone::Warn,
        _ => Tone::Calm,
    }
}

/// Returns the text of the time that is left.
fn describe_time_left(texts: &Texts, left: SignedDuration) -> String {
    if left <= SignedDuration::ZERO {
        return texts.get("reviews.left_over").to_owned();
    }
    describe_duration(texts, left)
}

/// Returns the text of a time: days and hours, hours and minutes, or minutes.
pub fn describe_duration(texts: &Texts, time: SignedDuration) -> String {
    let (hours, minutes) = (time.as_hours(), time.as_mins() % 60);
    let [days, rest, hours, minutes] = [hours / 24, hours % 24, hours, minutes].map(|number| number.to_string());
    if time.as_hours() >= 24 {
        texts.fill("reviews.left_days", &[("days", &days), ("hours", &rest)])
    } else if time.as_hours() > 0 {
        texts.fill("reviews.left_hours", &[("hours", &hours), ("minutes", &minutes)])
    } else {
        texts.fill("reviews.left_minutes", &[("minutes", &minutes)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_by_its_two_largest_parts() {
        let texts = Texts::choose("en");
        for (minutes, text) in [
            (-5, "Time is over"),
            (0, "Time is over"),
            (1, "1 min"),
            (59, "59 min"),
            (60, "1 h 0 min"),
            (23 * 60 + 59, "23 h 59 min"),
            (24 * 60, "1 d 0 h"),
            (3 * 24 * 60 + 90, "3 d 1 h"),
        ] {
            assert_eq!(describe_time_left(texts, SignedDuration::from_mins(minutes)), text);
        }
    }

    #[test]
    fn a_deadline_is_urgent_by_the_part_of_its_time_that_is_left() {
        for (left, whole, tone) in [
            (24, 24, Tone::Calm),
            (8, 24, Tone::Calm),
            (7, 24, Tone::Warn),
            (3, 24, Tone::Warn),
            (2, 24, Tone::Bad),
            // The same hours are much of a short time and little of a long one.
            (8, 10, Tone::Calm),
            (8, 30 * 24, Tone::Bad),
            (0, 24, Tone::Bad),
            (-1, 24, Tone::Bad),
            // A deadline that was moved to a time before the beginning is over.
            (-5, -2, Tone::Bad),
            (1, 0, Tone::Calm),
        ] {
            let [left, whole] = [left, whole].map(SignedDuration::from_hours);
            assert_eq!(urgency(left, whole), tone, "{left} of {whole}");
        }
    }
}
