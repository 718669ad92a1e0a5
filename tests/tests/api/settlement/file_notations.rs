//! Settlement files as institutes write them: the shipped mappings with their samples, encodings, quoted line breaks,
//! and lines at the end.

use std::path::Path;

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::settlement::files::*;
use crate::settlement::reconciliation_files::wait_for_files;
use crate::settlement::settlements::{read_balances, read_records};
use crate::support::*;

/// Imports a shipped sample with its mapping.
fn import_sample(gateway: &TestGateway, shop: &MerchantClient, name: &str) -> anyhow::Result<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settlement-files");
    let mapping = folder.join(format!("{name}.toml"));
    let mapping = mapping.to_string_lossy();
    import_path(gateway, &shop.entity_id, &folder.join(format!("{name}.csv")), &["--mapping", &mapping])
}

/// Pays at the acquirer's host, and refunds a part if there is one.
async fn pay(shop: &MerchantClient, amount: [&str; 2], order: &str, refunded: &str) -> anyhow::Result<()> {
    let [amount, currency] = amount;
    let fields =
        [("testMode", "EXTERNAL"), ("amount", amount), ("currency", currency), ("merchantTransactionId", order)];
    let paid = shop.pay_by_card(&fields).await?;
    assert_result(&paid, 200, "000.100.112");
    if !refunded.is_empty() {
        let fields = [("paymentType", "RF"), ("amount", refunded), ("currency", currency)];
        assert_result(&follow_up(shop, paid.id(), &fields).await?, 200, "000.100.112");
    }
    Ok(())
}

/// Returns the record of a line by its number in the file.
fn find_record<'a>(records: &'a [Value], kind: &str, amount: &str) -> &'a Value {
    let is_wanted = |record: &&Value| record["recordType"] == kind && record["amount"] == amount;
    records.iter().find(is_wanted).unwrap_or(&Value::Null)
}

/// Imports a text for a merchant with a mapping of these keys and columns of the documented format.
fn import_with(
    gateway: &TestGateway,
    shop: &MerchantClient,
    keys: &str,
    text: impl AsRef<[u8]>,
) -> anyhow::Result<Value> {
    let mapping = format!(
        "format = \"NOTATION\"\n{keys}\n[columns]\nrecord_type = \"Art\"\ntransaction_type = \"Typ\"\namount = \"Betrag\"\n\
         currency = \"Währung\"\nsettlement_date = \"Tag\"\nmerchant_transaction_id = \"Händlerreferenz\"\n\
         reason_text = \"Grund\"\n"
    );
    let path = write_file(gateway, mapping)?;
    import_text(gateway, shop, text, &["--mapping", &path.to_string_lossy(), "--on-error", "skip"])
}

