//! Faults between the steps of a debit in two steps: a capture that the acquirer's host declines or does not answer, a
//! gateway that is killed, and a shopper who gives the payment up meanwhile.

use serde_json::json;
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::acquirer::payments::AcquirerScene;
use crate::payment::held_payments::{HELD, create_reviewed_shop, decide};
use crate::payment::two_step_debits::*;
use crate::risk::screening::list_linked_payments;
use crate::support::*;
use crate::three_ds::{BACK, CARDHOLDER_DATA};

const PAID: &str = "000.100.112";
/// A time-out that is short enough for a test.
const IMPATIENT: [&str; 2] = ["--acquirer-timeout", "1s"];
/// More faults than a test has requests: the connection is closed before the request is booked. They end when the host
/// restarts.
const MANY: u32 = 100_000;

/// Waits until a payment of a shop is no longer pending.
async fn wait_for_outcome(shop: &MerchantClient, payment: &str) -> anyhow::Result<ApiResponse> {
    tillgate_tests::poll_until("the outcome is known", async || {
        let status = shop.get(&format!("v1/payments/{payment}")).await?;
        Ok(Some(status).filter(|status| status.result_code() != PENDING))
    })
    .await
}

/// Reverses the authorization of a payment at the host, as the acquirer's own staff would.
async fn reverse_at_host(
    scene: &AcquirerScene,
    shop: &MerchantClient,
    payment: &ApiResponse,
    units: u64,
) -> anyhow::Result<()> {
    let body = json!({
        "merchantId": shop.entity_id, "paymentId": payment.id(), "originalKey": payment.id(), "amount": units,
        "currency": "EUR",
    });
    let reply = scene.host.send_operation("reverse", "by-hand", &body).await?;
    assert_eq!(reply.outcome_and_code(), ("approved", "00"));
    Ok(())
}

/// Asserts that a payment was declined by its capture, and that its authorization alone was reversed by the gateway.
async fn assert_only_authorization_reversed(
    scene: &AcquirerScene,
    shop: &MerchantClient,
    payment: &ApiResponse,
) -> anyhow::Result<()> {
    let ended = wait_for_outcome(shop, payment.id()).await?;
    assert_eq!(ended.status, 400, "{}", ended.text);
    assert!(ended.result_code().starts_with("800.100."), "{}", ended.text);
    expect_kinds(scene, &["authorization", "reversal", "capture", "reversal"]).await?;
    let ledger = scene.host.read_ledger().await?;
    assert_eq!(ledger[2]["approved"], false, "{}", ledger[2]);
    assert_eq!((&ledger[3]["original"], &ledger[3]["approved"]), (&ledger[0]["number"], &json!(true)), "{}", ledger[3]);
    let id = format!("{:012}", ledger[0]["number"].as_u64().unwrap_or_default());
    assert_eq!(ended.json["resultDetails"]["ConnectorTxID1"], id.as_str(), "the id of the authorization stays");
    tillgate_tests::poll_until("the reversal is done", async || {
        let linked = list_linked_payments(shop, payment.id()).await?;
        Ok((linked == [("RV".to_owned(), PAID.to_owned())]).then_some(()))
    })
    .await?;
    scene.reconcile().await
}

#[tokio::test]
async fn of_a_debit_whose_capture_is_declined_only_the_authorization_is_reversed() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &IMPATIENT).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    scene.host.schedule_fault("capture", "dropped", MANY).await?;
    let paid = pay(&shop, "92.00", &[EXTERNAL]).await?;
    assert_result(&paid, 200, PENDING);
    reverse_at_host(&scene, &shop, &paid, 9200).await?;
    let scene = scene.restart_host()?;
    assert_only_authorization_reversed(&scene, &shop, &paid).await
}

