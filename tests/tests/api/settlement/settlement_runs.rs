//! Runs of settlements: each payment is settled once, also after a crash or another cut-off.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::settlement::settlements::{
    ALWAYS, hundredths, read_records, read_rows, read_with_records, set_terms, settle_all,
};
use crate::support::*;

#[tokio::test]
async fn a_killed_settlement_goes_on_and_settles_each_payment_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let payments = 1_200;
    for _ in 0..payments {
        assert_eq!(shop.pay_by_card(&[("amount", "1.00")]).await?.status, 200);
    }
    shop.advance_clock("25h").await?;
    // The batch has several parts, so that it is killed between two of them.
    poll_until("a part is written", async || Ok((!read_records(&shop).await?.is_empty()).then_some(()))).await?;
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient { base: gateway.base_url(), ..shop };
    settle_all(&shop, "1h").await?;
    let records = read_records(&shop).await?;
    let lines: Vec<&Value> = records.iter().filter(|record| record["transactionType"] == "DEBIT").collect();
    let mut settled: Vec<&str> = lines.iter().filter_map(|record| record["payment"]["id"].as_str()).collect();
    settled.sort_unstable();
    settled.dedup();
    assert_eq!((lines.len(), settled.len()), (payments, payments));
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!((&verified["faultCount"], &verified["payments"]), (&json!(0), &json!(payments)), "{verified}");
    Ok(())
}

#[tokio::test]
async fn a_day_has_one_batch_also_if_cut_off_or_time_zone_change() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--time-zone", "Europe/Berlin"])?;
    let mut paid = 0;
    for (number, cut_off) in ["12:00", "18:00", "00:00", "06:00", "23:30", "00:00"].into_iter().enumerate() {
        set_terms(&gateway, &shop, &format!("cut_off = \"{cut_off}\"\nreserve = {{ percent = \"10\", days = 1 }}\n"))?;
        if number == 4 {
            gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--time-zone", "America/New_York"])?;
        }
        for by in ["9h", "14h", "9h"] {
            assert_result(&shop.pay_by_card(&[("amount", "10.00")]).await?, 200, "000.100.110");
            paid += 1;
            settle_due(&shop, by).await?;
        }
    }
    settle_all(&shop, "96h").await?;
    let (records, batches) =
        read_with_records(&shop, async || read_rows(&shop, "reports/v1/settlements", "settlements").await).await?;
    let settled: Vec<&Value> = records.iter().filter(|record| record["transactionType"] == "DEBIT").collect();
    assert_eq!(settled.len(), paid, "{records:?}");
    let charged: i64 = batches.iter().map(|batch| hundredths(&batch["charged"])).sum();
    assert_eq!(charged, i64::try_from(paid)? * 1000, "{batches:?}");
    let ids: Vec<&Value> = records
        .iter()
        .filter(|record| record["transactionType"] == "BATCH")
        .map(|record| &record["settlement"]["id"])
        .collect();
    let distinct: std::collections::HashSet<&str> = ids.iter().filter_map(|id| id.as_str()).collect();
    assert_eq!(distinct.len(), ids.len(), "each batch has one total: {ids:?}");
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    Ok(())
}

/// Advances the clock, and waits until every cut-off that has passed is settled.
async fn settle_due(shop: &MerchantClient, by: &str) -> anyhow::Result<()> {
    shop.advance_clock(by).await?;
    let last = format!("reports/v1/settlements?{ALWAYS}");
    poll_until("no batch is in progress", async || {
        let first = shop.get(&last).await?.json["settlements"].clone();
        let is_complete = first.as_array().into_iter().flatten().all(|batch| batch["status"] == "COMPLETE");
        Ok((is_complete && shop.get(&last).await?.json["settlements"] == first).then_some(()))
    })
    .await
}
