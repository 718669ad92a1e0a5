//! Settlement files of clearing institutes: import, matching, and the money that their lines move.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::ToSpan as _;
use serde_json::{Value, json};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::settlement::reconciliation_files::{ReconciliationScene, file_name, today, wait_for_files};
use crate::settlement::settlements::{read_balances, read_records};
use crate::support::*;

/// Columns of the files of these tests.
pub const HEADER: &str = "LineReference;ReconciliationType;PaymentType;ConnectorTxId1;UniqueID;MerchantTransactionId;\
    Amount;Currency;SettlementAmount;SettlementCurrency;SettlementFee;SettlementDate;ReasonCode";

/// A line of a file, in the documented format. The day is yesterday.
#[derive(Clone, Default)]
pub struct FileLine<'a> {
    pub reference: &'a str,
    pub kinds: &'a str,
    pub connector_id: &'a str,
    pub payment: &'a str,
    pub order: &'a str,
    pub amount: &'a str,
    pub currency: &'a str,
    pub settled: &'a str,
    pub fee: &'a str,
    pub reason: &'a str,
}

impl FileLine<'_> {
    /// Formats the line. Empty kinds are those of a settled debit, and the currency is the euro without another one.
    pub fn format(&self) -> String {
        let kinds = if self.kinds.is_empty() { "SETTLED;DEBIT" } else { self.kinds };
        let currency = if self.currency.is_empty() { "EUR" } else { self.currency };
        let settled_currency = if self.settled.is_empty() { "" } else { "EUR" };
        let day = today().saturating_sub(1.day());
        let Self { reference, connector_id, payment, order, amount, settled, fee, reason, .. } = self;
        format!(
            "{reference};{kinds};{connector_id};{payment};{order};{amount};{currency};{settled};{settled_currency};{fee};\
             {day};{reason}"
        )
    }
}

