//! Counting a payment in stored counters: prepared without a lock, then counted and read inside the payment's commit.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::counter_row::{CounterRow, DamagedCounters, RowWindows};
use super::sliding_window::Increment;
use super::{CounterKey, Counters, Facts, VelocityCounter};

/// A payment that is to be counted, with all of its increments: see [`super::CounterPlan::prepare_payment`].
#[derive(Debug, Clone)]
pub struct PaymentCount {
    /// Time of the payment in seconds since 1970.
    second: i64,
    /// The rows, sorted by key.
    rows: BTreeMap<CounterKey, Vec<CounterIncrement>>,
}

/// The contribution of a payment to a counter.
#[derive(Debug, Clone)]
pub(super) struct CounterIncrement {
    pub(super) counter: Arc<VelocityCounter>,
    /// Id of its window in the row.
    pub(super) window: u64,
    /// `None` if the payment has no amount or value to count. The counter is read all the same.
    pub(super) increment: Option<Increment>,
}

/// A payment after it was counted.
#[derive(Debug)]
pub struct CountedPayment {
    /// Values of the counters. Damaged if a row could not be read: then the assessment has to end with an error.
    pub counters: Result<StoredCounters, DamagedCounters>,
    /// Rows to write in the commit in which they were loaded. A row that could not be read begins anew with this
    /// payment, so that the error does not last.
    pub rows: Vec<CounterRow>,
}

/// Values of the stored counters for one payment.
#[derive(Debug, Clone, Default)]
pub struct StoredCounters(HashMap<Arc<VelocityCounter>, i64>);

impl Counters for StoredCounters {
    /// Returns the counter's value. The payment is the one that was counted.
    fn read_counter(&self, counter: &VelocityCounter, _: &Facts<'_>) -> Option<i64> {
        self.0.get(counter).copied()
    }
}

impl PaymentCount {
    /// Makes the count of a payment at a second since 1970, with its increments by row.
    pub(super) fn new(second: i64, rows: BTreeMap<CounterKey, Vec<CounterIncrement>>) -> Self {
        Self { second, rows }
    }

    /// Returns the keys of the rows to load, sorted, each once.
    pub fn keys(&self) -> Vec<CounterKey> {
        self.rows.keys().copied().collect()
    }

    /// Counts the payment in the rows that were loaded, in any order, and then reads the counters. Rows that are not
    /// loaded begin empty.
    pub fn count_payment(&self, loaded: &[CounterRow]) -> CountedPayment {
        let mut values = HashMap::new();
        let mut damaged = None;
        let mut rows = Vec::with_capacity(self.rows.len());
        for (key, increments) in &self.rows {
            let stored = loaded.iter().find(|row| row.key == *key);
            let windows = stored.map_or_else(|| Some(RowWindows::default()), |row| RowWindows::decode(&row.value));
            let counted = windows.and_then(|windows| self.count_row(increments, windows, &mut values));
            if counted.is_none() {
                damaged.get_or_insert(DamagedCounters { key: *key });
            } else if increments.iter().all(|increment| increment.increment.is_none()) {
                continue;
            }
            let begin_anew = || self.count_row(increments, RowWindows::default(), &mut values);
            let windows = counted.or_else(begin_anew).unwrap_or_default();
            let (value, purge_at) = windows.encode(self.second);
            rows.push(CounterRow { key: *key, value, purge_at, is_stored: stored.is_some() });
        }
        let counters = damaged.map_or(Ok(StoredCounters(values)), Err);
        CountedPayment { counters, rows }
    }

    /// Reads the counters from the rows that were loaded, without counting anything: their values before the payment.
    ///
    /// # Errors
    /// If a row could not be read.
    pub fn read_counters(&self, loaded: &[CounterRow]) -> Result<StoredCounters, DamagedCounters> {
        let mut values = HashMap::new();
        for (key, increments) in &self.rows {
            let stored = loaded.iter().find(|row| row.key == *key);
            let windows = stored.map_or_else(|| Some(RowWindows::default()), |row| RowWindows::decode(&row.value));
            let nothing = |counted: &CounterIncrement| CounterIncrement { increment: None, ..counted.clone() };
            let increments: Vec<CounterIncrement> = increments.iter().map(nothing).collect();
            let read = windows.and_then(|windows| self.count_row(&increments, windows, &mut values));
            read.ok_or(DamagedCounters { key: *key })?;
        }
        Ok(StoredCounters(values))
    }

    /// Counts the payment in the windows of a row, which come first then, and adds the counters' values. Returns `None`
    /// if a stored window is not the counter's.
    fn count_row(
        &self,
        increments: &[CounterIncrement],
        mut windows: RowWindows,
        values: &mut HashMap<Arc<VelocityCounter>, i64>,
    ) -> Option<RowWindows> {
        let mut counted = Vec::with_capacity(increments.len() + windows.0.len());
        for CounterIncrement { counter, window: id, increment } in increments {
            let mut window = windows.take_window(*id, counter.window_seconds())?;
            if let Some(increment) = increment {
                window.count_increment(self.second, *increment);
            }
            values.insert(Arc::clone(counter), window.read(self.second));
            counted.push((*id, window));
        }
        counted.append(&mut windows.0);
        Some(RowWindows(counted))
    }
}
