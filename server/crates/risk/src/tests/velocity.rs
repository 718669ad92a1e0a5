//! Velocity counters: measures, keys, windows, bounds.

use jiff::SignedDuration;

use super::*;

/// Assesses payments in their order, each counted for the later ones, and returns which of them fired a condition.
fn assess_all(condition: &str, payments: &[CheckInput]) -> Vec<bool> {
    let rules = RuleSet::parse(&make_rule(condition)).unwrap();
    let lists = RiskLists::default();
    let mut counters = WindowCounters::default();
    let assess = |input| {
        let facts = Facts { input, lists: &lists };
        counters.record_payment(rules.velocity_reads(), &facts);
        rules.evaluate(&facts, &counters).unwrap().fired == ["r"]
    };
    payments.iter().map(assess).collect()
}

/// Returns a payment with a card, an e-mail address and a number of minutes after the first.
fn pay(card: &str, email: &str, minutes: i64) -> CheckInput {
    let mut payment = make_payment(&[("customer.email", email)]);
    payment.card = Some(card.to_owned());
    payment.at += SignedDuration::from_mins(minutes);
    payment
}

#[test]
fn a_count_includes_the_payment_and_those_of_its_key() {
    let payments = [pay("a", "x@y.z", 0), pay("b", "x@y.z", 1), pay("a", "x@y.z", 2), pay("a", "x@y.z", 3)];
    assert_eq!(assess_all("count(card, 1 h) > 2", &payments), [false, false, false, true]);
    assert_eq!(assess_all("count(email, 1 h) > 2", &payments), [false, false, true, true]);
    assert_eq!(assess_all("count(email, card, 1 h) > 1", &payments), [false, false, true, true]);
}

#[test]
fn payments_leave_the_window_after_it_and_at_most_one_bucket() {
    let payments = [pay("a", "x@y.z", 0), pay("a", "x@y.z", 59), pay("a", "x@y.z", 62), pay("a", "x@y.z", 500)];
    assert_eq!(assess_all("count(card, 1 h) > 1", &payments), [false, true, true, false]);
}

#[test]
fn a_sum_adds_amounts_of_one_currency() {
    let mut other = pay("a", "x@y.z", 2);
    other.amount = Amount::parse("1000", Currency::parse("USD").unwrap()).ok();
    let payments = [pay("a", "x@y.z", 0), pay("a", "x@y.z", 1), other];
    assert_eq!(assess_all("sum(card, 1 d) >= 184.00 and sum(card, 1 d) < 1000", &payments), [false, true, false]);
}

#[test]
fn different_values_of_a_key_or_a_fact_are_counted() {
    let payments = [pay("a", "x@y.z", 0), pay("a", "x@y.z", 1), pay("b", "X@y.z", 2), pay("c", "x@y.z", 3)];
    assert_eq!(assess_all("distinct(card by email, 1 h) > 2", &payments), [false, false, false, true]);
    assert_eq!(assess_all("distinct(email by card, 1 h) > 1", &payments), [false; 4]);
    assert_eq!(assess_all("distinct(currency by email, 1 h) = 1", &payments), [true; 4]);
}

#[test]
fn the_same_counter_is_read_once_however_it_is_written() {
    let condition =
        "count(card, ip, 60 min) > 1 or count(ip, card, 1 h) > 2 or distinct(card by risk.parameters[vip], 1 d) > 3";
    let rules = RuleSet::parse(&make_rule(condition)).unwrap();
    let names: Vec<String> = rules.velocity_reads().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["count(card, ip, 1 h)", "distinct(card by risk.parameters[vip], 1 d)"]);
}

#[test]
fn addresses_and_holders_are_compared_without_their_spelling() {
    let mut payment = make_payment(&[
        ("billing.street1", "Main St. 5"),
        ("billing.postcode", "1010-A"),
        ("billing.country", "AT"),
        ("card.holder", "Anna  MEIER"),
    ]);
    let mut again = make_payment(&[
        ("billing.street1", "main st 5"),
        ("billing.postcode", "1010a"),
        ("billing.country", "at"),
        ("card.holder", "anna meier"),
    ]);
    payment.account = Some("1".to_owned());
    again.account = Some("2".to_owned());
    let payments = [payment, again];
    assert_eq!(assess_all("distinct(account by address, 1 h) > 1", &payments), [false, true]);
    assert_eq!(assess_all("distinct(account by holder, 1 h) > 1", &payments), [false, true]);
}

#[test]
fn counters_have_bounded_space() {
    let rules = RuleSet::parse(&make_rule("count(card, 1 h) > 1 or distinct(card by ip, 90 d) > 500")).unwrap();
    let lists = RiskLists::default();
    let mut counters = WindowCounters::default();
    for index in 0..101_000_i64 {
        let mut payment = pay(&index.to_string(), &format!("{index}@y.z"), 0);
        payment.at += SignedDuration::from_secs(index / 100);
        payment.address = "203.0.113.7".parse().ok();
        counters.record_payment(rules.velocity_reads(), &Facts { input: &payment, lists: &lists });
    }
    assert!(counters.len() <= 100_000, "{}", counters.len());
    assert!(counters.forgotten() > 0);
}

#[test]
fn counters_whose_window_has_ended_make_room_and_are_not_missed() {
    let rules = RuleSet::parse(&make_rule("count(card, 1 min) > 1")).unwrap();
    let lists = RiskLists::default();
    let mut counters = WindowCounters::default();
    for index in 0..150_000_i64 {
        let mut payment = pay(&index.to_string(), "a@b.example", 0);
        payment.at += SignedDuration::from_secs(index / 100);
        counters.record_payment(rules.velocity_reads(), &Facts { input: &payment, lists: &lists });
    }
    assert!(counters.len() <= 100_000, "{}", counters.len());
    assert_eq!(counters.forgotten(), 0);
}
