//! Captures above the authorized amount, last captures, and lifetimes of preauthorizations at the acquirer's host.

use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient};

use crate::acquirer::payments::AcquirerScene;
use crate::payment::increments::INCREMENT;
use crate::settlement::settlements::read_balances;
use crate::support::*;

/// Captures an amount in euros as the last one. Returns any response.
async fn capture_finally(shop: &MerchantClient, id: &str, amount: &str) -> anyhow::Result<ApiResponse> {
    let fields = [("paymentType", "CP"), ("amount", amount), ("currency", "EUR"), ("finalCapture", "true")];
    shop.post(&format!("v1/payments/{id}"), &fields).await
}

/// Returns the state of a preauthorization, and its captured and released amounts. A missing value is empty.
async fn read_state(shop: &MerchantClient, id: &str) -> anyhow::Result<[String; 3]> {
    let read = shop.get(&format!("v1/payments/{id}")).await?;
    Ok(["state", "capturedAmount", "releasedAmount"]
        .map(|name| read.json[name].as_str().unwrap_or_default().to_owned()))
}

#[tokio::test]
async fn captures_exceed_the_amount_by_the_tolerance_of_the_merchant_and_no_more() -> anyhow::Result<()> {
    let mut scene = AcquirerScene::start(&[], &[]).await?;
    let strict = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_result(&scene.modify(strict.id(), "CP", "92.01").await?, 400, "700.400.100");
    scene.shop = scene.gateway.create_merchant_with(&["--overcapture", "15"])?;
    let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_result(&scene.modify(reserved.id(), "CP", "90.00").await?, 200, "000.100.112");
    assert_result(&scene.modify(reserved.id(), "CP", "15.81").await?, 400, "700.400.100");
    assert_result(&scene.modify(reserved.id(), "CP", "15.80").await?, 200, "000.100.112");
    assert_result(&scene.modify(reserved.id(), "CP", "0.01").await?, 400, "700.400.100");
    assert_eq!(read_state(&scene.shop, reserved.id()).await?, ["CAPTURED", "105.80", ""]);
    assert_eq!(read_balances(&scene.shop, "receivable").await?.get("EUR"), Some(&10_580));
    // The tolerance is of the whole sum with its increments.
    let raised = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let fields = [INCREMENT, ("paymentType", "PA"), ("amount", "8.00"), ("currency", "EUR")];
    assert_result(&scene.shop.post(&format!("v1/payments/{}", raised.id()), &fields).await?, 200, "000.100.112");
    assert_result(&scene.modify(raised.id(), "CP", "115.01").await?, 400, "700.400.100");
    assert_result(&scene.modify(raised.id(), "CP", "115.00").await?, 200, "000.100.112");
    assert_eq!(scene.gateway.run_command(&["verify"])?["faultCount"], 0);
    scene.reconcile().await
}

#[tokio::test]
async fn an_acquirer_that_takes_no_more_is_asked_for_no_more() -> anyhow::Result<()> {
    let mut scene = AcquirerScene::start(&[], &["--acquirer-overcapture", "refused"]).await?;
    scene.shop = scene.gateway.create_merchant_with(&["--overcapture", "20"])?;
    let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let refused = scene.modify(reserved.id(), "CP", "92.01").await?;
    assert_result(&refused, 400, "700.400.101");
    assert_eq!(refused.invalid_parameters(), ["amount"], "{}", refused.text);
    assert_result(&scene.modify(reserved.id(), "CP", "92.00").await?, 200, "000.100.112");
    scene.reconcile().await
}

#[tokio::test]
async fn the_last_capture_releases_the_rest_also_if_its_answer_is_lost() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &[]).await?;
    for fault in [None, Some("cut")] {
        let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
        assert_result(&scene.modify(reserved.id(), "CP", "10.00").await?, 200, "000.100.112");
        // One that is declined is not the last one.
        assert_result(&capture_finally(&scene.shop, reserved.id(), "82.01").await?, 400, "700.400.100");
        if let Some(fault) = fault {
            scene.host.schedule_fault("capture", fault, 1).await?;
        }
        let last = capture_finally(&scene.shop, reserved.id(), "30.00").await?;
        assert_eq!(last.json["finalCapture"], "true", "{}", last.text);
        assert_result(&scene.wait_for_outcome(last.id()).await?, 200, "000.100.112");
        assert_eq!(read_state(&scene.shop, reserved.id()).await?, ["CAPTURED", "40.00", "52.00"]);
        assert_result(&scene.modify(reserved.id(), "CP", "1.00").await?, 400, "700.400.100");
        let fields = [INCREMENT, ("paymentType", "PA"), ("amount", "8.00"), ("currency", "EUR")];
        let raised = scene.shop.post(&format!("v1/payments/{}", reserved.id()), &fields).await?;
        assert_result(&raised, 400, "700.300.300");
        assert_result(&scene.reverse(reserved.id()).await?, 400, "700.400.300");
    }
    let entries = scene.booked_entries("authorization").await?;
    assert!(entries.len() == 2 && entries.iter().all(|entry| entry["finished"] == true), "{entries:?}");
    assert_eq!(scene.gateway.run_command(&["verify"])?["faultCount"], 0);
    scene.reconcile().await
}

#[tokio::test]
async fn a_channel_has_the_lifetime_and_the_tolerance_of_its_merchant_unless_it_has_its_own() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let merchant = scene.gateway.create_merchant_with(&["--authorization-days", "30", "--overcapture", "10"])?;
    let level = ["--merchant", merchant.entity_id.as_str()];
    let plain = scene.gateway.create_merchant_with(&level)?;
    let own = ["--authorization-days", "default", "--overcapture", "0"];
    let other = scene.gateway.create_merchant_with(&[&level[..], &own].concat())?;
    let mut reserved = Vec::new();
    for shop in [&plain, &other] {
        reserved.push(shop.pay_by_card(&[("paymentType", "PA"), ("amount", "50.00")]).await?.id().to_owned());
    }
    merchant.advance_clock("240h").await?;
    let capture = [("paymentType", "CP"), ("amount", "55.00"), ("currency", "EUR")];
    let captured = plain.post(&format!("v1/payments/{}", reserved[0]), &capture).await?;
    assert_result(&captured, 200, "000.100.110");
    let late = other.post(&format!("v1/payments/{}", reserved[1]), &capture).await?;
    assert_result(&late, 400, "700.300.400");
    assert_eq!(read_state(&other, &reserved[1]).await?, ["EXPIRED", "", "50.00"]);
    let shown = scene.gateway.run_command(&["entity", "show", "--entity", &merchant.entity_id])?;
    assert_eq!(shown["settings"]["authorization_days"], Value::from(30));
    Ok(())
}
