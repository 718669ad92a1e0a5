//! Demo data: a month of payments of a sandbox.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::TestGateway;

use crate::service::command_line::{output_text, run_tillgate};
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

/// Returns the payments by type and by approval, with their numbers.
fn count_by_kind(payments: &[Value]) -> BTreeMap<(String, bool), usize> {
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
    let counts = count_by_kind(&payments);
    let count = |kind: &str, approved| counts.get(&(kind.to_owned(), approved)).copied().unwrap_or_default();
    assert_eq!(count("DB", true) + count("DB", false) + count("PA", true) + count("PA", false), 300);
    assert!(count("DB", false) > 5 && count("CP", true) > 5 && count("RF", true) > 5, "{counts:?}");
    for kind in ["CP", "RF", "RV"] {
        assert_eq!(count(kind, false), 0, "{kind}: {counts:?}");
    }
    let days: std::collections::BTreeSet<_> =
        payments.iter().filter_map(|payment| payment["timestamp"].as_str()?.get(..10)).collect();
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
        let payments = folder.payments(&entity).await?.into_iter().filter(|payment| {
            // Later changes depend on the time of day, because they are left out if they are not due yet.
            ["DB", "PA"].contains(&payment["paymentType"].as_str().unwrap_or_default())
        });
        let rows = payments.map(|payment| {
            ["paymentType", "paymentBrand", "amount", "currency", "result.code", "merchantTransactionId"]
                .map(|name| payment[name].as_str().unwrap_or_default().to_owned())
        });
        filled.push(rows.collect::<Vec<_>>());
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
