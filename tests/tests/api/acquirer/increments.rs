//! Increments of preauthorizations at the acquirer's host.

use tillgate_tests::ApiResponse;

use crate::acquirer::payments::AcquirerScene;
use crate::payment::increments::INCREMENT;
use crate::settlement::settlements::read_balances;
use crate::support::*;

/// Raises a preauthorization by an amount in euros. Returns any response.
async fn raise(scene: &AcquirerScene, id: &str, amount: &str) -> anyhow::Result<ApiResponse> {
    let fields = [INCREMENT, ("paymentType", "PA"), ("amount", amount), ("currency", "EUR")];
    scene.shop.post(&format!("v1/payments/{id}"), &fields).await
}

/// Returns raised and used amount of the host's only authorization, in minor units.
async fn read_authorization(scene: &AcquirerScene) -> anyhow::Result<(u64, u64)> {
    let entries = scene.booked_entries("authorization").await?;
    let amount = |name: &str| entries[0][name].as_u64().unwrap_or_default();
    Ok((amount("raised"), amount("used")))
}

#[tokio::test]
async fn a_raised_authorization_is_captured_completely_at_the_host() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let raised = raise(&scene, reserved.id(), "8.00").await?;
    assert_result(&raised, 200, "000.100.112");
    assert_eq!(raised.json["paymentType"], "PA");
    // The issuer declines this amount, and nothing changes.
    assert_result(&raise(&scene, reserved.id(), "1000.51").await?, 400, "800.100.155");
    assert_eq!(read_authorization(&scene).await?, (800, 0));
    assert!(read_balances(&scene.shop, "receivable").await?.is_empty(), "no money moves before the capture");
    assert_result(&scene.modify(reserved.id(), "CP", "60.00").await?, 200, "000.100.112");
    assert_result(&raise(&scene, reserved.id(), "5.00").await?, 200, "000.100.112");
    assert_result(&scene.modify(reserved.id(), "CP", "45.01").await?, 400, "700.400.100");
    assert_result(&scene.modify(reserved.id(), "CP", "45.00").await?, 200, "000.100.112");
    assert_eq!(read_authorization(&scene).await?, (1300, 10_500));
    assert_result(&raise(&scene, reserved.id(), "5.00").await?, 400, "700.300.300");
    assert_eq!(read_balances(&scene.shop, "receivable").await?.get("EUR"), Some(&10_500));
    assert_eq!(scene.gateway.run_command(&["verify"])?["faultCount"], 0);
    scene.reconcile().await
}

#[tokio::test]
async fn a_reversal_of_the_first_authorization_takes_its_increments_with_it() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let raised = raise(&scene, reserved.id(), "8.00").await?;
    assert_result(&scene.reverse(raised.id()).await?, 400, "700.300.100");
    let reversal = scene.reverse(reserved.id()).await?;
    assert_result(&reversal, 200, "000.100.112");
    assert_eq!(reversal.json["amount"], "100.00");
    for kind in ["authorization", "increment"] {
        assert!(scene.booked_entries(kind).await?.iter().all(|entry| entry["reversed"] == true), "{kind}");
    }
    assert_result(&raise(&scene, reserved.id(), "8.00").await?, 400, "700.300.300");
    assert_result(&scene.modify(reserved.id(), "CP", "1.00").await?, 400, "700.400.100");
    scene.reconcile().await
}

#[tokio::test]
async fn an_increment_whose_answer_is_lost_is_sent_again_and_booked_once() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &[]).await?;
    let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    for fault in ["cut", "dropped"] {
        scene.host.schedule_fault("increment", fault, 1).await?;
        let pending = raise(&scene, reserved.id(), "8.00").await?;
        assert_result(&pending, 200, "000.200.000");
        assert_result(&scene.wait_for_outcome(pending.id()).await?, 200, "000.100.112");
    }
    assert_eq!(read_authorization(&scene).await?, (1600, 0));
    let status = scene.shop.get(&format!("v1/payments/{}", reserved.id())).await?;
    assert_eq!((&status.json["authorizedAmount"], &status.json["amount"]), (&"108.00".into(), &"92.00".into()));
    scene.reconcile().await
}

#[tokio::test]
async fn an_acquirer_that_refuses_increments_is_asked_for_none() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-increments", "refused"]).await?;
    let reserved = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let refused = raise(&scene, reserved.id(), "8.00").await?;
    assert_result(&refused, 400, "600.200.202");
    assert_eq!(refused.invalid_parameters(), [INCREMENT.0], "{}", refused.text);
    assert_eq!(scene.booked_entries("increment").await?.len(), 0);
    Ok(())
}
