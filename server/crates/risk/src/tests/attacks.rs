//! Attacks on the parser and the evaluation: deep, long and strange files, and the time of large ones.

use std::time::Instant;

use super::*;
use crate::{MAX_ERRORS, MAX_FILE_BYTES};

#[test]
fn deep_and_long_conditions_are_refused_and_not_a_crash() {
    let deep = |open: &str, close: &str, times: usize| {
        make_rule(&format!("{}hour = 1{}", open.repeat(times), close.repeat(times)))
    };
    assert!(find_errors(&deep("(", ")", 32)).is_empty());
    assert!(find_errors(&deep("not ", "", 32)).is_empty());
    for file in [deep("(", ")", 33), deep("not ", "", 33), deep("(not ", ")", 17), deep("not ", "", 2_000)] {
        assert!(find_errors(&file)[0].message.contains("32 deep"), "{:?}", find_errors(&file));
    }
    for file in [deep("(", ")", 10_000), deep("not ", "", 10_000), make_rule(&"a".repeat(65_536))] {
        assert!(find_errors(&file)[0].message.contains("8192 bytes"), "{:?}", find_errors(&file));
    }
    let chain = |word: &str| make_rule(&vec!["hour = 1"; 500].join(word));
    assert!(find_errors(&chain(" and ")).is_empty() && find_errors(&chain(" or ")).is_empty());
}

#[test]
fn files_beyond_the_bounds_are_refused() {
    let rules = |count: usize| {
        let rule = |index| format!("[[rule]]\nname = 'r{index}'\nscore = 1\nwhen = 'hour = 1'\n");
        (0..count).map(rule).collect::<String>()
    };
    assert!(find_errors(&rules(1_000)).is_empty());
    assert!(find_errors(&rules(1_001))[0].message.contains("at most 1000 rules"));
    let large = "#".repeat(MAX_FILE_BYTES + 1);
    assert!(find_errors(&large)[0].message.contains("1048576 bytes"));
    assert!(find_errors(&"#".repeat(MAX_FILE_BYTES)).is_empty());
    let counters: Vec<String> = (1..=65).map(|minutes| format!("count(card, {minutes} min) > 1")).collect();
    assert!(find_errors(&make_rule(&counters.join(" or ")))[0].message.contains("64 different velocity counters"));
    let broken = "[[rule]]\n".repeat(20_000);
    assert_eq!(find_errors(&broken).len(), MAX_ERRORS);
}

#[test]
fn strange_bytes_are_errors_with_a_place() {
    for file in [
        "\0",
        "when = '\0'",
        "[[rule]]\nname = '🦀'\nscore = 1\nwhen = '🦀'\n",
        "\u{feff}zone = 'UTC'\nx = 1\n",
        "[[[[[[[[",
        "a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "[[rule]]\nname = 'a'\nscore = inf\nwhen = 'amount > NaN'\n",
        "[[rule]]\nname = 'a'\nscore = 1\nwhen = 'amount > 99999999999999999999999999'\n",
        "[[rule]]\nname = 'a'\nscore = 1\nwhen = 'count(card, 999999999999999999 d) > 1'\n",
    ] {
        let errors = find_errors(file);
        assert!(!errors.is_empty() && errors.len() <= MAX_ERRORS, "{file:?}");
        assert!(errors.iter().all(|error| error.line >= 1 && error.column >= 1), "{errors:?}");
    }
}

/// Returns rules of every kind, and a payment with most facts.
fn make_large_case(rules: usize, counters: usize) -> (RuleSet, CheckInput) {
    let keys = ["card", "email", "ip", "device"];
    let mut file = "zone = 'Europe/Berlin'\n[thresholds]\nreview = 50\ndeny = 100\n".to_owned();
    for index in 0..rules {
        let counter = index % counters;
        let velocity = format!("count({}, {} min) > 3", keys[counter % keys.len()], counter + 1);
        let country = ["DE", "AT", "CH", "FR"][index % 4];
        file += &format!(
            "[[rule]]\nname = 'r{index}'\nscore = {}\nwhen = '''{velocity} and amount > {index} or \
             billing.country in (\"{country}\", \"GB\") and customer.email ends with \"{index}.example\" or \
             mismatch.country and hour >= 22 and source(customer.email) = browser or email.domain contains \"x{index}\"'''\n",
            index % 7
        );
    }
    let mut payment = make_payment(&[
        ("customer.email", "anna@mail.example"),
        ("customer.givenName", "Anna"),
        ("customer.surname", "Meier"),
        ("billing.country", "DE"),
        ("billing.city", "Berlin"),
        ("billing.street1", "Main Street 5"),
        ("billing.postcode", "10115"),
        ("shipping.country", "FR"),
        ("customer.browserFingerprint.id", "f00"),
    ]);
    payment.card = Some("c".to_owned());
    payment.address = "203.0.113.7".parse().ok();
    (RuleSet::parse(&file).unwrap(), payment)
}

/// Prints the time of evaluations: `cargo test --release -- risk::tests::attacks --nocapture`.
#[test]
fn an_evaluation_of_many_rules_ends() {
    for (rules, counters) in [(200, 20), (1_000, 64)] {
        let (rule_set, payment) = make_large_case(rules, counters);
        assert_eq!(rule_set.velocity_reads().len(), counters);
        let lists = RiskLists::default();
        let facts = Facts { input: &payment, lists: &lists };
        let mut windows = WindowCounters::default();
        windows.record_payment(rule_set.velocity_reads(), &facts);
        let mut times: Vec<_> = (0..500)
            .map(|_| {
                let start = Instant::now();
                assert_eq!(rule_set.evaluate(&facts, &windows).unwrap().score, 0);
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("{rules} rules, {counters} counters: median {:?}, p99 {:?}", times[250], times[494]);
    }
}
