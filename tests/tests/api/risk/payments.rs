//! Payments under a merchant's own risk rules and lists: outcomes, codes, velocity counters, and what a browser cannot
//! change.

use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};
use tokio::task::JoinSet;

use crate::registration::registrations::pay_by_registration;
use crate::risk::dry_run::dry_run_by_command;
use crate::support::*;
use crate::three_ds;

/// Creates a merchant that checks payments by these rules, which are active when this returns.
pub async fn create_shop_with_rules(
    gateway: &TestGateway,
    arguments: &[&str],
    rules: &str,
) -> anyhow::Result<MerchantClient> {
    let shop = gateway.create_merchant_with(&[&["--risk", "on"], arguments].concat())?;
    activate_rules(&shop, rules).await?;
    Ok(shop)
}

/// Adds rules, and makes them the active version.
pub async fn activate_rules(shop: &MerchantClient, rules: &str) -> anyhow::Result<()> {
    let added = shop.post("v2/risk/rules", &[("rules", rules)]).await?;
    assert_result(&added, 200, "000.000.100");
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    Ok(())
}

/// Formats a rule of a rules file.
pub fn format_rule(name: &str, condition: &str, effect: &str) -> String {
    format!("[[rule]]\nname = '{name}'\nwhen = '''{condition}'''\n{effect}\n")
}

/// Returns the decision that is stored with a payment.
fn read_decision(gateway: &TestGateway, payment: &str) -> anyhow::Result<serde_json::Value> {
    let query = "SELECT CAST(document AS TEXT) FROM payment WHERE id = ?1";
    let text: String = open_database(gateway)?.query_row(query, [payment], |row| row.get(0))?;
    let document: serde_json::Value = serde_json::from_str(&text)?;
    Ok(document["risk"].clone())
}

#[tokio::test]
async fn scores_add_up_and_thresholds_and_rules_decide() -> anyhow::Result<()> {
    let rules = [
        "[thresholds]\nreview = 50\ndeny = 100\n".to_owned(),
        format_rule("large", "amount > 500", "score = 50"),
        format_rule("elsewhere", "mismatch.country", "score = 60"),
        format_rule("known", "risk.parameters[vip] = \"yes\"", "score = -70"),
        format_rule("never", "customer.email = \"bad@shop.example\"", "outcome = 'deny'\ncode = '100.400.121'"),
    ]
    .concat();
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rules).await?;
    let elsewhere = [("billing.country", "DE"), ("shipping.country", "FR")];
    let large = [("amount", "501.00")];
    let vip = [("risk.parameters[vip]", "yes")];
    for (fields, status, code, score) in [
        (vec![], 200, "000.100.110", "0"),
        (large.to_vec(), 400, "100.400.141", "50"),
        ([&large[..], &elsewhere].concat(), 400, "100.400.142", "110"),
        ([&large[..], &elsewhere, &vip].concat(), 200, "000.100.110", "40"),
        (vip.to_vec(), 200, "000.100.110", "-70"),
        (
            vec![("customer.email", "bad@shop.example"), ("customer.givenName", "A"), ("customer.surname", "B")],
            400,
            "100.400.121",
            "0",
        ),
    ] {
        let paid = shop.pay_by_card(&fields).await?;
        assert_result(&paid, status, code);
        assert_eq!(paid.json["risk"]["score"], score, "{}", paid.text);
    }
    Ok(())
}

#[tokio::test]
async fn what_the_rules_read_is_stored_by_name_and_never_by_value() -> anyhow::Result<()> {
    let rule = format_rule("elsewhere", "billing.country != shipping.country and count(card, 1 h) > 0", "score = 5");
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rule).await?;
    let paid = shop.pay_by_card(&[("billing.country", "DE"), ("shipping.country", "FR")]).await?;
    assert_result(&paid, 200, "000.100.110");
    let risk = read_decision(TestGateway::shared(), paid.id())?;
    let decision = &risk["decision"];
    assert_eq!((&decision["outcome"], &decision["score"]), (&"accept".into(), &5.into()), "{risk}");
    assert_eq!(decision["fired"], serde_json::json!(["elsewhere"]));
    assert_eq!(decision["inputs"].as_array().map(Vec::len), Some(3), "{risk}");
    assert!(!risk.to_string().contains("4200000000000000"), "{risk}");
    Ok(())
}

