//! Demo data: a month of payments of a sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{TestGateway, poll_until};
use tokio::process::Command;

use crate::access::office_browser::Person;
use crate::service::command_line::{output_text, run_tillgate, tillgate_command};
use crate::settlement::reconciliation_files::today;

/// A data folder without a server.
struct DataFolder {
    /// Deleted when it is dropped.
    _folder: TempDir,
    data: String,
}

impl DataFolder {
    fn new() -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let data = folder.path().join("data").display().to_string();
        Ok(Self { _folder: folder, data })
    }

    /// Runs a command, and returns its output.
    async fn run(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let output = run_tillgate(&[arguments, &["--data", &self.data, "--json"]].concat()).await?;
        ensure!(output.status.success(), "{arguments:?}: {}", output_text(&output));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Runs a command that fails, and returns its output.
    async fn run_refused(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = run_tillgate(&[arguments, &["--data", &self.data]].concat()).await?;
        ensure!(!output.status.success(), "{arguments:?} has not failed: {}", output_text(&output));
        Ok(output_text(&output))
    }

    /// Creates a merchant, and returns its id.
    async fn create_merchant(&self, more: &[&str]) -> anyhow::Result<String> {
        let created = self.run(&[&["entity", "create", "--name", "Pottery"], more].concat()).await?;
        Ok(created["entityId"].as_str().context("no entityId")?.to_owned())
    }

    /// Fills a merchant with so many payments.
    async fn fill(&self, entity: &str, payments: &str, seed: &str) -> anyhow::Result<Value> {
        self.run(&["demo-data", "--entity", entity, "--payments", payments, "--seed", seed]).await
    }

    /// Returns the payments of a merchant in the last two months, oldest first.
    async fn payments(&self, entity: &str) -> anyhow::Result<Vec<Value>> {
        let (from, to) = (today().saturating_sub(jiff::Span::new().days(60)).to_string(), today().to_string());
        let listed = self.run(&["report", "transactions", "--entity", entity, "--from", &from, "--to", &to]).await?;
        listed.as_array().cloned().context("no list")
    }
}

/// Returns true if a payment is of an order of the shop, and not of a subscription.
fn is_of_order(payment: &Value) -> bool {
    payment["merchantTransactionId"].as_str().is_some_and(|reference| reference.starts_with("SO-"))
}

/// Returns the payments of orders, without captures, refunds, reversals and chargebacks: type, brand, amount, currency,
/// result and reference.
fn describe_orders(payments: &[Value]) -> Vec<[String; 6]> {
    let is_order = |payment: &&Value| {
        is_of_order(payment) && ["DB", "PA"].contains(&payment["paymentType"].as_str().unwrap_or_default())
    };
    let describe = |payment: &Value| {
        ["paymentType", "paymentBrand", "amount", "currency", "result.code", "merchantTransactionId"]
            .map(|name| payment[name].as_str().unwrap_or_default().to_owned())
    };
    payments.iter().filter(is_order).map(describe).collect()
}

