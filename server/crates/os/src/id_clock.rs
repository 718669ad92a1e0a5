//! The time of new ids. Ids begin with their time, and lists, cursors and ranges depend on their order. So this time
//! never goes back, even if the machine's clock does. Everything else (expiry, timers, `timestamp`) uses
//! [`crate::clock::Clock`].

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// A time that never goes back, in two atomics without a lock, because every payment creates ids.
///
/// While the machine's clock is behind, every id gets the next millisecond. No id is further ahead of the machine's
/// clock than the clock went back. So ids stay in order until the clock has caught up, which a running clock always
/// does.
#[derive(Debug)]
pub struct IdClock {
    /// The latest returned time in milliseconds. It only grows.
    latest: AtomicI64,
    /// Milliseconds that the machine's clock went back since it last was at the newest id or later. Limits how far ids
    /// may be ahead. If a thread resets it at the wrong moment, the next call computes it again.
    lead: AtomicI64,
}

impl IdClock {
    /// Creates a clock whose first id is not before the newest existing one.
    pub fn starting_at(newest: Timestamp) -> Self {
        Self { latest: AtomicI64::new(newest.as_millisecond()), lead: AtomicI64::new(0) }
    }

    /// Returns the time of a new id, in milliseconds: `now`, a reading of the machine's clock, or a later time if `now`
    /// is before the latest id. Never returns an earlier time than before; calls within one millisecond share it.
    /// Beyond the calendar it is [`Timestamp::MAX`].
    pub fn next_time(&self, now: Timestamp) -> Timestamp {
        let reading = now.as_millisecond();
        let mut latest = self.latest.load(Ordering::Relaxed);
        loop {
            let next = self.next_millisecond(reading, latest);
            // Several ids in the same millisecond need no write, which would take the cache line from other
            // processors.
            if next == latest {
                break;
            }
            match self.latest.compare_exchange_weak(latest, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    latest = next;
                    break;
                }
                Err(other) => latest = other,
            }
        }
        Timestamp::from_millisecond(latest).unwrap_or(Timestamp::MAX)
    }

    /// Returns the latest possible time of an id so far: that of the latest id, or `now` if it is later. Changes
    /// nothing.
    pub fn latest_time(&self, now: Timestamp) -> Timestamp {
        let latest = self.latest.load(Ordering::Relaxed).max(now.as_millisecond());
        Timestamp::from_millisecond(latest).unwrap_or(Timestamp::MAX)
    }

    /// Returns the time of the next id after one at `latest`: `reading` if it is not before `latest`, otherwise the
    /// next millisecond, but at most the lead after `reading`. Resets the lead in the first case, and raises it to the
    /// current gap in the second.
    fn next_millisecond(&self, reading: i64, latest: i64) -> i64 {
        if reading >= latest {
            if self.lead.load(Ordering::Relaxed) != 0 {
                self.lead.store(0, Ordering::Relaxed);
            }
            return reading;
        }
        let behind = latest - reading;
        let lead = self.lead.fetch_max(behind, Ordering::Relaxed).max(behind);
        (latest + 1).min(reading + lead)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timestamp_at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).unwrap()
    }

    /// Returns a function that gives the time of a new id for a reading of the clock, in milliseconds.
    fn start_clock(start: i64) -> impl FnMut(i64) -> i64 {
        let clock = IdClock::starting_at(timestamp_at(start));
        move |reading| clock.next_time(timestamp_at(reading)).as_millisecond()
    }

    #[test]
    fn ids_go_by_a_clock_that_goes_forward() {
        let mut next = start_clock(0);
        for reading in [5, 5, 6, 1000, 1000, 1001] {
            assert_eq!(next(reading), reading);
        }
    }

    #[test]
    fn ids_made_slowly_stay_apart_until_the_clock_has_caught_up() {
        let mut next = start_clock(0);
        assert_eq!(next(1000), 1000);
        let id_times: Vec<i64> = (0..5).map(|second| next(100 + second * 200)).collect();
        assert_eq!(id_times, [1000, 1001, 1002, 1003, 1004]);
        assert_eq!(next(1500), 1500);
    }

    #[test]
    fn threads_that_read_a_clock_going_back_and_forth_see_no_id_before_an_earlier_one() {
        let clock = IdClock::starting_at(timestamp_at(50_000));
        std::thread::scope(|scope| {
            for thread in 0..4i64 {
                let clock = &clock;
                scope.spawn(move || {
                    let mut before = timestamp_at(50_000);
                    for step in 0..20_000i64 {
                        let reading = timestamp_at((step * 7919 + thread * 104_729) % 60_000);
                        let next = clock.next_time(reading);
                        assert!(next >= before && next >= reading, "{before} {reading} {next}");
                        before = next;
                    }
                });
            }
        });
    }

    #[test]
    fn the_end_of_the_calendar_stops_it_without_a_fault() {
        let clock = IdClock::starting_at(Timestamp::MAX);
        for _ in 0..3 {
            assert_eq!(clock.next_time(timestamp_at(0)).as_millisecond(), Timestamp::MAX.as_millisecond());
        }
    }

    proptest! {
        #[test]
        fn ids_never_go_back_and_are_ahead_by_no_more_than_the_clock_went_back(
            start in 0i64..5_000,
            readings in prop::collection::vec(0i64..5_000, 1..200),
        ) {
            let mut next = start_clock(start);
            let (mut before, mut reading_before, mut back) = (start, start, 0);
            for reading in readings {
                let id_time = next(reading);
                back += (reading_before - reading).max(0);
                prop_assert!(id_time >= before, "{id_time} after {before}");
                prop_assert!(id_time - reading <= back, "{id_time} at {reading}, which went back by {back}");
                if reading >= before {
                    prop_assert_eq!(id_time, reading);
                    back = 0;
                }
                (before, reading_before) = (id_time, reading);
            }
        }

        #[test]
        fn behind_the_newest_id_every_other_id_has_a_millisecond_of_its_own(
            jump in 1i64..10_000,
            waits in prop::collection::vec(1i64..20, 1..100),
        ) {
            let mut next = start_clock(100_000);
            let mut reading = 100_000 - jump;
            let mut before = next(reading);
            for wait in waits {
                reading += wait;
                let id_time = next(reading);
                // The clock has caught up in exactly this millisecond. Then several ids may share it, as in normal
                // operation.
                prop_assert!(id_time > before || id_time == reading, "{id_time} after {before}");
                before = id_time;
            }
        }
    }
}
