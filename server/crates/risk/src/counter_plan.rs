//! The counters of an entity's rule sets, prepared once: grouped by their velocity keys, with the ids of their windows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tillgate_domain::id::EntityId;
use tillgate_shared::money::Currency;

use super::counter_key::CounterHasher;
use super::payment_count::{CounterIncrement, PaymentCount};
use super::{CounterKey, Facts, RuleSet, VelocityCounter, VelocityKey};

/// The counters of rule sets, each once. A payment is counted in all of them.
///
/// Counters with the same velocity keys share a row, also those of several rule sets. A counter has the same window in
/// each rule set, so it counts a payment once, whichever of them is active.
#[derive(Debug)]
pub struct CounterPlan {
    hasher: CounterHasher,
    /// The velocity keys of all counters, sorted.
    keys: Vec<VelocityKey>,
    rows: Vec<PlannedRow>,
}

/// Counters with the same velocity keys.
#[derive(Debug)]
struct PlannedRow {
    /// Positions of the velocity keys, with their names, sorted by name.
    keys: Vec<(usize, String)>,
    counters: Vec<PlannedCounter>,
}

/// A counter with the id of its window.
#[derive(Debug)]
struct PlannedCounter {
    counter: Arc<VelocityCounter>,
    window: WindowIds,
}

/// Ids of the windows of a counter.
#[derive(Debug)]
enum WindowIds {
    /// The only window.
    One(u64),
    /// The windows of a sum by currency, filled with use.
    ByCurrency(Mutex<HashMap<Option<Currency>, u64>>),
}

impl CounterPlan {
    /// Prepares the counters of these rule sets. `key` is the secret of the stored counters.
    pub fn new(rule_sets: &[&RuleSet], key: &[u8; 32]) -> Self {
        let hasher = CounterHasher::new(key);
        let counters: BTreeSet<VelocityCounter> = rule_sets.iter().flat_map(|set| set.counted_counters()).collect();
        let keys: BTreeSet<&VelocityKey> = counters.iter().flat_map(|counter| &counter.keys).collect();
        let keys: Vec<VelocityKey> = keys.into_iter().cloned().collect();
        let mut rows: BTreeMap<&[VelocityKey], Vec<PlannedCounter>> = BTreeMap::new();
        for counter in &counters {
            let window = if counter.is_sum() {
                WindowIds::ByCurrency(Mutex::default())
            } else {
                WindowIds::One(hasher.hash_counter(&counter.to_string(), ""))
            };
            rows.entry(&counter.keys).or_default().push(PlannedCounter { counter: Arc::new(counter.clone()), window });
        }
        let plan_row = |(row_keys, counters): (&[VelocityKey], Vec<PlannedCounter>)| {
            let position = |key: &VelocityKey| keys.binary_search(key).ok().map(|at| (at, key.to_string()));
            let mut row_keys: Vec<(usize, String)> = row_keys.iter().filter_map(position).collect();
            row_keys.sort_by(|(_, left), (_, right)| left.cmp(right));
            PlannedRow { keys: row_keys, counters }
        };
        let rows = rows.into_iter().map(plan_row).collect();
        Self { hasher, keys, rows }
    }

    /// Prepares to count a payment of an entity. Counters for whose keys the payment has no value are left out.
    pub fn prepare_payment(&self, facts: &Facts<'_>, entity: &EntityId) -> PaymentCount {
        let values: Vec<Option<String>> = self.keys.iter().map(|key| key.read_value(facts)).collect();
        let mut rows = BTreeMap::new();
        for row in &self.rows {
            let value = |at: usize| values.get(at).and_then(Option::as_deref);
            let keys: Option<Vec<(&str, &str)>> =
                row.keys.iter().map(|(at, name)| Some((name.as_str(), value(*at)?))).collect();
            let Some(keys) = keys else { continue };
            let name = self.hasher.hash_keys(entity, &keys);
            let count = |planned| self.read_increment(planned, facts, &name);
            rows.insert(name, row.counters.iter().map(count).collect());
        }
        PaymentCount::new(facts.input.at.as_second(), rows)
    }

    /// Reads the contribution of a payment to a counter in the row with a name.
    fn read_increment(&self, planned: &PlannedCounter, facts: &Facts<'_>, row: &CounterKey) -> CounterIncrement {
        let PlannedCounter { counter, window } = planned;
        let window = match window {
            WindowIds::One(id) => *id,
            WindowIds::ByCurrency(ids) => {
                let currency = counter.read_currency(facts);
                let code = currency.map_or("", |currency| currency.code());
                let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
                *ids.entry(currency).or_insert_with(|| self.hasher.hash_counter(&counter.to_string(), code))
            }
        };
        let increment = counter.read_increment(facts, |value| self.hasher.hash_value(row, value));
        CounterIncrement { counter: Arc::clone(counter), window, increment }
    }
}