#[tokio::test]
async fn of_concurrent_payments_with_a_card_exactly_as_many_pass_as_the_counter_allows() -> anyhow::Result<()> {
    let rule = format_rule("often", "count(card, 1 h) > 7", "outcome = 'deny'");
    let gateway = TestGateway::start()?;
    let shop = create_shop_with_rules(&gateway, &[], &rule).await?;
    let mut payments = JoinSet::new();
    for _ in 0..30 {
        let shop = shop.clone();
        payments.spawn(async move { shop.pay_by_card(&[]).await });
    }
    let answers: Vec<ApiResponse> = payments.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    let count = |code: &str| answers.iter().filter(|answer| answer.result_code() == code).count();
    assert_eq!((count("000.100.110"), count("100.400.142")), (7, 23));
    // The count survives a power failure, and ends with its window.
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.pay_by_card(&[]).await?, 400, "100.400.142");
    shop.advance_clock("62m").await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn after_the_approval_rules_know_the_answers_of_the_issuer() -> anyhow::Result<()> {
    let rule = format_rule("wrong code", "cvv = \"N\"", "outcome = 'deny'");
    let after = create_shop_with_rules(TestGateway::shared(), &["--screen", "after"], &rule).await?;
    let before = create_shop_with_rules(TestGateway::shared(), &[], &rule).await?;
    let wrong = [("card.cvv", "001")];
    let refused = after.pay_by_card(&wrong).await?;
    assert_result(&refused, 400, "100.400.147");
    assert_eq!(refused.json["result"]["cvvResponse"], "N", "{}", refused.text);
    // Before the approval nobody has compared the code.
    let paid = before.pay_by_card(&wrong).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(paid.json["result"]["cvvResponse"], "N", "{}", paid.text);
    assert_result(&after.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_list_decides_beside_the_rules() -> anyhow::Result<()> {
    let rules = ["[thresholds]\ndeny = 50\n".to_owned(), format_rule("large", "amount > 500", "score = 50")].concat();
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rules).await?;
    let names = [("customer.givenName", "A"), ("customer.surname", "B")];
    let email = |address: &'static str| [&names[..], &[("customer.email", address), ("amount", "501.00")]].concat();
    for (list, address) in
        [("allow", "good@shop.example"), ("deny", "bad@shop.example"), ("review", "odd@shop.example")]
    {
        let added = shop.post("v2/risk/lists", &[("list", list), ("key", "email"), ("value", address)]).await?;
        assert_result(&added, 200, "000.000.100");
    }
    assert_result(&shop.pay_by_card(&email("good@shop.example")).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&email("other@shop.example")).await?, 400, "100.400.142");
    let small = |address: &'static str| [&names[..], &[("customer.email", address)]].concat();
    assert_result(&shop.pay_by_card(&small("BAD@shop.example")).await?, 400, "100.400.142");
    assert_result(&shop.pay_by_card(&small("odd@shop.example")).await?, 400, "100.400.141");
    assert_result(&shop.pay_by_card(&small("other@shop.example")).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_card_on_a_list_is_found_in_a_payment_and_in_a_payment_with_its_registration() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--risk", "on"])?;
    let stored = shop.pay_by_card(&[("createRegistration", "true")]).await?;
    let registration = stored.json["registrationId"].as_str().unwrap_or_default().to_owned();
    let listed =
        shop.post("v2/risk/lists", &[("list", "deny"), ("key", "card"), ("card.number", "4200000000000000")]).await?;
    assert_result(&listed, 200, "000.000.100");
    assert_result(&shop.pay_by_card(&[]).await?, 400, "100.400.142");
    let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let repeated = shop.post(&format!("v1/registrations/{registration}/payments"), &order).await?;
    assert_result(&repeated, 400, "100.400.142");
    Ok(())
}

#[tokio::test]
async fn rules_know_what_the_browser_chose() -> anyhow::Result<()> {
    let rule = format_rule("invented", "source(customer.email) = browser", "outcome = 'deny'");
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rule).await?;
    let customer = [("customer.givenName", "A"), ("customer.surname", "B"), ("customer.email", "jo@shop.example")];
    let by_browser = shop.create_checkout(&[]).await?.id().to_owned();
    shop.submit_card(&by_browser, &customer).await?;
    assert_result(&shop.read_status(&by_browser).await?, 400, "100.400.142");
    let by_merchant = shop.create_checkout(&customer).await?.id().to_owned();
    shop.submit_card(&by_merchant, &customer).await?;
    assert_result(&shop.read_status(&by_merchant).await?, 200, "000.100.110");
    Ok(())
}

