//! Stored counters: compared with plain models, across rule versions, with clocks that go back, and damaged.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use tillgate_domain::id::EntityId;

use super::*;
use crate::{CountedPayment, CounterKey, CounterPlan, CounterRow, Counters as _, MAX_DISTINCT, VelocityCounter};

const KEY: [u8; 32] = [7; 32];

/// Rows of one entity by their keys, in place of the store.
#[derive(Default)]
struct StoredRows(HashMap<CounterKey, CounterRow>);

impl StoredRows {
    /// Counts a payment in the counters of rule sets, and replaces the rows.
    fn count_payment(&mut self, rule_sets: &[&RuleSet], input: &CheckInput) -> CountedPayment {
        let lists = RiskLists::default();
        let count = CounterPlan::new(rule_sets, &KEY).prepare_payment(&Facts { input, lists: &lists }, &entity(1));
        let loaded: Vec<CounterRow> = count.keys().iter().filter_map(|key| self.0.get(key).cloned()).collect();
        let counted = count.count_payment(&loaded);
        for row in &counted.rows {
            let stored = self.0.insert(row.key, row.clone());
            assert_eq!(row.is_stored, stored.is_some());
            assert!(row.purge_at > input.at.as_millisecond());
        }
        counted
    }

    /// Counts a payment and reads all counters of the first rule set.
    fn read_counters(&mut self, rule_sets: &[&RuleSet], input: &CheckInput) -> Vec<Option<i64>> {
        let counters = self.count_payment(rule_sets, input).counters.unwrap();
        let lists = RiskLists::default();
        let facts = Facts { input, lists: &lists };
        rule_sets[0].velocity_reads().iter().map(|counter| counters.read_counter(counter, &facts)).collect()
    }
}

fn entity(number: u8) -> EntityId {
    EntityId::new(Timestamp::UNIX_EPOCH, [number; 9])
}

/// Returns rules with these counters.
fn make_counters(counters: &[&str]) -> RuleSet {
    let tests: Vec<String> = counters.iter().map(|counter| format!("{counter} > 1")).collect();
    RuleSet::parse(&make_rule(&tests.join(" or "))).unwrap()
}

const COUNTERS: [&str; 9] = [
    "count(card, 1 min)",
    "count(card, 90 s)",
    "count(card, email, 1 h)",
    "count(email, 90 d)",
    "sum(card, 1 h)",
    "sum(email, 1 d)",
    "distinct(card by email, 7 min)",
    "distinct(email by ip, 90 d)",
    "distinct(brand by card, 61 s)",
];

/// Reads a counter from all payments so far, the last of which is assessed. Their times ascend.
fn count_plainly(counter: &VelocityCounter, payments: &[CheckInput]) -> Option<i64> {
    let lists = RiskLists::default();
    let facts = |input| Facts { input, lists: &lists };
    let last = payments.last().unwrap();
    let keys = counter.read_keys(&facts(last))?;
    let seconds = counter.window_seconds();
    let width = (seconds + 59) / 60;
    let first = last.at.as_second().div_euclid(width) - (seconds + width - 1) / width;
    let covered: Vec<&CheckInput> = payments
        .iter()
        .filter(|payment| counter.read_keys(&facts(payment)).as_ref() == Some(&keys))
        .filter(|payment| payment.at.as_second().div_euclid(width) >= first)
        .collect();
    let oldest = covered.iter().map(|payment| (last.at - payment.at).get_seconds()).max().unwrap();
    assert!(oldest <= seconds + 2 * width, "{counter} covers {oldest} s");
    if counter.is_sum() {
        let currency = last.amount.map(|amount| amount.currency());
        let same = covered.iter().filter_map(|payment| payment.amount).filter(|own| Some(own.currency()) == currency);
        return Some(same.map(|amount| amount.hundredths()).sum());
    }
    if !counter.is_distinct() {
        return i64::try_from(covered.len()).ok();
    }
    let subject = |payment: &&CheckInput| match counter.to_string() {
        name if name.starts_with("distinct(card") => payment.card.clone(),
        name if name.starts_with("distinct(email") => payment.parameters.get("customer.email").map(str::to_owned),
        _ => payment.brand.clone(),
    };
    i64::try_from(covered.iter().filter_map(subject).collect::<HashSet<_>>().len()).ok()
}

fn any_payment() -> impl Strategy<Value = CheckInput> {
    let text = |values: &'static [&'static str]| prop::option::weighted(0.9, select(values));
    (
        text(&["a", "b"]),
        text(&["x@y.z", "u@v.w"]),
        text(&["VISA", "AMEX"]),
        text(&["1.00 EUR", "20.00 EUR", "3.00 USD"]),
    )
        .prop_map(|(card, email, brand, amount)| {
            let email = email.map(|email| ("customer.email", email));
            let mut payment = make_payment(&email.into_iter().collect::<Vec<_>>());
            payment.address = "203.0.113.7".parse().ok();
            payment.card = card.map(str::to_owned);
            payment.brand = brand.map(str::to_owned);
            payment.amount = amount
                .and_then(|text| text.split_once(' '))
                .map(|(amount, currency)| Amount::parse(amount, Currency::parse(currency).unwrap()).unwrap());
            payment
        })
}

