//! Facts that the gateway finds out: country and funding of a card by the operator's table, and the age of an account.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{ApiResponse, Database, MerchantClient, TestGateway};
use tokio::task::JoinSet;

use crate::registration::registrations::pay_by_registration;
use crate::risk::payments::{activate_rules, create_shop_with_rules, format_rule};
use crate::service::command_line::run_tillgate;
use crate::support::*;
use crate::three_ds::pay_by_card;

const PAID: &str = "000.100.110";
/// The numbers of a range, of a smaller range in it, of one without country, and of one without funding.
const BINS: &str = "bin,country,funding\n# cards of two issuers\n420000-420000,us,credit\n42000000,DE,prepaid\n\
                    \"42000000000\", FR ,\"Debit\"\n4200009-4200009,,charge\n420012,AT,\n";

/// Writes a table of BINs into a folder of its own. Returns the folder and the path.
fn write_bins(text: &str) -> anyhow::Result<(TempDir, String)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bins.csv");
    std::fs::write(&path, text)?;
    let path = path.display().to_string();
    Ok((folder, path))
}

/// Returns rules whose score names country and funding of a card.
fn score_card_facts() -> String {
    let rules = [
        ("US", "card.country = \"US\"", 1),
        ("DE", "card.country = \"DE\"", 2),
        ("FR", "card.country = \"FR\"", 3),
        ("AT", "card.country = \"AT\"", 4),
        ("credit", "card.funding = \"credit\"", 10),
        ("debit", "card.funding = \"debit\"", 20),
        ("prepaid", "card.funding = \"prepaid\"", 30),
        ("charge", "card.funding = \"charge\"", 40),
        ("foreign", "mismatch.cardCountry", 100),
    ];
    let format =
        |(name, condition, score): (&str, &str, i32)| format_rule(name, condition, &format!("score = {score}"));
    rules.into_iter().map(format).collect()
}

fn score(answer: &ApiResponse) -> &str {
    answer.json["risk"]["score"].as_str().unwrap_or("none")
}

#[tokio::test]
async fn the_smallest_range_of_the_operators_table_tells_country_and_funding() -> anyhow::Result<()> {
    let (_folder, bins) = write_bins(BINS)?;
    let gateway = TestGateway::start_with(&["--risk-bins", &bins])?;
    let shop = create_shop_with_rules(&gateway, &["--sandbox-any-number"], &score_card_facts()).await?;
    for (brand, number, expected) in [
        ("VISA", "4200000000000000", "23"),
        ("VISA", "4200000012300000", "32"),
        ("VISA", "4200009999900005", "40"),
        ("VISA", "4200120000000006", "4"),
        ("MASTER", "5454545454545454", "0"),
        // All cards of this brand are debit cards, but the table is more exact.
        ("VISADEBIT", "4200120000000006", "24"),
        ("VISADEBIT", "4200000012300000", "32"),
    ] {
        let card = [("paymentBrand", brand), ("card.number", number)];
        let paid = shop.pay_by_card(&card).await?;
        assert_result(&paid, 200, PAID);
        assert_eq!(score(&paid), expected, "{brand} {number} {}", paid.text);
    }
    let german = shop.pay_by_card(&[("billing.country", "DE")]).await?;
    assert_eq!(score(&german), "123", "{}", german.text);
    assert_eq!(score(&shop.pay_by_card(&[("billing.country", "FR")]).await?), "23");
    Ok(())
}

