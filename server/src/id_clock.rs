//! The time of new ids. Ids begin with their time, and lists, cursors and ranges go by them, so that time never goes back,
//! also when the machine's clock does. Everything else (expiry, timers, `timestamp`) goes by [`crate::clock::Clock`].

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// A time that never goes back, in two atomics: ids are made on the path of every payment, which takes no lock for them.
///
/// While the machine's clock is behind, every id takes the next millisecond, and none is further ahead of that clock than
/// it went back. So ids stay in order until the clock has caught up, which a clock that goes on by itself always does.
#[derive(Debug)]
pub struct IdClock {
    /// Milliseconds of the latest time that was given. Only ever grows.
    latest: AtomicI64,
    /// Milliseconds that the machine's clock went back since it was last in time; limits how far ids may be ahead. A value that
    /// another thread resets at a bad moment is computed anew by the next reading.
    lead: AtomicI64,
}

impl IdClock {
    /// Creates a clock that goes on from the newest id there is.
    pub fn starting_at(newest: Timestamp) -> Self {
        Self { latest: AtomicI64::new(newest.as_millisecond()), lead: AtomicI64::new(0) }
    }

    /// Returns the time of a new id, for a reading of the machine's clock.
    pub fn next(&self, now: Timestamp) -> Timestamp {
        let reading = now.as_millisecond();
        let mut latest = self.latest.load(Ordering::Relaxed);
        loop {
            let next = self.step(reading, latest);
            // In the usual millisecond there is nothing to write, and no other processor's cache to disturb.
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

    /// Returns the latest time that an id can have at a reading of the machine's clock.
    pub fn latest(&self, now: Timestamp) -> Timestamp {
        let latest = self.latest.load(Ordering::Relaxed).max(now.as_millisecond());
        Timestamp::from_millisecond(latest).unwrap_or(Timestamp::MAX)
    }

    /// Returns the time that follows `latest`, never before it.
    fn step(&self, reading: i64, latest: i64) -> i64 {
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

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).unwrap()
    }

    fn clock(start: i64) -> impl FnMut(i64) -> i64 {
        let clock = IdClock::starting_at(at(start));
        move |reading| clock.next(at(reading)).as_millisecond()
    }

    #[test]
    fn ids_go_by_a_clock_that_goes_forward() {
        let mut next = clock(0);
        for reading in [5, 5, 6, 1000, 1000, 1001] {
            assert_eq!(next(reading), reading);
        }
    }

    #[test]
    fn ids_made_slowly_stay_apart_until_the_clock_has_caught_up() {
        let mut next = clock(0);
        assert_eq!(next(1000), 1000);
        let made: Vec<i64> = (0..5).map(|second| next(100 + second * 200)).collect();
        assert_eq!(made, [1000, 1001, 1002, 1003, 1004]);
        assert_eq!(next(1500), 1500);
    }

    #[test]
    fn threads_that_read_a_clock_going_back_and_forth_see_no_id_before_an_earlier_one() {
        let clock = IdClock::starting_at(at(50_000));
        std::thread::scope(|scope| {
            for thread in 0..4i64 {
                let clock = &clock;
                scope.spawn(move || {
                    let mut before = at(50_000);
                    for step in 0..20_000i64 {
                        let reading = at((step * 7919 + thread * 104_729) % 60_000);
                        let next = clock.next(reading);
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
            assert_eq!(clock.next(at(0)).as_millisecond(), Timestamp::MAX.as_millisecond());
        }
    }

    proptest! {
        #[test]
        fn ids_never_go_back_and_are_ahead_by_no_more_than_the_clock_went_back(
            start in 0i64..5_000,
            readings in prop::collection::vec(0i64..5_000, 1..200),
        ) {
            let mut next = clock(start);
            let (mut before, mut reading_before, mut back) = (start, start, 0);
            for reading in readings {
                let made = next(reading);
                back += (reading_before - reading).max(0);
                prop_assert!(made >= before, "{made} after {before}");
                prop_assert!(made - reading <= back, "{made} at {reading}, which went back by {back}");
                if reading >= before {
                    prop_assert_eq!(made, reading);
                    back = 0;
                }
                (before, reading_before) = (made, reading);
            }
        }

        #[test]
        fn behind_the_newest_id_every_other_id_has_a_millisecond_of_its_own(
            jump in 1i64..10_000,
            waits in prop::collection::vec(1i64..20, 1..100),
        ) {
            let mut next = clock(100_000);
            let mut reading = 100_000 - jump;
            let mut before = next(reading);
            for wait in waits {
                reading += wait;
                let made = next(reading);
                // The clock has caught up in just this millisecond: then it is shared, as any may be.
                prop_assert!(made > before || made == reading, "{made} after {before}");
                before = made;
            }
        }
    }
}
