//! Faults of an acquirer's host, of the connection to it and of the gateway: afterwards the host's ledger and the
//! gateway's payments are equal to the cent, and nothing is pending.

use tillgate_tests::Receiver;

use crate::acquirer::host::{authorization_request, with_changes};
use crate::acquirer::payments::AcquirerScene;
use crate::support::*;

/// A time-out that is short enough for a test. The final state is the same if a busy machine answers in time.
const IMPATIENT: [&str; 2] = ["--acquirer-timeout", "1s"];

/// Amounts at which the host books a payment and then responds wrongly: slowly, never, cut off, twice, with garbage,
/// with a wrong signature, or about another payment.
const BOOKED: [&str; 7] = ["2000.01", "2000.02", "2000.03", "2000.04", "2000.06", "2000.08", "2000.09"];

#[tokio::test]
async fn a_payment_whose_answer_is_lost_is_found_out() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--slow", "1ms"], &IMPATIENT).await?;
    for amount in BOOKED {
        let paid = scene.pay_by_card(amount, &[]).await?;
        assert!(["000.100.112", "000.200.000"].contains(&paid.result_code()), "{amount}: {}", paid.text);
        let settled = scene.wait_for_outcome(paid.id()).await?;
        assert_result(&settled, 200, "000.100.112");
        assert!(settled.json["resultDetails"]["ConnectorTxID1"].is_string(), "{}", settled.text);
    }
    assert_eq!(scene.booked_entries("debit").await?.len(), BOOKED.len());
    scene.reconcile().await
}

#[tokio::test]
async fn a_payment_that_never_arrived_is_given_up_and_stays_undone_also_when_it_arrives_later() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--late", "20s"], &IMPATIENT).await?;
    // One is lost, one is booked late.
    for amount in ["2000.07", "2000.05"] {
        let paid = scene.pay_by_card(amount, &[]).await?;
        assert_result(&paid, 200, "000.200.000");
        scene.shop.advance_clock("31s").await?;
        assert_result(&scene.wait_for_outcome(paid.id()).await?, 400, "900.100.300");
    }
    assert!(scene.booked_entries("debit").await?.is_empty());
    scene.reconcile().await
}

#[tokio::test]
async fn a_request_that_reaches_the_host_after_the_payment_was_given_up_is_declined_there() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    let mut late = Vec::new();
    for (amount, payment_type) in [("2000.07", "DB"), ("2000.07", "PA"), ("2000.07", "CD")] {
        let paid = scene.pay_by_card(amount, &[("paymentType", payment_type)]).await?;
        assert_result(&paid, 200, "000.200.000");
        late.push(paid.id().to_owned());
    }
    scene.shop.advance_clock("31s").await?;
    for id in &late {
        assert_result(&scene.wait_for_outcome(id).await?, 400, "900.100.300");
        // The network has kept the request until now, and delivers it twice.
        let merchant = scene.shop.entity_id.as_str();
        let request =
            with_changes(authorization_request(id), &[("/merchantId", merchant.into()), ("/amount", 9200.into())]);
        for operation in ["authorize", "authorize", "credit"] {
            let answer = scene.host.send_operation(operation, id, &request).await?;
            assert_eq!(answer.outcome_and_code(), ("declined", "21"), "{}", answer.json);
        }
        assert_result(&scene.wait_for_outcome(id).await?, 400, "900.100.300");
    }
    assert!(
        scene.host.read_ledger().await?.iter().all(|entry| entry["kind"] == "unseen" || entry["kind"] == "reversal")
    );
    scene.reconcile().await
}

#[tokio::test]
async fn a_capture_a_refund_and_a_reversal_whose_answers_are_lost_are_asked_again_and_done_once() -> anyhow::Result<()>
{
    let scene = AcquirerScene::start(&["--control"], &IMPATIENT).await?;
    for fault in ["silent", "cut", "twice", "garbage", "dropped", "forged", "mismatched"] {
        let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
        scene.host.schedule_fault("capture", fault, 1).await?;
        let captured = scene.modify(authorized.id(), "CP", "60.00").await?;
        assert_result(&scene.wait_for_outcome(captured.id()).await?, 200, "000.100.112");
        scene.host.schedule_fault("refund", fault, 2).await?;
        let refunded = scene.modify(captured.id(), "RF", "60.00").await?;
        // Its amount is reserved meanwhile.
        assert_result(&scene.modify(captured.id(), "RF", "0.01").await?, 400, "700.400.200");
        assert_result(&scene.wait_for_outcome(refunded.id()).await?, 200, "000.100.112");
        let debit = scene.pay_by_card("10.00", &[]).await?;
        scene.host.schedule_fault("reverse", fault, 1).await?;
        let reversed = scene.reverse(debit.id()).await?;
        assert_result(&scene.wait_for_outcome(reversed.id()).await?, 200, "000.100.112");
    }
    for kind in ["capture", "refund", "reversal"] {
        assert_eq!(scene.booked_entries(kind).await?.len(), 7, "{kind}");
    }
    scene.reconcile().await
}

