//! Settlements of sandboxes: lines, fees and reserves, and a ledger that agrees to the cent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rusqlite::Connection;
use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::support::*;

/// A period with every settlement of a test.
pub const ALWAYS: &str = "date.from=2020-01-01&date.to=2099-12-31";

/// Reads the rows of a report.
pub async fn read_rows(shop: &MerchantClient, path: &str, list: &str) -> anyhow::Result<Vec<Value>> {
    let separator = if path.starts_with("ledger") { "" } else { ALWAYS };
    let answer = shop.get(&format!("{path}?{separator}")).await?;
    assert_result(&answer, 200, "000.000.100");
    Ok(answer.json[list].as_array().cloned().unwrap_or_default())
}

/// Reads the records of a merchant.
pub async fn read_records(shop: &MerchantClient) -> anyhow::Result<Vec<Value>> {
    let answer = shop.get(&format!("reconciliations/v1/records?{ALWAYS}")).await?;
    answer.text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Reads records and what belongs to them, until no settlement was written in between: several reads are no snapshot.
pub async fn read_with_records<T>(
    shop: &MerchantClient,
    read: impl AsyncFn() -> anyhow::Result<T>,
) -> anyhow::Result<(Vec<Value>, T)> {
    poll_until("no settlement is written between two reads", async || {
        let records = read_records(shop).await?;
        let found = read().await?;
        Ok((read_records(shop).await? == records).then_some((records, found)))
    })
    .await
}

/// Parses an amount with two decimals. Returns hundredths.
pub fn hundredths(value: &Value) -> i64 {
    value.as_str().unwrap_or("x").replace('.', "").parse().unwrap_or(i64::MIN)
}

/// Returns the balance of an account by currency, in hundredths, without those that are 0.
pub async fn read_balances(shop: &MerchantClient, account: &str) -> anyhow::Result<BTreeMap<String, i64>> {
    let rows = read_rows(shop, "ledger/v1/balances", "balances").await?;
    let balance = |row: &Value| (row["currency"].as_str().unwrap_or_default().to_owned(), hundredths(&row[account]));
    Ok(rows.iter().map(balance).filter(|(_, sum)| *sum != 0).collect())
}

/// Advances the clock, and waits until everything is settled.
pub async fn settle_all(shop: &MerchantClient, by: &str) -> anyhow::Result<()> {
    shop.advance_clock(by).await?;
    poll_until("everything is settled", async || {
        let open = read_balances(shop, "receivable").await?;
        let batches = read_rows(shop, "reports/v1/settlements", "settlements").await?;
        Ok((open.is_empty() && batches.iter().all(|batch| batch["status"] == "COMPLETE")).then_some(()))
    })
    .await
}

/// Sets the terms of a merchant.
pub fn set_terms(gateway: &TestGateway, shop: &MerchantClient, terms: &str) -> anyhow::Result<()> {
    let file = gateway.folder().join(format!("{}.toml", shop.entity_id));
    fs::write(&file, terms)?;
    gateway.run_command(&["settlement", "set", &shop.entity_id, "--file", &file.to_string_lossy()])?;
    Ok(())
}

/// Refers to a payment. Returns true if that was accepted.
pub async fn modify(shop: &MerchantClient, payment: &str, fields: &[(&str, &str)]) -> anyhow::Result<bool> {
    let answer = shop.post(&format!("v1/payments/{payment}"), fields).await?;
    Ok(answer.status == 200 && !answer.result_code().starts_with("700."))
}

/// Returns kind, transaction type, cashflow and amount of each record, sorted.
pub fn shapes(records: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut shapes: Vec<String> = records
        .iter()
        .map(|record| {
            let parts = [&record["recordType"], &record["transactionType"], &record["settlement"]["cashflow"]];
            format!("{} {} {}", parts.map(text).join(" "), text(&record["amount"]), text(&record["currency"]))
        })
        .collect();
    shapes.sort_unstable();
    shapes
}

#[tokio::test]
async fn a_day_is_settled_at_its_cut_off_with_a_line_for_each_movement() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let disputed = shop.pay_by_card(&[("amount", "8.05")]).await?;
    let reserved = shop.pay_by_card(&[("paymentType", "PA"), ("amount", "50.00")]).await?;
    let reversed = shop.pay_by_card(&[("amount", "10.00")]).await?;
    shop.pay_by_card(&[("paymentType", "CD"), ("amount", "3.00")]).await?;
    shop.pay_by_card(&[("customParameters[forceResultCode]", "800.100.151")]).await?;
    for (payment, fields) in [
        (&paid, &[("paymentType", "RF"), ("amount", "2.00"), ("currency", "EUR")][..]),
        (&reserved, &[("paymentType", "CP"), ("amount", "20.00"), ("currency", "EUR")]),
        (&reversed, &[("paymentType", "RV")]),
        (
            &disputed,
            &[("paymentType", "CB"), ("amount", "8.05"), ("currency", "EUR"), ("chargebackResultCode", "000.100.203")],
        ),
    ] {
        assert!(modify(&shop, payment.id(), fields).await?);
    }
    let open = read_balances(&shop, "receivable").await?;
    assert_eq!(open, BTreeMap::from([("EUR".to_owned(), 9200 + 2000 - 300 - 200)]));
    assert_eq!(read_records(&shop).await?, Vec::<Value>::new());
    settle_all(&shop, "25h").await?;
    let records = read_records(&shop).await?;
    assert_eq!(
        shapes(&records),
        [
            "CHARGEBACK DEBIT NEG 8.05 EUR",
            "SETTLED BATCH POS 107.00 EUR",
            "SETTLED CREDIT NEG 3.00 EUR",
            "SETTLED DEBIT POS 20.00 EUR",
            "SETTLED DEBIT POS 8.05 EUR",
            "SETTLED DEBIT POS 92.00 EUR",
            "SETTLED REFUND NEG 2.00 EUR",
        ]
    );
    let chargeback = records.iter().find(|record| record["recordType"] == "CHARGEBACK").cloned().unwrap_or_default();
    assert_eq!(chargeback["payment"]["id"], disputed.id(), "{chargeback}");
    assert_eq!(chargeback["result"]["code"], "000.100.203", "{chargeback}");
    assert!(chargeback["chargebackTransaction"]["id"].as_str().is_some_and(|id| id != disputed.id()), "{chargeback}");
    let batches = read_rows(&shop, "reports/v1/settlements", "settlements").await?;
    assert_eq!(batches.iter().map(|batch| hundredths(&batch["paidOut"])).sum::<i64>(), 10_700, "{batches:?}");
    Ok(())
}

