//! Risk rules and lists.

use anyhow::Context as _;
use thirtyfour::prelude::*;
use tillgate_tests::{MerchantClient, TestGateway, poll_until, run_in_browser};

use super::{HOSTILE, become_administrator, check_pages};

/// A rules file with markup in its notes.
fn rules(limit: u32) -> String {
    let rule = |number: u32| {
        format!(
            "[[rule]]\nname = \"rule {number}\"\nnote = '{}'\nwhen = 'amount > {limit}{number}'\nscore = 10\n\n",
            HOSTILE.replace('\'', "")
        )
    };
    format!("[thresholds]\nreview = 50\n\n{}", (0..60).map(rule).collect::<String>())
}

/// Adds versions, list entries and payments. Returns the versions.
async fn make_rules(merchant: &MerchantClient) -> anyhow::Result<Vec<String>> {
    let mut versions = Vec::new();
    for limit in [1, 2] {
        let added = merchant.post("v2/risk/rules", &[("rules", &rules(limit))]).await?;
        versions.push(added.json["version"].as_str().context("no version")?.to_owned());
    }
    merchant.post(&format!("v2/risk/rules/{}/activate", versions[0]), &[("reason", HOSTILE)]).await?;
    merchant.post(&format!("v2/risk/rules/{}/shadow", versions[1]), &[]).await?;
    for number in 0..60 {
        let value = format!("{number} {HOSTILE}");
        let entry = [("list", "deny"), ("key", "device"), ("value", &*value), ("reason", HOSTILE)];
        merchant.post("v2/risk/lists", &entry).await?;
    }
    for amount in ["5.00", "50.00", "500.00"] {
        merchant.pay_by_card(&[("amount", amount)]).await?;
    }
    Ok(versions)
}

#[tokio::test]
async fn the_pages_of_rules_are_small_accessible_and_within_their_policy() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant_with(&["--risk", "on"])?;
    gateway.create_merchant()?;
    let versions = make_rules(&merchant).await?;
    let path = format!("/risk/{}", merchant.entity_id);
    let pages = vec![
        "/risk".to_owned(),
        path.clone(),
        format!("{path}/versions/{}", versions[0]),
        format!("{path}/versions/{}#use-activate", versions[1]),
        format!("{path}/differences?old={}&new={}", versions[0], versions[1]),
        format!("{path}/edit?from={}", versions[0]),
        format!("{path}/dry-run"),
        format!("{path}/lists"),
        format!("{path}/lists/deny"),
        format!("{path}/lists/deny?key=device&value=0%20x"),
    ];
    check_pages(gateway, pages).await
}

#[tokio::test]
async fn the_editor_checks_while_somebody_types_and_a_dry_run_ends_on_its_page() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant_with(&["--risk", "on"])?;
    let versions = make_rules(&merchant).await?;
    run_in_browser(move |browser| async move {
        become_administrator(&gateway, &browser).await?;
        let base = format!("{}backoffice/risk/{}", gateway.public_url(), merchant.entity_id);
        browser.goto(format!("{base}/edit")).await?;
        let text = browser.find(By::Id("f-rules")).await?;
        text.clear().await?;
        text.send_keys("[[rule]]\nname = \"x\"\nwhen = 'amuont > 1'\nscore = 1\n").await?;
        let error = browser.query(By::Css("#check .errors li")).first().await.context("the error")?;
        assert!(error.text().await?.starts_with("Line 3, column 9:"), "{}", error.text().await?);
        error.find(By::Tag("button")).await?.click().await?;
        let place = "document.activeElement.value.slice(document.activeElement.selectionStart).slice(0, 6)";
        assert_eq!(browser.evaluate(place).await?, "amuont");
        text.clear().await?;
        text.send_keys("zone = \"UTC\"\n").await?;
        poll_until("the text is good", async || {
            Ok((browser.find(By::Id("check")).await?.text().await? == "No errors.").then_some(()))
        })
        .await?;
        browser.goto(format!("{base}/dry-run?version={}", versions[1])).await?;
        browser.find(By::Css("form[action$=dry-run] button[type=submit]")).await?.click().await?;
        // The page loads itself again until the report is there.
        browser.query(By::Id("report")).first().await.context("the report")?;
        Ok(())
    })
    .await
}