/// Returns the payments by type and by approval, with their numbers.
fn count_by_kind<'a>(payments: impl Iterator<Item = &'a Value>) -> BTreeMap<(String, bool), usize> {
    let mut counts = BTreeMap::new();
    for payment in payments {
        let text = |name: &str| payment[name].as_str().unwrap_or_default().to_owned();
        *counts.entry((text("paymentType"), text("result.code").starts_with("000."))).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn a_month_of_payments_has_declines_captures_and_refunds_and_adds_up() -> anyhow::Result<()> {
    let folder = DataFolder::new()?;
    let entity = folder.create_merchant(&[]).await?;
    let filled = folder.fill(&entity, "300", "1").await?;
    let payments = folder.payments(&entity).await?;
    assert_eq!(filled["payments"], payments.len());
    let counts = count_by_kind(payments.iter().filter(|payment| is_of_order(payment)));
    let count = |kind: &str, approved| counts.get(&(kind.to_owned(), approved)).copied().unwrap_or_default();
    assert_eq!(count("DB", true) + count("DB", false) + count("PA", true) + count("PA", false), 300);
    assert!(count("DB", false) > 5 && count("CP", true) > 5 && count("RF", true) > 5, "{counts:?}");
    for kind in ["CP", "RF", "RV"] {
        assert_eq!(count(kind, false), 0, "{kind}: {counts:?}");
    }
    let days: BTreeSet<_> = payments.iter().filter_map(|payment| payment["timestamp"].as_str()?.get(..10)).collect();
    assert!(days.len() >= 28, "{days:?}");
    folder.run(&["verify"]).await?;
    Ok(())
}

#[tokio::test]
async fn the_same_seed_makes_the_same_amounts_and_results() -> anyhow::Result<()> {
    let folder = DataFolder::new()?;
    let mut filled = Vec::new();
    for seed in ["5", "5", "6"] {
        let entity = folder.create_merchant(&[]).await?;
        folder.fill(&entity, "80", seed).await?;
        filled.push(describe_orders(&folder.payments(&entity).await?));
    }
    assert_eq!(filled[0].len(), 80);
    assert_eq!(filled[0], filled[1]);
    assert_ne!(filled[0], filled[2]);
    Ok(())
}

#[tokio::test]
async fn only_a_sandbox_merchant_without_payments_and_without_a_server_is_filled() -> anyhow::Result<()> {
    let folder = DataFolder::new()?;
    let live = folder.create_merchant(&["--live"]).await?;
    let refused = folder.run_refused(&["demo-data", "--entity", &live]).await?;
    assert!(refused.contains("is live: demo data are for sandboxes only (--entity)"), "{refused}");
    let division = folder.create_merchant(&["--level", "division"]).await?;
    let refused = folder.run_refused(&["demo-data", "--entity", &division]).await?;
    assert!(refused.contains("is no merchant") && refused.contains("(--entity)"), "{refused}");
    let merchant = folder.create_merchant(&[]).await?;
    folder.fill(&merchant, "10", "1").await?;
    let refused = folder.run_refused(&["demo-data", "--entity", &merchant]).await?;
    assert!(refused.contains("has payments already (--entity)"), "{refused}");
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let data = gateway.data_folder().display().to_string();
    let output = run_tillgate(&["demo-data", "--entity", &merchant.entity_id, "--data", &data]).await?;
    assert!(output_text(&output).contains("a server is running"), "{}", output_text(&output));
    Ok(())
}

#[tokio::test]
async fn afterwards_there_is_work_for_analysts_and_accountants() -> anyhow::Result<()> {
    let folder = DataFolder::new()?;
    let entity = folder.create_merchant(&[]).await?;
    folder.fill(&entity, "160", "1").await?;
    let held = folder.run(&["review", "list"]).await?;
    let since: BTreeSet<_> =
        held["reviews"].as_array().into_iter().flatten().filter_map(|review| review["since"].as_str()).collect();
    assert!(since.len() >= 4, "each review begins when its order was paid: {held}");
    let disputes = folder.run(&["dispute", "list", "--entity", &entity, "--state", "all"]).await?;
    let stages: BTreeSet<&str> =
        disputes["disputes"].as_array().into_iter().flatten().filter_map(|dispute| dispute["stage"].as_str()).collect();
    for stage in ["ACCEPTED", "CHARGEBACK", "EXPIRED", "LOST", "PRE_ARBITRATION", "REPRESENTMENT", "REVERSAL"] {
        assert!(stages.contains(stage), "{stage} is not among {stages:?}");
    }
    let unmatched = folder.run(&["settlement", "unmatched", "--entity", &entity]).await?;
    assert_eq!(unmatched["lines"].as_array().map(Vec::len), Some(2), "{unmatched}");
    let settled = folder.run(&["settlement", "show", "--entity", &entity]).await?;
    assert!(settled["batches"].as_array().is_some_and(|batches| batches.len() >= 2), "{settled}");
    let payments = folder.payments(&entity).await?;
    let of_subscriptions = payments.iter().filter(|payment| {
        payment["merchantTransactionId"].as_str().is_some_and(|reference| reference.starts_with("SUB-"))
    });
    let approved = of_subscriptions.filter(|payment| payment["result.code"] == "000.100.110");
    // The days of the month decide how many runs the monthly schedules have.
    assert!(approved.count() >= 7, "the runs of two weekly schedules");
    folder.run(&["verify"]).await?;
    let gateway = TestGateway::start_on_files(&[], |started| {
        let data = started.join("data");
        fs::create_dir(&data)?;
        fs::copy(format!("{}/tillgate.db", folder.data), data.join("tillgate.db"))?;
        fs::copy(format!("{}.key", folder.data), started.join("data.key"))?;
        Ok(())
    })?;
    let person = Person::enrol(&gateway, "robin@shop.example", "administrator", None).await?;
    let home = person.browser.get("").await?;
    for text in ["Held payment", "Dispute over", "Settlement lines without a payment: 2"] {
        assert!(home.page.contains(text), "{text}: {}", home.page);
    }
    Ok(())
}

#[tokio::test]
async fn an_interrupted_run_is_completed_by_the_next_one() -> anyhow::Result<()> {
    let folder = DataFolder::new()?;
    let (interrupted, whole) = (folder.create_merchant(&[]).await?, folder.create_merchant(&[]).await?);
    let arguments = ["demo-data", "--entity", &interrupted, "--payments", "900", "--seed", "3"];
    let mut command: Command = tillgate_command(&[&arguments[..], &["--data", &folder.data]].concat());
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    poll_until("some payments", async || {
        Ok(Some(folder.payments(&interrupted).await?.len()).filter(|count| *count > 100))
    })
    .await?;
    running.kill().await?;
    let before = folder.payments(&interrupted).await?;
    // The next run completes the plan of the interrupted one, whatever its options say.
    folder.fill(&interrupted, "20", "9").await?;
    folder.fill(&whole, "900", "3").await?;
    let (after, expected) = (folder.payments(&interrupted).await?, folder.payments(&whole).await?);
    assert!(describe_orders(&before).len() < 900, "the run ended before it was killed");
    assert_eq!(describe_orders(&after), describe_orders(&expected));
    assert_eq!(
        count_by_kind(after.iter()).get(&("RF".to_owned(), true)),
        count_by_kind(expected.iter()).get(&("RF".to_owned(), true))
    );
    folder.run(&["verify"]).await?;
    let refused = folder.run_refused(&["demo-data", "--entity", &interrupted]).await?;
    assert!(refused.contains("has payments already"), "{refused}");
    Ok(())
}
