//! Dry runs of risk rules over stored payments by the command line: exact numbers, counters, lists and the tree.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::service::command_line::run_tillgate;
use crate::support::*;

/// A rule that denies large payments.
pub const LARGE: &str = "[[rule]]\nname = 'large'\nwhen = 'amount > 500'\noutcome = 'deny'\n";

/// A rules file in a folder of its own, which is deleted when this is dropped.
pub struct RulesFile(TempDir);

impl RulesFile {
    pub fn write(text: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("rules.toml"), text)?;
        Ok(Self(folder))
    }

    pub fn path(&self) -> String {
        self.0.path().join("rules.toml").display().to_string()
    }
}

/// Runs a dry run of rules that are not stored, over all payments, by the command line. Returns the report.
fn dry_run_file(gateway: &TestGateway, entity: &str, rules: &str) -> anyhow::Result<Value> {
    let file = RulesFile::write(rules)?;
    dry_run_by_command(gateway, entity, &file.path(), &[])
}

/// Runs a dry run by the command line, over all payments unless `more` has a period. Returns the report.
pub fn dry_run_by_command(gateway: &TestGateway, entity: &str, rules: &str, more: &[&str]) -> anyhow::Result<Value> {
    let period = if more.contains(&"--from") { vec![] } else { vec!["--from", "2020-01-01", "--to", "2099-12-31"] };
    gateway.run_command(&[&["risk", "dry-run", entity, rules, "--full-speed"], &period[..], more].concat())
}

/// Adds rules by the API. Returns the version.
pub async fn add_rules(shop: &MerchantClient, rules: &str) -> anyhow::Result<String> {
    let added = shop.post("v2/risk/rules", &[("rules", rules)]).await?;
    assert_result(&added, 200, "000.000.100");
    Ok(added.json["version"].as_str().unwrap_or_default().to_owned())
}

/// Adds rules by the API, and lets them decide. Returns the version.
pub async fn activate_rules(shop: &MerchantClient, rules: &str) -> anyhow::Result<String> {
    let version = add_rules(shop, rules).await?;
    assert_result(&shop.post(&format!("v2/risk/rules/{version}/activate"), &[]).await?, 200, "000.000.100");
    Ok(version)
}

/// Charges a payment back: its whole amount, or a part.
async fn charge_back(shop: &MerchantClient, payment: &ApiResponse, part: &[(&str, &str)]) -> anyhow::Result<()> {
    let fields = [&[("paymentType", "CB"), ("chargebackResultCode", "000.100.203")], part].concat();
    assert_result(&shop.post(&format!("v1/payments/{}", payment.id()), &fields).await?, 200, "000.100.203");
    Ok(())
}

/// Finds the row of a rule in a report. Null if there is none.
fn find_rule<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rules = report["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    rules.iter().find(|row| row["name"] == name).unwrap_or(&Value::Null)
}

