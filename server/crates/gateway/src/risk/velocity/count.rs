//! Count of one source, by the generic cell rate algorithm (GCRA). Its whole state is the moment at which the count is
//! empty again.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The time in which a count at its limit empties, in nanoseconds: one hour.
pub(super) const HOUR: i64 = 3_600_000_000_000;
/// Minimum time between two alarms of one source, in nanoseconds.
const ALARM_INTERVAL: i64 = 60_000_000_000;

/// Count of one source. All times are in nanoseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Count {
    /// The moment at which the count is empty again. Shared by concurrent attempts, changed atomically.
    empty_at: AtomicI64,
    /// The same moment without what this process has added since it was saved or loaded. Changed by one task at a time.
    saved: AtomicI64,
    /// Keyed hash of the last card number, used if only a change of number is counted. Initially zero. Never stored.
    last_number: AtomicU64,
    /// The moment of the last alarm.
    alarmed_at: AtomicI64,
}

impl Count {
    /// Restores a stored count, which is empty again at `empty_at`.
    pub(super) fn from_stored(empty_at: i64) -> Self {
        Self { empty_at: empty_at.into(), saved: empty_at.into(), ..Self::default() }
    }

    /// Returns the moment at which the count is empty again.
    fn empty_at(&self) -> i64 {
        self.empty_at.load(Ordering::Relaxed)
    }

    /// Returns what this process has added since the last call, less what it has refunded and what has leaked away.
    pub(super) fn take_change(&self, now: i64) -> i64 {
        let empty_at = self.empty_at();
        empty_at.max(now) - self.saved.swap(empty_at, Ordering::Relaxed).max(now)
    }

    /// Adds a change that could not be saved to the next one.
    pub(super) fn restore_change(&self, change: i64) {
        self.saved.fetch_sub(change, Ordering::Relaxed);
    }