/// Returns rules that add a score each if their condition is true.
fn score_conditions(conditions: &[(&str, &str)]) -> String {
    let rule = |(condition, score): &(&str, &str)| format_rule(condition, condition, &format!("score = {score}"));
    conditions.iter().map(rule).collect()
}

#[tokio::test]
async fn every_group_reaches_the_check() -> anyhow::Result<()> {
    let sent = [
        ("customer.email", "jo@shop.example"),
        ("customer.givenName", "Jo"),
        ("customer.surname", "Jones"),
        ("billing.city", "Bath"),
        ("shipping.city", "Wells"),
        ("shipping.customer.surname", "Smith"),
        ("cart.items[0].name", "Bowl"),
        ("cart.payments[0].name", "voucher"),
        ("threeDSecure.challengeIndicator", "02"),
        ("giftCard.message", "Many happy returns"),
        ("risk.parameters[vip]", "yes"),
    ];
    let conditions: Vec<(String, &str)> = sent
        .iter()
        .filter(|(name, _)| !name.starts_with("customer.") || *name == "customer.email")
        .map(|(name, value)| (format!("{name} = \"{value}\""), "1"))
        .collect();
    let conditions: Vec<(&str, &str)> =
        conditions.iter().map(|(condition, score)| (condition.as_str(), *score)).collect();
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &score_conditions(&conditions)).await?;
    let expected = conditions.len().to_string();
    let checkout = shop.create_checkout(&sent).await?;
    assert_result(&checkout, 200, "000.200.100");
    shop.submit_card(checkout.id(), &[]).await?;
    let paid = shop.pay_by_card(&sent).await?;
    let order = [("amount", "92.00"), ("currency", "EUR"), ("merchantTransactionId", "order-0001")];
    let checked = shop.post("v2/riskScreen", &[&CARD[..], &order, &sent].concat()).await?;
    for answer in [shop.read_status(checkout.id()).await?, paid, checked] {
        assert_result(&answer, 200, "000.100.110");
        assert_eq!(answer.json["risk"]["score"], expected.as_str(), "{}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_source_of_a_value_is_the_party_that_has_chosen_it() -> anyhow::Result<()> {
    let rules = score_conditions(&[
        ("source(card.holder) = browser", "1"),
        ("source(card.expiryMonth) = browser", "10"),
        ("source(cart.items[0].quantityUnit) = gateway", "100"),
        ("source(threeDs.result) = gateway", "1000"),
        ("source(threeDs.result) = merchant", "2000"),
        ("source(customer.ip) = gateway", "10000"),
        ("source(mismatch.country) = browser", "20000"),
    ]);
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rules).await?;
    let frictionless = [&three_ds::CARDHOLDER_DATA[..], &[("card.number", "4200000000000026")]].concat();
    let countries = [("billing.country", "DE"), ("shipping.country", "FR")];
    let item = ("cart.items[0].name", "Bowl");
    let checkout = shop.create_checkout(&[three_ds::BACK, item, countries[0]]).await?;
    shop.submit_card(checkout.id(), &[&frictionless[..], &countries[1..]].concat()).await?;
    let stored = shop.post("v1/registrations", &CARD).await?;
    let offers = shop.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    let chosen = [("registrationId", stored.id()), ("card.cvv", "123")];
    shop.post_as_browser(&format!("v1/checkouts/{}/payment", offers.id()), &chosen).await?;
    for (answer, score) in [
        (shop.read_status(checkout.id()).await?, "31111"),
        (shop.read_status(offers.id()).await?, "10000"),
        (shop.pay_by_card(&[&three_ds::DONE_ELSEWHERE[..], &countries].concat()).await?, "2000"),
        (three_ds::pay_by_card(&shop, "VISA", "4200000000000026", &[item]).await?, "1100"),
    ] {
        assert_result(&answer, 200, "000.100.110");
        assert_eq!(answer.json["risk"]["score"], score, "{}", answer.text);
    }
    Ok(())
}

