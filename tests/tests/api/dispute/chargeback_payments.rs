//! Chargebacks and their reversals as payments: their mode, amounts and settlement.

use serde_json::Value;
use tillgate_tests::{Database, TestGateway, poll_until};

use crate::dispute::disputes::{DisputeScene, REASON, assert_stage};
use crate::dispute::evidence::charge_back;
use crate::support::*;

#[tokio::test]
async fn a_chargeback_and_its_reversal_have_the_mode_of_their_payment() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let paid = scene.shop.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    assert_result(&paid, 200, "000.100.112");
    let opened = scene.open(paid.id(), &[("stage", "CHARGEBACK"), REASON]).await?;
    let won = scene.advance(opened.id(), "REVERSAL").await?;
    assert_stage(&won, "REVERSAL", "NONE");
    for (id, code) in [("chargebackId", REASON.1), ("reversalId", "000.100.112")] {
        let payment = scene.shop.get(&format!("v1/payments/{}", won.json[id].as_str().unwrap_or_default())).await?;
        assert_result(&payment, 200, code);
        assert_eq!(payment.json["testMode"], "EXTERNAL", "{}", payment.text);
    }
    Ok(())
}

#[tokio::test]
async fn a_chargeback_and_its_reversal_that_are_payments_move_the_dispute_too() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let payment = scene.pay().await?;
    let opened = scene.open(&payment, &[("stage", "RETRIEVAL_REQUEST")]).await?;
    let charged = scene.shop.post(&format!("v1/payments/{payment}"), &[REASON, ("paymentType", "CB")]).await?;
    assert_result(&charged, 200, REASON.1);
    let dispute = scene.read(opened.id()).await?;
    assert_eq!((&dispute["stage"], &dispute["chargebackId"]), (&"CHARGEBACK".into(), &charged.id().into()));
    let path = format!("v1/payments/{}", charged.id());
    let too_much = [("paymentType", "CR"), ("amount", "92.01"), ("currency", "EUR")];
    assert_result(&scene.operator.post(&path, &too_much).await?, 400, "700.100.300");
    let part = [("paymentType", "CR"), ("amount", "90.00"), ("currency", "EUR")];
    let reversed = scene.operator.post(&path, &part).await?;
    assert_result(&reversed, 200, "000.100.110");
    assert_result(&scene.operator.post(&path, &[("paymentType", "CR")]).await?, 400, "700.400.300");
    let dispute = scene.read(opened.id()).await?;
    assert_eq!((&dispute["stage"], &dispute["reversalId"]), (&"REVERSAL".into(), &reversed.id().into()));
    for id in [scene.pay().await?.as_str(), reversed.id()] {
        let answer = scene.operator.post(&format!("v1/payments/{id}"), &[("paymentType", "CR")]).await?;
        assert_result(&answer, 400, "700.300.100");
    }
    Ok(())
}

#[tokio::test]
async fn amounts_are_at_most_those_of_the_payment_and_of_the_chargeback() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let payment = scene.pay().await?;
    for (name, value) in [
        ("amount", "92.01"),
        ("amount", "0.00"),
        ("amount", "1.005"),
        ("amount", "-1.00"),
        ("responseDays", "0"),
        ("responseDays", "366"),
        ("schemeReasonCode", "4200000000000000"),
        ("chargebackResultCode", "000.100.110"),
    ] {
        assert_errors(&scene.open(&payment, &[("stage", "CHARGEBACK"), (name, value)]).await?, &[name]);
    }
    let opened = scene.open(&payment, &[("stage", "CHARGEBACK"), ("amount", "10.00")]).await?;
    assert_stage(&opened, "CHARGEBACK", "MERCHANT");
    assert_eq!(scene.open(&payment, &[("stage", "CHARGEBACK")]).await?.status, 409);
    let path = format!("v1/disputes/{}/advance", opened.id());
    assert_errors(&scene.operator.post(&path, &[("stage", "REVERSAL"), ("amount", "10.01")]).await?, &["amount"]);
    let won = scene.operator.post(&path, &[("stage", "REVERSAL"), ("amount", "9.99")]).await?;
    assert_stage(&won, "REVERSAL", "NONE");
    // The payment was charged back once, and neither the chargeback nor its reversal can be disputed.
    let text = |name: &str| won.json[name].as_str().unwrap_or_default().to_owned();
    for id in [payment, text("chargebackId"), text("reversalId")] {
        assert_errors(&scene.open(&id, &[("stage", "CHARGEBACK")]).await?, &["paymentId"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_reversal_is_settled_as_one_and_names_the_payment_and_the_chargeback() -> anyhow::Result<()> {
    let scene = DisputeScene::create()?;
    let id = scene.open_chargeback().await?;
    let won = scene.advance(&id, "REVERSAL").await?;
    assert_stage(&won, "REVERSAL", "NONE");
    scene.shop.advance_clock("48h").await?;
    let path = "reconciliations/v1/records?date.from=2020-01-01&date.to=2099-12-31";
    let record = poll_until("the reversal is settled", async || {
        let lines = scene.shop.get(path).await?.text;
        let records = lines.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
        Ok(records.into_iter().find(|record| record["recordType"] == "CHARGEBACK REVERSAL"))
    })
    .await?;
    assert_eq!((&record["transactionType"], &record["amount"]), (&"DEBIT".into(), &"92.00".into()), "{record}");
    assert_eq!(record["payment"]["id"], won.json["paymentId"], "{record}");
    assert_eq!(record["chargebackTransaction"]["id"], won.json["chargebackId"], "{record}");
    assert_eq!(record["result"]["code"], REASON.1, "{record}");
    Ok(())
}

#[tokio::test]
async fn the_store_itself_refuses_a_reversal_without_its_chargeback_and_a_second_open_dispute() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let dispute = charge_back(&shop, &[]).await?;
    let read = shop.get(&format!("v1/disputes/{dispute}")).await?;
    let text = |name: &str| read.json[name].as_str().unwrap_or_default().to_owned();
    let database = Database::open(&gateway.data_folder())?;
    let link = |referenced: &str, id: &str, hundredths: i64| {
        let query = "INSERT INTO payment_link (referenced, id, type, hundredths, approved, entity)
             VALUES (?1, ?2, 'CR', ?3, TRUE, ?4)";
        database.execute(query, rusqlite::params![referenced, id, hundredths, shop.entity_id])
    };
    assert!(link(&text("paymentId"), "r1", 100).is_err(), "a debit is no chargeback");
    assert!(link(&text("chargebackId"), "r2", 9201).is_err(), "it is more than the chargeback");
    assert!(link("8a00000000000000000000000000000", "r3", 1).is_err(), "there is no such payment");
    link(&text("chargebackId"), "r4", 9200)?;
    assert!(link(&text("chargebackId"), "r5", 0).is_err(), "there is one already");
    let copy = "INSERT INTO dispute (id, entity, payment, open, document)
         SELECT 'copy', entity, payment, TRUE, document FROM dispute";
    assert!(database.execute(copy, []).is_err());
    Ok(())
}
