//! Velocity counters in memory, for tests and for trying out rules on the command line.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::{Counters, Facts, VelocityCounter};

/// Buckets of a window. A value covers the window and at most one bucket more.
const BUCKETS: i64 = 60;
/// Largest number of counted keys.
const MAX_ENTRIES: usize = 100_000;
/// Largest number of different values that are kept for a bucket. More are not counted.
const MAX_DISTINCT: usize = 1_000;

/// Sliding windows, divided into 60 buckets each. A window of 1 h covers between 60 and 61 minutes.
///
/// Keys are kept as hashes with a random key. At most 100,000 keys are counted; beyond that those that were used least
/// recently are forgotten. At most 1,000 different values are kept for a bucket.
#[derive(Debug, Default)]
pub struct WindowCounters {
    hasher: RandomState,
    entries: HashMap<u64, CounterEntry>,
}

/// The buckets of one counter for one combination of keys.
#[derive(Debug, Default)]
struct CounterEntry {
    /// Time of the latest payment, in seconds since 1970.
    used: i64,
    buckets: Vec<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    /// Time of the bucket in widths of a bucket since 1970.
    number: i64,
    total: i64,
    values: HashSet<u64>,
}

impl WindowCounters {
    /// Counts a payment, once for each different counter. Counters for which it has no key are left out.
    pub fn record_payment(&mut self, counters: &[VelocityCounter], facts: &Facts<'_>) {
        let different: HashSet<&VelocityCounter> = counters.iter().collect();
        for counter in different {
            let Some((entry, number)) = self.locate_entry(counter, facts) else { continue };
            let Some(increment) = counter.read_increment(facts) else { continue };
            let value = counter.read_subject(facts).map(|value| self.hasher.hash_one(value));
            if self.entries.len() >= MAX_ENTRIES && !self.entries.contains_key(&entry) {
                self.delete_oldest();
            }
            let CounterEntry { used, buckets } = self.entries.entry(entry).or_default();
            *used = facts.input.at.as_second();
            buckets.retain(|bucket| bucket.number >= number - BUCKETS);
            let at = match buckets.iter().position(|bucket| bucket.number == number) {
                Some(at) => at,
                None => {
                    buckets.push(Bucket { number, total: 0, values: HashSet::new() });
                    buckets.len() - 1
                }
            };
            let Some(bucket) = buckets.get_mut(at) else { continue };
            bucket.total = bucket.total.saturating_add(increment);
            if bucket.values.len() < MAX_DISTINCT {
                bucket.values.extend(value);
            }
        }
    }

    /// Returns the number of counted keys.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entry of a payment, and the number of the present bucket.
    fn locate_entry(&self, counter: &VelocityCounter, facts: &Facts<'_>) -> Option<(u64, i64)> {
        let keys = counter.read_keys(facts)?;
        let currency = facts.input.amount.map(|amount| amount.currency()).filter(|_| counter.is_sum());
        let width = (counter.window_seconds() / BUCKETS).max(1);
        Some((self.hasher.hash_one((counter, keys, currency)), facts.input.at.as_second().div_euclid(width)))
    }

    /// Deletes the half of the entries that were used least recently, and those that were used at the same second.
    fn delete_oldest(&mut self) {
        let mut times: Vec<i64> = self.entries.values().map(|entry| entry.used).collect();
        let middle = times.len() / 2;
        let (_, median, _) = times.select_nth_unstable(middle);
        let median = *median;
        self.entries.retain(|_, entry| entry.used > median);
    }
}

impl Counters for WindowCounters {
    fn read_counter(&self, counter: &VelocityCounter, facts: &Facts<'_>) -> Option<i64> {
        let (entry, number) = self.locate_entry(counter, facts)?;
        let buckets = self.entries.get(&entry).map_or(&[][..], |entry| entry.buckets.as_slice());
        let covered = buckets.iter().filter(|bucket| (number - BUCKETS..=number).contains(&bucket.number));
        if counter.is_distinct() {
            let values: HashSet<u64> = covered.flat_map(|bucket| bucket.values.iter().copied()).collect();
            return i64::try_from(values.len()).ok();
        }
        Some(covered.fold(0, |total: i64, bucket| total.saturating_add(bucket.total)))
    }
}