#[tokio::test]
async fn the_data_kept_with_a_registration_reach_the_check_with_their_source() -> anyhow::Result<()> {
    let rules = score_conditions(&[
        ("customer.email = \"jo@shop.example\"", "1"),
        ("billing.city = \"Bath\"", "10"),
        ("shipping.street1 = \"Kiln Lane 1\"", "100"),
        ("source(customer.email) = merchant", "1000"),
        ("source(customer.email) = browser", "2000"),
        ("source(card.holder) = browser", "10000"),
        ("ip = \"203.0.113.7\"", "50000"),
    ]);
    let gateway = TestGateway::shared();
    let shop = create_shop_with_rules(gateway, &[], &rules).await?;
    let shopper = [
        ("customer.email", "jo@shop.example"),
        ("customer.givenName", "Jo"),
        ("customer.surname", "Jones"),
        ("billing.city", "Bath"),
        ("shipping.street1", "Kiln Lane 1"),
    ];
    // The address belongs to the request in which the account was stored.
    let address = [("customer.ip", "203.0.113.7"), ("createRegistration", "true")];
    let alone = shop.post("v1/registrations", &[&CARD[..], &shopper, &address[..1]].concat()).await?;
    let with_payment = shop.pay_by_card(&[&shopper[..], &address].concat()).await?;
    let checkout = shop.create_checkout(&[("createRegistration", "true")]).await?;
    shop.submit_card(checkout.id(), &shopper).await?;
    let in_form = shop.read_status(checkout.id()).await?;
    let registration_of = |paid: &ApiResponse| paid.json["registrationId"].as_str().unwrap_or_default().to_owned();
    let order = [("amount", "92.00"), ("currency", "EUR"), ("merchantTransactionId", "order-0001")];
    for (registration, score, resent) in [
        (alone.id().to_owned(), "1111", "2111"),
        (registration_of(&with_payment), "1111", "2111"),
        (registration_of(&in_form), "12111", "12111"),
    ] {
        let paid = pay_by_registration(&shop, &registration, &[]).await?;
        let checked = shop.post(&format!("v2/registrations/{registration}/riskScreen"), &order).await?;
        // A shopper who sends the same value again does not make it the merchant's.
        let offers = shop.create_checkout(&[("registrations[0].id", &registration)]).await?;
        let chosen = [("registrationId", registration.as_str()), ("card.cvv", "123"), shopper[0]];
        let chosen = [&chosen[..], &shopper[1..3]].concat();
        shop.post_as_browser(&format!("v1/checkouts/{}/payment", offers.id()), &chosen).await?;
        let again = shop.read_status(offers.id()).await?;
        for (answer, score) in [(&paid, score), (&checked, score), (&again, resent)] {
            assert_result(answer, 200, "000.100.110");
            assert_eq!(answer.json["risk"]["score"], score, "{}", answer.text);
        }
        // The merchant's own value counts more.
        let other = [("customer.email", "ann@shop.example"), shopper[1], shopper[2]];
        let paid = pay_by_registration(&shop, &registration, &other).await?;
        let expected = if score == "1111" { "1110" } else { "11110" };
        assert_eq!(paid.json["risk"]["score"], expected, "{}", paid.text);
    }
    // A dry run has the same facts.
    let version = shop.get("v2/risk/rules").await?.json["active"].as_str().unwrap_or_default().to_owned();
    let report = dry_run_by_command(gateway, &shop.entity_id, &version, &[])?;
    let fired = |condition: &str| {
        let rules = report["rules"].as_array().into_iter().flatten();
        let rule = rules.into_iter().find(|rule| rule["name"].as_str().is_some_and(|name| name == condition));
        rule.map_or(0, |rule| rule["fired"]["count"].as_u64().unwrap_or_default())
    };
    // Two payments stored an account, and three payments each were made with three registrations.
    assert_eq!(fired("billing.city = \"Bath\""), 2 + 9, "{report:#}");
    assert_eq!(fired("source(customer.email) = browser"), 1 + 2 + 2, "{report:#}");
    Ok(())
}

#[tokio::test]
async fn a_shadow_version_records_and_changes_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let rules = format_rule("all", "amount > 0", "outcome = 'deny'");
    let added = shop.post("v2/risk/rules", &[("rules", rules.as_str())]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/shadow"), &[]).await?, 200, "000.000.100");
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    let shadow = &read_decision(gateway, paid.id())?["shadow"];
    assert_eq!((&shadow["outcome"], &shadow["version"]), (&"deny".into(), &version.into()), "{shadow}");
    Ok(())
}