#[tokio::test]
async fn a_payment_that_is_reversed_after_its_settlement_is_settled_back() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--reversal-window", "72h"])?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[("amount", "10.00")]).await?;
    settle_all(&shop, "25h").await?;
    assert!(modify(&shop, paid.id(), &[("paymentType", "RV")]).await?);
    settle_all(&shop, "25h").await?;
    let lines = shapes(&read_records(&shop).await?);
    assert!(lines.contains(&"SETTLED REFUND NEG 10.00 EUR".to_owned()), "{lines:?}");
    assert!(lines.contains(&"SETTLED BATCH NEG 10.00 EUR".to_owned()), "{lines:?}");
    assert_eq!(gateway.run_command(&["verify"])?["faultCount"], 0);
    Ok(())
}

const TERMS: &str = r#"
cut_off = "00:00"
currency = "EUR"
reserve = { percent = "10", days = 5 }

[[fee]]
on = "charge"
brand = "MASTER"
percent = "9"

[[fee]]
on = "charge"
percent = "1.5"
fixed = "0.10"
tiers = [{ from = "100.00", percent = "1" }]

[[fee]]
on = "authorization"
fixed = "0.02"

[[fee]]
on = "cancel"
fixed = "0.05"

[[fee]]
on = "monthly"
fixed = "9.90"
"#;

