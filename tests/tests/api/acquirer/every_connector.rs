//! One suite for all external connectors: each behaviour is the same at every one of them, and the ledger at the end of
//! the way shows that money has moved once.

use futures_util::future::join_all;

use crate::acquirer::ways::{WAYS, Way, WayScene};
use crate::support::*;

const PAID: &str = "000.100.112";
const PENDING: &str = "000.200.000";

/// Runs a behaviour at every connector, each with its own gateway and acquirer.
async fn at_every_connector(behaviour: impl AsyncFn(WayScene) -> anyhow::Result<()>) -> anyhow::Result<()> {
    for way in WAYS {
        let scene = WayScene::start(way).await?;
        behaviour(scene).await.map_err(|error| error.context(format!("connector {}", way.connector)))?;
    }
    Ok(())
}

#[test]
fn every_external_connector_is_in_the_suite() {
    let names = WAYS.map(|Way { connector, .. }| connector);
    assert_eq!(names, tillgate_connector::EXTERNAL);
}

#[tokio::test]
async fn each_operation_moves_its_amount_once() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let debit = scene.pay("92.00", &[]).await?;
        assert_result(&debit, 200, PAID);
        assert!(debit.json["resultDetails"]["ConnectorTxID1"].is_string(), "{}", debit.text);
        assert_result(&scene.modify(&debit, "RF", "10.00").await?, 200, PAID);
        let reserved = scene.pay("50.00", &[("paymentType", "PA")]).await?;
        assert_result(&reserved, 200, PAID);
        let captured = scene.modify(&reserved, "CP", "20.00").await?;
        assert_result(&captured, 200, PAID);
        assert_result(&scene.modify(&captured, "RF", "5.00").await?, 200, PAID);
        let reversed = scene.pay("7.00", &[]).await?;
        assert_result(&scene.modify(&reversed, "RV", "").await?, 200, PAID);
        let released = scene.pay("8.00", &[("paymentType", "PA")]).await?;
        assert_result(&scene.modify(&released, "RV", "").await?, 200, PAID);
        assert_result(&scene.pay("3.00", &[("paymentType", "CD")]).await?, 200, PAID);
        let sums = [("authorization", 5000), ("capture", 2000), ("credit", 300), ("debit", 9200), ("refund", 1500)];
        scene.wait_for_sums(&sums).await?;
        assert_eq!(scene.gateway.run_command(&["verify"])?["faultCount"], 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_decline_has_the_acquirers_reason_and_moves_nothing() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        for (amount, code, response) in
            [("1000.51", "800.100.155", "51"), ("1000.05", "800.100.152", "05"), ("1000.41", "800.100.165", "41")]
        {
            let declined = scene.pay(amount, &[]).await?;
            assert_result(&declined, 400, code);
            assert_eq!(declined.json["resultDetails"]["AcquirerResponse"], response, "{}", declined.text);
            assert!(declined.json["amount"].is_null(), "{}", declined.text);
        }
        scene.wait_for_sums(&[]).await
    })
    .await
}