/// Makes payments, each with the seconds after the one before.
fn any_payments(seconds: Vec<i64>) -> impl Strategy<Value = Vec<CheckInput>> {
    prop::collection::vec((any_payment(), select(seconds)), 1..60).prop_map(|payments| {
        let mut at = make_payment(&[]).at;
        payments
            .into_iter()
            .map(|(mut payment, seconds)| {
                at += SignedDuration::from_secs(seconds);
                payment.at = at;
                payment
            })
            .collect()
    })
}

const STEPS: [i64; 14] = [0, 0, 0, 1, 2, 29, 59, 60, 61, 400, 3_599, 3_660, 86_400, 40 * 86_400];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn stored_counters_equal_a_count_of_all_payments(payments in any_payments(STEPS.to_vec()), shadow in any::<bool>()) {
        let (rules, other) = (make_counters(&COUNTERS), make_counters(&["count(card, 1 min)", "count(card, 3 h)"]));
        let rule_sets = if shadow { vec![&rules, &other] } else { vec![&rules] };
        let mut rows = StoredRows::default();
        for (at, payment) in payments.iter().enumerate() {
            let plain: Vec<_> =
                rules.velocity_reads().iter().map(|counter| count_plainly(counter, &payments[..=at])).collect();
            prop_assert_eq!(rows.read_counters(&rule_sets, payment), plain, "payment {}", at);
        }
    }

    #[test]
    fn clocks_that_go_back_count_like_counters_in_memory(
        payments in any_payments(STEPS.iter().flat_map(|step| [*step, -*step]).collect()),
    ) {
        let rules = make_counters(&COUNTERS[..4]);
        let (mut rows, mut memory, lists) = (StoredRows::default(), WindowCounters::default(), RiskLists::default());
        for payment in &payments {
            let facts = Facts { input: payment, lists: &lists };
            memory.record_payment(rules.velocity_reads(), &facts);
            let read = |counter| memory.read_counter(counter, &facts);
            let expected: Vec<_> = rules.velocity_reads().iter().map(read).collect();
            prop_assert_eq!(rows.read_counters(&[&rules], payment), expected);
        }
    }

    #[test]
    fn no_row_panics_and_a_damaged_one_is_an_error_once(
        payments in any_payments(STEPS.to_vec()),
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        keep in any::<bool>(),
    ) {
        let rules = make_counters(&COUNTERS);
        let mut rows = StoredRows::default();
        for payment in &payments {
            rows.read_counters(&[&rules], payment);
        }
        for row in rows.0.values_mut() {
            let at = at.index(row.value.len());
            if keep {
                row.value.splice(at..(at + bytes.len()).min(row.value.len()), bytes.iter().copied());
            } else {
                row.value = bytes.clone();
            }
        }
        // Changed bytes may be another row. Then there is a count, otherwise an error; afterwards there is a count.
        let mut last = payments.last().unwrap().clone();
        rows.count_payment(&[&rules], &last);
        last.at += SignedDuration::from_secs(1);
        prop_assert!(rows.count_payment(&[&rules], &last).counters.is_ok());
    }
}

#[test]
fn a_damaged_row_is_an_error_and_begins_anew() {
    let rules = make_counters(&["count(card, 1 h)"]);
    let mut payment = make_payment(&[]);
    payment.card = Some("a".to_owned());
    for value in [vec![], vec![2], vec![1, 0], vec![1; 30], vec![0xff; 30]] {
        let mut rows = StoredRows::default();
        rows.read_counters(&[&rules], &payment);
        let row = rows.0.values_mut().next().unwrap();
        row.value = value;
        let key = row.key;
        assert_eq!(rows.count_payment(&[&rules], &payment).counters.unwrap_err().key, key);
        assert_eq!(rows.read_counters(&[&rules], &payment), [Some(2)]);
    }
}

#[test]
fn a_counter_counts_the_same_whichever_version_is_active() {
    let (old, new) = (make_counters(&["count(card, 1 h)", "count(card, 2 h)"]), make_counters(&["count(card, 1 h)"]));
    let mut payment = make_payment(&[]);
    payment.card = Some("a".to_owned());
    let mut rows = StoredRows::default();
    assert_eq!(rows.read_counters(&[&old], &payment), [Some(1), Some(1)]);
    assert_eq!(rows.read_counters(&[&new], &payment), [Some(2)]);
    // Both read the row, and the payment is counted once. The counter that only the old version has missed a payment.
    assert_eq!(rows.read_counters(&[&old, &new], &payment), [Some(3), Some(2)]);
    assert_eq!(rows.0.len(), 1);
    // A counter that is new begins empty.
    assert_eq!(rows.read_counters(&[&make_counters(&["count(card, 3 h)"])], &payment), [Some(1)]);
}