    /// Takes over the count as it is stored, to which other processes have added their changes. Keeps what this process
    /// has added since it was saved.
    pub(super) fn adopt_stored(&self, stored: i64, now: i64) {
        let saved = self.saved.swap(stored, Ordering::Relaxed);
        let adopt = |empty_at: i64| Some(stored.max(now) + empty_at.max(now) - saved.max(now));
        let _ = self.empty_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, adopt);
    }

    /// Adds a cost, which leaks away over time. Returns the moment at which it has leaked away completely.
    ///
    /// # Errors
    /// The remaining wait in nanoseconds if the count would need more than an hour to empty. Then nothing is added.
    pub(super) fn add_cost(&self, cost: i64, now: i64) -> Result<i64, i64> {
        let with_cost = |empty_at: i64| empty_at.max(now).saturating_add(cost);
        let updated = self.empty_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |empty_at| {
            let next = with_cost(empty_at);
            (next - now <= HOUR).then_some(next)
        });
        updated.map(with_cost).map_err(|empty_at| with_cost(empty_at) - now - HOUR)
    }

    /// Checks that a cost could be added now, without adding it.
    ///
    /// # Errors
    /// Same as [`Count::add_cost`].
    pub(super) fn check_cost(&self, cost: i64, now: i64) -> Result<(), i64> {
        let wait = self.empty_at().max(now).saturating_add(cost) - now - HOUR;
        if wait <= 0 { Ok(()) } else { Err(wait) }
    }

    /// Adds a cost if the number differs from the last one, and remembers it. Returns `None` if it is the last one. At
    /// the limit, every number is refused, also the last one: otherwise the response would reveal which number was the
    /// last.
    ///
    /// # Errors
    /// Same as [`Count::add_cost`].
    pub(super) fn add_number(&self, number: u64, cost: i64, now: i64) -> Result<Option<i64>, i64> {
        self.check_cost(cost, now)?;
        if self.last_number.swap(number, Ordering::Relaxed) == number {
            return Ok(None);
        }
        self.add_cost(cost, now).map(Some)
    }

    /// Refunds a part of a cost that is counted until `until`. Does nothing from that moment on, because the cost has
    /// leaked away.
    pub(super) fn refund_cost(&self, part: i64, until: i64, now: i64) {
        if now < until {
            self.empty_at.fetch_sub(part, Ordering::Relaxed);
        }
    }

    /// Returns true if no alarm was raised in the last minute, and records one. Concurrent calls raise one alarm.
    pub(super) fn is_alarm_due(&self, now: i64) -> bool {
        let last = self.alarmed_at.load(Ordering::Relaxed);
        now.saturating_sub(last) >= ALARM_INTERVAL
            && self.alarmed_at.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use crate::risk::velocity::count::*;

    const NOW: i64 = 1_700_000_000_000_000_000;

    proptest! {
        /// For any sequence of attempts, outcomes and times, an hour admits no more declines than the cap, and a count
        /// whose costs were all refunded is empty.
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
                if let Ok(until) = count.add_cost(cost, now) {
                    if declined {
                        declines.push(now);
                    } else {
                        count.refund_cost(cost, until, now);
                    }
                }
                prop_assert!(count.empty_at() - now <= HOUR);
            }
            for start in &declines {
                let within = declines.iter().filter(|at| **at >= *start && **at < *start + HOUR).count();
                // The bound is twice the cap: a full count, plus the capacity that becomes free during the hour.
                prop_assert!(within as i64 <= 2 * cap, "{within} of {cap}");
            }
        }

        #[test]
        fn what_is_given_back_late_never_makes_room_for_more_than_was_taken(waits in prop::collection::vec(0_i64..2 * HOUR, 1..20)) {
            let cost = HOUR / 4;
            let count = Count::default();
            let until = count.add_cost(cost, NOW).unwrap();
            let mut now = NOW;
            for wait in waits {
                now += wait;
                let _ = count.add_cost(cost, now);
            }
            let before = count.empty_at();
            count.refund_cost(cost, until, now);
            prop_assert!(now < until || count.empty_at() == before);
        }
    }

    /// Saves the changes of a count to `stored`, as the store does.
    fn save_change(count: &Count, stored: &mut i64, now: i64) {
        *stored = ((*stored).max(now) + count.take_change(now)).min(now + HOUR);
        count.adopt_stored(*stored, now);
    }

    proptest! {
        /// Two processes that save every second count what both have counted.
        #[test]
        fn two_processes_count_together(steps in prop::collection::vec((any::<bool>(), 0_i64..HOUR / 500), 1..100)) {
            let (counts, cost) = ([Count::default(), Count::default()], HOUR / 1000);
            let (mut stored, mut now, mut alone) = (0, NOW, NOW);
            for (is_first, wait) in steps {
                now += wait;
                alone = alone.max(now) + cost;
                counts[usize::from(is_first)].add_cost(cost, now).unwrap();
                counts.iter().for_each(|count| save_change(count, &mut stored, now));
                // The first has saved before the second one.
                counts[0].adopt_stored(stored, now);
                prop_assert_eq!(counts.each_ref().map(Count::empty_at), [alone, alone]);
            }
        }
    }

    #[test]
    fn what_is_counted_while_it_is_saved_and_what_cannot_be_saved_is_kept() {
        let (count, cost) = (Count::default(), HOUR / 10);
        count.add_cost(cost, NOW).unwrap();
        let taken = count.take_change(NOW);
        let until = count.add_cost(cost, NOW).unwrap();
        assert_eq!((taken, until), (cost, NOW + 2 * cost));
        // Another process has counted two.
        count.adopt_stored(NOW + 3 * cost, NOW);
        assert_eq!((count.empty_at(), count.take_change(NOW)), (NOW + 4 * cost, cost));
        count.restore_change(cost);
        count.refund_cost(cost, until, NOW);
        assert_eq!(count.take_change(NOW), 0, "it was counted and given back");
        count.refund_cost(cost, until, NOW);
        assert_eq!(count.take_change(NOW), -cost);
        assert_eq!(count.take_change(NOW + HOUR), 0, "nothing is left");
    }

    #[test]
    fn one_number_again_and_again_costs_once_and_each_change_costs_once_more() {
        let (count, cost) = (Count::default(), HOUR / 3);
        for number in [7, 7, 7, 8, 8, 9] {
            count.add_number(number, cost, NOW).unwrap();
        }
        for number in [7, 8, 9, 10] {
            assert!(count.add_number(number, cost, NOW).is_err(), "{number}: also the last one that was let in");
        }
        assert!(count.add_number(9, cost, NOW + cost).is_ok());
    }

    #[test]
    fn an_alarm_is_due_once_a_minute() {
        let count = Count::default();
        assert!(count.is_alarm_due(NOW) && !count.is_alarm_due(NOW) && !count.is_alarm_due(NOW + ALARM_INTERVAL - 1));
        assert!(count.is_alarm_due(NOW + ALARM_INTERVAL));
    }
}