#[tokio::test]
async fn checks_of_address_and_security_code_come_back() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let address = [("billing.street1", "Kiln Lane 4"), ("billing.postcode", "12345")];
        let paid = scene.pay("92.00", &address).await?;
        assert_result(&paid, 200, PAID);
        assert!(paid.json["result"]["avsResponse"].is_string(), "{}", paid.text);
        assert_eq!(paid.json["result"]["cvvResponse"], "M", "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_account_is_verified_without_money() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        assert_result(&scene.pay("0.00", &[("paymentType", "PA")]).await?, 200, PAID);
        let card = [&tillgate_tests::CARD[..], &[("testMode", "EXTERNAL")]].concat();
        assert_result(&scene.shop.post("v1/registrations", &card).await?, 200, PAID);
        let sums = scene.effective_sums().await?;
        assert!(sums.values().all(|sum| *sum == 0), "{sums:?}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_moves_money_once() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let fields = [&tillgate_tests::CARD[..], &[("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")]];
        let fields =
            [&fields.concat()[..], &[("testMode", "EXTERNAL"), ("entityId", scene.shop.entity_id.as_str())]].concat();
        let send = async || {
            let request = scene.shop.bare_request(reqwest::Method::POST, "v1/payments");
            let request = request.bearer_auth(&scene.shop.token).header("idempotency-key", "order-1");
            let body = tillgate_tests::encode_form(fields.iter().copied());
            let form = "application/x-www-form-urlencoded";
            Ok::<_, anyhow::Error>(request.header("content-type", form).body(body).send().await?.status().as_u16())
        };
        for status in join_all((0..10).map(|_| send())).await {
            assert!(matches!(status?, 200 | 409));
        }
        assert_eq!(send().await?, 200);
        scene.wait_for_sums(&[("debit", 9200)]).await
    })
    .await
}

#[tokio::test]
async fn a_lost_answer_is_found_out_or_reversed() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let pending = scene.pay("2000.02", &[]).await?;
        assert_result(&pending, 200, PENDING);
        scene.shop.advance_clock("1m").await?;
        let (status, code) = scene.way.unanswered;
        assert_result(&scene.wait_for_outcome(&pending).await?, status, code);
        scene.wait_for_sums(if status == 200 { &[("debit", 200_002)] } else { &[] }).await
    })
    .await
}

#[tokio::test]
async fn a_gateway_that_dies_while_it_waits_finds_the_outcome_out_afterwards() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let shop = scene.shop.clone();
        let fields = [("testMode", "EXTERNAL"), ("amount", "2000.02"), ("merchantTransactionId", "killed-4711")];
        let waiting = tokio::spawn(async move { shop.pay_by_card(&fields).await });
        tillgate_tests::poll_until("the host has booked", async || {
            Ok((!scene.effective_sums().await?.is_empty()).then_some(()))
        })
        .await?;
        let scene = scene.restart_gateway().await?;
        assert!(waiting.await?.is_err(), "the gateway died");
        scene.shop.advance_clock("1m").await?;
        let (status, code) = scene.way.unanswered;
        let found = tillgate_tests::poll_until("the payment ends", async || {
            let found = scene.shop.get("v1/query?merchantTransactionId=killed-4711").await?;
            let payment = &found.json["payments"][0]["result"]["code"];
            Ok(Some(payment.as_str().unwrap_or_default().to_owned()).filter(|code| code != PENDING))
        })
        .await?;
        assert_eq!(found, code);
        scene.wait_for_sums(if status == 200 { &[("debit", 200_002)] } else { &[] }).await
    })
    .await
}

#[tokio::test]
async fn a_payment_that_never_arrives_ends_and_the_next_one_is_paid() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        scene.connect(false).await?;
        let lost = scene.pay("92.00", &[]).await?;
        if scene.way.is_cut_off_unknown {
            assert_result(&lost, 200, PENDING);
            scene.connect(true).await?;
            scene.shop.advance_clock("31s").await?;
        }
        assert_result(&scene.wait_for_outcome(&lost).await?, 400, scene.way.cut_off);
        scene.connect(true).await?;
        assert_result(&scene.pay("92.00", &[]).await?, 200, PAID);
        scene.wait_for_sums(&[("debit", 9200)]).await
    })
    .await
}