/// Formats a file.
pub fn format_file(lines: &[FileLine<'_>]) -> String {
    let lines: Vec<String> = lines.iter().map(FileLine::format).collect();
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

/// Formats a file whose day is today, so that its daily files are not complete yet.
pub fn format_today(lines: &[FileLine<'_>]) -> String {
    let day = today();
    format_file(lines).replace(&day.saturating_sub(1.day()).to_string(), &day.to_string())
}

/// Writes a file of a test beside the data folder.
pub fn write_file(gateway: &TestGateway, content: impl AsRef<[u8]>) -> anyhow::Result<PathBuf> {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let path = gateway.folder().join(format!("settlement-{}.csv", FILES.fetch_add(1, Ordering::Relaxed)));
    fs::write(&path, content)?;
    Ok(path)
}

/// Imports a file for an entity, whose id is also the name of its institute.
pub fn import_path(gateway: &TestGateway, entity: &str, path: &Path, options: &[&str]) -> anyhow::Result<Value> {
    let path = path.to_string_lossy();
    let arguments = ["settlement", "import", &path, "--institute", entity, "--entity", entity];
    gateway.run_command(&[&arguments, options].concat())
}

/// Imports a text as a file.
pub fn import_text(
    gateway: &TestGateway,
    shop: &MerchantClient,
    text: impl AsRef<[u8]>,
    options: &[&str],
) -> anyhow::Result<Value> {
    import_path(gateway, &shop.entity_id, &write_file(gateway, text)?, options)
}

/// Returns the error of a command, or an empty text if it succeeded.
pub fn error_text(result: anyhow::Result<Value>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

/// Returns the numbers of a result with these names.
pub fn counts<const N: usize>(result: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| result[name].as_u64().unwrap_or(u64::MAX))
}

/// Pays with a card at the acquirer's host, whose institute settles the payment.
pub async fn pay_externally(shop: &MerchantClient, amount: &str, order: &str) -> anyhow::Result<ApiResponse> {
    let fields = [("testMode", "EXTERNAL"), ("amount", amount), ("merchantTransactionId", order)];
    let paid = shop.pay_by_card(&fields).await?;
    assert_result(&paid, 200, "000.100.112");
    Ok(paid)
}

/// Refers to a payment, and returns the new payment.
pub async fn follow_up(shop: &MerchantClient, payment: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let answer = shop.post(&format!("v1/payments/{payment}"), fields).await?;
    anyhow::ensure!(answer.status == 200, "{}", answer.text);
    Ok(answer)
}

/// Returns the acquirer's own id of a payment.
pub fn connector_id(payment: &ApiResponse) -> &str {
    payment.json["resultDetails"]["ConnectorTxID1"].as_str().unwrap_or_default()
}

/// Returns the balance of an account in euros, in hundredths.
pub async fn read_euros(shop: &MerchantClient, account: &str) -> anyhow::Result<i64> {
    Ok(read_balances(shop, account).await?.get("EUR").copied().unwrap_or(0))
}

/// Verifies the whole store.
pub fn assert_verified(gateway: &TestGateway) -> anyhow::Result<()> {
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!(verified["faultCount"], 0, "{verified}");
    Ok(())
}

/// Returns the actions of the audit log about a subject, each with its actor.
pub async fn read_acts(gateway: &TestGateway, subject: &str) -> anyhow::Result<Vec<(String, String)>> {
    let data = gateway.data_folder();
    let arguments = ["audit", "export", "--data", data.to_str().unwrap_or_default()];
    let output = crate::service::command_line::run_tillgate(&arguments).await?;
    let entries = String::from_utf8_lossy(&output.stdout).into_owned();
    let entries = entries.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
    let about = entries.iter().filter(|entry| entry["subject"] == subject);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(about.map(|entry| (text(&entry["action"]), text(&entry["actor"]))).collect())
}

/// Returns the status of the record of each line, in the order of the records, with the payment's id.
async fn read_matches(shop: &MerchantClient) -> anyhow::Result<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let records = read_records(shop).await?;
    Ok(records
        .iter()
        .map(|record| (text(&record["matchedTransactions"]["status"]), text(&record["payment"]["id"])))
        .collect())
}

#[tokio::test]
async fn lines_are_matched_by_three_references_and_move_what_the_payments_are_owed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let first = pay_externally(&shop, "92.00", "order-0001").await?;
    let second = pay_externally(&shop, "10.00", "order-0002").await?;
    let third = pay_externally(&shop, "5.00", "order-0003").await?;
    pay_externally(&shop, "6.00", "order-0004").await?;
    pay_externally(&shop, "6.00", "order-0004").await?;
    assert_eq!(read_euros(&shop, "receivable").await?, 11_900);
    let text = format_file(&[
        // The acquirer's id comes first, even if the other references lead elsewhere.
        FileLine {
            connector_id: connector_id(&first),
            order: "order-0002",
            amount: "92.00",
            fee: "1.39",
            ..Default::default()
        },
        FileLine { connector_id: "unknown", payment: second.id(), amount: "10.00", ..Default::default() },
        FileLine { order: "order-0003", amount: "5.00", ..Default::default() },
        FileLine { order: "order-0004", amount: "6.00", ..Default::default() },
        FileLine { order: "order-0003", amount: "5.01", ..Default::default() },
        FileLine { kinds: "FEE;MONTHLY", amount: "4.90", ..Default::default() },
    ]);
    let result = import_text(&gateway, &shop, &text, &[])?;
    let names = ["lines", "records", "matched", "multipleMatches", "notMatched", "broken"];
    assert_eq!(counts(&result, names), [6, 6, 3, 1, 1, 0], "{result}");
    let matches = read_matches(&shop).await?;
    let expected = [
        ("MATCHED", first.id()),
        ("MATCHED", second.id()),
        ("MATCHED", third.id()),
        ("MULTIPLE_MATCHES", ""),
        ("NOT_MATCHED", ""),
        ("", ""),
    ];
    assert_eq!(matches, expected.map(|(status, payment)| (status.to_owned(), payment.to_owned())));
    assert_eq!(read_euros(&shop, "receivable").await?, 1200);
    assert_eq!(read_euros(&shop, "payable").await?, -1200);
    assert_eq!(read_euros(&shop, "fees").await?, -(139 + 490));
    let records = read_records(&shop).await?;
    assert_eq!(records[0]["merchantTransactionId"], "order-0001");
    assert_eq!(records[0]["paymentBrand"], "VISA");
    assert_eq!(records[0]["settlement"]["format"], "TILLGATE-CSV");
    let path = "reports/v1/reconciliations/aggregations?date.from=2020-01-01&date.to=2099-12-31&testMode=";
    assert_eq!(shop.get(&format!("{path}INTERNAL")).await?.json["aggregations"], json!([]));
    assert_ne!(shop.get(&format!("{path}EXTERNAL")).await?.json["aggregations"], json!([]));
    assert_verified(&gateway)
}

#[tokio::test]
async fn the_same_file_changes_nothing_and_a_longer_one_brings_its_new_lines() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for order in ["order-0001", "order-0002", "order-0003"] {
        pay_externally(&shop, "10.00", order).await?;
    }
    let line = |reference, order| FileLine { reference, order, amount: "10.00", ..Default::default() };
    let fee = FileLine { kinds: "FEE;MONTHLY", amount: "1.00", ..Default::default() };
    // Two lines with the same content are two lines.
    let mut lines = vec![line("L-1", "order-0001"), fee.clone(), line("", "order-0002"), fee.clone()];
    let text = format_file(&lines);
    assert_eq!(counts(&import_text(&gateway, &shop, &text, &[])?, ["records", "matched", "known"]), [4, 2, 0]);
    let before = read_balances(&shop, "fees").await?;
    let again = import_text(&gateway, &shop, &text, &[])?;
    assert_eq!((&again["alreadyImported"], &again["records"]), (&json!(true), &json!(0)), "{again}");
    assert_eq!(read_balances(&shop, "fees").await?, before);
    // Another file with other ends of lines, in another order, with a third fee, a new line and a changed one.
    lines.insert(0, fee);
    lines.push(line("L-3", "order-0003"));
    lines[1].amount = "9.00";
    let text = format_file(&lines).replace('\n', "\r\n");
    let result = import_text(&gateway, &shop, &text, &[])?;
    assert_eq!(counts(&result, ["records", "matched", "known", "changed"]), [2, 1, 4, 1], "{result}");
    assert_eq!(result["changedLines"], json!([3]));
    assert_eq!(read_records(&shop).await?.len(), 6);
    assert_eq!(read_euros(&shop, "receivable").await?, 0);
    assert_eq!(read_euros(&shop, "fees").await?, -300);
    // For another entity, the file has been taken, too.
    let other = gateway.create_merchant()?;
    let path = write_file(&gateway, &text)?;
    let path = path.to_string_lossy();
    let arguments = ["settlement", "import", &path, "--institute", &shop.entity_id, "--entity", &other.entity_id];
    let refused = error_text(gateway.run_command(&arguments));
    assert!(refused.contains(&shop.entity_id) && refused.contains("was imported"), "{refused}");
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_broken_line_stops_the_import_or_is_left_out_with_its_number() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    pay_externally(&shop, "10.00", "order-0001").await?;
    let line = |amount, currency| FileLine { order: "order-0001", amount, currency, ..Default::default() };
    let text = format_file(&[line("1.005", ""), line("10.00", ""), line("10.00", "EURO"), line("-1.00", "")]);
    let text = text.replacen('\n', "\n\n", 1) + "SETTLED;DEBIT\n";
    for options in [&[][..], &["--dry-run"]] {
        let stopped = error_text(import_text(&gateway, &shop, &text, options));
        assert!(stopped.contains("4 broken lines, so nothing was taken"), "{stopped}");
    }
    assert!(read_records(&shop).await?.is_empty());
    let planned = import_text(&gateway, &shop, &text, &["--on-error", "skip", "--dry-run"])?;
    assert_eq!((&planned["dryRun"], &planned["matched"], &planned["broken"]), (&json!(true), &json!(1), &json!(4)));
    assert!(read_records(&shop).await?.is_empty());
    let result = import_text(&gateway, &shop, &text, &["--on-error", "skip"])?;
    assert_eq!(counts(&result, ["lines", "records", "matched", "broken"]), [5, 1, 1, 4], "{result}");
    let faults = result["errors"].as_array().cloned().unwrap_or_default();
    let found: Vec<(u64, &str)> = faults
        .iter()
        .map(|fault| (fault["line"].as_u64().unwrap_or(0), fault["field"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(found, [(3, "amount"), (5, "currency"), (6, "amount"), (7, "record_type")]);
    // Another mapping may read the lines that were left out, so the file is read again.
    let again = import_text(&gateway, &shop, &text, &["--on-error", "skip"])?;
    assert_eq!(counts(&again, ["records", "known", "broken"]), [0, 1, 4], "{again}");
    let file = again["file"].as_str().unwrap_or_default();
    assert_eq!(read_acts(&gateway, file).await?.len(), 2, "the movement and the import, once");
    assert_verified(&gateway)
}

#[tokio::test]
async fn only_payments_of_the_entity_and_below_that_an_institute_settles_match() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let scene = ReconciliationScene::create(&gateway)?;
    let mut lines = Vec::new();
    let mut payments = Vec::new();
    for (number, shop) in [&scene.bakery, &scene.channel, &scene.butcher, &scene.stranger].into_iter().enumerate() {
        payments.push(pay_externally(shop, "10.00", &format!("order-000{number}")).await?);
    }
    let inside = scene.bakery.pay_by_card(&[("merchantTransactionId", "inside-0001")]).await?;
    let declined = [("testMode", "EXTERNAL"), ("card.number", "4200000000000001")];
    let declined = scene.bakery.pay_by_card(&declined).await?;
    for payment in payments.iter().chain([&inside, &declined]) {
        let connector = FileLine { connector_id: connector_id(payment), amount: "10.00", ..Default::default() };
        lines.extend([connector, FileLine { payment: payment.id(), amount: "10.00", ..Default::default() }]);
    }
    lines.push(FileLine { order: "order-0003", amount: "10.00", ..Default::default() });
    lines.push(FileLine { order: "inside-0001", amount: "92.00", ..Default::default() });
    let result = import_text(&gateway, &scene.division, format_file(&lines), &["--dry-run"])?;
    // Of each payment below the division, the first line settles it.
    assert_eq!(counts(&result, ["matched", "notMatched"]), [3, 11], "{result}");
    for (shop, matched) in [(&scene.bakery, 2), (&scene.channel, 0), (&scene.butcher, 1), (&scene.stranger, 1)] {
        let result = import_text(&gateway, shop, format_file(&lines), &["--dry-run"]);
        let is_channel = shop.entity_id == scene.channel.entity_id;
        assert_eq!(result.is_err(), is_channel);
        assert_eq!(result.map_or(0, |result| result["matched"].as_u64().unwrap_or(99)), matched);
    }
    let result = import_text(&gateway, &scene.division, format_file(&lines), &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched"]), [3, 11], "{result}");
    assert_eq!(read_records(&scene.division).await?.len(), 14);
    assert_eq!(read_records(&scene.bakery).await?.len(), 2);
    // A merchant's payment goes to its channel.
    assert_eq!(read_records(&scene.channel).await?.len(), 2);
    assert_eq!(read_records(&scene.stranger).await?.len(), 0);
    assert_eq!(read_euros(&scene.channel, "receivable").await?, 9200, "the gateway settles that one itself");
    assert_eq!(read_euros(&scene.stranger, "receivable").await?, 1000);
    assert_verified(&gateway)
}

#[tokio::test]
async fn the_shipped_mappings_read_their_samples() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settlement-files");
    let import = |name: &str| {
        let mapping = folder.join(format!("{name}.toml"));
        let mapping = mapping.to_string_lossy();
        import_path(&gateway, &shop.entity_id, &folder.join(format!("{name}.csv")), &["--mapping", &mapping])
    };
    pay_externally(&shop, "1250.00", "order-1001").await?;
    let paid = pay_externally(&shop, "92.00", "order-1002").await?;
    follow_up(&shop, paid.id(), &[("paymentType", "RF"), ("amount", "20.00"), ("currency", "EUR")]).await?;
    let result = import("rheinland")?;
    assert_eq!(counts(&result, ["records", "matched", "ignored", "chargebacks"]), [5, 4, 1, 1], "{result}");
    assert_eq!(read_euros(&shop, "receivable").await?, 0);
    assert_eq!(read_euros(&shop, "fees").await?, -(1760 + 139 + 490));
    for (amount, currency, order) in [("12000.00", "JPY", "order-2001"), ("92.00", "USD", "order-2002")] {
        let fields = [("testMode", "EXTERNAL"), ("amount", amount), ("currency", currency)];
        let paid = shop.pay_by_card(&[&fields[..], &[("merchantTransactionId", order)]].concat()).await?;
        assert_result(&paid, 200, "000.100.112");
        if currency == "USD" {
            follow_up(&shop, paid.id(), &[("paymentType", "RF"), ("amount", "15.00"), ("currency", "USD")]).await?;
        }
    }
    let result = import("pacific")?;
    assert_eq!(counts(&result, ["records", "matched", "ignored", "chargebacks"]), [5, 4, 1, 1], "{result}");
    let records = read_records(&shop).await?;
    let yen = records.iter().find(|record| record["currency"] == "JPY").cloned().unwrap_or_default();
    assert_eq!((&yen["settlement"]["amount"], &yen["settlement"]["currency"]), (&json!("80.40"), &json!("USD")));
    assert_eq!((&yen["settlement"]["fxRate"], &yen["settlement"]["date"]), (&json!("0.0067"), &json!("2026-10-12")));
    let disputes = gateway.run_command(&["dispute", "list", &shop.entity_id])?;
    assert_eq!(disputes["disputes"][0]["schemeReasonCode"], "10.4", "{disputes}");
    assert_eq!(disputes["disputes"][0]["reason"], "000.100.220", "{disputes}");
    assert_eq!(read_balances(&shop, "receivable").await?, BTreeMap::new());
    let sample = import_path(&gateway, &shop.entity_id, &folder.join("sample.csv"), &[])?;
    assert_eq!(counts(&sample, ["records", "notMatched", "broken"]), [4, 3, 0], "{sample}");
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_reconciliation_file_of_the_gateway_can_be_imported_and_one_with_imported_lines_too() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let inside = shop.pay_by_card(&[]).await?;
    let chargeback = [("paymentType", "CB"), ("amount", "92.00"), ("currency", "EUR")];
    follow_up(&shop, inside.id(), &[&chargeback[..], &[("chargebackResultCode", "000.100.203")]].concat()).await?;
    let paid = pay_externally(&shop, "10.00", "=order;\"1\"").await?;
    let day = today();
    let line = FileLine { payment: paid.id(), amount: "10.00", fee: "0.20", ..Default::default() };
    import_text(&gateway, &shop, format_today(&[line]), &[])?;
    shop.advance_clock("25h").await?;
    let files = wait_for_files(&shop, 1).await?;
    assert_eq!(files.len(), 1);
    let own = shop.get(&format!("reconciliations/v1/files/{}", file_name(&shop, day))).await?.text;
    let lines = own.lines().count() as u64 - 1;
    let other = gateway.create_merchant()?;
    let result = import_text(&gateway, &other, &own, &[])?;
    assert_eq!(counts(&result, ["lines", "records", "broken", "matched"]), [lines, lines, 0, 0], "{own}\n{result}");
    // For the shop itself, everything is settled already.
    let path = write_file(&gateway, own.replacen("\r\n", "\n", 1))?;
    let path = path.to_string_lossy();
    let arguments = ["settlement", "import", &path, "--institute", "Again", "--entity", &shop.entity_id];
    let result = gateway.run_command(&arguments)?;
    assert_eq!(counts(&result, ["records", "matched"]), [lines, 0], "{result}");
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_fee_of_a_merchant_without_payments_is_in_its_file_and_in_the_audit_log() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let fee = FileLine { kinds: "FEE;MONTHLY", amount: "4.90", ..Default::default() };
    let result = import_text(&gateway, &shop, format_today(&[fee]), &[])?;
    let file = result["file"].as_str().unwrap_or_default();
    assert_eq!(read_acts(&gateway, file).await?.len(), 2, "the fee, and the import");
    shop.advance_clock("25h").await?;
    wait_for_files(&shop, 1).await?;
    shop.advance_clock("49h").await?;
    pay_externally(&shop, "10.00", "order-0001").await?;
    assert_verified(&gateway)
}