#[tokio::test]
async fn fees_follow_brand_volume_and_event_and_a_reserve_is_paid_out_later() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    set_terms(gateway, &shop, TERMS)?;
    for _ in 0..2 {
        shop.pay_by_card(&[("amount", "100.00")]).await?;
    }
    let reserved = shop.pay_by_card(&[("paymentType", "PA"), ("amount", "50.00")]).await?;
    assert!(modify(&shop, reserved.id(), &[("paymentType", "RV")]).await?);
    settle_all(&shop, "25h").await?;
    let records = read_records(&shop).await?;
    let mut fees: Vec<i64> = records
        .iter()
        .filter(|record| record["transactionType"] == "DEBIT")
        .map(|record| hundredths(&record["settlement"]["fee"]))
        .collect();
    fees.sort_unstable();
    // The second payment is in the tier from 100.00.
    assert_eq!(fees, [110, 160], "{records:?}");
    let lines = shapes(&records);
    for fee in ["FEE AUTH_FEE NEG 0.02 EUR", "FEE CANCEL_FEE NEG 0.05 EUR"] {
        assert!(lines.contains(&fee.to_owned()), "{fee}: {lines:?}");
    }
    // Two days are settled, which belong to two months on the last day of one.
    let batches = read_rows(&shop, "reports/v1/settlements", "settlements").await?;
    let months: BTreeSet<&str> = batches.iter().filter_map(|batch| batch["day"].as_str()?.get(..7)).collect();
    let monthly = lines.iter().filter(|line| *line == "FEE MONTHLY NEG 9.90 EUR").count();
    assert_eq!(monthly, months.len(), "{lines:?}: {batches:?}");
    let months = i64::try_from(months.len())?;
    assert!((1..=2).contains(&months), "{batches:?}");
    assert_eq!(read_balances(&shop, "fees").await?, BTreeMap::from([("EUR".to_owned(), -(277 + 990 * months))]));
    assert_eq!(read_balances(&shop, "reserve").await?, BTreeMap::from([("EUR".to_owned(), -2000)]));
    settle_all(&shop, "120h").await?;
    poll_until("the reserve is paid out", async || Ok(read_balances(&shop, "reserve").await?.is_empty().then_some(())))
        .await?;
    let reported = read_rows(&shop, "reports/v1/fees", "fees").await?;
    let kept: i64 = reported.iter().map(|row| hundredths(&row["fee"])).sum();
    assert_eq!(read_balances(&shop, "fees").await?, BTreeMap::from([("EUR".to_owned(), -kept)]), "{reported:?}");
    Ok(())
}

