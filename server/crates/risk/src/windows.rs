//! Velocity counters in memory, for tests, dry runs and trying out rules on the command line.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::sliding_window::SlidingWindow;
use super::{Counters, Facts, VelocityCounter};

/// Largest number of counted keys.
const MAX_ENTRIES: usize = 100_000;

/// A sliding window for each counter and combination of keys.
///
/// Keys are kept as hashes with a random key. At most 100,000 keys are counted; beyond that those that were used least
/// recently are forgotten.
#[derive(Debug, Default)]
pub struct WindowCounters {
    hasher: RandomState,
    entries: HashMap<u64, CounterEntry>,
    /// Number of keys that were forgotten although a payment could still have read them.
    forgotten: u64,
}

/// The window of one counter for one combination of keys.
#[derive(Debug)]
struct CounterEntry {
    /// Time of the latest payment, in seconds since 1970.
    used: i64,
    window: SlidingWindow,
}

impl WindowCounters {
    /// Counts a payment, once for each different counter. Counters for which it has no key are left out.
    pub fn record_payment(&mut self, counters: &[VelocityCounter], facts: &Facts<'_>) {
        let different: HashSet<&VelocityCounter> = counters.iter().collect();
        let second = facts.input.at.as_second();
        for counter in different {
            let Some(entry) = self.locate_entry(counter, facts) else { continue };
            let increment = counter.read_increment(facts, |value| self.hasher.hash_one(value));
            let Some(increment) = increment else { continue };
            if self.entries.len() >= MAX_ENTRIES && !self.entries.contains_key(&entry) {
                self.make_room(second);
            }
            let new_entry = || CounterEntry { used: second, window: SlidingWindow::new(counter.window_seconds()) };
            let entry = self.entries.entry(entry).or_insert_with(new_entry);
            entry.used = second;
            entry.window.count_increment(second, increment);
        }
    }

    /// Returns the number of keys that were forgotten although a payment could still have read them. Counts are exact
    /// if there is none.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Returns the number of counted keys.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entry of a payment. `None` if it has no value for one of the counter's keys.
    fn locate_entry(&self, counter: &VelocityCounter, facts: &Facts<'_>) -> Option<u64> {
        Some(self.hasher.hash_one((counter, counter.read_keys(facts)?, counter.read_currency(facts))))
    }

    /// Deletes the entries whose window has ended at a second. If more than half of the largest number is left, also
    /// forgets the half that was used least recently, and the entries that were used at the same second.
    fn make_room(&mut self, second: i64) {
        self.entries.retain(|_, entry| entry.window.end().is_some_and(|end| end > second));
        let before = self.entries.len();
        if before <= MAX_ENTRIES / 2 {
            return;
        }
        let mut times: Vec<i64> = self.entries.values().map(|entry| entry.used).collect();
        let (_, median, _) = times.select_nth_unstable(before / 2);
        let median = *median;
        self.entries.retain(|_, entry| entry.used > median);
        let forgotten = before - self.entries.len();
        self.forgotten = self.forgotten.saturating_add(u64::try_from(forgotten).unwrap_or(u64::MAX));
    }
}

impl Counters for WindowCounters {
    fn read_counter(&self, counter: &VelocityCounter, facts: &Facts<'_>) -> Option<i64> {
        let entry = self.entries.get(&self.locate_entry(counter, facts)?);
        Some(entry.map_or(0, |entry| entry.window.read(facts.input.at.as_second())))
    }
}
