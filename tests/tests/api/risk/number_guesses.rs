//! Attacks of a client with a merchant's credentials that looks for the whole number of a stored card: every route that
//! compares a number with stored ones counts, and nothing tells more than the first six and last four digits.

use serde_json::Value;
use tillgate_tests::{ApiResponse, CARD, MerchantClient, TestGateway};

use crate::risk::card_testing::{assert_throttled, start_with_limit};
use crate::risk::payments::{activate_rules, create_shop_with_rules, format_rule};
use crate::support::*;

/// Number of different numbers an hour.
const CAP: usize = 4;
/// A card with a correct check digit. Its seventh and eighth digits are those of the candidates.
const STORED: &str = "4200001234970000";
const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("merchantTransactionId", "order-0001")];

/// Returns numbers that show the same digits as the stored card, which is the tenth.
fn candidates() -> Vec<String> {
    let hidden = [406, 414, 422, 430, 448, 455, 463, 471, 489, 497, 505, 513, 521, 539, 547, 554, 562, 570, 588, 596];
    hidden.map(|hidden| format!("420000123{hidden}0000")).to_vec()
}

/// Returns a card with this number.
fn card(number: &str) -> Vec<(&'static str, &str)> {
    CARD.into_iter().map(|(name, value)| (name, if name == "card.number" { number } else { value })).collect()
}

/// Starts a gateway with the cap and a merchant with these rules.
async fn start_shop(rules: &str) -> anyhow::Result<(TestGateway, MerchantClient)> {
    let gateway = start_with_limit("--alike-numbers", &CAP.to_string())?;
    let shop = create_shop_with_rules(&gateway, &["--sandbox-any-number"], rules).await?;
    Ok((gateway, shop))
}

/// Stores the card with a payment, which is the first attempt with these digits.
async fn store_card(shop: &MerchantClient) -> anyhow::Result<String> {
    let stored = shop.pay_by_card(&[("card.number", STORED), ("createRegistration", "true")]).await?;
    assert_result(&stored, 200, "000.100.110");
    Ok(stored.json["registrationId"].as_str().unwrap_or_default().to_owned())
}

/// Tries every candidate until one is refused by the limit. Returns the answers before.
async fn try_candidates(send: impl AsyncFn(&str) -> anyhow::Result<ApiResponse>) -> anyhow::Result<Vec<ApiResponse>> {
    let mut answers = Vec::new();
    for number in candidates() {
        let answer = send(&number).await?;
        if answer.status == 429 {
            assert_throttled(&answer);
            return Ok(answers);
        }
        answers.push(answer);
    }
    Ok(answers)
}

#[tokio::test]
async fn a_check_without_payment_is_an_attempt_whatever_the_rules_ask() -> anyhow::Result<()> {
    for rule in [
        "count(card, 1 h) > 1",
        "sum(account, 1 h) > 100",
        "distinct(email by card, 1 h) > 0",
        "account.age > 1 s",
        "account.age > 1 s and count(card, 90 d) > 1",
    ] {
        let (gateway, shop) = start_shop(&format_rule("seen", rule, "outcome = 'deny'")).await?;
        store_card(&shop).await?;
        let screen = async |number: &str| shop.post("v2/riskScreen", &[&card(number)[..], &ORDER].concat()).await;
        let answers = try_candidates(screen).await?;
        assert_eq!(answers.len(), CAP - 1, "{rule}");
        assert!(answers.iter().all(|answer| answer.status == 200), "{rule}: the number was found");
        // The right number, and other routes, are refused as well.
        assert_throttled(&screen(STORED).await?);
        assert_throttled(&shop.pay_by_card(&[("card.number", STORED)]).await?);
        let log = tillgate_tests::poll_until("the decision log", async || {
            let changes = shop.get("v2/risk/audit").await?;
            Ok(changes.text.contains("alike-numbers 420000").then_some(changes))
        })
        .await?;
        assert!(!log.text.contains("4200001"), "{}", log.text);
        gateway.wait_for_log("show the same first six and last four digits").await?;
        assert!(!gateway.read_log().contains("4200001"));
    }
    Ok(())
}