#[tokio::test]
async fn a_form_a_stored_card_and_a_check_without_payment_know_the_same_about_a_card() -> anyhow::Result<()> {
    let (_folder, bins) = write_bins(BINS)?;
    let gateway = TestGateway::start_with(&["--risk-bins", &bins])?;
    let shop = create_shop_with_rules(&gateway, &[], &score_card_facts()).await?;
    let checkout = shop.create_checkout(&[("createRegistration", "true")]).await?.id().to_owned();
    shop.submit_card(&checkout, &[]).await?;
    let status = shop.read_status(&checkout).await?;
    assert_eq!(score(&status), "23", "{}", status.text);
    let registration = status.json["registrationId"].as_str().unwrap_or_default();
    assert_eq!(score(&pay_by_registration(&shop, registration, &[]).await?), "23");
    let order = [("amount", "92.00"), ("currency", "EUR"), ("merchantTransactionId", "order-0001")];
    let checked = shop.post("v2/riskScreen", &[&tillgate_tests::CARD[..], &order].concat()).await?;
    assert_eq!(score(&checked), "23", "{}", checked.text);
    // The facts were decided when the payment was made, and its document has no more digits than before.
    let text: String = open_database(&gateway)?.query_row(
        "SELECT CAST(document AS TEXT) FROM payment WHERE id = ?1",
        [status.id()],
        |row| row.get(0),
    )?;
    let context = serde_json::from_str::<Value>(&text)?["risk"]["context"].clone();
    assert_eq!((&context["card_country"], &context["card_funding"]), (&"FR".into(), &"debit".into()), "{context}");
    assert!(text.contains("420000") && !text.contains("4200000"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_broken_table_stops_the_start_with_line_and_column() -> anyhow::Result<()> {
    for (text, place, message) in [
        ("420000,DE\n", "1:1: ", "write a BIN or a range"),
        ("420000,DE,debit,x\n", "1:1: ", "write a BIN or a range"),
        ("bin,country,funding\n42000,DE,debit\n", "2:1: ", "6 to 11 digits"),
        ("420000000000,DE,debit\n", "1:1: ", "6 to 11 digits"),
        ("420000-4200001,DE,debit\n", "1:1: ", "6 to 11 digits"),
        (" 42000x,DE,debit\n", "1:2: ", "only digits"),
        ("420000-+20001,DE,debit\n", "1:1: ", "only digits"),
        ("420001-420000,DE,debit\n", "1:1: ", "ends before it begins"),
        ("420000,DE,debit\n\n420001, Germany,debit\n", "3:9: ", "two letters"),
        ("420000,DE,gold\n", "1:11: ", "credit, debit, prepaid or charge"),
        ("420000,DE,debit\n420001,DE,debit\n420000,DE,credit\n", "3:1: ", "line 1"),
        ("420000-420001,DE,debit\n420001-420002,DE,credit\n", "2:1: ", "line 1"),
    ] {
        let (folder, bins) = write_bins(text)?;
        let data = folder.path().join("data").display().to_string();
        let start = ["serve", "--data", &data, "--listen", "127.0.0.1:0", "--risk-bins", &bins];
        let output = run_tillgate(&start).await?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{text}");
        assert!(errors.contains(&format!("{bins}:{place}")) && errors.contains(message), "{text} {errors}");
    }
    Ok(())
}

#[tokio::test]
async fn the_table_is_tried_out_on_the_command_line() -> anyhow::Result<()> {
    let (folder, bins) = write_bins(BINS)?;
    let write = |name: &str, text: &str| -> anyhow::Result<String> {
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.display().to_string())
    };
    let rules = write("rules.toml", &score_card_facts())?;
    // Six digits do not tell which of the ranges has the card. A given fact is kept.
    let payments = r#"[ {"bin": "42000001"}, {"bin": "420012"}, {"bin": "420000"}, {"bin": "420012", "card.country": "US"},
        {"bin": "42000000"} ]"#;
    let input = write("payments.json", payments)?;
    let output = run_tillgate(&["risk", "evaluate", &rules, "--input", &input, "--bins", &bins, "--json"]).await?;
    let assessed: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let scores: Vec<i64> = assessed.iter().filter_map(|one| one["score"].as_i64()).collect();
    assert_eq!(scores, [11, 4, 0, 1, 0]);
    Ok(())
}

/// Returns rules whose score is 1 for an account that was seen less than a day ago for the first time, 10 for an older
/// one, and 100 if the age is not known.
fn score_account_age() -> String {
    let rules =
        [("new", "account.age < 1 d", 1), ("known", "account.age >= 1 d", 10), ("no", "account.age is missing", 100)];
    let format =
        |(name, condition, score): (&str, &str, i32)| format_rule(name, condition, &format!("score = {score}"));
    rules.into_iter().map(format).collect()
}

/// Returns the number of accounts that are stored for a merchant.
fn count_sightings(gateway: &TestGateway, merchant: &str) -> anyhow::Result<i64> {
    let query = "SELECT CAST(coalesce(sum(counters), 0) AS BIGINT) FROM risk_counter_owner WHERE entity = ?1 AND kind = 'account'";
    Ok(open_database(gateway)?.query_row(query, [merchant], |row| row.get(0))?)
}

/// Pays with another card than usual.
async fn pay_by_other_card(shop: &MerchantClient) -> anyhow::Result<ApiResponse> {
    shop.pay_by_card(&[("paymentBrand", "MASTER"), ("card.number", "5454545454545454")]).await
}

#[tokio::test]
async fn an_account_is_as_old_as_its_first_payment_with_the_merchant_also_after_a_power_failure() -> anyhow::Result<()>
{
    let gateway = TestGateway::start()?;
    let shop = create_shop_with_rules(&gateway, &["--sandbox-any-number"], &score_account_age()).await?;
    let other = create_shop_with_rules(&gateway, &["--sandbox-any-number"], &score_account_age()).await?;
    assert_eq!(score(&shop.pay_by_card(&[]).await?), "1");
    shop.advance_clock("25h").await?;
    other.advance_clock("25h").await?;
    assert_eq!(score(&shop.pay_by_card(&[]).await?), "10");
    assert_eq!(score(&pay_by_other_card(&shop).await?), "1");
    // Another merchant's sightings do not count.
    assert_eq!(score(&other.pay_by_card(&[]).await?), "1");
    let gateway = gateway.kill_and_restart(&[])?;
    let [shop, other] = [shop, other].map(|shop| MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token));
    assert_eq!(score(&shop.pay_by_card(&[]).await?), "10");
    assert_eq!(score(&other.pay_by_card(&[]).await?), "1");
    assert_eq!((count_sightings(&gateway, &shop.entity_id)?, count_sightings(&gateway, &other.entity_id)?), (2, 1));
    Ok(())
}

