//! Reports of settlements: their dates and formats, and the entities that can read them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::settlement::settlements::{ALWAYS, read_balances, read_rows, set_terms, settle_all};
use crate::support::*;

#[tokio::test]
async fn reports_of_settlements_need_both_dates_and_know_their_formats() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    for report in ["settlements", "fees"] {
        assert_errors(&shop.get(&format!("reports/v1/{report}")).await?, &["date.from", "date.to"]);
        assert_errors(&shop.get(&format!("reports/v1/{report}?{ALWAYS}&format=xml")).await?, &["format"]);
        let csv = shop.get(&format!("reports/v1/{report}?{ALWAYS}&format=csv")).await?;
        assert!(csv.text.starts_with("day,") && csv.text.ends_with("\r\n"), "{}", csv.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_merchant_sees_its_own_settlements_and_those_of_its_channels_and_no_others() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let stranger = gateway.create_merchant()?;
    channel.pay_by_card(&[("amount", "5.00")]).await?;
    let open = read_balances(&channel, "receivable").await?;
    assert_eq!(
        (&open, &read_balances(&shop, "receivable").await?),
        (&BTreeMap::from([("EUR".to_owned(), 500)]), &open)
    );
    settle_all(&shop, "25h").await?;
    for (path, list) in
        [("reports/v1/settlements", "settlements"), ("reports/v1/fees", "fees"), ("ledger/v1/balances", "balances")]
    {
        assert_eq!(read_rows(&stranger, path, list).await?, Vec::<Value>::new(), "{path}");
        assert_eq!(read_rows(&shop, path, list).await?, read_rows(&channel, path, list).await?, "{path}");
        let foreign = MerchantClient { entity_id: shop.entity_id.clone(), ..stranger.clone() };
        let answer = foreign.get(&format!("{path}?{ALWAYS}")).await?;
        assert!(answer.status == 403 || answer.status == 404 || answer.status == 400, "{path}: {}", answer.text);
    }
    assert_eq!(read_rows(&shop, "reports/v1/settlements", "settlements").await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_channel_that_was_moved_leaves_its_batches_with_its_former_merchant() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let (old, new) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &old.entity_id])?;
    assert_result(&channel.pay_by_card(&[("amount", "5.00")]).await?, 200, "000.100.110");
    settle_all(&channel, "25h").await?;
    let batches = async |shop: &MerchantClient| read_rows(shop, "reports/v1/settlements", "settlements").await;
    assert_eq!((batches(&old).await?.len(), batches(&channel).await?.len()), (1, 1));
    // A channel is never moved to a merchant whose clock is behind.
    new.advance_clock("26h").await?;
    gateway.run_command(&["entity", "set", "--entity", &channel.entity_id, "--merchant", &new.entity_id])?;
    poll_until("the channel is moved", async || Ok(batches(&channel).await?.is_empty().then_some(()))).await?;
    assert_eq!(batches(&new).await?, Vec::<Value>::new());
    assert_eq!(batches(&old).await?.len(), 1, "the old merchant was paid for it");
    Ok(())
}

#[tokio::test]
async fn the_commands_print_the_settlements_fees_and_records_that_the_api_reports() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    set_terms(gateway, &shop, "[[fee]]\non = \"charge\"\npercent = \"1.5\"\n")?;
    for (currency, amount) in [("EUR", "12.50"), ("USD", "7.00"), ("JPY", "900.00")] {
        let paid = shop
            .pay_by_card(&[("currency", currency), ("amount", amount), ("merchantTransactionId", "=1+2+3+4")])
            .await?;
        assert_result(&paid, 200, "000.100.110");
    }
    settle_all(&shop, "25h").await?;
    let period = ["--from", "2020-01-01", "--to", "2099-12-31"];
    let folder = tempfile::tempdir()?;
    let picture = folder.path().join("report.svg").to_string_lossy().into_owned();
    for (command, path) in [
        ("settlements", "reports/v1/settlements"),
        ("fees", "reports/v1/fees"),
        ("reconciliations", "reports/v1/reconciliations/aggregations"),
    ] {
        let csv = shop.get(&format!("{path}?{ALWAYS}&format=csv")).await?.text;
        let arguments = [&["report", command, &shop.entity_id, "--svg", &picture], &period[..]].concat();
        let rows = gateway.run_command(&arguments)?;
        let rows = rows.as_array().cloned().unwrap_or_default();
        assert!(rows.len() >= 3 && rows.len() == csv.lines().count() - 1, "{command}: {rows:?} {csv}");
        let column = csv.lines().next().unwrap_or_default().split(',').position(|name| name == "currency");
        let listed = |text: &str| {
            csv.lines().skip(1).filter(|line| line.split(',').nth(column.unwrap_or(99)) == Some(text)).count()
        };
        for currency in ["EUR", "USD", "JPY"] {
            let printed = rows.iter().filter(|row| row["currency"] == currency).count();
            assert!(printed > 0 && printed == listed(currency), "{command} {currency}: {rows:?} {csv}");
        }
        assert!(fs::read_to_string(&picture)?.starts_with("<svg "), "{command}");
        let refused = gateway.run_command(&["report", command, &shop.entity_id, "--from", "x", "--to", "2026-01-01"]);
        assert!(refused.is_err_and(|error| format!("{error:#}").contains("--from must be a day")), "{command}");
    }
    let payments = gateway.run_command(&[&["report", "transactions", &shop.entity_id], &period[..]].concat())?;
    let amounts: Vec<&str> =
        payments.as_array().into_iter().flatten().filter_map(|row| row["amount"].as_str()).collect();
    assert_eq!(amounts, ["12.50", "7.00", "900.00"], "{payments}");
    assert_eq!(payments[0]["merchantTransactionId"], "=1+2+3+4", "{payments}");
    Ok(())
}