#[test]
fn terms_and_rates_that_cannot_be_meant_are_refused_with_their_place() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    for (terms, named) in [
        ("cutoff = \"18:00\"", "cutoff"),
        ("cut_off = \"25:00\"", "25:00"),
        ("[[fee]]\non = \"charge\"\nfixed = \"0.10\"", "fixed"),
        ("[[fee]]\non = \"charge\"\npercent = \"150\"", "percent"),
    ] {
        let error = set_terms(gateway, &shop, terms).map_or_else(|error| error.to_string(), |()| "accepted".to_owned());
        assert!(error.contains(named), "{terms}: {error}");
    }
    let rates = gateway.folder().join(format!("{}-wrong.csv", shop.entity_id));
    for (line, named) in [
        ("2026-02-30,USD,EUR,1", "date"),
        ("2026-02-01,USD,EURO,1", "to"),
        ("2026-02-01,USD,EUR,-1", "rate"),
        ("2026-02-01,USD,USD,1", "rate"),
    ] {
        fs::write(&rates, format!("date,from,to,rate\n2026-02-01,USD,CHF,0.9\n{line}\n"))?;
        let error = gateway.run_command(&["fx-rate", "import", &rates.to_string_lossy()]);
        let error = error.map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        assert!(error.contains("line 3") && error.contains(named), "{line}: {error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_change_of_any_stored_part_of_the_ledger_is_found() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    set_terms(&gateway, &shop, "reserve = { percent = \"10\", days = 9 }")?;
    let rates = gateway.folder().join("rates.csv");
    fs::write(&rates, "date,from,to,rate\n2020-01-01,JPY,SEK,0.07\n")?;
    gateway.run_command(&["fx-rate", "import", &rates.to_string_lossy()])?;
    let paid = shop.pay_by_card(&[]).await?;
    shop.pay_by_card(&[("amount", "8.05")]).await?;
    settle_all(&shop, "25h").await?;
    shop.pay_by_card(&[("amount", "7.00")]).await?;
    let sound = gateway.run_command(&["verify"])?;
    let entry = format!("{}:{}", sound["last"], sound["hash"].as_str().unwrap_or_default());
    let edits = [
        "UPDATE audit_entry SET document = CAST(replace(CAST(document AS TEXT), '9200', '9300') AS BLOB)
             WHERE instr(CAST(document AS TEXT), '9200')",
        "UPDATE audit_entry SET hash = zeroblob(32) WHERE number = 3",
        "UPDATE audit_entry SET entity = '' WHERE entity <> ''",
        "UPDATE audit_entry SET entity = 'x' WHERE entity = ''",
        "UPDATE audit_entry SET number = 100 WHERE number = 3",
        "DELETE FROM audit_entry WHERE number = 3",
        "DELETE FROM audit_entry WHERE number = (SELECT max(number) FROM audit_entry)",
        "UPDATE balance SET receivable = receivable + 1, payable = payable - 1",
        "DELETE FROM balance",
        "DELETE FROM reconciliation_record WHERE id = (SELECT min(id) FROM reconciliation_record)",
        "DELETE FROM reconciliation_record WHERE instr(CAST(document AS TEXT), '\"BATCH\"')",
        "UPDATE reconciliation_record SET document = CAST(replace(CAST(document AS TEXT), 'VISA', 'VISB') AS BLOB)",
        "UPDATE reconciliation_record SET day = '2031-01-01'",
        "UPDATE reconciliation_record SET filed = document",
        "UPDATE settlement_state
             SET document = CAST(replace(CAST(document AS TEXT), '\"hundredths\":', '\"hundredths\":1') AS BLOB)",
        "DELETE FROM settlement_state",
        "DELETE FROM settlement_batch",
        "UPDATE settlement_batch SET document = CAST(replace(CAST(document AS TEXT), '\"reserved\":', '\"reserved\":1') AS BLOB)",
        "UPDATE payment SET document = CAST(replace(CAST(document AS TEXT), '92.00', '93.00') AS BLOB)",
        "DELETE FROM payment WHERE id = (SELECT max(id) FROM payment)",
        "UPDATE payment SET document = CAST(replace(CAST(document AS TEXT), '000.100.110', '000.000.000') AS BLOB)",
        "UPDATE payment SET document = CAST(replace(CAST(document AS TEXT), '\"VISA\"', '\"MASTER\"') AS BLOB)",
        "UPDATE payment SET entity = '8a0000000000000000000000000000aa'",
        "UPDATE settlement_batch SET merchant = '8a0000000000000000000000000000aa'",
        "UPDATE settlement_state SET version = version + 1",
        "UPDATE settlement_terms SET document = CAST(replace(CAST(document AS TEXT), '10', '11') AS BLOB)",
        "DELETE FROM fx_rate",
    ];
    let key = format!("{}.key", gateway.data_folder().display());
    for edit in edits {
        let copy = gateway.folder().join("copy");
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir(&copy)?;
        let to = copy.join("tillgate.db");
        gateway.run_command(&["backup", "--to", &to.to_string_lossy()])?;
        let database = Connection::open(&to)?;
        let triggers: Vec<String> = database
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for trigger in triggers {
            database.execute_batch(&format!("DROP TRIGGER {trigger}"))?;
        }
        assert!(database.execute(edit, [])? > 0, "{edit} changes nothing");
        drop(database);
        let output = std::process::Command::new(tillgate_tests::binary_path())
            .args(["verify", "--json", "--head", &entry, "--key-file", &key, "--data"])
            .arg(&copy)
            .output()?;
        let found = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{edit}: {found}");
    }
    assert_eq!(sound["faultCount"], 0, "{sound} {}", paid.id());
    Ok(())
}
