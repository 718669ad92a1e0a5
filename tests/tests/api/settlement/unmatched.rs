//! Unmatched settlement lines: candidates, manual matching and rejection.

use serde_json::{Value, json};
use tillgate_tests::{MerchantClient, TestGateway};

use crate::settlement::files::*;
use crate::settlement::reconciliation_files::{ReconciliationScene, file_name, list_files, today, wait_for_files};
use crate::settlement::settlements::read_records;
use crate::support::*;

/// Returns the unmatched lines of an entity.
pub fn read_unmatched(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<Vec<Value>> {
    let unmatched = gateway.run_command(&["settlement", "unmatched", "--entity", &shop.entity_id])?;
    Ok(unmatched["lines"].as_array().cloned().unwrap_or_default())
}

/// Returns a text of a JSON object.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Matches a line with payments by hand.
pub fn match_line(gateway: &TestGateway, record: &str, payments: &[&str]) -> anyhow::Result<Value> {
    let payments = payments.iter().flat_map(|payment| ["--payment", payment]);
    let arguments: Vec<&str> = ["settlement", "match", "--record", record].into_iter().chain(payments).collect();
    gateway.run_command(&arguments)
}

fn reject_line(gateway: &TestGateway, record: &str, reason: &str) -> anyhow::Result<Value> {
    gateway.run_command(&["settlement", "reject", "--record", record, "--reason", reason])
}

/// Asserts that a command fails with a text.
#[track_caller]
pub fn assert_refused(result: anyhow::Result<Value>, expected: &str) {
    let error = error_text(result);
    assert!(error.contains(expected), "{expected}: {error}");
}

#[tokio::test]
async fn a_line_of_the_queue_is_matched_once_and_moves_its_money_then() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let first = pay_externally(&shop, "10.00", "order-0001").await?;
    let second = pay_externally(&shop, "10.00", "order-0001").await?;
    let other = pay_externally(&shop, "30.00", "order-0002").await?;
    let lines = [
        FileLine { order: "order-0001", amount: "10.00", fee: "0.30", ..Default::default() },
        FileLine { order: "order-0002", amount: "25.00", ..Default::default() },
    ];
    let result = import_text(&gateway, &shop, format_file(&lines), &[])?;
    assert_eq!(counts(&result, ["multipleMatches", "notMatched"]), [1, 1], "{result}");
    let unmatched = read_unmatched(&gateway, &shop)?;
    let [several, none] = unmatched.as_slice() else { anyhow::bail!("{unmatched:?}") };
    assert_eq!((text(several, "status"), text(none, "status")), ("MULTIPLE_MATCHES", "NOT_MATCHED"));
    let mut candidates: Vec<&str> =
        several["candidates"].as_array().into_iter().flatten().map(|candidate| text(candidate, "paymentId")).collect();
    candidates.sort_unstable();
    assert_eq!(candidates, [first.id(), second.id()]);
    let candidate = &none["candidates"][0];
    assert_eq!((text(candidate, "paymentId"), text(candidate, "open")), (other.id(), "30.00"));
    assert!(candidate["mismatch"].is_null(), "only the amount differs: {candidate}");
    assert_eq!((read_euros(&shop, "receivable").await?, read_euros(&shop, "fees").await?), (5000, 0));

    let record = text(several, "recordId");
    assert_eq!(match_line(&gateway, record, &[second.id()])?["payments"], json!([second.id()]));
    assert_eq!((read_euros(&shop, "receivable").await?, read_euros(&shop, "fees").await?), (4000, -30));
    match_line(&gateway, record, &[second.id()])?;
    assert_refused(match_line(&gateway, record, &[first.id()]), "is matched already");
    assert_refused(reject_line(&gateway, record, "no"), "is matched already");
    assert_eq!(read_euros(&shop, "receivable").await?, 4000);
    let acts = read_acts(&gateway, record).await?;
    assert_eq!(acts.len(), 1, "{acts:?}");
    assert!(acts[0].0 == "settlement match" && acts[0].1.contains("uid"), "{acts:?}");

    let record = text(none, "recordId");
    assert_refused(match_line(&gateway, record, &[second.id()]), "is settled already");
    match_line(&gateway, record, &[other.id()])?;
    assert_eq!(read_euros(&shop, "receivable").await?, 1500);
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    let records = read_records(&shop).await?;
    let matched = records.iter().filter(|record| record["matchedTransactions"]["status"] == "MATCHED").count();
    assert_eq!(matched, 2);
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_rejected_line_leaves_the_queue_and_moves_nothing() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = pay_externally(&shop, "10.00", "order-0001").await?;
    let line = FileLine { order: "order-0009", amount: "10.00", ..Default::default() };
    import_text(&gateway, &shop, format_file(&[line]), &[])?;
    let unmatched = read_unmatched(&gateway, &shop)?;
    let record = text(&unmatched[0], "recordId");
    assert_refused(reject_line(&gateway, record, " "), "the reason");
    assert_refused(reject_line(&gateway, record, "card 4200000000000000"), "card number");
    let rejected = reject_line(&gateway, record, "of another gateway")?;
    assert_eq!(text(&rejected, "rejected"), "of another gateway");
    assert_eq!(text(&reject_line(&gateway, record, "once more")?, "rejected"), "of another gateway");
    assert_refused(match_line(&gateway, record, &[paid.id()]), "was rejected: of another gateway");
    assert!(read_unmatched(&gateway, &shop)?.is_empty());
    assert_eq!(read_euros(&shop, "receivable").await?, 1000);
    let acts = read_acts(&gateway, record).await?;
    assert_eq!(acts.iter().map(|(action, _)| action.as_str()).collect::<Vec<_>>(), ["settlement reject"]);
    for record in ["x", "8a01a214dd1d344e957dac0affc10aa3"] {
        assert!(reject_line(&gateway, record, "no").is_err() && match_line(&gateway, record, &[paid.id()]).is_err());
    }
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_line_can_settle_several_payments_that_add_up_to_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let scene = ReconciliationScene::create(&gateway)?;
    let shop = &scene.bakery;
    let first = pay_externally(shop, "10.00", "order-0001").await?;
    let second = pay_externally(shop, "20.00", "order-0002").await?;
    let other = pay_externally(&scene.butcher, "20.00", "order-0003").await?;
    let stranger = pay_externally(&scene.stranger, "20.00", "order-0004").await?;
    let lines = [
        FileLine { amount: "30.00", ..Default::default() },
        FileLine { kinds: "CHARGEBACK;DEBIT", amount: "30.00", ..Default::default() },
        FileLine { kinds: "FEE;MONTHLY", amount: "1.00", ..Default::default() },
    ];
    import_text(&gateway, &scene.division, format_today(&lines), &[])?;
    let unmatched = read_unmatched(&gateway, &scene.division)?;
    assert_eq!(unmatched.len(), 2, "{unmatched:?}");
    let [record, chargeback] = [text(&unmatched[0], "recordId"), text(&unmatched[1], "recordId")];
    for (payments, message) in [
        (&[first.id(), stranger.id()][..], "there is no payment"),
        (&[first.id(), other.id()], "different entities"),
        (&[first.id(), first.id()], "twice"),
        (&[first.id(), second.id(), second.id()], "twice"),
    ] {
        assert_refused(match_line(&gateway, record, payments), message);
    }
    assert_refused(match_line(&gateway, chargeback, &[first.id(), second.id()]), "belongs to one payment");
    assert_refused(match_line(&gateway, chargeback, &[second.id()]), "has a lower amount");
    match_line(&gateway, record, &[first.id(), second.id()])?;
    match_line(&gateway, record, &[second.id(), first.id()])?;
    assert_eq!(read_euros(shop, "receivable").await?, 0);
    let records = read_records(shop).await?;
    assert_eq!(records.len(), 1, "the merchant has its line now");
    assert_eq!(records[0]["matchedTransactions"]["payment"].as_array().map(Vec::len), Some(2), "{}", records[0]);
    assert!(records[0]["payment"].is_null(), "{}", records[0]);
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_match_after_the_day_is_complete_shows_in_the_record_and_not_in_the_files() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let scene = ReconciliationScene::create(&gateway)?;
    let paid = pay_externally(&scene.channel, "10.00", "order-0001").await?;
    let day = today();
    let line = |order| FileLine { order, amount: "9.00", ..Default::default() };
    import_text(&gateway, &scene.division, format_today(&[line("order-0001")]), &[])?;
    scene.end_day().await?;
    wait_for_files(&scene.division, 1).await?;
    let path = format!("reconciliations/v1/files/{}", file_name(&scene.division, day));
    let before = scene.division.get(&path).await?.text;
    assert!(before.contains("NOT_MATCHED"), "{before}");
    let unmatched = read_unmatched(&gateway, &scene.division)?;
    match_line(&gateway, text(&unmatched[0], "recordId"), &[paid.id()])?;
    assert_eq!(scene.division.get(&path).await?.text, before);
    assert_eq!(read_records(&scene.division).await?[0]["payment"]["id"], paid.id());
    // The merchant has the record now. Its day is complete, and gets no file.
    assert_eq!(read_records(&scene.bakery).await?[0]["payment"]["id"], paid.id());
    assert_eq!(read_records(&scene.channel).await?.len(), 1);
    assert_eq!(read_euros(&scene.channel, "receivable").await?, 100);
    // A line of that day that comes now is in the file of the next one.
    import_text(&gateway, &scene.division, format_today(&[line("order-0005")]), &[])?;
    scene.end_day().await?;
    wait_for_files(&scene.division, 2).await?;
    assert_eq!(scene.division.get(&path).await?.text, before);
    let next = format!("reconciliations/v1/files/{}", file_name(&scene.division, day.tomorrow()?));
    let next = scene.division.get(&next).await?.text;
    assert!(next.contains(&day.to_string()), "{next}");
    assert!(list_files(&scene.bakery).await?.is_empty());
    assert_verified(&gateway)
}