/// Returns the outcomes of a report as texts such as `accept > deny 2`.
pub fn list_outcomes(report: &Value) -> Vec<String> {
    let rows = report["outcomes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.iter().map(|row| format!("{} > {} {}", text(&row["before"]), text(&row["after"]), row["count"])).collect()
}

fn make_sum(count: u32, amounts: &[(&str, &str)]) -> Value {
    let amounts: serde_json::Map<String, Value> =
        amounts.iter().map(|(currency, amount)| ((*currency).to_owned(), (*amount).into())).collect();
    json!({ "count": count, "amounts": amounts })
}

/// Returns a tally as it is in a report.
fn make_tally(all: Value, approved: Value, charged_back: Value) -> Value {
    let mut tally = all;
    tally["approved"] = approved;
    tally["chargedBack"] = charged_back;
    tally
}

#[tokio::test]
async fn what_would_have_been_denied_is_counted_with_its_amounts_and_chargebacks() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let large = [("amount", "600.00")];
    let refused = [("amount", "800.00"), ("customParameters[forceResultCode]", "800.100.151")];
    let dollars = [("amount", "700.00"), ("currency", "USD")];
    let reserved = [("amount", "510.00"), ("paymentType", "PA")];
    let kept = shop.pay_by_card(&large).await?;
    charge_back(&shop, &kept, &[("amount", "600.00"), ("currency", "EUR")]).await?;
    let partly = shop.pay_by_card(&large).await?;
    charge_back(&shop, &partly, &[("amount", "100.50"), ("currency", "EUR")]).await?;
    let foreign = shop.pay_by_card(&dollars).await?;
    charge_back(&shop, &foreign, &[]).await?;
    assert_result(&shop.pay_by_card(&refused).await?, 400, "800.100.151");
    let small = shop.pay_by_card(&[]).await?;
    charge_back(&shop, &small, &[]).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    // The chargeback of a preauthorization is one of its capture. A refund is none.
    let authorized = shop.pay_by_card(&reserved).await?;
    let capture = [("paymentType", "CP"), ("amount", "510.00"), ("currency", "EUR")];
    let captured = shop.post(&format!("v1/payments/{}", authorized.id()), &capture).await?;
    assert_result(&captured, 200, "000.100.110");
    charge_back(&shop, &captured, &[]).await?;
    let refunded = shop.pay_by_card(&large).await?;
    let refund = [("paymentType", "RF"), ("amount", "600.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", refunded.id()), &refund).await?, 200, "000.100.110");

    let report = dry_run_file(gateway, &shop.entity_id, LARGE)?;
    let denied = make_tally(
        make_sum(6, &[("EUR", "3110.00"), ("USD", "700.00")]),
        make_sum(5, &[("EUR", "2310.00"), ("USD", "700.00")]),
        make_sum(4, &[("EUR", "1210.50"), ("USD", "700.00")]),
    );
    let checked = make_tally(
        make_sum(8, &[("EUR", "3294.00"), ("USD", "700.00")]),
        make_sum(7, &[("EUR", "2494.00"), ("USD", "700.00")]),
        make_sum(5, &[("EUR", "1302.50"), ("USD", "700.00")]),
    );
    assert_eq!((&report["checked"], &report["changed"]), (&checked, &denied));
    assert_eq!(find_rule(&report, "large"), &json!({ "name": "large", "fired": denied, "changed": denied }));
    assert_eq!(list_outcomes(&report), ["accept > accept 2", "accept > deny 6"]);
    let examples: Vec<&str> =
        report["outcomes"][1]["examples"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(examples[..3], [kept.id(), partly.id(), foreign.id()]);
    assert_eq!((examples.len(), &report["outcomes"][0]["examples"]), (5, &json!([])));
    Ok(())
}

#[tokio::test]
async fn the_text_has_the_same_numbers_and_as_many_examples_as_asked_for() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let mut paid = Vec::new();
    for amount in ["600.00", "700.00", "92.00"] {
        paid.push(shop.pay_by_card(&[("amount", amount)]).await?);
    }
    charge_back(&shop, &paid[0], &[]).await?;
    let file = RulesFile::write(LARGE)?;
    let data = gateway.data_folder();
    let run = async |examples: &str| {
        let data = data.to_str().unwrap_or_default();
        let period = ["--from", "2020-01-01T00:00:00", "--to", "2099-12-31", "--data", data];
        let path = file.path();
        let output =
            run_tillgate(&[&["risk", "dry-run", &shop.entity_id, &path, "--examples", examples][..], &period].concat())
                .await?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // The standard error stream is no terminal, so there is no progress bar.
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        anyhow::Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let text = run("1").await?;
    let changed = "changed  2 payments, 1300.00 EUR; 2 approved, 1300.00 EUR; 1 charged back, 600.00 EUR";
    for line in [
        "period   2020-01-01T00:00:00 to 2099-12-31, UTC",
        "checked  3 payments, 1392.00 EUR; 3 approved, 1392.00 EUR; 1 charged back, 600.00 EUR",
        changed,
        "accept → deny 2 2 1 1300.00 EUR",
        "large 2 2 2 1 1300.00 EUR",
        paid[0].id(),
    ] {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.lines().any(|found| words(found) == words(line)), "{line}\n{text}");
    }
    assert!(!text.contains(paid[1].id()), "{text}");
    assert!(run("2").await?.contains(paid[1].id()));
    assert!(!run("0").await?.contains(paid[0].id()));
    Ok(())
}