#[tokio::test]
async fn no_more_is_captured_refunded_or_reversed_than_there_is() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let reserved = scene.pay("50.00", &[("paymentType", "PA")]).await?;
        assert_result(&scene.modify(&reserved, "CP", "50.01").await?, 400, "700.400.100");
        assert_result(&scene.modify(&reserved, "CP", "30.00").await?, 200, PAID);
        assert_result(&scene.modify(&reserved, "CP", "20.01").await?, 400, "700.400.100");
        assert_result(&scene.modify(&reserved, "RV", "").await?, 400, "700.400.300");
        let debit = scene.pay("92.00", &[]).await?;
        assert_result(&scene.modify(&debit, "RF", "92.00").await?, 200, PAID);
        assert_result(&scene.modify(&debit, "RF", "0.01").await?, 400, "700.400.200");
        let reversed = scene.pay("7.00", &[]).await?;
        assert_result(&scene.modify(&reversed, "RV", "").await?, 200, PAID);
        assert_result(&scene.modify(&reversed, "RV", "").await?, 400, "700.400.300");
        let sums = [("authorization", 5000), ("capture", 3000), ("debit", 9200), ("refund", 9200)];
        scene.wait_for_sums(&sums).await
    })
    .await
}

#[tokio::test]
async fn a_follow_up_whose_answer_is_lost_is_done_once() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let reserved = scene.pay("50.00", &[("paymentType", "PA")]).await?;
        scene.host.client().schedule_fault("capture", "silent", 1).await?;
        let captured = scene.modify(&reserved, "CP", "20.00").await?;
        assert_result(&captured, 200, PENDING);
        scene.shop.advance_clock("5s").await?;
        assert_result(&scene.wait_for_outcome(&captured).await?, 200, PAID);
        scene.wait_for_sums(&[("authorization", 5000), ("capture", 2000)]).await
    })
    .await
}

#[tokio::test]
async fn a_part_is_booked_if_it_is_accepted_and_else_reversed() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let part = scene.pay("1000.10", &[("partialApproval", "accept")]).await?;
        assert_result(&part, 200, PAID);
        assert_eq!((&part.json["amount"], &part.json["requestedAmount"]), (&"500.05".into(), &"1000.10".into()));
        assert_eq!(part.json["resultDetails"]["AcquirerResponse"], scene.way.part_response, "{}", part.text);
        assert_result(&scene.modify(&part, "RF", "500.06").await?, 400, "700.400.200");
        assert_result(&scene.modify(&part, "RF", "500.05").await?, 200, PAID);
        assert_result(&scene.pay("1000.10", &[]).await?, 400, "800.100.155");
        scene.wait_for_sums(&[("debit", 50_005), ("refund", 50_005)]).await
    })
    .await
}

#[tokio::test]
async fn a_debit_in_two_steps_is_captured_and_reversed() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let paid = scene.pay("92.00", &[("paymentType", "PA.CP")]).await?;
        assert_result(&paid, 200, PAID);
        assert_result(&scene.modify(&paid, "RF", "2.00").await?, 200, PAID);
        let reversed = scene.pay("40.00", &[("paymentType", "PA.CP")]).await?;
        assert_result(&scene.modify(&reversed, "RV", "").await?, 200, PAID);
        // Another gateway refunds the capture in place of a reversal, which the contract does not have.
        let taken = async || {
            let sums = scene.effective_sums().await?;
            let sum = |kind: &str| sums.get(kind).copied().unwrap_or_default();
            Ok::<_, anyhow::Error>(sum("debit") + sum("capture") - sum("refund"))
        };
        assert_eq!(taken().await?, 9000);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn no_secret_of_a_card_is_in_a_log_or_a_message() -> anyhow::Result<()> {
    at_every_connector(async |scene| {
        let paid = scene.pay("92.00", &[]).await?;
        let messages =
            scene.gateway.run_command(&["payment", "messages", "--entity", &scene.shop.entity_id, paid.id()])?;
        let messages = messages.to_string();
        assert!(messages.contains("authorization") && messages.contains("0000"), "{messages}");
        let log = scene.gateway.read_log();
        for secret in ["4200000000000000", "\"123\"", "\"2034\""] {
            assert!(!messages.contains(secret) && !log.contains(secret), "{secret}: {messages}");
        }
        if let Some((_, shop)) = &scene.upstream {
            assert!(!messages.contains(&shop.token) && !log.contains(&shop.token));
        }
        Ok(())
    })
    .await
}
