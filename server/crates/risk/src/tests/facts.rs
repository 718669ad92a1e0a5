//! Facts: their table, their values, and what may not reach the check.

use std::collections::HashSet;

use super::*;
use crate::{DomainList, NetworkTable, Source, all_facts};

#[test]
fn every_fact_has_its_own_name_and_a_meaning() {
    let mut names = HashSet::new();
    for row in all_facts() {
        assert!(names.insert(row.name), "{}", row.name);
        assert!(row.note.ends_with('.'), "{}", row.name);
        let shown = row.name.replace("[name]", "[vip]");
        let file = make_rule(&format!("{shown} is present"));
        // The score and the lists of a checkout are for offers.
        let file = if row.is_for_offers { file.replace("[[rule]]", "[[offer]]") } else { file };
        let file = file.replace("outcome = \"deny\"", if row.is_for_offers { "hide = ['VISA']" } else { "score = 1" });
        RuleSet::parse(&file).unwrap();
    }
    assert!(names.len() > 200, "{}", names.len());
}

#[test]
fn secrets_card_data_and_mandates_are_no_facts() {
    for name in [
        "card.number",
        "card.cvv",
        "bankAccount.mandate.id",
        "bankAccount.mandate.dateOfSignature",
        "transactionDueDate",
        "bankAccount.iban",
        "threeDSecure.v1.visa.password",
        "authentication.password",
    ] {
        assert!(!all_facts().any(|row| row.name == name), "{name}");
        assert!(!find_errors(&make_rule(&format!("{name} is present"))).is_empty(), "{name}");
    }
}

#[test]
fn channel_and_service_of_the_risk_system_are_cut() {
    let payment = make_payment(&[("risk.channelId", "abcdefghijklmnop"), ("risk.serviceId", "é2")]);
    assert!(is_true("risk.channelId = \"abcdefghijkl\" and risk.serviceId = \"é\"", &payment));
}

#[test]
fn the_amount_of_the_risk_group_replaces_the_amount() {
    assert!(is_true("amount = 5", &make_payment(&[("risk.amount", "5.00")])));
    assert!(is_true("amount = 92", &make_payment(&[("risk.amount", "x")])));
}

#[test]
fn the_cart_is_added_up_exactly() {
    let cart = make_payment(&[
        ("cart.items[0].price", "10.10"),
        ("cart.items[0].quantity", "3"),
        ("cart.items[1].totalAmount", "60.00"),
        ("cart.items[1].price", "1.00"),
    ]);
    assert!(is_true("cart.total = 90.30 and cart.difference = -1.70 and cart.count = 2", &cart));
    let unknown = make_payment(&[("cart.items[0].price", "10.10")]);
    assert!(is_true("cart.total is missing and cart.difference is missing and cart.count = 1", &unknown));
    let huge =
        make_payment(&[("cart.items[0].price", "999999999999999.9999"), ("cart.items[0].quantity", "999999999999999")]);
    assert!(is_true("cart.total > 999999999999999", &huge));
}

#[test]
fn a_value_of_another_type_is_missing() {
    for text in ["NaN", "inf", "1e9", "", "-", "1.", ".5", "0x10", "99999999999999999999999"] {
        let payment = make_payment(&[("customer.browser.screenWidth", text)]);
        assert!(is_true("customer.browser.screenWidth is missing", &payment), "{text}");
    }
}

#[test]
fn addresses_have_networks_and_countries() {
    let mut payment = make_payment(&[("billing.country", "DE"), ("customer.email", "x@Sub.Trash.example")]);
    payment.address = "::ffff:203.0.113.7".parse().ok();
    let lists = RiskLists {
        networks: NetworkTable::parse("network,country\n203.0.113.0/24,FR\n203.0.0.0/16,US\n").unwrap(),
        disposable: DomainList::parse("# list\ntrash.example\n").unwrap(),
        ..RiskLists::default()
    };
    let condition =
        "ip.country = \"FR\" and ip.network = \"203.0.113.0/24\" and mismatch.ipCountry and email.disposable";
    let rules = RuleSet::parse(&make_rule(condition)).unwrap();
    let facts = Facts { input: &payment, lists: &lists };
    assert_eq!(rules.evaluate(&facts, &WindowCounters::default()).unwrap().fired, ["r"]);
    // Without the lists, these facts are not known.
    assert!(is_true(
        "ip.country is missing and mismatch.ipCountry is missing and email.disposable is missing",
        &payment
    ));
}

#[test]
fn a_browser_may_choose_what_the_table_says() {
    let find = |name: &str| all_facts().find(|row| row.name == name).unwrap().source;
    for (name, source) in [
        ("customer.email", Source::Browser),
        ("mismatch.country", Source::Browser),
        ("shipping.cost", Source::Merchant),
        ("amount", Source::Merchant),
        ("avs", Source::Gateway),
        ("ip", Source::Gateway),
    ] {
        assert_eq!(find(name), source, "{name}");
    }
}