#[tokio::test]
async fn an_entity_with_another_version_and_other_merchants_are_left_out() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let stranger = gateway.create_merchant_with(&["--risk", "on"])?;
    let psp = gateway.create_merchant_with(&["--level", "psp"])?;
    let shop = gateway.create_merchant_with(&["--risk", "on", "--parent", &psp.entity_id])?;
    let below = ["--risk", "on", "--merchant", shop.entity_id.as_str()];
    let (own, other) = (gateway.create_merchant_with(&below)?, gateway.create_merchant_with(&below)?);
    activate_rules(&other, "").await?;
    let mut paid = Vec::new();
    for client in [&stranger, &own, &other, &other] {
        let payment = client.pay_by_card(&[("amount", "600.00")]).await?;
        assert_result(&payment, 200, "000.100.110");
        paid.push(payment.id().to_owned());
    }
    for (entity, examples, left_out) in [
        (&stranger.entity_id, vec![&paid[0]], (0, 0)),
        (&psp.entity_id, vec![&paid[1]], (1, 2)),
        (&shop.entity_id, vec![&paid[1]], (1, 2)),
        (&own.entity_id, vec![&paid[1]], (0, 0)),
        // The version that is tried out stands for the one that the entity has itself.
        (&other.entity_id, vec![&paid[2], &paid[3]], (0, 0)),
    ] {
        let report = dry_run_file(gateway, entity, LARGE)?;
        assert_eq!(report["outcomes"][0]["examples"], json!(examples), "{report:#}");
        let found = (&report["leftOut"]["entities"], &report["leftOut"]["ofOtherVersion"]);
        assert_eq!(found, (&left_out.0.into(), &left_out.1.into()), "{report:#}");
    }
    // A version of the merchant is nearer than one of the PSP.
    activate_rules(&shop, LARGE).await?;
    let report = dry_run_file(gateway, &psp.entity_id, LARGE)?;
    assert_eq!(
        (&report["checked"]["count"], &report["leftOut"]["ofOtherVersion"]),
        (&0.into(), &3.into()),
        "{report:#}"
    );
    Ok(())
}

#[tokio::test]
async fn payments_of_a_time_without_checks_are_assessed_with_what_is_known() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--refuse-duplicates"])?;
    let order = [("amount", "600.00"), ("merchantTransactionId", "order-0001")];
    assert_result(&shop.pay_by_card(&order).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&order).await?, 400, "800.110.100");
    let rules = "[[rule]]\nname = 'bin'\nwhen = 'bin = \"420000\" and not count(card, 1 h) > 0 and cvv is missing'\nscore = 1\n";
    let report = dry_run_file(gateway, &shop.entity_id, &format!("{LARGE}{rules}"))?;
    assert_eq!(list_outcomes(&report), ["not checked > deny 1"]);
    assert_eq!(find_rule(&report, "bin")["fired"]["count"], 1, "{report:#}");
    // The duplicate would not have been checked either.
    assert_eq!((&report["withoutRiskData"], &report["leftOut"]["endedBefore"]), (&1.into(), &1.into()), "{report:#}");
    // Without a check a payment goes on, so to accept it changes nothing.
    let report = dry_run_file(gateway, &shop.entity_id, "")?;
    assert_eq!(
        (list_outcomes(&report), &report["changed"]["count"]),
        (vec!["not checked > accept 1".to_owned()], &0.into())
    );
    Ok(())
}

