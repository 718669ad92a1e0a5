//! Properties of any rules and payments: the same result for the same input, independence of the order, no panics.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// Makes tests of one fact or counter.
fn any_test() -> impl Strategy<Value = String> {
    let number = prop_oneof![(-500..500_i64).prop_map(|n| n.to_string()), (0..500_i64).prop_map(|n| format!("{n}.25"))];
    let sign = select(vec!["=", "!=", "<", "<=", ">", ">="]);
    let name = select(vec!["billing.country", "shipping.country", "customer.email", "cart.items[n].sku", "weekday"]);
    let text = prop_oneof!["[A-Za-z]{1,3}", "[\"\\\\ äÄ🦀a-c]{1,5}"]
        .prop_map(|text: String| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
    let part = select(vec!["=", "!=", "contains", "starts with", "ends with"]);
    let window = select(vec!["1 min", "90 min", "1 h", "36 h", "90 d"]);
    let key = select(vec!["card", "email", "ip", "card, email", "ip, device", "risk.parameters[vip]"]);
    prop_oneof![
        (select(vec!["amount", "hour", "cart.total"]), sign.clone(), number)
            .prop_map(|(fact, sign, number)| format!("{fact} {sign} {number}")),
        (name.clone(), part, text.clone()).prop_map(|(name, part, text)| format!("{name} {part} {text}")),
        (name.clone(), any::<bool>(), prop::collection::vec(text, 1..4)).prop_map(|(name, negated, texts)| {
            format!("{name} {} ({})", if negated { "not in" } else { "in" }, texts.join(", "))
        }),
        (name.clone(), any::<bool>())
            .prop_map(|(name, present)| format!("{name} is {}", if present { "present" } else { "missing" })),
        select(vec!["mismatch.country", "email.disposable", "billing.country = shipping.country", "time >= 08:05"])
            .prop_map(str::to_owned),
        (key.clone(), window.clone(), sign.clone(), 0..4)
            .prop_map(|(key, window, sign, count)| format!("count({key}, {window}) {sign} {count}")),
        (key.clone(), window.clone(), sign)
            .prop_map(|(key, window, sign)| format!("sum({key}, {window}) {sign} 92.50")),
        (key, window).prop_map(|(key, window)| format!("distinct(card by {key}, {window}) > 0")),
        (name, select(vec!["browser", "merchant", "gateway"]))
            .prop_map(|(name, source)| format!("source({name}) != {source}")),
    ]
}

fn any_condition() -> impl Strategy<Value = String> {
    any_test().prop_recursive(4, 24, 3, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 2..4).prop_map(|parts| format!("({})", parts.join(" and "))),
            prop::collection::vec(inside.clone(), 2..4).prop_map(|parts| format!("({})", parts.join(" or "))),
            inside.prop_map(|part| format!("not ({part})")),
        ]
    })
}

/// Makes the text of a rule with a name.
pub(super) fn any_rule() -> impl Strategy<Value = String> {
    let effect = prop_oneof![
        (-99_999..=99_999).prop_map(|score| format!("score = {score}")),
        select(vec!["accept", "review", "challenge"]).prop_map(|outcome| format!("outcome = \"{outcome}\"")),
        select(vec!["100.400.142", "100.400.021", "100.400.121"])
            .prop_map(|code| format!("outcome = \"deny\"\ncode = \"{code}\"")),
    ];
    (any_condition(), effect).prop_map(|(when, effect)| format!("{effect}\nwhen = '''{when}'''\n"))
}

fn join_rules(rules: &[(usize, &String)]) -> String {
    rules.iter().map(|(index, rule)| format!("[[rule]]\nname = 'r{index}'\n{rule}")).collect()
}

fn any_payment() -> impl Strategy<Value = CheckInput> {
    let parameters = subsequence(
        vec![
            ("billing.country", "DE"),
            ("shipping.country", "AT"),
            ("customer.email", "abc@mail.example"),
            ("cart.items[0].sku", "aB"),
            ("cart.items[3].sku", "äc🦀"),
            ("risk.parameters[vip]", "yes"),
            ("customer.ip", "203.0.113.7"),
        ],
        0..=7,
    );
    (parameters, any::<bool>()).prop_map(|(parameters, card)| {
        let mut payment = make_payment(&parameters);
        payment.card = card.then(|| "c".to_owned());
        payment
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_order_of_rules_is_irrelevant_and_the_same_input_has_the_same_outcome(
        (rules, shuffled) in prop::collection::vec(any_rule(), 0..8).prop_flat_map(|rules| {
            let order: Vec<usize> = (0..rules.len()).collect();
            (Just(rules), Just(order).prop_shuffle())
        }),
        payment in any_payment(),
    ) {
        let ordered: Vec<_> = rules.iter().enumerate().collect();
        let other: Vec<_> = shuffled.iter().map(|index| (*index, &rules[*index])).collect();
        let thresholds = "[thresholds]\nchallenge = -100\nreview = 100\ndeny = 50000\n";
        let file = format!("{thresholds}{}", join_rules(&ordered));
        let shuffled = format!("{thresholds}{}", join_rules(&other));
        let assessment = assess(&file, &payment);
        prop_assert_eq!(&assessment, &assess(&file, &payment));
        prop_assert_eq!(&assessment, &assess(&shuffled, &payment));
        prop_assert_eq!(RuleSet::parse(&file).unwrap().version(), RuleSet::parse(&shuffled).unwrap().version());
    }

    #[test]
    fn a_printed_condition_parses_to_the_same_condition(condition in any_condition(), payment in any_payment()) {
        let rules = RuleSet::parse(&make_rule(&condition)).unwrap();
        let printed = rules.print_condition(&rules.rules()[0]);
        let again = RuleSet::parse(&make_rule(&printed)).unwrap();
        prop_assert_eq!(&printed, &again.print_condition(&again.rules()[0]));
        prop_assert_eq!(rules.version(), again.version());
        prop_assert_eq!(is_true(&condition, &payment), is_true(&printed, &payment));
    }

    #[test]
    fn no_text_panics_the_parser_and_errors_lie_inside_of_the_file(
        text in prop_oneof![
            any::<String>(),
            "[a-z=\\[\\]'\"\n\r .0-9#]{0,200}",
            any_rule().prop_map(|rule| format!("[[rule]]\nname = 'a'\n{rule}")),
        ],
        at in any::<prop::sample::Index>(),
        inserted in prop_oneof![any::<char>().prop_map(String::from), "[()=\"' \n]{0,3}"],
    ) {
        let mut text = text;
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        text.insert_str(at, &inserted);
        let lines: Vec<&str> = text.split('\n').collect();
        for error in find_errors(&text) {
            let line = lines.get(error.line - 1);
            prop_assert!(line.is_some_and(|line| error.column <= line.chars().count() + 1), "{error}");
        }
    }

    #[test]
    fn no_condition_panics_the_parser(condition in prop_oneof![
        any::<String>(),
        "([a-z.]{1,8}|[()=<>!,\"]|and|or|not|in|is|amount|count|card|[0-9:.]{1,5}| ){0,40}",
    ]) {
        let mut symbols = crate::condition::Symbols::default();
        if let Err(error) = crate::condition::parse_condition(&condition, crate::condition::ConditionScope::Payment, &mut symbols) {
            prop_assert!(error.at <= condition.len() && condition.is_char_boundary(error.at));
        }
    }
}
