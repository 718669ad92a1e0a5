//! Velocity counters of risk rules: exact under concurrency, kept over a restart, deleted when they end.

use std::sync::Arc;

use jiff::SignedDuration;
use tillgate_domain::id::EntityId;
use tillgate_domain::refusal::Refusal;
use tillgate_risk::{CheckInput, CounterPlan, Counters as _, Facts, RiskLists, RuleSet};

use super::Backend;
use super::samples::{sample_entity, sample_time, write_changes};
use crate::{Changes, LoadedRecords, RecordKeys, RiskRowKeys, RiskRowKind, Store, StoreErrorKind, UpdateResult};

/// Returns a payment with a card at a number of minutes.
fn sample_input(minutes: i64) -> CheckInput {
    CheckInput {
        card: Some("a".to_owned()),
        address: "203.0.113.7".parse().ok(),
        at: sample_time(0) + SignedDuration::from_mins(minutes),
        ..CheckInput::default()
    }
}

/// Counts a payment of an entity, and reads the counter `count(card, 1 h)`. Refuses the write if `is_refused`.
async fn count_payment(store: &Store, entity: EntityId, minutes: i64, is_refused: bool) -> UpdateResult<i64> {
    let rule = "[[rule]]\nname = 'r'\nscore = 1\nwhen = 'count(card, 1 h) > 1 or count(card, ip, 1 d) > 1'\n";
    let (rules, input, lists) = (RuleSet::parse(rule).unwrap(), sample_input(minutes), RiskLists::default());
    let count = CounterPlan::new(&[&rules], &[7; 32]).prepare_payment(&Facts { input: &input, lists: &lists }, &entity);
    let wanted = RiskRowKeys { entity: entity.clone(), kind: RiskRowKind::Counter, keys: count.keys() };
    let keys = RecordKeys { risk_counters: vec![wanted], ..RecordKeys::none() };
    let decide = move |loaded: LoadedRecords| {
        let counted = count.count_payment(&loaded.risk_counters);
        let counters = counted.counters.expect("the rows are readable");
        let facts = Facts { input: &input, lists: &lists };
        let value = counters.read_counter(&rules.velocity_reads()[0], &facts).expect("the payment has a card");
        if is_refused {
            return Err(Refusal::checkout_closed());
        }
        Ok((Changes::default().with_risk_counters(&entity, counted.rows), value))
    };
    store.update(keys, decide).await
}

pub(crate) async fn concurrent_payments_see_different_counts(backend: impl Backend) {
    let store = backend.open_store();
    let tasks = (0..50).map(|index| {
        let store = Arc::clone(&store);
        // The payments come in the order of their writes, whatever their times.
        tokio::spawn(async move { count_payment(&store, sample_entity(1).id, index % 3, false).await })
    });
    let mut counts = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        counts.push(task.await.unwrap().unwrap().unwrap());
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=50).collect::<Vec<i64>>());
}

pub(crate) async fn counters_of_an_entity_outlive_a_restart(backend: impl Backend) {
    let store = backend.open_store();
    for (entity, expected) in [(1, 1), (1, 2), (2, 1)] {
        assert_eq!(count_payment(&store, sample_entity(entity).id, 0, false).await.unwrap().unwrap(), expected);
    }
    assert!(count_payment(&store, sample_entity(1).id, 0, true).await.unwrap().is_err());
    drop(store);
    let store = backend.open_store();
    assert_eq!(count_payment(&store, sample_entity(1).id, 5, false).await.unwrap().unwrap(), 3);
    assert_eq!(count_payment(&store, sample_entity(1).id, 90, false).await.unwrap().unwrap(), 1);
}

pub(crate) async fn counters_are_deleted_when_they_end(backend: impl Backend) {
    let store = backend.open_store();
    // A row ends with its longest window, at the next full hour: at 14:00 that of the card, the other a day later.
    for entity in [1, 2] {
        count_payment(&store, sample_entity(entity).id, 0, false).await.unwrap().unwrap();
    }
    let deleted_at = async |minutes: i64| store.delete_expired_risk_counters(sample_time(minutes * 60)).await.unwrap();
    assert_eq!(deleted_at(119).await, 0);
    assert_eq!(deleted_at(120).await, 2);
    assert_eq!(deleted_at(24 * 60).await, 0);
    assert_eq!(deleted_at(26 * 60).await, 2);
    assert_eq!(count_payment(&store, sample_entity(1).id, 0, false).await.unwrap().unwrap(), 1);
}

pub(crate) async fn counters_that_were_not_loaded_in_the_same_write_are_refused(backend: impl Backend) {
    let store = backend.open_store();
    let (input, lists) = (sample_input(0), RiskLists::default());
    let rules = RuleSet::parse("[[rule]]\nname = 'r'\nscore = 1\nwhen = 'count(card, 1 h) > 1'\n").unwrap();
    let entity = sample_entity(1).id;
    let count = CounterPlan::new(&[&rules], &[7; 32]).prepare_payment(&Facts { input: &input, lists: &lists }, &entity);
    let rows = count.count_payment(&[]).rows;
    let changes = || Changes::default().with_risk_counters(&entity, rows.clone());
    write_changes(&store, changes()).await.unwrap();
    assert_eq!(write_changes(&store, changes()).await.unwrap_err().kind(), StoreErrorKind::ConstraintViolated);
}