#[tokio::test]
async fn the_list_entries_of_today_apply() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    let paid = shop.pay_by_card(&[]).await?;
    let entries = [("list", "deny"), ("key", "card"), ("card.number", "4200000000000000"), ("expires", "1h")];
    assert_result(&shop.post("v2/risk/lists", &entries).await?, 200, "000.000.100");
    let report = dry_run_file(gateway, &shop.entity_id, "")?;
    assert_eq!(find_rule(&report, "list deny card")["changed"]["count"], 1, "{report:#}");
    assert_eq!(report["outcomes"][0]["examples"], json!([paid.id()]));
    let listed_at: jiff::Timestamp = report["listsAt"].as_str().unwrap_or_default().parse()?;
    assert!(jiff::Timestamp::now().duration_since(listed_at).as_secs() < 600, "{listed_at}");
    shop.advance_clock("2h").await?;
    assert_eq!(dry_run_file(gateway, &shop.entity_id, "")?["changed"]["count"], 0);
    Ok(())
}

#[tokio::test]
async fn a_period_without_payments_has_a_report_with_every_rule() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant_with(&["--risk", "on"])?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let file = RulesFile::write(LARGE)?;
    for (from, to) in [("2020-01-01", "2020-12-31"), ("0001-01-01", "0001-01-01"), ("9999-12-31", "9999-12-31")] {
        let report = dry_run_by_command(gateway, &shop.entity_id, &file.path(), &["--from", from, "--to", to])?;
        let nothing = make_tally(make_sum(0, &[]), make_sum(0, &[]), make_sum(0, &[]));
        assert_eq!((&report["checked"], &report["outcomes"]), (&nothing, &json!([])), "{report:#}");
        assert_eq!(report["rules"], json!([{ "name": "large", "fired": nothing, "changed": nothing }]));
    }
    let whole =
        dry_run_by_command(gateway, &shop.entity_id, &file.path(), &["--from", "0001-01-01", "--to", "9999-12-31"])?;
    assert_eq!(whole["checked"]["count"], 1, "{whole:#}");
    Ok(())
}

/// Runs a command that has to fail. Returns what it printed about it.
async fn fail_dry_run(data: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let data = data.to_str().unwrap_or_default();
    let output = run_tillgate(&[&["risk", "dry-run", "--data", data], arguments].concat()).await?;
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test]
async fn a_wrong_option_is_named() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let (good, broken) = (RulesFile::write(LARGE)?, RulesFile::write("[[rule]]\nname = 1\n")?);
    let (data, entity) = (gateway.data_folder(), shop.entity_id.as_str());
    for (rules, from, to, examples, error) in [
        (good.path(), "2026-13-01", "2026-12-31", "5", "--from must be a day"),
        (good.path(), "2026-12-01", "yesterday", "5", "--to must be a day"),
        (good.path(), "2026-12-02", "2026-12-01", "5", "--to must not lie before"),
        (good.path(), "2026-12-01", "2026-12-02", "21", "--examples must be a number from 0 to 20"),
        (broken.path(), "2026-12-01", "2026-12-02", "5", "rules.toml:2:8: "),
        ("nowhere.toml".to_owned(), "2026-12-01", "2026-12-02", "5", "opening nowhere.toml"),
        ("0123456789abcdef".to_owned(), "2026-12-01", "2026-12-02", "5", "has no version 0123456789abcdef"),
    ] {
        let arguments = [entity, &rules, "--from", from, "--to", to, "--examples", examples];
        let printed = fail_dry_run(&data, &arguments).await?;
        assert!(printed.contains(error), "{error}: {printed}");
    }
    let (unknown, rules) = ("0".repeat(32), good.path());
    let arguments = [unknown.as_str(), &rules, "--from", "2026-12-01", "--to", "2026-12-02"];
    assert!(fail_dry_run(&data, &arguments).await?.contains("there is no entity"));
    Ok(())
}