#[tokio::test]
async fn the_settlement_details_of_a_card_processor_are_read() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--acquirer-merchant", "Corner"])?;
    pay(&shop, ["92.00", "EUR"], "order-4001", "20.00").await?;
    pay(&shop, ["100.00", "USD"], "order-4002", "").await?;
    let result = import_sample(&gateway, &shop, "card-processor")?;
    let names = ["records", "matched", "ignored", "chargebacks", "doublePayouts"];
    assert_eq!(counts(&result, names), [5, 4, 1, 1, 1], "{result}");
    assert!(read_balances(&shop, "receivable").await?.values().all(|sum| *sum == 0));
    // 1.0153 and 0.92 and 0.10 and 15.00, and the fee of the month.
    assert_eq!(read_euros(&shop, "fees").await?, -(102 + 92 + 10 + 1500 + 490));
    let records = read_records(&shop).await?;
    let paid = find_record(&records, "SETTLED", "92.00");
    assert_eq!(
        (&paid["settlement"]["amount"], &paid["settlement"]["fee"]),
        (&json!("92.00"), &json!("1.0153")),
        "{paid}"
    );
    let foreign = find_record(&records, "SETTLED", "100.00");
    assert_eq!((&foreign["currency"], &foreign["settlement"]["amount"]), (&json!("USD"), &json!("92.00")), "{foreign}");
    let refund = find_record(&records, "SETTLED", "20.00");
    assert_eq!((&refund["transactionType"], &refund["settlement"]["cashflow"]), (&json!("REFUND"), &json!("NEG")));
    assert_eq!(find_record(&records, "CHARGEBACK", "92.00")["result"]["description"], "Fraud,\ncard absent");
    assert_eq!(find_record(&records, "FEE", "4.90")["settlement"]["cashflow"], "NEG");
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_payout_report_with_exact_fees_is_read_and_its_file_has_rounded_ones() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    pay(&shop, ["92.00", "EUR"], "order-5001", "15.00").await?;
    pay(&shop, ["12000.00", "JPY"], "order-5002", "").await?;
    let result = import_sample(&gateway, &shop, "payout-report")?;
    assert_eq!(counts(&result, ["records", "matched", "ignored", "chargebacks"]), [5, 4, 1, 1], "{result}");
    assert!(read_balances(&shop, "receivable").await?.values().all(|sum| *sum == 0));
    assert_eq!(read_euros(&shop, "fees").await?, -(158 + 136 + 1500 + 200));
    let records = read_records(&shop).await?;
    let paid = find_record(&records, "SETTLED", "92.00");
    assert_eq!((&paid["settlement"]["fee"], &paid["settlement"]["date"]), (&json!("1.5753"), &json!("2026-10-12")));
    assert_eq!(paid["presentmentDate"], "2026-10-10 20:15:00");
    let yen = find_record(&records, "SETTLED", "12000.00");
    assert_eq!((&yen["currency"], &yen["settlement"]["amount"]), (&json!("JPY"), &json!("80.40")), "{yen}");
    assert_eq!(yen["descriptor"], "19\" rack");
    let fee = find_record(&records, "FEE", "2.00");
    assert_eq!(fee["settlement"]["amount"], "2.0035", "{fee}");
    let files = wait_for_file(&shop).await?;
    assert!(files.contains(";1.58;") && files.contains(";2.00;") && !files.contains("1.5753"), "{files}");
    assert_verified(&gateway)
}

/// Completes the day, and returns the text of the first file.
async fn wait_for_file(shop: &MerchantClient) -> anyhow::Result<String> {
    shop.advance_clock("25h").await?;
    let files = wait_for_files(shop, 1).await?;
    let name = files.first().and_then(|file| file["name"].as_str()).unwrap_or_default();
    Ok(shop.get(&format!("reconciliations/v1/files/{name}")).await?.text)
}

