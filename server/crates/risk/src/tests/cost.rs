//! Cost of rules: known when they are stored, limited when they run, and paid before the write lock.

use proptest::prelude::*;

use super::*;
use crate::{MAX_COST, RulesTooCostly};

/// Returns a payment with a full cart: a thousand items with long texts.
fn make_full_cart() -> CheckInput {
    let mut input = make_payment(&[("customer.email", "anna@mail.example"), ("billing.country", "DE")]);
    for item in 0..1_000 {
        for (field, value) in [("sku", "s"), ("name", "n"), ("description", "d")] {
            input.parameters.set(format!("cart.items[{item}].{field}"), value.repeat(255));
        }
    }
    input
}

/// Joins the same test many times, so that it is true only at its end, or never.
fn repeat_test(test: &str, times: usize) -> String {
    let rules = (0..times.div_ceil(100)).map(|index| {
        let condition = vec![test; times.min(100)].join(" or ");
        format!("[[rule]]\nname = 'r{index}'\nscore = 1\nwhen = '''{condition}'''\n")
    });
    rules.collect()
}

#[test]
fn rules_that_could_take_too_long_are_refused_when_they_are_stored() {
    let tests = [
        "cart.items[n].sku = \"x\"",
        "cart.items[n].name contains \"x\"",
        "cart.items[n].description ends with \"x\"",
        "cart.items[n].sku not in (\"a\", \"b\")",
        "cart.items[n].price > 5",
        "(not cart.items[n].sku = \"x\")",
    ];
    for test in tests {
        let errors = find_errors(&repeat_test(test, 300));
        assert!(errors.len() == 1 && errors[0].message.contains("200000 are allowed"), "{test}: {errors:?}");
        assert!(find_errors(&repeat_test(test, 60)).is_empty(), "{test}");
    }
    let many_single = repeat_test("billing.country = \"AT\"", 20_000);
    assert!(find_errors(&many_single).is_empty());
    let offers = "[[offer]]\nname = 'o'\nhide = ['VISA']\nwhen = '''W'''\n"
        .replace('W', &vec!["cart.items[n].sku = \"x\""; 300].join(" or "));
    assert!(find_errors(&offers)[0].message.contains("offers of this file"), "{:?}", find_errors(&offers));
}

#[test]
fn rules_stored_before_there_was_a_limit_end_with_an_error() {
    let rules = RuleSet::parse_stored(&repeat_test("cart.items[n].sku = \"x\"", 23_400)).unwrap();
    let (input, lists) = (make_full_cart(), RiskLists::default());
    let facts = Facts { input: &input, lists: &lists };
    assert_eq!(rules.evaluate(&facts, &WindowCounters::default()), Err(RulesTooCostly));
    let small = make_payment(&[("cart.items[0].sku", "y")]);
    let facts = Facts { input: &small, lists: &lists };
    assert_eq!(rules.evaluate(&facts, &WindowCounters::default()).unwrap().score, 0);
}

#[test]
fn rules_within_the_limit_never_end_with_an_error() {
    for test in
        ["cart.items[n].sku = \"x\"", "cart.items[n].name contains \"x\"", "cart.items[n].sku in (\"a\", \"b\")"]
    {
        let most = (1..400).rev().find(|times| find_errors(&repeat_test(test, *times)).is_empty()).unwrap();
        let rules = RuleSet::parse(&repeat_test(test, most)).unwrap();
        let (input, lists) = (make_full_cart(), RiskLists::default());
        let facts = Facts { input: &input, lists: &lists };
        assert!(rules.evaluate(&facts, &WindowCounters::default()).is_ok(), "{test} {most} of {MAX_COST}");
    }
}

#[test]
fn only_tests_of_counters_and_late_facts_are_left_for_the_write_lock() {
    let costly = vec!["cart.items[n].sku = \"x\""; 30].join(" or ");
    let file = |condition: &str| format!("[[rule]]\nname = 'r'\nscore = 1\nwhen = '''{condition}'''\n");
    let cases = [
        (costly.clone(), 0),
        (format!("({costly}) and count(card, 1 h) > 1"), 0),
        (format!("({costly}) or count(card, 1 h) > 1"), 1),
        ("billing.country = \"DE\" or count(card, 1 h) > 1".to_owned(), 0),
        ("billing.country = \"DE\" and not count(card, 1 h) > 1".to_owned(), 1),
        ("account.age > 1 d".to_owned(), 1),
        ("avs = \"Y\" or cvv = \"M\"".to_owned(), 1),
        ("threeDs.liabilityShifted".to_owned(), 1),
        ("threeDSecure.eci is present".to_owned(), 1),
        ("source(customer.email) = merchant".to_owned(), 0),
    ];
    let (input, lists) = (make_full_cart(), RiskLists::default());
    let facts = Facts { input: &input, lists: &lists };
    for (condition, open) in cases {
        let rules = RuleSet::parse(&file(&condition)).unwrap();
        assert_eq!(rules.prepare_evaluation(&facts).count_open(), open, "{condition}");
    }
}

proptest! {
    /// Late facts that change between the two steps count as they are in the second one.
    #[test]
    fn an_evaluation_in_two_steps_has_the_outcome_of_the_facts_of_the_second(
        rules in prop::collection::vec(super::properties::any_rule(), 1..6),
        avs in prop::option::of(prop::sample::select(vec!['y', 'n'])),
        age in prop::option::of(0..200_000_i64),
        condition in prop::sample::select(vec![
            "avs = \"y\"", "not avs is missing", "account.age > 1 d", "account.age > 1 d and billing.country = \"DE\"",
            "count(email, 1 h) > 1 or avs = \"n\"", "source(account.age) = gateway", "avs = cvv",
        ]),
    ) {
        let rules: String = rules.iter().enumerate().map(|(i, rule)| format!("[[rule]]\nname = 'r{i}'\n{rule}")).collect();
        let file = format!("{rules}[[rule]]\nname = 'z'\nscore = 3\nwhen = '''{condition}'''\n");
        let rules = RuleSet::parse(&file).unwrap();
        let lists = RiskLists::default();
        let before = make_payment(&[("billing.country", "DE"), ("customer.email", "abc@mail.example")]);
        let after = CheckInput {
            avs,
            cvv: Some('y'),
            account_age: age.map(jiff::SignedDuration::from_secs),
            ..before.clone()
        };
        let mut counters = WindowCounters::default();
        counters.record_payment(rules.velocity_reads(), &Facts { input: &after, lists: &lists });
        let prepared = rules.prepare_evaluation(&Facts { input: &before, lists: &lists });
        let facts = Facts { input: &after, lists: &lists };
        prop_assert_eq!(rules.evaluate_prepared(prepared, &facts, &counters), rules.evaluate(&facts, &counters));
    }
}