#[tokio::test]
async fn of_a_reviewed_debit_whose_capture_is_declined_only_the_authorization_is_reversed() -> anyhow::Result<()> {
    for (review, payment_type) in [("hold", "PA.CP"), ("authorize", "DB")] {
        let scene = AcquirerScene::start(&[], &[]).await?;
        let shop = create_shop(&scene.gateway, &["--review", review]).await?;
        let fields = [EXTERNAL, ("paymentType", payment_type), ("amount", "40.00")];
        let held = shop.pay_by_card(&fields).await?;
        assert_result(&held, 200, HELD);
        reverse_at_host(&scene, &shop, &held, 4000).await?;
        assert_eq!(decide(&shop, held.id(), "APPROVE", "jane").await?, 200);
        assert_only_authorization_reversed(&scene, &shop, &held).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_capture_without_an_answer_is_repeated_until_it_has_one_and_booked_once() -> anyhow::Result<()> {
    let mut scene = AcquirerScene::start(&["--control"], &IMPATIENT).await?;
    let shop = create_shop(&scene.gateway, &[]).await?;
    for (number, fault) in ["silent", "cut", "dropped", "forged", "garbage", "mismatched"].into_iter().enumerate() {
        scene.host.schedule_fault("capture", fault, 1).await?;
        let paid = pay(&shop, "92.00", &[EXTERNAL]).await?;
        assert!([PENDING, PAID].contains(&paid.result_code()), "{fault}: {}", paid.text);
        assert_result(&wait_for_outcome(&shop, paid.id()).await?, 200, PAID);
        assert_eq!(scene.booked_entries("capture").await?.len(), number + 1, "{fault}");
        assert!(list_linked_payments(&shop, paid.id()).await?.is_empty());
    }
    // A host that is away for a while.
    scene.host.schedule_fault("capture", "dropped", MANY).await?;
    let paid = pay(&shop, "92.00", &[EXTERNAL]).await?;
    assert_result(&paid, 200, PENDING);
    for change in ["RF", "RV", "CP"] {
        let fields = [("paymentType", change), ("amount", "92.00"), ("currency", "EUR")];
        let fields = if change == "RV" { &fields[..1] } else { &fields };
        assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), fields).await?, 400, "700.400.570");
    }
    scene = scene.restart_host()?;
    assert_result(&wait_for_outcome(&shop, paid.id()).await?, 200, PAID);
    assert!(scene.booked_entries("reversal").await?.is_empty());
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_killed_in_either_step_checks_and_captures_afterwards() -> anyhow::Result<()> {
    for (operation, kind, amount, code, kinds) in [
        ("authorize", "authorization", "92.00", PAID, ["authorization", "capture"]),
        ("authorize", "authorization", "20.00", "100.400.147", ["authorization", "reversal"]),
        ("capture", "capture", "92.00", PAID, ["authorization", "capture"]),
    ] {
        let scene = AcquirerScene::start(&["--control"], &[]).await?;
        let shop = create_shop(&scene.gateway, &[]).await?;
        scene.host.schedule_fault(operation, "silent", 1).await?;
        let paying = tokio::spawn({
            let shop = shop.clone();
            let fields = [EXTERNAL, ("merchantTransactionId", "killed-4711")];
            async move { pay(&shop, amount, &fields).await }
        });
        scene.wait_until_booked(kind, 1).await?;
        let scene = scene.restart_gateway()?;
        assert!(paying.await?.is_err(), "nobody has answered");
        let shop = MerchantClient::new(scene.gateway.base_url(), shop.entity_id, shop.token);
        let ended = tillgate_tests::poll_until("the outcome is known", async || {
            let found = shop.get("v1/query?merchantTransactionId=killed-4711").await?;
            let payments = found.json["payments"].as_array().cloned().unwrap_or_default();
            let first = payments.into_iter().find(|payment| payment["paymentType"] == "PA.CP");
            Ok(first.filter(|payment| payment["result"]["code"] != PENDING))
        })
        .await?;
        assert_eq!(ended["result"]["code"], code, "{ended}");
        expect_kinds(&scene, &kinds).await?;
        scene.reconcile().await?;
    }
    Ok(())
}