#[tokio::test]
async fn the_channels_of_a_merchant_know_the_same_accounts() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let channel = || gateway.create_merchant_with(&["--merchant", &shop.entity_id, "--risk", "on"]);
    let (first, second) = (channel()?, channel()?);
    activate_rules(&shop, &score_account_age()).await?;
    assert_eq!(score(&first.pay_by_card(&[]).await?), "1");
    shop.advance_clock("25h").await?;
    assert_eq!(score(&second.pay_by_card(&[]).await?), "10");
    assert_eq!(count_sightings(gateway, &shop.entity_id)?, 1);
    assert_eq!(count_sightings(gateway, &first.entity_id)? + count_sightings(gateway, &second.entity_id)?, 0);
    Ok(())
}

#[tokio::test]
async fn an_account_is_stored_only_for_rules_that_read_its_age_also_in_the_shadow() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let rule = format_rule("often", "count(account, 1 h) > 3", "score = 5");
    let shop = create_shop_with_rules(gateway, &[], &rule).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, PAID);
    assert_eq!(count_sightings(gateway, &shop.entity_id)?, 0);
    let added = shop.post("v2/risk/rules", &[("rules", &score_account_age())]).await?;
    let version = added.json["version"].as_str().unwrap_or_default();
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/shadow"), &[]).await?, 200, "000.000.100");
    assert_result(&shop.pay_by_card(&[]).await?, 200, PAID);
    assert_eq!(count_sightings(gateway, &shop.entity_id)?, 1);
    Ok(())
}

#[tokio::test]
async fn concurrent_first_payments_of_an_account_are_all_new_and_stored_once() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = create_shop_with_rules(gateway, &[], &score_account_age()).await?;
    let mut payments = JoinSet::new();
    for _ in 0..20 {
        let shop = shop.clone();
        payments.spawn(async move { shop.pay_by_card(&[]).await });
    }
    for paid in payments.join_all().await {
        let paid = paid?;
        assert_result(&paid, 200, PAID);
        assert_eq!(score(&paid), "1", "{}", paid.text);
    }
    assert_eq!(count_sightings(gateway, &shop.entity_id)?, 1);
    Ok(())
}

#[tokio::test]
async fn an_account_is_forgotten_two_years_after_its_last_payment() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_shop_with_rules(&gateway, &[], &score_account_age()).await?;
    let end_of_row = || -> anyhow::Result<i64> {
        let query = "SELECT purge_at FROM risk_counter JOIN risk_counter_owner ON id = owner WHERE kind = 'account'";
        Ok(open_database(&gateway)?.query_row(query, [], |row| row.get(0))?)
    };
    shop.pay_by_card(&[]).await?;
    let first = end_of_row()?;
    let days = (first - jiff::Timestamp::now().as_millisecond()) / 86_400_000;
    assert!((729..=760).contains(&days), "{days}");
    shop.advance_clock("1440h").await?;
    assert_eq!(score(&shop.pay_by_card(&[]).await?), "10");
    assert_eq!(end_of_row()? - first, 60 * 86_400_000);
    Ok(())
}

/// Overwrites all stored first sightings.
fn damage_sightings(data: &Path) -> anyhow::Result<()> {
    let query = "UPDATE risk_counter SET value = x'01ff' WHERE owner IN
        (SELECT id FROM risk_counter_owner WHERE kind = 'account')";
    anyhow::ensure!(Database::open(data)?.execute(query, [])? == 1);
    Ok(())
}

#[tokio::test]
async fn a_damaged_sighting_fails_one_check_and_begins_anew() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = create_shop_with_rules(&gateway, &[], &score_account_age()).await?;
    assert_eq!(score(&shop.pay_by_card(&[]).await?), "1");
    let gateway = gateway.kill_and_restart_after(&[], damage_sightings)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&shop.pay_by_card(&[]).await?, 400, "100.400.145");
    assert_eq!(score(&shop.pay_by_card(&[]).await?), "1");
    Ok(())
}

#[tokio::test]
async fn the_cardholder_of_a_new_account_is_challenged_and_of_a_known_one_is_not() -> anyhow::Result<()> {
    let rule = format_rule("new", "account.age < 1 d", "outcome = 'challenge'");
    let shop = create_shop_with_rules(TestGateway::shared(), &[], &rule).await?;
    let number = "4200000000000026";
    assert_result(&pay_by_card(&shop, "VISA", number, &[]).await?, 200, "000.200.000");
    shop.advance_clock("25h").await?;
    assert_result(&pay_by_card(&shop, "VISA", number, &[]).await?, 200, PAID);
    Ok(())
}