#[tokio::test]
async fn an_inquiry_without_an_answer_is_asked_again() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &IMPATIENT).await?;
    scene.host.schedule_fault("inquire", "garbage", 1).await?;
    scene.host.schedule_fault("inquire", "dropped", 1).await?;
    let paid = scene.pay_by_card("2000.03", &[]).await?;
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, "000.100.112");
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_in_the_middle_of_a_payment_and_of_a_refund_leaves_no_doubt() -> anyhow::Result<()> {
    let mut scene = AcquirerScene::start(&[], &IMPATIENT).await?;
    let first = scene.pay_by_card("92.00", &[]).await?;
    let (shop, fields) = (scene.shop.clone(), [("testMode", "EXTERNAL"), ("amount", "2000.02")]);
    let paying = tokio::spawn(async move { shop.pay_by_card(&fields).await });
    scene.wait_until_booked("debit", 2).await?;
    scene.line.set_target(None);
    let refund = scene.modify(first.id(), "RF", "92.00").await?;
    assert_result(&refund, 200, "000.200.000");
    scene = scene.restart_host()?;
    let paid = paying.await??;
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, "000.100.112");
    assert_result(&scene.wait_for_outcome(refund.id()).await?, 200, "000.100.112");
    assert_eq!(scene.booked_entries("refund").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test]
async fn a_gateway_that_is_killed_between_its_two_commits_finds_out_afterwards() -> anyhow::Result<()> {
    // It waits long for the host, which never answers.
    let mut scene = AcquirerScene::start(&["--control"], &[]).await?;
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    scene.host.schedule_fault("capture", "silent", 1).await?;
    for (kind, path, fields) in [
        (
            "debit",
            "v1/payments".to_owned(),
            vec![("testMode", "EXTERNAL"), ("amount", "2000.02"), ("paymentType", "DB")],
        ),
        ("capture", format!("v1/payments/{}", authorized.id()), vec![("paymentType", "CP"), ("amount", "92.00")]),
    ] {
        let shop = scene.shop.clone();
        let mut all = if kind == "debit" { tillgate_tests::CARD.to_vec() } else { Vec::new() };
        all.extend(fields);
        all.push(("currency", "EUR"));
        let asking = tokio::spawn(async move { shop.post(&path, &all).await.map(drop) });
        scene.wait_until_booked(kind, 1).await?;
        scene = scene.restart_gateway()?;
        assert!(asking.await?.is_err(), "nobody has answered");
        scene.reconcile().await?;
    }
    assert_eq!((scene.booked_entries("debit").await?.len(), scene.booked_entries("capture").await?.len()), (1, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merchant_is_told_when_the_outcome_is_known() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-timeout", "1s", "--allow-network", "127.0.0.0/8"]).await?;
    let receiver = Receiver::start().await?;
    let (shop, url) = (&scene.shop, receiver.url("events"));
    let made = scene.gateway.run_command(&["webhook", "create", "--entity", &shop.entity_id, "--url", &url])?;
    let webhook = made["webhookId"].as_str().unwrap_or_default();
    scene.gateway.run_command(&["webhook", "test", "--webhook", webhook, "--allow-network", "127.0.0.0/8"])?;
    receiver.next_request().await?;
    let notify = receiver.url("notify");
    let paid = scene.pay_by_card("2000.02", &[("notificationUrl", &notify)]).await?;
    assert_result(&paid, 200, "000.200.000");
    // The payment, its outcome, and the notification; in any order.
    let mut told = [receiver.next_request().await?, receiver.next_request().await?, receiver.next_request().await?];
    told.sort_by(|one, other| one.method.cmp(&other.method));
    assert_eq!(told.each_ref().map(|request| request.method.as_str()), ["GET", "POST", "POST"]);
    assert_eq!(told[0].query_parameters()[0].1, paid.id());
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, "000.100.112");
    scene.reconcile().await
}
