//! Approvals of a part of the amount. The issuer of the acquirer's host approves a half of 1000.10.

use tillgate_tests::{ApiResponse, TestGateway};

use crate::acquirer::payments::AcquirerScene;
use crate::settlement::settlements::read_balances;
use crate::support::*;

/// Checks that a response is about a payment of 500.05 of which 1000.10 were requested.
fn assert_part(response: &ApiResponse) {
    assert_result(response, 200, "000.100.112");
    assert_amounts(response);
    assert_eq!(response.json["resultDetails"]["AcquirerResponse"], "10", "{}", response.text);
}

fn assert_amounts(response: &ApiResponse) {
    assert_eq!(response.json["amount"], "500.05", "{}", response.text);
    assert_eq!(response.json["requestedAmount"], "1000.10", "{}", response.text);
}

/// Returns the amounts of the host's approved and not reversed entries of a kind, in minor units.
async fn effective_amounts(scene: &AcquirerScene, kind: &str) -> anyhow::Result<Vec<u64>> {
    let entries = scene.booked_entries(kind).await?;
    let effective = entries.iter().filter(|entry| entry["approved"] == true && entry["reversed"] == false);
    Ok(effective.filter_map(|entry| entry["amount"].as_u64()).collect())
}

#[tokio::test]
async fn an_accepted_part_is_the_amount_of_the_payment_and_of_all_that_refers_to_it() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let accept = ("partialApproval", "accept");
    let debit = scene.pay_by_card("1000.10", &[accept]).await?;
    assert_part(&debit);
    assert_eq!(debit.json["partialApproval"], "accept");
    assert_part(&scene.shop.get(&format!("v1/payments/{}", debit.id())).await?);
    assert_eq!(read_balances(&scene.shop, "receivable").await?.get("EUR"), Some(&50_005));
    assert_result(&scene.modify(debit.id(), "RF", "500.06").await?, 400, "700.400.200");
    assert_result(&scene.modify(debit.id(), "RF", "500.05").await?, 200, "000.100.112");
    let reserved = scene.pay_by_card("1000.10", &[accept, ("paymentType", "PA")]).await?;
    assert_part(&reserved);
    assert_result(&scene.modify(reserved.id(), "CP", "500.06").await?, 400, "700.400.100");
    assert_result(&scene.modify(reserved.id(), "CP", "500.05").await?, 200, "000.100.112");
    // The host knows the request by the amount that was requested.
    let reversed = scene.pay_by_card("1000.10", &[accept]).await?;
    assert_result(&scene.reverse(reversed.id()).await?, 200, "000.100.112");
    let two_steps = scene.pay_by_card("1000.10", &[accept, ("paymentType", "PA.CP")]).await?;
    assert_part(&two_steps);
    assert_eq!(effective_amounts(&scene, "debit").await?, [50_005, 50_005]);
    // An approval of the whole amount says nothing about a part.
    let whole = scene.pay_by_card("92.00", &[accept]).await?;
    assert_result(&whole, 200, "000.100.112");
    assert_eq!((&whole.json["amount"], whole.json.get("requestedAmount")), (&"92.00".into(), None));
    assert_eq!(scene.gateway.run_command(&["verify"])?["faultCount"], 0);
    scene.reconcile().await
}

#[tokio::test]
async fn a_part_that_is_captured_after_its_risk_check_is_reversed_with_its_preauthorization() -> anyhow::Result<()> {
    let mut scene = AcquirerScene::start(&[], &[]).await?;
    scene.shop = scene.gateway.create_merchant_with(&["--risk", "on"])?;
    let fields = [("partialApproval", "accept"), ("paymentType", "PA.CP")];
    let paid = scene.pay_by_card("1000.10", &fields).await?;
    assert_result(&paid, 200, "000.100.112");
    assert_amounts(&paid);
    assert_eq!(effective_amounts(&scene, "capture").await?, [50_005]);
    assert_result(&scene.reverse(paid.id()).await?, 200, "000.100.112");
    assert_eq!(effective_amounts(&scene, "capture").await?, [0_u64; 0]);
    assert_eq!(effective_amounts(&scene, "authorization").await?, [0_u64; 0]);
    Ok(())
}

#[tokio::test]
async fn a_part_that_nobody_accepts_is_reversed_at_the_host_and_the_payment_declined() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for fields in [&[][..], &[("partialApproval", "decline")], &[("paymentType", "PA")], &[("paymentType", "PA.CP")]] {
        let declined = scene.pay_by_card("1000.10", fields).await?;
        assert_result(&declined, 400, "800.100.155");
        assert_eq!((declined.json.get("amount"), declined.json.get("requestedAmount")), (None, None));
    }
    scene.wait_until_booked("reversal", 4).await?;
    scene.reconcile().await?;
    assert_eq!(effective_amounts(&scene, "debit").await?, [0_u64; 0]);
    assert_eq!(effective_amounts(&scene, "authorization").await?, [0_u64; 0]);
    assert!(read_balances(&scene.shop, "receivable").await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_part_whose_answer_was_lost_is_found_by_an_inquiry_and_treated_alike() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&["--control"], &[]).await?;
    for (fields, code) in [(&[("partialApproval", "accept")][..], "000.100.112"), (&[], "800.100.155")] {
        scene.host.schedule_fault("authorize", "cut", 1).await?;
        let pending = scene.pay_by_card("1000.10", fields).await?;
        assert_result(&pending, 200, "000.200.000");
        let ended = scene.wait_for_outcome(pending.id()).await?;
        assert_eq!(ended.result_code(), code, "{}", ended.text);
        if code == "000.100.112" {
            assert_part(&ended);
        }
    }
    scene.wait_until_booked("reversal", 1).await?;
    scene.reconcile().await?;
    assert_eq!(effective_amounts(&scene, "debit").await?, [50_005]);
    Ok(())
}

#[tokio::test]
async fn a_shop_decides_before_its_form_is_shown_and_no_browser_after_it() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let order = [("testMode", "EXTERNAL"), ("amount", "1000.10")];
    let accepting = scene.shop.create_checkout(&[&order[..], &[("partialApproval", "accept")]].concat()).await?;
    scene.shop.submit_card(accepting.id(), &[]).await?;
    assert_part(&scene.shop.read_status(accepting.id()).await?);
    let other = scene.shop.create_checkout(&order).await?;
    scene.shop.submit_card(other.id(), &[("partialApproval", "accept")]).await?;
    assert_result(&scene.shop.read_status(other.id()).await?, 400, "800.100.155");
    scene.reconcile().await
}

#[tokio::test]
async fn the_simulator_approves_a_half_of_the_same_amount_where_a_part_is_accepted() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let part = shop.pay_by_card(&[("amount", "1000.10"), ("partialApproval", "accept")]).await?;
    assert_result(&part, 200, "000.100.110");
    assert_amounts(&part);
    assert_amounts(&shop.get(&format!("v1/payments/{}", part.id())).await?);
    let refund = [("paymentType", "RF"), ("amount", "500.05"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", part.id()), &refund).await?, 200, "000.100.110");
    for fields in [&[("amount", "1000.10")][..], &[("amount", "1000.11"), ("partialApproval", "accept")]] {
        let whole = shop.pay_by_card(fields).await?;
        assert_result(&whole, 200, "000.100.110");
        assert_eq!((&whole.json["amount"], whole.json.get("requestedAmount")), (&fields[0].1.into(), None));
    }
    Ok(())
}
