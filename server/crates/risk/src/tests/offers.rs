//! Offers: which brands they leave, what they may read, and what counts for the version.

use tillgate_domain::risk::list::RiskListKind;
use tillgate_shared::brand::Brand;

use super::*;
use crate::CheckoutVerdict;

/// Returns a file with one offer.
fn make_offer(condition: &str, effect: &str) -> String {
    format!("[[offer]]\nname = 'o'\nwhen = '{condition}'\n{effect}\n")
}

/// Returns those of some brands that a shopper is offered, with blanks between.
fn offered(rules: &str, input: &CheckInput) -> String {
    let lists = RiskLists::default();
    let counters = WindowCounters::default();
    let offer = RuleSet::parse(rules).unwrap().evaluate_offers(&Facts { input, lists: &lists }, &counters);
    let brands = ["VISA", "MASTER", "PAYPAL", "SEPA", "DIRECTDEBIT_SEPA"];
    let offered = brands.iter().filter(|code| offer.allows(Brand::find(code).unwrap()));
    offered.copied().collect::<Vec<_>>().join(" ")
}

#[test]
fn hidden_brands_add_up_and_only_brands_of_all_offers_stay() {
    let payment = make_payment(&[("billing.country", "DE")]);
    let all = "VISA MASTER PAYPAL SEPA DIRECTDEBIT_SEPA";
    let hide = |name: &str, brands: &str| format!("[[offer]]\nname = '{name}'\nwhen = 'amount > 1'\nhide = {brands}\n");
    let only = |name: &str, brands: &str| format!("[[offer]]\nname = '{name}'\nwhen = 'amount > 1'\nonly = {brands}\n");
    for (rules, expected) in [
        (String::new(), all),
        (make_offer("amount > 100", "hide = ['VISA']"), all),
        (make_offer("amount > 90", "hide = ['VISA', 'VISA']"), "MASTER PAYPAL SEPA DIRECTDEBIT_SEPA"),
        (make_offer("billing.country is missing", "hide = ['VISA']"), all),
        (make_offer("billing.country = \"DE\"", "only = ['VISA', 'PAYPAL']"), "VISA PAYPAL"),
        // The direct debit has two codes.
        (make_offer("amount > 1", "hide = ['SEPA']"), "VISA MASTER PAYPAL"),
        (make_offer("amount > 1", "only = ['DIRECTDEBIT_SEPA']"), "SEPA DIRECTDEBIT_SEPA"),
        (hide("a", "['VISA']") + &hide("b", "['PAYPAL']"), "MASTER SEPA DIRECTDEBIT_SEPA"),
        (only("a", "['VISA', 'MASTER']") + &only("b", "['MASTER', 'PAYPAL']"), "MASTER"),
        (only("a", "['VISA', 'MASTER']") + &hide("b", "['MASTER']"), "VISA"),
        (hide("a", "['MASTER']") + &only("b", "['MASTER']"), ""),
    ] {
        assert_eq!(offered(&rules, &payment), expected, "{rules}");
    }
}

#[test]
fn an_error_in_an_offer_names_its_line_and_column() {
    for (file, line, column, text) in [
        (make_offer("amount > 1", "hide = ['VISA', 'PAYPALL']"), 4, 17, "did you mean `PAYPAL`?"),
        (make_offer("amount > 1", "hide = []"), 4, 8, "lists no brand"),
        (make_offer("amount > 1", "hide = 'VISA'"), 4, 8, "list of brands"),
        (make_offer("amount > 1", "hide = [1]"), 4, 9, "a text in quotes"),
        (make_offer("amount > 1", "hide = ['VISA']\nonly = ['VISA']"), 5, 8, "either `hide` or `only`"),
        (make_offer("amount > 1", ""), 1, 1, "no effect"),
        (make_offer("amount > 1", "hide = ['VISA']\nscore = 1"), 5, 1, "no key `score`"),
        (make_offer("amount > 1 and brand = \"VISA\"", "hide = ['VISA']"), 3, 24, "cannot read `brand`"),
        (make_offer("customer.email = card.holder", "hide = ['VISA']"), 3, 26, "cannot read `card.holder`"),
        (make_offer("count(card, 1 h) > 3", "hide = ['VISA']"), 3, 15, "cannot count by `card`"),
        (make_offer("sum(ip, account, 1 h) > 3", "hide = ['VISA']"), 3, 17, "cannot count by `account`"),
        (make_offer("distinct(ip by holder, 1 h) > 3", "hide = ['VISA']"), 3, 24, "cannot count by `holder`"),
        (make_offer("source(ip) = browser", "hide = ['VISA']"), 3, 9, "nothing that a browser sent"),
        ("[[offer]]\nhide = ['VISA']\nwhen = 'amount > 1'\n".to_owned(), 1, 1, "no `name`"),
        ("[[offer]]\nname = 'o'\nhide = ['VISA']\n".to_owned(), 1, 1, "no `when`"),
        ("[offer]\nname = 'o'\n".to_owned(), 1, 1, "begin each offer with [[offer]]"),
        (make_offer("amount > 1", "hide = ['VISA']") + &make_offer("hour = 1", "hide = ['VISA']"), 6, 8, "in line 2"),
    ] {
        let errors = find_errors(&file);
        let [error] = errors.as_slice() else { panic!("{file}: {errors:?}") };
        assert_eq!((error.line, error.column), (line, column), "{file}: {error}");
        assert!(error.message.contains(text), "{file}: {error}");
    }
    for fact in ["bin", "card.country", "card.funding", "avs", "cvv", "threeDs.result", "threeDs.eci"] {
        let errors = find_errors(&make_offer(&format!("{fact} is present"), "hide = ['VISA']"));
        assert!(errors[0].message.contains("before the shopper chooses"), "{fact}: {errors:?}");
    }
    let many: String =
        (0..101).map(|n| make_offer("amount > 1", "hide = ['VISA']").replace("'o'", &format!("'{n}'"))).collect();
    assert!(find_errors(&many)[0].message.contains("at most 100 offers"));
}