#[tokio::test]
async fn an_entry_of_a_list_is_an_attempt_and_a_stored_card_is_none() -> anyhow::Result<()> {
    let (_gateway, shop) = start_shop(&format_rule("never", "amount > 1000000", "outcome = 'deny'")).await?;
    let registration = store_card(&shop).await?;
    for key in ["card", "account"] {
        let put = async |number: &str| {
            shop.post("v2/risk/lists", &[("list", "deny"), ("key", key), ("card.number", number)]).await
        };
        let expected = if key == "card" { CAP - 1 } else { 0 };
        assert_eq!(try_candidates(put).await?.len(), expected, "{key}");
        assert_throttled(&put(STORED).await?);
        // Numbers with other digits are listed as before.
        assert_result(&put("4012888888881881").await?, 200, "000.000.100");
    }
    let path = format!("v2/registrations/{registration}/riskScreen");
    for _ in 0..2 * CAP {
        assert_result(&shop.post(&path, &ORDER).await?, 200, "000.100.110");
    }
    Ok(())
}

#[tokio::test]
async fn the_routes_and_the_channels_of_a_merchant_share_one_count() -> anyhow::Result<()> {
    let (gateway, shop) = start_shop(&format_rule("seen", "account.age > 1 s", "outcome = 'deny'")).await?;
    let own = ["--merchant", &shop.entity_id, "--risk", "on", "--sandbox-any-number"];
    let id = gateway.create_merchant_with(&own)?.entity_id;
    let numbers = candidates();
    let screen = async |entity: &str, number: &str| {
        shop.post("v2/riskScreen", &[&card(number)[..], &ORDER, &[("entityId", entity)]].concat()).await
    };
    tillgate_tests::poll_until("the channel checks payments", async || {
        Ok((screen(&id, "4012888888881881").await?.status == 200).then_some(()))
    })
    .await?;
    assert_result(&screen(&id, &numbers[0]).await?, 200, "000.100.110");
    assert_result(&screen(&id, &numbers[1]).await?, 200, "000.100.110");
    let listed = [("list", "deny"), ("key", "card"), ("card.number", numbers[2].as_str())];
    assert_result(&shop.post("v2/risk/lists", &listed).await?, 200, "000.000.100");
    let charge = [&card(&numbers[3])[..], &ORDER, &[("paymentType", "DB"), ("entityId", &id)]].concat();
    assert_eq!(shop.post("v1/payments", &charge).await?.status, 200);
    assert_throttled(&screen(&id, &numbers[4]).await?);
    assert_throttled(&shop.post("v1/payments", &charge).await?);
    // Another merchant has its own.
    let rule = format_rule("none", "amount > 1000000", "score = 1");
    let other = create_shop_with_rules(&gateway, &["--sandbox-any-number"], &rule).await?;
    assert_result(&other.pay_by_card(&[("card.number", &numbers[4])]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn numbers_of_bank_accounts_are_counted_as_those_of_cards_are() -> anyhow::Result<()> {
    let (_gateway, shop) = start_shop(&format_rule("seen", "account.age > 1 s", "outcome = 'deny'")).await?;
    let screen = async |number: &str| {
        let account = [
            ("paymentBrand", "DIRECTDEBIT_SEPA"),
            ("bankAccount.holder", "Jane Jones"),
            ("bankAccount.number", number),
            ("bankAccount.bankCode", "10000000"),
            ("bankAccount.country", "DE"),
        ];
        shop.post("v2/riskScreen", &[&account[..], &ORDER].concat()).await
    };
    for number in 0..CAP {
        assert_result(&screen(&format!("{:06}7890", 123_000 + number)).await?, 200, "000.100.110");
    }
    assert_throttled(&screen("1239997890").await?);
    assert_result(&screen("1239997891").await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn no_rule_tells_more_of_a_stored_card_than_its_first_six_digits() -> anyhow::Result<()> {
    let (gateway, shop) = start_shop(&format_rule("r", "bin = \"420000\"", "score = 7")).await?;
    let registration = store_card(&shop).await?;
    let path = format!("v2/registrations/{registration}/riskScreen");
    let checked = shop.post(&path, &ORDER).await?;
    assert_eq!(checked.json["risk"]["score"], "7", "{}", checked.text);
    for when in [
        "bin starts with \"4200001\"",
        "bin = \"42000012\"",
        "bin in (\"42000012\", \"420000\")",
        "not bin != \"4200001\"",
        "bin contains \"0000123\"",
    ] {
        let refused = shop.post("v2/risk/rules", &[("rules", &format_rule("r", when, "score = 1"))]).await?;
        assert_errors(&refused, &["rules"]);
        assert!(refused.text.contains("six digits"), "{}", refused.text);
    }
    // Rules that do not name the digits find none behind the sixth.
    for (when, score) in [("bin ends with \"12\"", "0"), ("bin ends with \"0000\"", "9"), ("bin contains \"1\"", "0")] {
        activate_rules(&shop, &format_rule("r", when, "score = 9")).await?;
        let checked = shop.post(&path, &ORDER).await?;
        assert_eq!(checked.json["risk"]["score"], score, "{when}: {}", checked.text);
    }
    let database = open_database(&gateway)?;
    let query = "SELECT CAST(document AS TEXT) FROM payment UNION ALL SELECT CAST(document AS TEXT) FROM registration";
    let mut statement = database.prepare(query)?;
    for document in statement.query_map([], |row| row.get::<_, String>(0))? {
        let document = document?;
        assert!(document.contains("420000") && !document.contains("4200001"), "{document}");
    }
    Ok(())
}

/// Returns the texts in the risk context of the payments of an entity that are as long as an index.
fn stored_indexes(gateway: &TestGateway, entity: &str) -> anyhow::Result<Vec<String>> {
    let database = open_database(gateway)?;
    let mut statement = database.prepare("SELECT CAST(document AS TEXT) FROM payment WHERE entity = ?1")?;
    let mut indexes = Vec::new();
    for document in statement.query_map([entity], |row| row.get::<_, String>(0))? {
        let document: Value = serde_json::from_str(&document?)?;
        let context = document["risk"]["context"].as_object().cloned().unwrap_or_default();
        indexes.extend(context.values().filter_map(Value::as_str).filter(|text| text.len() == 64).map(str::to_owned));
    }
    Ok(indexes)
}

#[tokio::test]
async fn nothing_stored_shows_that_two_merchants_have_the_same_card() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let rules = format_rule("often", "count(card, 1 h) > 3", "outcome = 'deny'");
    let mut shops = Vec::new();
    for _ in 0..2 {
        let shop = create_shop_with_rules(&gateway, &[], &rules).await?;
        // The counters of each merchant still find its card.
        for code in ["000.100.110", "000.100.110", "000.100.110", "100.400.142"] {
            assert_eq!(shop.pay_by_card(&[]).await?.result_code(), code);
        }
        let listed = [("list", "review"), ("key", "card"), ("card.number", "4200000000000000")];
        let value = shop.post("v2/risk/lists", &listed).await?.json["value"].as_str().unwrap_or_default().to_owned();
        shops.push((stored_indexes(&gateway, &shop.entity_id)?, value));
    }
    let mut all: Vec<&String> = shops.iter().flat_map(|(indexes, value)| indexes.iter().chain([value])).collect();
    assert!(all.len() >= 10, "{all:?}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), shops.iter().map(|(indexes, _)| indexes.len() + 1).sum::<usize>());
    Ok(())
}