#[test]
fn payments_at_the_same_time_in_any_order_see_different_counts() {
    let rules = make_counters(&["count(card, 1 min)"]);
    let mut rows = StoredRows::default();
    let mut payment = make_payment(&[]);
    payment.card = Some("a".to_owned());
    let start = payment.at;
    let counts = (0..50).map(|index| {
        payment.at = start + SignedDuration::from_secs((index * 7) % 5);
        rows.read_counters(&[&rules], &payment)[0]
    });
    assert_eq!(counts.collect::<Vec<_>>(), (1..=50).map(Some).collect::<Vec<_>>());
    // A clock that is set back by more than the window takes the counts with it, and they end there.
    payment.at = start - SignedDuration::from_hours(5);
    assert_eq!(rows.read_counters(&[&rules], &payment), [Some(51)]);
    payment.at += SignedDuration::from_mins(2);
    assert_eq!(rows.read_counters(&[&rules], &payment), [Some(1)]);
}

#[test]
fn different_values_are_counted_exactly_up_to_the_bound_and_rows_stay_small() {
    let rules = make_counters(&["distinct(card by ip, 90 d)", "count(ip, 90 d)", "sum(ip, 1 h)"]);
    let mut rows = StoredRows::default();
    let most = usize::from(MAX_DISTINCT);
    for index in 0..most + 200 {
        let mut payment = make_payment(&[]);
        payment.at += SignedDuration::from_mins(i64::try_from(index).unwrap());
        payment.address = "203.0.113.7".parse().ok();
        payment.card = Some(index.to_string());
        assert_eq!(rows.read_counters(&[&rules], &payment)[0], i64::try_from((index + 1).min(most)).ok());
    }
    let row = rows.0.values().next().unwrap();
    assert!((8_000..9_000).contains(&row.value.len()), "{} bytes", row.value.len());
}

#[test]
fn sums_of_two_full_versions_are_exact_in_each_of_thirty_two_currencies() {
    let sums = |hours: std::ops::Range<i64>| {
        let sums: Vec<String> = hours.map(|hours| format!("sum(card, {hours} h)")).collect();
        make_counters(&sums.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (active, shadow) = (sums(100..164), sums(200..264));
    let currencies = "AED ARS AUD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KRW MAD MXN \
                      MYR NOK NZD PHP PLN RON SEK TRY USD";
    let currencies: Vec<Currency> = currencies.split(' ').map(|code| Currency::parse(code).unwrap()).collect();
    assert_eq!(currencies.len(), 32);
    let (mut rows, mut payment) = (StoredRows::default(), make_payment(&[]));
    payment.card = Some("a".to_owned());
    for round in 1..=3 {
        for currency in &currencies {
            payment.amount = Some(Amount::parse("2.00", *currency).unwrap());
            assert_eq!(rows.read_counters(&[&active, &shadow], &payment), vec![Some(200 * round); 64]);
        }
    }
}

#[test]
fn keys_belong_to_an_entity_a_secret_and_the_values() {
    let rules = make_counters(&["count(card, email, 1 h)", "count(email, 1 h)", "count(holder, 1 h)"]);
    let mut payment = make_payment(&[("customer.email", "x@y.z"), ("card.holder", "x@y.z")]);
    payment.card = Some("a".to_owned());
    let lists = RiskLists::default();
    let keys = |input: &CheckInput, number, secret| {
        CounterPlan::new(&[&rules], &[secret; 32])
            .prepare_payment(&Facts { input, lists: &lists }, &entity(number))
            .keys()
    };
    let one = keys(&payment, 1, 7);
    assert_eq!((one.len(), &one), (3, &keys(&payment, 1, 7)));
    let mut other = payment.clone();
    other.card = Some("b".to_owned());
    for others in [keys(&payment, 2, 7), keys(&payment, 1, 8)] {
        assert!(others.iter().all(|key| !one.contains(key)));
    }
    assert_eq!(keys(&other, 1, 7).iter().filter(|key| one.contains(key)).count(), 2);
}

#[test]
fn numbers_of_different_values_beyond_the_bound_are_refused() {
    let error = |condition: &str| find_errors(&make_rule(condition)).first().map(|error| error.message.clone());
    assert_eq!(error("distinct(card by ip, 1 h) > 999"), None);
    assert!(error("distinct(card by ip, 1 h) >= 1000").unwrap().contains("up to 1000"));
    let counters: Vec<String> = (1..=17).map(|hours| format!("distinct(card by ip, {hours} h) > 1")).collect();
    assert_eq!(error(&counters[1..].join(" or ")), None);
    assert!(error(&counters.join(" or ")).unwrap().contains("at most 16 ways"));
}
