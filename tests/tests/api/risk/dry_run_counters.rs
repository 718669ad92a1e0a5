//! Dry runs and checks agree: the version that decided would change nothing, and counters know what was before.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::risk::dry_run::{RulesFile, activate_rules, dry_run_by_command, list_outcomes};
use crate::support::*;
use crate::three_ds::{self, challenge_transaction, post_to_page, redirect_field, visit_page};

/// Returns how often each rule has fired in the stored decisions of an entity, and the number of stored decisions.
fn count_stored_rules(gateway: &TestGateway, entity: &str) -> anyhow::Result<(Vec<(String, u64)>, u64)> {
    let database = open_database(gateway)?;
    let mut statement = database.prepare("SELECT CAST(document AS TEXT) FROM payment WHERE entity = ?1")?;
    let documents: Vec<String> = statement.query_map([entity], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut counts = std::collections::BTreeMap::new();
    let mut decisions = 0;
    for document in documents {
        let document: Value = serde_json::from_str(&document)?;
        let decision = &document["risk"]["decision"];
        decisions += u64::from(!decision.is_null());
        for name in decision["fired"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    Ok((counts.into_iter().collect(), decisions))
}

/// Rules with every kind of counter, with facts that become known after the check, and with outcomes that stop
/// payments.
const COUNTING: &str = r#"
[thresholds]
review = 50
[[rule]]
name = "card"
when = 'count(card, 1 h) > 4'
outcome = "deny"
[[rule]]
name = "money"
when = 'sum(card, email, 1 d) > 900'
score = 30
[[rule]]
name = "cards of an address"
when = 'distinct(card by email, 10 min) > 2'
score = 30
[[rule]]
name = "brands"
when = 'distinct(brand by holder, 1 d) > 1 or count(account, 90 d) > 11'
score = 1
[[rule]]
name = "code"
when = 'cvv = "N"'
score = 1
[[rule]]
name = "authenticated"
when = 'threeDs.result = "Y" or threeDSecure.eci is present'
score = 1
[[rule]]
name = "young account"
when = 'account.age < 10 min'
score = 1
[[rule]]
name = "old account"
when = 'account.age > 20 min'
score = 1
[[rule]]
name = "form"
when = 'source(customer.email) = browser or bin = "420000"'
score = 1
"#;

/// Makes payments of several cards and shoppers, some declined by the issuer, some with a challenge, while time passes.
async fn make_various_payments(shop: &MerchantClient) -> anyhow::Result<()> {
    let names = [("customer.givenName", "A"), ("customer.surname", "B")];
    let numbers = ["4200000000000000", "4242424242424242", "5454545454545454"];
    for step in 0..36_usize {
        let number = numbers[step * 7 % 3];
        let brand = if number.starts_with('5') { "MASTER" } else { "VISA" };
        let email = ["a@shop.example", "b@shop.example"][step / 3 % 2];
        let amount = ["92.00", "250.00", "31.00", "410.00"][step * 5 % 4];
        let fields = [("card.number", number), ("paymentBrand", brand), ("amount", amount), ("customer.email", email)];
        let mut fields = [&fields[..], &names].concat();
        match step % 6 {
            1 => fields.push(("customParameters[forceResultCode]", "800.100.151")),
            2 => fields.push(("card.cvv", "001")),
            3 => fields.push(("paymentType", "PA.CP")),
            4 => fields.push(("currency", "USD")),
            _ => {}
        }
        if step % 6 == 5 {
            let checkout = shop.create_checkout(&[("amount", amount)]).await?.id().to_owned();
            shop.submit_card(&checkout, &[&fields[..2], &names, &[("customer.email", email)]].concat()).await?;
        } else {
            shop.pay_by_card(&fields).await?;
        }
        if step % 9 == 8 {
            shop.advance_clock("7m").await?;
        }
    }
    let asked = three_ds::pay_by_card(shop, "VISA", "4200000000000018", &names).await?;
    assert_result(&asked, 200, "000.200.000");
    let url = redirect_field(&asked, "url").to_owned();
    let transaction = challenge_transaction(&visit_page(shop, &url).await?.1).to_owned();
    let answer = [("transaction", transaction.as_str()), ("returnCode", "000.100.110")];
    assert_eq!(post_to_page(shop, &url, &answer).await?.0, 200);
    // Test data decide whatever the rules are, and are not counted.
    for surname in ["red", "yellow", "error"] {
        shop.pay_by_card(&[("customer.givenName", "simulate"), ("customer.surname", surname)]).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_dry_run_of_the_version_that_decided_would_change_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    for arguments in [&["--risk", "on"][..], &["--risk", "on", "--screen", "after"]] {
        let shop = gateway.create_merchant_with(arguments)?;
        let version = activate_rules(&shop, COUNTING).await?;
        let listed = shop.post("v2/risk/lists", &[("list", "review"), ("key", "email"), ("value", "b@shop.example")]);
        assert_result(&listed.await?, 200, "000.000.100");
        make_various_payments(&shop).await?;
        let report = dry_run_by_command(gateway, &shop.entity_id, &version, &[])?;
        assert_eq!(report["changed"]["count"], 0, "{arguments:?}: {report:#}");
        let (stored, decisions) = count_stored_rules(gateway, &shop.entity_id)?;
        let fired = |row: &Value| {
            let name = row["name"].as_str().unwrap_or_default().to_owned();
            row["fired"]["count"].as_u64().filter(|count| *count > 0).map(|count| (name, count))
        };
        let replayed: Vec<(String, u64)> = report["rules"].as_array().into_iter().flatten().filter_map(fired).collect();
        let simulated = |(name, _): &(String, u64)| name.starts_with("simulate ");
        let stored: Vec<(String, u64)> = stored.into_iter().filter(|row| !simulated(row)).collect();
        assert_eq!(replayed, stored, "{arguments:?}");
        assert!(stored.len() >= 4, "{stored:?}");
        let left_out = &report["leftOut"];
        assert_eq!(
            (&left_out["testData"], &report["checked"]["count"]),
            (&3.into(), &(decisions - 3).into()),
            "{report:#}"
        );
        assert_eq!(left_out["endedBefore"].as_u64() > Some(0), arguments.contains(&"after"), "{left_out}");
    }
    Ok(())
}

#[tokio::test]
async fn counters_know_the_payments_before_the_period() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    for _ in 0..3 {
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    shop.advance_clock("2h").await?;
    let last = shop.pay_by_card(&[]).await?;
    // Between the payments, and more than an hour after the first ones.
    let from =
        (jiff::Timestamp::now() + jiff::SignedDuration::from_mins(100)).strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let run = |window: &str, count: u32| {
        let rules = format!("[[rule]]\nname = 'often'\nwhen = 'count(card, {window}) > {count}'\noutcome = 'review'\n");
        let file = RulesFile::write(&rules)?;
        dry_run_by_command(gateway, &shop.entity_id, &file.path(), &["--from", &from, "--to", "2099-12-31"])
    };
    for (window, count, before, outcome) in
        [("1 d", 3, 3, "accept > review 1"), ("1 d", 4, 3, "accept > accept 1"), ("1 h", 1, 0, "accept > accept 1")]
    {
        let report = run(window, count)?;
        assert_eq!(list_outcomes(&report), [outcome], "{window}: {report:#}");
        assert_eq!((&report["countedBefore"], &report["checked"]["count"]), (&before.into(), &1.into()), "{window}");
    }
    assert_eq!(run("1 d", 3)?["outcomes"][0]["examples"], json!([last.id()]));
    Ok(())
}