#[test]
fn an_offer_reads_score_lists_counters_and_ages_and_a_rule_none_of_the_first_two() {
    let lists = RiskLists::default();
    let verdict = |score, lists: &[RiskListKind]| Some(CheckoutVerdict { score, lists: lists.to_vec() });
    let checkout = |verdict| CheckInput {
        verdict,
        registration_age: Some(jiff::SignedDuration::from_hours(25)),
        ..make_payment(&[("customer.email", "jo@shop.example")])
    };
    let (both, none) = ([RiskListKind::Deny, RiskListKind::Allow], []);
    for (condition, input, is_hidden) in [
        ("score >= 50", checkout(verdict(50, &none)), true),
        ("score >= 50", checkout(verdict(49, &none)), false),
        ("score >= 0", checkout(None), false),
        ("list.deny", checkout(verdict(0, &both)), true),
        ("list.allow and not list.review", checkout(verdict(0, &both)), true),
        ("list.review", checkout(verdict(0, &both)), false),
        ("not list.deny", checkout(verdict(0, &none)), true),
        ("list.deny or list.allow", checkout(None), false),
        ("registration.age < 1 d", checkout(None), false),
        ("registration.age > 1 d and account.age is missing", checkout(None), true),
        ("count(email, 1 h) > 0", checkout(None), false),
        ("count(email, 1 h) = 0 and not distinct(card by email, 1 d) > 0", checkout(None), true),
    ] {
        let shown = offered(&make_offer(condition, "hide = ['VISA']"), &input);
        assert_eq!(!shown.starts_with("VISA"), is_hidden, "{condition}");
        let counted = condition.contains("count(");
        let errors = find_errors(&make_rule(condition));
        assert_eq!(errors.is_empty(), counted || condition.starts_with("registration"), "{condition}: {errors:?}");
    }
    // Payments are counted in the counters of offers, and reading them counts nothing.
    let rules = RuleSet::parse(&make_offer("count(email, 1 h) > 1", "hide = ['VISA']")).unwrap();
    let (input, mut counters) = (checkout(None), WindowCounters::default());
    let facts = Facts { input: &input, lists: &lists };
    let visa = Brand::find("VISA").unwrap();
    for is_offered in [true, true, false] {
        for _ in 0..5 {
            assert_eq!(rules.evaluate_offers(&facts, &counters).allows(visa), is_offered);
        }
        counters.record_payment(&rules.counted_counters(), &facts);
    }
}

#[test]
fn offers_are_part_of_the_version_and_a_file_without_them_keeps_its_own() {
    let version = |file: &str| RuleSet::parse(file).unwrap().version().to_string();
    let rule = make_rule("amount > 1");
    // The version of an empty file before there were offers.
    assert_eq!(version(""), "c6aa3b85aa45523a");
    let (a, b) = (make_offer("amount > 1", "hide = ['VISA']"), make_offer("amount > 1", "only = ['VISA']"));
    let c = make_offer("amount > 2", "hide = ['VISA']");
    let d = a.replace("'o'", "'p'");
    let all = [rule.clone(), rule.clone() + &a, rule.clone() + &b, rule.clone() + &c, rule.clone() + &d];
    for (index, one) in all.iter().enumerate() {
        assert!(all.iter().skip(index + 1).all(|other| version(one) != version(other)), "{one}");
    }
    assert_eq!(
        version(&(a.clone() + &rule)),
        version(&format!("# a note\n{rule}{}", a.replace("name", "note = 'n'\nname")))
    );
    assert_eq!(version(&(a.clone() + &d)), version(&(d + &a)));
}

#[test]
fn rules_and_offers_read_only_their_own_facts() {
    let rules = make_rule("count(ip, 1 h) > 100") + &make_offer("amount > 1", "hide = ['VISA']");
    assert_eq!(RuleSet::parse(&rules).unwrap().velocity_reads().len(), 1);
    assert_eq!(assess(&rules, &make_payment(&[])).inputs, [""; 0]);
    assert_eq!(offered(&rules, &make_payment(&[])), "MASTER PAYPAL SEPA DIRECTDEBIT_SEPA");
}
