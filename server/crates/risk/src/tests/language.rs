//! The language of conditions: operators, precedence, missing facts, sources.

use std::collections::BTreeSet;

use super::*;

#[test]
fn comparisons_of_each_type_are_true_for_what_they_say() {
    let mut payment = make_payment(&[
        ("billing.country", "DE"),
        ("shipping.country", "at"),
        ("customer.email", "Anna@Mail.Example"),
        ("customer.browser.screenWidth", "1920"),
        ("customer.browser.javaEnabled", "true"),
    ]);
    payment.account_age = Some(jiff::SignedDuration::from_hours(2));
    for condition in [
        "billing.country = \"de\"",
        "billing.country != \"AT\"",
        "billing.country in (\"AT\", \"DE\")",
        "billing.country not in (\"AT\", \"CH\")",
        "billing.country != shipping.country",
        "mismatch.country",
        "customer.email contains \"@mail\"",
        "customer.email starts with \"anna\"",
        "customer.email ends with \".EXAMPLE\"",
        "email.domain = \"mail.example\"",
        "amount = 92 and amount <= 92.00 and amount >= 92.0 and not amount > 92",
        "customer.browser.screenWidth < 1920.5",
        "customer.browser.javaEnabled",
        "account.age < 1 d and account.age >= 120 min and account.age != 7199 s",
        "time >= 12:30 and time < 12:31 and hour in (12, 13) and minute = 30 and weekday = \"Monday\"",
        "currency = \"EUR\"",
        "cart.total is missing and billing.country is present",
    ] {
        assert!(is_true(condition, &payment), "{condition}");
    }
}

#[test]
fn and_binds_more_than_or_and_not_binds_most() {
    let payment = make_payment(&[]);
    assert!(is_true("amount = 92 or amount = 1 and amount = 2", &payment));
    assert!(!is_true("(amount = 92 or amount = 1) and amount = 2", &payment));
    assert!(is_true("not amount = 1 and amount = 92", &payment));
    assert!(!is_true("not (amount = 1 or amount = 92)", &payment));
    assert!(is_true("not not amount = 92", &payment));
}

#[test]
fn a_comparison_with_a_missing_fact_is_false_also_if_it_asks_for_a_difference() {
    let payment = make_payment(&[]);
    for condition in [
        "billing.country = \"DE\"",
        "billing.country != \"DE\"",
        "billing.country in (\"DE\")",
        "billing.country not in (\"DE\")",
        "billing.country != shipping.country",
        "mismatch.country",
        "avs != \"F\"",
        "source(billing.country) = merchant",
        "source(billing.country) != merchant",
        "count(email, 1 h) >= 0",
        "count(email, 1 h) != 7",
    ] {
        assert!(!is_true(condition, &payment), "{condition}");
        assert!(is_true(&format!("not {condition}"), &payment), "{condition}");
    }
    assert!(is_true("billing.country is missing", &payment));
}

#[test]
fn a_fact_of_any_item_is_compared_with_each_of_them() {
    let cart = make_payment(&[("cart.items[0].sku", "BOOK"), ("cart.items[7].sku", "GIFT-50")]);
    assert!(is_true("cart.items[n].sku starts with \"gift\"", &cart));
    assert!(is_true("cart.items[n].sku != \"BOOK\"", &cart));
    assert!(!is_true("cart.items[n].sku = \"pen\"", &cart));
    assert!(is_true("cart.items[7].sku = \"gift-50\" and cart.items[1].sku is missing", &cart));
    assert!(is_true("cart.items[n].name is missing and cart.count = 2", &cart));
}

#[test]
fn a_condition_can_ask_who_chose_a_fact() {
    let mut payment = make_payment(&[("customer.email", "a@b.example"), ("billing.country", "DE")]);
    payment.from_browser = BTreeSet::from(["customer.email".to_owned()]);
    assert!(is_true("source(customer.email) = browser and source(billing.country) = merchant", &payment));
    assert!(is_true("source(email.domain) = browser and source(billing.country) != browser", &payment));
    assert!(is_true("source(hour) = gateway and source(amount) = merchant", &payment));
    let mut sent = make_payment(&[("customer.ip", "203.0.113.7")]);
    assert!(is_true("source(ip) = merchant", &sent));
    sent.address = "198.51.100.1".parse().ok();
    assert!(is_true("source(ip) = gateway and ip = \"198.51.100.1\"", &sent));
}

#[test]
fn a_text_may_contain_quotes_backslashes_and_any_letters() {
    let payment = make_payment(&[("customer.surname", "O\"Brien\\ 🦀")]);
    assert!(is_true(r#"customer.surname = "o\"brien\\ 🦀""#, &payment));
}