#[tokio::test]
async fn a_chargeback_line_that_is_matched_by_hand_makes_its_chargeback() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = pay_externally(&shop, "10.00", "order-0001").await?;
    let line = |kinds, reason| FileLine { kinds, amount: "8.00", reason, ..Default::default() };
    let lines = [line("CHARGEBACK;DEBIT", "000.100.221"), line("CHARGEBACK REVERSAL;DEBIT", "")];
    import_text(&gateway, &shop, format_file(&lines), &[])?;
    let unmatched = read_unmatched(&gateway, &shop)?;
    let [chargeback, reversal] = [text(&unmatched[0], "recordId"), text(&unmatched[1], "recordId")];
    assert_refused(match_line(&gateway, reversal, &[paid.id()]), "has no chargeback");
    match_line(&gateway, chargeback, &[paid.id()])?;
    match_line(&gateway, reversal, &[paid.id()])?;
    let disputes = gateway.run_command(&["dispute", "list", &shop.entity_id, "--state", "all"])?;
    let dispute = &disputes["disputes"][0];
    assert_eq!((text(dispute, "stage"), text(dispute, "amount")), ("REVERSAL", "8.00"), "{dispute}");
    assert_eq!(text(dispute, "reason"), "000.100.221");
    assert_eq!(read_euros(&shop, "receivable").await?, 1000);
    assert_result(&shop.get(&format!("v1/payments/{}", text(dispute, "chargebackId"))).await?, 200, "000.100.221");
    assert_verified(&gateway)
}
