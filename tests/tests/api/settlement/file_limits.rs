//! Bounds of settlement lines: what a payment has open, and the merchant that the line names.

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::settlement::file_attacks::start_import;
use crate::settlement::files::*;
use crate::settlement::reconciliation_files::ReconciliationScene;
use crate::settlement::unmatched::{assert_refused, match_line, read_unmatched, text};

/// Imports a file of one line that names merchants, in these columns with these values. Returns the number of matches.
fn import_named(
    gateway: &TestGateway,
    importer: &MerchantClient,
    line: &FileLine<'_>,
    named: &[(&str, &str)],
) -> anyhow::Result<u64> {
    let columns: String = named.iter().map(|(column, _)| format!(";{column}")).collect();
    let values: String = named.iter().map(|(_, value)| format!(";{value}")).collect();
    let result =
        import_text(gateway, importer, format!("{HEADER}{columns}\n{}{values}\n", line.format()), &["--dry-run"])?;
    Ok(counts(&result, ["matched"])[0])
}

#[tokio::test]
async fn a_line_settles_at_most_what_its_payment_has_open() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = pay_externally(&shop, "92.00", "order-0001").await?;
    let refund =
        follow_up(&shop, paid.id(), &[("paymentType", "RF"), ("amount", "20.00"), ("currency", "EUR")]).await?;
    let by_id = |amount| FileLine { payment: paid.id(), amount, ..Default::default() };
    let by_connector = |amount| FileLine { connector_id: connector_id(&paid), amount, ..Default::default() };
    let refunded = |amount| FileLine { kinds: "SETTLED;REFUND", payment: refund.id(), amount, ..Default::default() };
    let lines = [by_id("9200.00"), by_connector("9200.00"), by_id("92.01"), refunded("2000.00"), refunded("20.01")];
    let result = import_text(&gateway, &shop, format_file(&lines), &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched"]), [0, 5], "{result}");
    assert_eq!(read_euros(&shop, "receivable").await?, 7200);
    // The sum over all lines counts, in one file and over several.
    let result = import_text(&gateway, &shop, format_file(&[by_id("60.00"), by_connector("32.01")]), &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched"]), [1, 1], "{result}");
    let result = import_text(&gateway, &shop, format_file(&[by_id("32.02"), refunded("20.00")]), &[])?;
    assert_eq!(counts(&result, ["matched", "notMatched"]), [1, 1], "{result}");
    let unmatched = read_unmatched(&gateway, &shop)?;
    assert_eq!(unmatched.len(), 7, "{unmatched:?}");
    for line in &unmatched {
        let candidate = &line["candidates"][0];
        let message = if text(candidate, "open") == "0.00" { "is settled already" } else { "less to settle" };
        assert!(text(candidate, "mismatch").contains(message), "{line}");
        assert_refused(match_line(&gateway, text(line, "recordId"), &[text(candidate, "paymentId")]), message);
    }
    let result = import_text(&gateway, &shop, format_file(&[by_id("32.00")]), &[])?;
    assert_eq!(counts(&result, ["matched"]), [1], "{result}");
    assert_eq!(read_euros(&shop, "receivable").await?, 0);
    assert_verified(&gateway)
}

#[tokio::test]
async fn another_amount_in_the_currency_of_the_payment_breaks_the_line() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let paid = pay_externally(&shop, "92.00", "order-0001").await?;
    let line = FileLine { payment: paid.id(), amount: "92.00", settled: "9200.00", ..Default::default() };
    let result = import_text(gateway, &shop, format_file(&[line]), &["--on-error", "skip"])?;
    assert_eq!(
        (&result["broken"], &result["errors"][0]["field"]),
        (&1.into(), &"settlement_amount".into()),
        "{result}"
    );
    Ok(())
}

#[tokio::test]
async fn files_that_are_imported_at_once_settle_a_payment_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut payments = Vec::new();
    for number in 0..8 {
        payments.push(pay_externally(&shop, "92.00", &format!("order-{number:04}")).await?.id().to_owned());
    }
    // Each file is another one, of the same lines with other references.
    let mut imports = Vec::new();
    for file in 0..4 {
        let references: Vec<String> = payments.iter().map(|payment| format!("{file}-{payment}")).collect();
        let line = |(payment, reference)| FileLine { payment, reference, amount: "60.00", ..Default::default() };
        let pairs = payments.iter().map(String::as_str).zip(references.iter().map(String::as_str));
        let path = write_file(&gateway, format_file(&pairs.map(line).collect::<Vec<_>>()))?;
        imports.push(start_import(&gateway, &shop.entity_id, &path)?);
    }
    let mut matched = 0;
    for import in imports {
        let output = import.wait_with_output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        matched += serde_json::from_slice::<Value>(&output.stdout)?["matched"].as_u64().unwrap_or(0);
    }
    assert_eq!((matched, read_euros(&shop, "receivable").await?), (8, 8 * 3200));
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_line_settles_payments_of_the_merchant_that_it_names_only() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let scene = ReconciliationScene::create(&gateway)?;
    let name_merchant = |shop: &MerchantClient, id: &str| {
        gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--acquirer-merchant", id])
    };
    name_merchant(&scene.bakery, "mid-bakery")?;
    name_merchant(&scene.butcher, "mid-butcher")?;
    // The bakery's order is paid in parts, and one part is what the butcher's order of this reference costs.
    pay_externally(&scene.channel, "92.00", "order-0001").await?;
    let paid = pay_externally(&scene.butcher, "60.00", "order-0001").await?;
    let by_order = FileLine { order: "order-0001", amount: "60.00", ..Default::default() };
    let by_id = FileLine { payment: paid.id(), amount: "60.00", ..Default::default() };
    let by_connector = FileLine { connector_id: connector_id(&paid), amount: "60.00", ..Default::default() };
    let (bakery, butcher) = (scene.bakery.entity_id.as_str(), scene.butcher.entity_id.as_str());
    let (channel, division) = (scene.channel.entity_id.as_str(), scene.division.entity_id.as_str());
    for line in [&by_order, &by_id, &by_connector] {
        for (named, matched) in [
            (&[][..], 1),
            (&[("ClearingInstituteMerchantId", "mid-butcher")], 1),
            (&[("ClearingInstituteMerchantId", "mid-bakery")], 0),
            (&[("ClearingInstituteMerchantId", "mid-nobody")], 0),
            (&[("MerchantId", butcher)], 1),
            (&[("MerchantId", bakery)], 0),
            (&[("MerchantId", division)], 1),
            (&[("MerchantAccountId", butcher)], 1),
            (&[("MerchantAccountId", channel)], 0),
            (&[("MerchantId", butcher), ("ClearingInstituteMerchantId", "mid-bakery")], 0),
        ] {
            let found = import_named(&gateway, &scene.division, line, named)?;
            assert_eq!(found, matched, "{} {named:?}", line.format());
        }
    }
    // A line of a merchant that has another id by now waits, and is matched once the id is known.
    let text_of_line = format!("{HEADER};ClearingInstituteMerchantId\n{};mid-new\n", by_id.format());
    import_text(&gateway, &scene.division, &text_of_line, &[])?;
    let unmatched = read_unmatched(&gateway, &scene.division)?;
    let record = text(&unmatched[0], "recordId");
    assert_refused(match_line(&gateway, record, &[paid.id()]), "another merchant than the line names");
    name_merchant(&scene.butcher, "mid-new")?;
    match_line(&gateway, record, &[paid.id()])?;
    assert_eq!(read_euros(&scene.butcher, "receivable").await?, 0);
    assert_verified(&gateway)
}
