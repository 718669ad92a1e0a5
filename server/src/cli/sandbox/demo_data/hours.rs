//! The times of orders: shoppers order in the evening and on weekends more than at night.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use super::seed::Draw;

/// Orders by hour of the day. Most shoppers live an hour ahead of UTC.
const HOURS: [u64; 24] = [2, 1, 1, 1, 2, 4, 7, 9, 10, 10, 11, 12, 11, 10, 10, 11, 13, 16, 19, 21, 20, 14, 7, 4];
/// Orders by day of the week, from Monday on, in hundredths of a usual day.
const WEEKDAYS: [u64; 7] = [92, 90, 94, 98, 105, 124, 132];
/// Milliseconds of an hour.
const HOUR: u64 = 3_600_000;

/// The hours of a period, each with its share of the orders.
pub(super) struct HourPlan {
    from: Timestamp,
    /// Sum of the shares up to the end of each hour.
    ends: Vec<u64>,
    /// Length of the last hour in milliseconds.
    last: u64,
}

impl HourPlan {
    /// Plans the hours from `from` to `until`. The last one may be shorter.
    pub(super) fn new(from: Timestamp, until: Timestamp) -> Self {
        let length = u64::try_from(until.duration_since(from).as_millis()).unwrap_or_default().max(1);
        let count = length.div_ceil(HOUR);
        let last = length - (count - 1) * HOUR;
        let mut sum = 0;
        let ends = (0..count).map(|hour| {
            let share = share_of(from + hours(hour));
            sum += if hour + 1 == count { (share * last / HOUR).max(1) } else { share };
            sum
        });
        Self { from, ends: ends.collect(), last }
    }

    /// Returns the time of an order by its index, a bit earlier or later than evenly spread. Times are in the order of
    /// the indexes.
    pub(super) fn time_of(&self, index: u64, count: u64, draw: &mut Draw) -> Timestamp {
        let sum = self.ends.last().copied().unwrap_or(1);
        // In thousandths of a share.
        let place = (index * 1000 + draw.below(1000)) * sum / count.max(1);
        let hour = self.ends.partition_point(|end| end * 1000 <= place);
        let begin = hour.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends.get(hour).copied().unwrap_or(sum).max(begin + 1);
        let length = if hour + 1 >= self.ends.len() { self.last } else { HOUR };
        let within = (place - begin * 1000).min((end - begin) * 1000 - 1) * length / ((end - begin) * 1000);
        self.from + hours(hour as u64) + SignedDuration::from_millis(i64::try_from(within).unwrap_or_default())
    }
}

fn hours(count: u64) -> SignedDuration {
    SignedDuration::from_hours(i64::try_from(count).unwrap_or_default())
}

/// Returns the share of the hour that begins at a time.
fn share_of(time: Timestamp) -> u64 {
    let time = TimeZone::UTC.to_datetime(time);
    let weekday = usize::try_from(time.weekday().to_monday_zero_offset()).unwrap_or_default();
    HOURS[usize::try_from(time.hour()).unwrap_or_default()] * WEEKDAYS[weekday]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn evenings_and_weekends_have_the_most_orders_and_all_are_in_order() {
        let (from, until) = ("2026-03-02T00:00:00Z".parse().unwrap(), "2026-03-30T00:20:00Z".parse().unwrap());
        let plan = HourPlan::new(from, until);
        let mut draw = Draw::of_stream(1, 1);
        let times: Vec<Timestamp> = (0..4000).map(|index| plan.time_of(index, 4000, &mut draw)).collect();
        assert!(times.is_sorted() && times[0] >= from && times[3999] < until);
        let count = |is: fn(jiff::civil::DateTime) -> bool| {
            times.iter().filter(|time| is(TimeZone::UTC.to_datetime(**time))).count()
        };
        assert!(count(|time| time.hour() == 19) > 10 * count(|time| time.hour() == 2));
        assert!(count(|time| time.day() == 8) > count(|time| time.day() == 3));
    }

    #[test]
    fn a_period_shorter_than_an_hour_has_orders_as_well() {
        let from = "2026-03-02T02:00:00Z".parse().unwrap();
        let plan = HourPlan::new(from, from + SignedDuration::from_mins(10));
        let time = plan.time_of(2, 3, &mut Draw::of_stream(1, 1));
        assert!(time >= from && time < from + SignedDuration::from_mins(10));
    }
}