/// Submits a challenged card in a new checkout and confirms the challenge. Returns the ids of checkout and payment.
async fn submit_challenged(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<(String, String)> {
    let made = shop.create_checkout(&[&[EXTERNAL, BACK], fields].concat()).await?;
    let submitted = shop.submit_card(made.id(), &[&CARDHOLDER_DATA[..], &[CHALLENGED_CARD]].concat()).await?;
    assert_result(&submitted, 200, PENDING);
    confirm_challenge(shop, &submitted).await?;
    Ok((made.id().to_owned(), shop.read_status(made.id()).await?.id().to_owned()))
}

#[tokio::test]
async fn a_debit_that_its_shopper_gives_up_in_either_step_is_reversed() -> anyhow::Result<()> {
    for (faults, captures) in
        [(&[("authorize", "silent", 1), ("inquire", "dropped", MANY)][..], 1), (&[("capture", "dropped", MANY)], 2)]
    {
        let scene = AcquirerScene::start(&["--control"], &IMPATIENT).await?;
        let shop = create_shop(&scene.gateway, &[]).await?;
        for (operation, fault, times) in faults {
            scene.host.schedule_fault(operation, fault, *times).await?;
        }
        let (checkout, payment) = submit_challenged(&shop, &[TWO_STEPS]).await?;
        assert_result(&shop.read_status(&checkout).await?, 200, PENDING);
        assert_eq!(shop.submit_card(&checkout, &[]).await?.status, 200);
        let scene = scene.restart_host()?;
        tillgate_tests::poll_until("the reversal is done", async || {
            Ok((list_linked_payments(&shop, &payment).await? == [("RV".to_owned(), PAID.to_owned())]).then_some(()))
        })
        .await?;
        assert_result(&wait_for_outcome(&shop, shop.read_status(&checkout).await?.id()).await?, 200, PAID);
        assert_eq!(
            scene.booked_entries("capture").await?.len(),
            captures,
            "a payment given up is not captured any more"
        );
        scene.reconcile().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_reviewed_debit_that_is_given_up_and_captured_after_the_cut_off_is_refunded() -> anyhow::Result<()> {
    let soon = (jiff::Timestamp::now() + jiff::SignedDuration::from_mins(10)).strftime("%H:%M").to_string();
    for (review, payment_type) in [("authorize", "DB"), ("hold", "PA.CP")] {
        let arguments = [&IMPATIENT[..], &["--acquirer-cut-off", &soon]].concat();
        let scene = AcquirerScene::start(&["--control"], &arguments).await?;
        let shop = create_reviewed_shop(&scene.gateway, review, &[]).await?;
        let (checkout, payment) = submit_challenged(&shop, &[("paymentType", payment_type)]).await?;
        assert_result(&shop.read_status(&checkout).await?, 200, HELD);
        scene.host.schedule_fault("capture", "dropped", MANY).await?;
        // Before the capture: the time until it is repeated grows with the time since its request.
        shop.advance_clock("15m").await?;
        assert_eq!(decide(&shop, &payment, "APPROVE", "jane").await?, 200);
        assert_result(&shop.read_status(&checkout).await?, 200, PENDING);
        // Another card: the first payment is given up while nobody knows what became of its capture.
        assert_eq!(shop.submit_card(&checkout, &[]).await?.status, 200);
        let second = shop.read_status(&checkout).await?;
        assert_ne!(second.id(), payment);
        let scene = scene.restart_host()?;
        scene.wait_until_booked("refund", 1).await?;
        assert!(scene.booked_entries("reversal").await?.is_empty(), "the debit is booked by now");
        tillgate_tests::poll_until("the refund is done", async || {
            Ok((list_linked_payments(&shop, &payment).await? == [("RF".to_owned(), PAID.to_owned())]).then_some(()))
        })
        .await?;
    }
    Ok(())
}
