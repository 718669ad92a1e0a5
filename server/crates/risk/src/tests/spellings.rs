//! Texts that mean the same: mailboxes, domains, telephone numbers, names and addresses in other spellings.

use super::*;
use crate::{DomainList, RiskLists};

/// Spellings of the mailbox `jo@müll.example`.
const MAILBOX: [&str; 8] = [
    "jo@müll.example",
    "JO@MÜLL.EXAMPLE",
    "jo@müll.example.",
    "jo@xn--mll-hoa.example",
    "\"jo\"@müll.example",
    "Jo Doe <jo@müll.example>",
    "ｊｏ＠müll．example",
    "jo@mu\u{308}ll.example",
];

#[test]
fn a_rule_about_one_spelling_is_about_all() {
    let write = |text: &str| text.replace('"', "\\\"");
    for written in MAILBOX.iter().filter(|text| !text.contains('"')) {
        for sent in MAILBOX {
            let payment = make_payment(&[("customer.email", sent)]);
            for condition in [
                format!("customer.email = \"{}\"", write(written)),
                format!("customer.email in (\"x@y.example\", \"{}\")", write(written)),
                "customer.email ends with \"@Müll.example\" and customer.email starts with \"JO@\"".to_owned(),
                "email.domain = \"xn--mll-hoa.example\" and email.domain ends with \".example\"".to_owned(),
                "email.domain contains \"Müll\" and not (email.domain = \"mull.example\")".to_owned(),
            ] {
                assert!(is_true(&condition, &payment), "{condition}: {sent}");
            }
        }
    }
    for (name, sent, condition) in [
        ("customer.phone", "0049 (0)89/123-45", "customer.phone = \"+49 89 12345\""),
        ("customer.mobile", "+49-89-12345", "customer.mobile starts with \"0049 89\""),
        ("shipping.phone", "＋４９ 8912345", "shipping.phone contains \"89 123\""),
        ("customer.surname", "MU\u{308}LLER", "customer.surname = \"Müller\""),
        ("customer.surname", "Ｍüller", "customer.surname = \"müller\""),
        ("customer.surname", "Mül\u{200b}ler", "customer.surname = \"Müller\""),
        ("customer.ip", "::ffff:203.0.113.7", "customer.ip = \"203.0.113.7\" and ip = \"203.0.113.7\""),
        ("customer.ip", "[2001:DB8::1]", "ip = \"2001:db8:0::1\" and ip.network = \"2001:db8::/48\""),
        ("customer.ip", "fe80::1%eth0", "ip = \"fe80::1\""),
    ] {
        assert!(is_true(condition, &make_payment(&[(name, sent)])), "{condition}: {sent}");
    }
    // A text of invisible characters is contained in no other one.
    assert!(!is_true("customer.surname contains \"\u{200b}\"", &make_payment(&[("customer.surname", "Doe")])));
}

#[test]
fn a_counter_of_one_mailbox_counts_all_spellings() {
    let rules = RuleSet::parse(&make_rule("count(email, 1 h) > 7 and distinct(email by card, 1 h) = 1")).unwrap();
    let lists = RiskLists::default();
    let mut counters = WindowCounters::default();
    let mut fired = Vec::new();
    for sent in MAILBOX {
        let mut payment = make_payment(&[("customer.email", sent)]);
        payment.card = Some("a".to_owned());
        let facts = Facts { input: &payment, lists: &lists };
        counters.record_payment(rules.velocity_reads(), &facts);
        fired = rules.evaluate(&facts, &counters).unwrap().fired;
    }
    assert_eq!(fired, ["r"]);
}

#[test]
fn a_disposable_domain_is_found_in_every_spelling() {
    for written in
        ["müll.example", "MÜLL.example.", "xn--mll-hoa.example", "mu\u{308}ll。example", "\u{ff4d}üll.example"]
    {
        let lists =
            RiskLists { disposable: DomainList::parse(&format!("{written}\n")).unwrap(), ..RiskLists::default() };
        for sent in MAILBOX.into_iter().chain(["a@sub.MÜLL.example.", "a@sub.xn--mll-hoa.example"]) {
            let payment = make_payment(&[("customer.email", sent)]);
            let facts = Facts { input: &payment, lists: &lists };
            let rules = RuleSet::parse(&make_rule("email.disposable")).unwrap();
            assert_eq!(rules.evaluate(&facts, &WindowCounters::default()).unwrap().fired, ["r"], "{written}: {sent}");
        }
    }
}
