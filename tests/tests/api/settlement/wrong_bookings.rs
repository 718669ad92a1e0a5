//! A store of an earlier version whose ledger has reversals of voided payments, some of them settled. The first
//! start corrects it by entries.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, poll_until};

use crate::service::earlier_store::start_on_fixture;
use crate::settlement::settlements::{hundredths, read_balances, read_records, read_rows, read_with_records, shapes};
use crate::support::*;

/// The day that the store's batch has settled.
const SETTLED_DAY: &str = "2026-11-26";

/// Returns the entries of an action in the audit log, as JSON texts.
fn read_entries(gateway: &tillgate_tests::TestGateway, action: &str) -> anyhow::Result<Vec<String>> {
    let database = open_database(gateway)?;
    let query = "SELECT CAST(document AS TEXT) FROM audit_entry
         WHERE json_extract(CAST(document AS TEXT), '$.action') = ?1 ORDER BY number";
    let mut statement = database.prepare(query)?;
    let entries = statement.query_map([action], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(entries)
}

/// Returns the records of the store's batch, and the later ones.
fn split_at_start(records: Vec<Value>) -> (Vec<Value>, Vec<Value>) {
    records.into_iter().partition(|record| record["settlement"]["date"] == SETTLED_DAY)
}

/// Returns the sum of what lines of payments have settled, in hundredths: without fees and payouts.
fn sum_of_payments(records: &[Value]) -> i64 {
    let of_payments = |record: &&Value| record["recordType"] == "SETTLED" && record["transactionType"] != "BATCH";
    let sign = |record: &Value| if record["settlement"]["cashflow"] == "NEG" { -1 } else { 1 };
    records.iter().filter(of_payments).map(|record| sign(record) * hundredths(&record["amount"])).sum()
}

#[tokio::test]
async fn wrong_bookings_of_an_earlier_version_are_corrected_once_and_by_entries() -> anyhow::Result<()> {
    let (gateway, known) = start_on_fixture(48)?;
    let shop = known.merchant_at(&gateway, "");
    let reviewed = known.merchant_at(&gateway, "/reviewed");
    // Of a debit of 30.00 that was not settled yet, and of 10.00, -7.00 and 4.00 that a batch has taken wrongly. A day
    // that the entity's clock had ended before the start is settled at the start, whatever today's date is.
    let (records, open) = read_with_records(&shop, async || read_balances(&shop, "receivable").await).await?;
    let (earlier, later) = split_at_start(records);
    assert_eq!(open.values().sum::<i64>() + sum_of_payments(&later), 3000 + 1000 - 700 + 400);
    assert!(open.keys().all(|currency| currency == "EUR"), "{open:?}");
    assert_eq!(read_balances(&reviewed, "receivable").await?, BTreeMap::new());
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    let told = "reversals of voided payments had been booked";
    gateway.wait_for_log(told).await?;
    let log = gateway.read_log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(told)).collect();
    assert_eq!(lines.len(), 3, "one for each entity and currency: {lines:?}");
    let told_of = |amount: &str| lines.iter().any(|line| line.contains(&format!("\"amount\":\"{amount}\"")));
    assert!(told_of("10.00") && told_of("20.00") && told_of("900.00"), "{lines:?}");
    let corrections = read_entries(&gateway, "correction")?;
    // Five in euros, one in dollars, one of the reviewed merchant.
    assert_eq!(corrections.len(), 7, "{corrections:?}");

    let gateway = gateway.kill_and_restart(&[])?;
    assert!(!gateway.read_log().contains(told), "{}", gateway.read_log());
    assert_eq!(read_entries(&gateway, "correction")?, corrections);
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    shop.advance_clock("25h").await?;
    // In one batch or two.
    poll_until("everything is settled", async || {
        let batches = read_rows(&shop, "reports/v1/settlements", "settlements").await?;
        let is_complete = batches.len() > 1 && batches.iter().all(|batch| batch["status"] == "COMPLETE");
        Ok((is_complete && read_balances(&shop, "receivable").await?.is_empty()).then_some(()))
    })
    .await?;
    let (unchanged, later) = split_at_start(read_records(&shop).await?);
    assert_eq!(unchanged, earlier, "earlier records stay as they are");
    let (payouts, lines): (Vec<_>, Vec<_>) = later.into_iter().partition(|record| record["transactionType"] == "BATCH");
    assert_eq!(payouts.iter().map(|payout| hundredths(&payout["amount"])).sum::<i64>(), 3640);
    assert_eq!(
        shapes(&lines),
        [
            "FEE CANCEL_FEE NEG 0.30 EUR",
            "FEE CANCEL_FEE NEG 0.30 EUR",
            "SETTLED CREDIT NEG 7.00 EUR",
            "SETTLED DEBIT POS 30.00 EUR",
            "SETTLED REFUND POS 10.00 EUR",
            "SETTLED REFUND POS 4.00 EUR",
        ]
    );
    // All batches together have paid out the sales, less a fee for each reversal in euros.
    let batches = read_rows(&shop, "reports/v1/settlements", "settlements").await?;
    let paid_out: i64 = batches.iter().map(|batch| hundredths(&batch["paidOut"])).sum();
    assert_eq!(paid_out, 9200 + 3000 - 7 * 30, "{batches:?}");
    assert_eq!(read_balances(&shop, "receivable").await?, BTreeMap::new());
    assert_eq!(gateway.run_command(&["verify"])?["faults"], json!([]));
    Ok(())
}

#[tokio::test]
async fn a_new_store_has_nothing_to_correct() -> anyhow::Result<()> {
    let gateway = tillgate_tests::TestGateway::start()?;
    let count = |table: &str| -> anyhow::Result<i64> {
        Ok(open_database(&gateway)?.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?)
    };
    assert_eq!((count("booking_check")?, read_entries(&gateway, "correction")?.len()), (0, 0));
    Ok(())
}
