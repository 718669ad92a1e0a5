//! One source's count: the generic cell rate algorithm (GCRA), whose whole state is the moment at which everything counted
//! so far is forgotten.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The time in which a cap fills up again, in nanoseconds: an hour.
pub(super) const HOUR: i64 = 3_600_000_000_000;
/// The shortest time between two alarms of one source.
const BETWEEN_ALARMS: i64 = 60_000_000_000;

/// A count. All moments are nanoseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Count {
    /// The moment at which the count is empty again. Shared by concurrent attempts, changed by compare-and-swap.
    full: AtomicI64,
    /// A keyed hash of the last card number, where only a change of number counts. Zero at first. Never stored.
    last: AtomicU64,
    /// The moment of the last alarm.
    alarmed: AtomicI64,
}

impl Count {
    /// A count as it was stored.
    pub(super) fn until(full: i64) -> Self {
        Self { full: full.into(), ..Self::default() }
    }

    /// The moment at which the count is empty again.
    pub(super) fn full(&self) -> i64 {
        self.full.load(Ordering::Relaxed)
    }

    /// Adds a cost. Returns the moment until which this cost is remembered.
    ///
    /// # Errors
    /// The wait in nanoseconds if there is no room for it.
    pub(super) fn take(&self, cost: i64, now: i64) -> Result<i64, i64> {
        let next = |full: i64| full.max(now).saturating_add(cost);
        let taken = self.full.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full| {
            let next = next(full);
            (next - now <= HOUR).then_some(next)
        });
        taken.map(next).map_err(|full| next(full) - now - HOUR)
    }

    /// Checks for room and adds nothing.
    ///
    /// # Errors
    /// Same as [`Count::take`].
    pub(super) fn check(&self, cost: i64, now: i64) -> Result<(), i64> {
        let wait = self.full().max(now).saturating_add(cost) - now - HOUR;
        if wait <= 0 { Ok(()) } else { Err(wait) }
    }

    /// Adds a cost for a number that differs from the one before. Where there is no room, every number is refused, also the
    /// one before: else the answers would tell which one it was.
    ///
    /// # Errors
    /// Same as [`Count::take`].
    pub(super) fn take_number(&self, number: u64, cost: i64, now: i64) -> Result<Option<i64>, i64> {
        self.check(cost, now)?;
        if self.last.swap(number, Ordering::Relaxed) == number {
            return Ok(None);
        }
        self.take(cost, now).map(Some)
    }

    /// Takes back a part of what was added and is remembered until `until`. What has been forgotten meanwhile is not given
    /// back twice.
    pub(super) fn give_back(&self, part: i64, until: i64, now: i64) {
        if now < until {
            self.full.fetch_sub(part, Ordering::Relaxed);
        }
    }

    /// Returns true if an alarm is due, at most once a minute.
    pub(super) fn alarm(&self, now: i64) -> bool {
        let last = self.alarmed.load(Ordering::Relaxed);
        now.saturating_sub(last) >= BETWEEN_ALARMS
            && self.alarmed.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 1_700_000_000_000_000_000;

    proptest! {
        /// However attempts, endings and time follow each other, no more than the cap of declines fits into an hour, and a
        /// count that only saw what was given back is empty.
        #[test]
        fn no_history_lets_more_declines_into_an_hour_than_the_cap(
            cap in 1_i64..50,
            steps in prop::collection::vec((0_i64..HOUR / 4, any::<bool>()), 1..200),
        ) {
            let (count, cost) = (Count::default(), HOUR / cap);
            let mut now = NOW;
            let mut declines: Vec<i64> = Vec::new();
            for (wait, declined) in steps {
                now += wait / 16;
                if let Ok(until) = count.take(cost, now) {
                    if declined {
                        declines.push(now);
                    } else {
                        count.give_back(cost, until, now);
                    }
                }
                prop_assert!(count.full() - now <= HOUR);
            }
            for start in &declines {
                let within = declines.iter().filter(|at| **at >= *start && **at < *start + HOUR).count();
                // A full count and what leaks away during the hour.
                prop_assert!(within as i64 <= 2 * cap, "{within} of {cap}");
            }
        }

        #[test]
        fn what_is_given_back_late_never_makes_room_for_more_than_was_taken(waits in prop::collection::vec(0_i64..2 * HOUR, 1..20)) {
            let cost = HOUR / 4;
            let count = Count::default();
            let until = count.take(cost, NOW).unwrap();
            let mut now = NOW;
            for wait in waits {
                now += wait;
                let _ = count.take(cost, now);
            }
            let before = count.full();
            count.give_back(cost, until, now);
            prop_assert!(now < until || count.full() == before);
        }
    }

    #[test]
    fn one_number_again_and_again_costs_once_and_each_change_costs_once_more() {
        let (count, cost) = (Count::default(), HOUR / 3);
        for number in [7, 7, 7, 8, 8, 9] {
            count.take_number(number, cost, NOW).unwrap();
        }
        for number in [7, 8, 9, 10] {
            assert!(count.take_number(number, cost, NOW).is_err(), "{number}: also the last one that was let in");
        }
        assert!(count.take_number(9, cost, NOW + cost).is_ok());
    }

    #[test]
    fn an_alarm_is_due_once_a_minute() {
        let count = Count::default();
        assert!(count.alarm(NOW) && !count.alarm(NOW) && !count.alarm(NOW + BETWEEN_ALARMS - 1));
        assert!(count.alarm(NOW + BETWEEN_ALARMS));
    }
}