#[tokio::test]
async fn the_statement_of_a_bank_account_is_read() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    pay(&shop, ["1234.56", "EUR"], "order-6001", "34.56").await?;
    pay(&shop, ["92.00", "EUR"], "order-6002", "").await?;
    let result = import_sample(&gateway, &shop, "bank-statement")?;
    assert_eq!(counts(&result, ["records", "matched", "ignored", "chargebacks"]), [5, 3, 1, 1], "{result}");
    assert_eq!((read_euros(&shop, "receivable").await?, read_euros(&shop, "fees").await?), (9200, -50));
    let records = read_records(&shop).await?;
    let paid = find_record(&records, "SETTLED", "1234.56");
    assert_eq!(
        (&paid["merchantTransactionId"], &paid["bankAccount"]["holder"]),
        (&json!("order-6001"), &json!("Jürgen Groß"))
    );
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_file_is_read_in_its_encoding() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let text = "Art;Typ;Betrag;Währung;Tag;Händlerreferenz;Grund\nFEE;MONTHLY;1.00;EUR;2026-10-12;;Müßig €\n";
    let windows: Vec<u8> = text
        .chars()
        .map(|c| match c {
            '€' => 0x80,
            c => u8::try_from(u32::from(c)).unwrap_or(b'?'),
        })
        .collect();
    let utf16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let (little, big) = (utf16(u16::to_le_bytes), utf16(u16::to_be_bytes));
    for (keys, bytes) in [
        ("encoding = \"windows-1252\"", windows.clone()),
        ("encoding = \"ISO-8859-1\"", windows.clone()),
        ("encoding = \"utf-16le\"", little.clone()),
        ("encoding = \"utf-16be\"", big.clone()),
        ("", [&b"\xff\xfe"[..], &little].concat()),
        ("encoding = \"windows-1252\"", [&b"\xfe\xff"[..], &big].concat()),
        ("encoding = \"windows-1252\"", [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat()),
        ("encoding = \"UTF8\"", text.as_bytes().to_vec()),
    ] {
        let shop = gateway.create_merchant()?;
        let result = import_with(gateway, &shop, keys, &bytes)?;
        assert_eq!(counts(&result, ["records", "broken"]), [1, 0], "{keys}: {result}");
    }
    let shop = gateway.create_merchant()?;
    let refused = error_text(import_with(gateway, &shop, "", windows));
    assert!(refused.contains("line 1: is not UTF-8"), "{refused}");
    let refused = error_text(import_with(gateway, &shop, "encoding = \"windows-9\"", text));
    assert!(refused.contains("encoding: windows-9"), "{refused}");
    // Bytes that the encoding does not have break their line only.
    let text =
        [&b"Art;Typ;Betrag;W\x84hrung;Tag;H\x84ndlerreferenz;Grund\n"[..], b"FEE;MONTHLY;1;EUR;2026-10-12\n"].concat();
    assert!(import_with(gateway, &shop, "encoding = \"shift_jis\"", text).is_err());
    Ok(())
}

#[tokio::test]
async fn quoted_line_breaks_foot_lines_and_stray_marks_break_nothing_else() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    for order in ["order-9001", "order-9002", "order-9003"] {
        pay_externally(&shop, "10.00", order).await?;
    }
    let text = "Art;Typ;Betrag;Währung;Tag;Händlerreferenz;Grund\r\n\
        SETTLED;DEBIT;10.00;eur;2026-10-12;=\"order-9001\";\"two\r\n\r\nlines; and \"\"marks\"\"\";\r\n\
        SETTLED;DEBIT;10.00;978;2026-10-12;order-9002;19\" rack;;\r\n\
        SETTLED;DEBIT;x;EUR;2026-10-12;order-9003;\"open\r\n\
        ;;;;;;\r\n\
        SETTLED;DEBIT;10.00;EUR;2026-10-12;\"=\"\"order-9003\"\"\"\r\n\
        IGNORED;what;ever;it;is;4200000000000000;;;too;many\r\n\
        FEE;MONTHLY;1.00;EUR;2026-10-12\r\n\
        Sum;3 lines\r\n\
        END OF FILE\r\n\r\n";
    let keys = "skip_last_lines = 2\n[record_types]\nSETTLED = \"SETTLED\"\nFEE = \"FEE\"\nIGNORED = \"IGNORED\"\n";
    let result = import_with(&gateway, &shop, keys, text)?;
    let names = ["lines", "records", "matched", "ignored", "broken"];
    assert_eq!(counts(&result, names), [5, 4, 3, 1, 1], "{result}");
    assert_eq!(result["errors"], json!([{ "line": 6, "message": "has a quotation mark that is not closed" }]));
    assert_eq!((read_euros(&shop, "receivable").await?, read_euros(&shop, "fees").await?), (0, -100));
    // Without the key, the foot breaks its own lines only.
    let other = gateway.create_merchant()?;
    let result = import_with(&gateway, &other, &keys.replace("skip_last_lines = 2", ""), text)?;
    assert_eq!(counts(&result, ["records", "broken"]), [4, 3], "{result}");
    assert_verified(&gateway)
}
