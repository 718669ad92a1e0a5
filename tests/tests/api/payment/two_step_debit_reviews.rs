//! Reviews of debits in two steps (`PA.CP`): the preauthorized payment is held, and its capture waits for the decision.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::acquirer::payments::AcquirerScene;
use crate::acquirer::redirects::{decide_on_page, pay_by_redirect, visit_page};
use crate::payment::asynchronous::redirect_url;
use crate::payment::held_payments::{HELD, decide};
use crate::payment::two_step_debits::*;
use crate::risk::screening::list_linked_payments;
use crate::support::*;
use crate::three_ds;

/// Returns the code of an approval, by test mode.
fn approval_code(mode: &str) -> &'static str {
    if mode == "EXTERNAL" { "000.100.112" } else { "000.100.110" }
}

#[tokio::test]
async fn a_held_debit_is_captured_when_it_is_approved_and_reversed_when_it_is_cancelled() -> anyhow::Result<()> {
    for review in ["hold", "authorize"] {
        let scene = AcquirerScene::start(&[], &[]).await?;
        for mode in ["INTERNAL", "EXTERNAL"] {
            let shop = create_shop(&scene.gateway, &["--review", review]).await?;
            let paid = [("APPROVE", 200, approval_code(mode), 0), ("CANCEL", 400, "100.400.147", 1)];
            for (decision, status, code, reversals) in paid {
                let held = pay(&shop, "40.00", &[("testMode", mode)]).await?;
                assert_result(&held, 200, HELD);
                assert_eq!(held.json["result"]["cvvResponse"], "M", "it is authorized: {}", held.text);
                assert_eq!(decide(&shop, held.id(), "PENDING", "jane").await?, 200);
                assert_eq!(decide(&shop, held.id(), decision, "jane").await?, 200);
                let ended = read(&shop, &held).await?;
                assert_result(&ended, status, code);
                assert_eq!(list_linked_payments(&shop, held.id()).await?.len(), reversals, "{review} {mode}");
                assert_eq!(decide(&shop, held.id(), "CANCEL", "joe").await?, 404);
                if decision == "APPROVE" {
                    let refund = [("paymentType", "RF"), ("amount", "40.00"), ("currency", "EUR")];
                    let refunded = shop.post(&format!("v1/payments/{}", held.id()), &refund).await?;
                    assert_result(&refunded, 200, approval_code(mode));
                }
            }
        }
        expect_kinds(&scene, &["authorization", "capture", "refund", "authorization", "reversal"]).await?;
        scene.reconcile().await?;
    }
    Ok(())
}

#[tokio::test]
async fn nothing_is_captured_while_a_debit_is_held_and_it_is_reversed_if_nobody_decides() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--review-lifetime", "5h"]).await?;
    for review in ["hold", "authorize"] {
        let before = list_kinds(&scene).await?.len();
        let shop = create_shop(&scene.gateway, &["--review", review]).await?;
        let (inside, outside) = (pay(&shop, "40.00", &[]).await?, pay(&shop, "40.00", &[EXTERNAL]).await?);
        shop.advance_clock("4h59m").await?;
        for held in [&inside, &outside] {
            assert_result(&read(&shop, held).await?, 200, HELD);
            let capture = [("paymentType", "CP"), ("amount", "40.00"), ("currency", "EUR")];
            assert_eq!(shop.post(&format!("v1/payments/{}", held.id()), &capture).await?.status, 400);
        }
        assert_eq!(list_kinds(&scene).await?[before..], ["authorization"]);
        shop.advance_clock("2m").await?;
        for held in [&inside, &outside] {
            let ended = tillgate_tests::poll_until("the review ends", async || {
                Ok(Some(read(&shop, held).await?).filter(|payment| payment.result_code() != HELD))
            })
            .await?;
            assert_result(&ended, 400, "100.400.147");
            let linked = list_linked_payments(&shop, held.id()).await?;
            assert_eq!(linked.iter().filter(|(payment_type, _)| payment_type == "RV").count(), 1, "{linked:?}");
        }
        scene.wait_until_booked("reversal", before / 2 + 1).await?;
        assert_eq!(list_kinds(&scene).await?[before..], ["authorization", "reversal"]);
    }
    scene.reconcile().await
}

#[tokio::test]
async fn a_debit_whose_cardholder_was_challenged_is_held_between_its_steps() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for review in ["hold", "authorize"] {
        let shop = create_shop(&scene.gateway, &["--review", review]).await?;
        for mode in ["INTERNAL", "EXTERNAL"] {
            let before = list_kinds(&scene).await?.len();
            let made =
                shop.create_checkout(&[TWO_STEPS, three_ds::BACK, ("amount", "40.00"), ("testMode", mode)]).await?;
            let fields = [&three_ds::CARDHOLDER_DATA[..], &[CHALLENGED_CARD]].concat();
            let submitted = shop.submit_card(made.id(), &fields).await?;
            confirm_challenge(&shop, &submitted).await?;
            let held = shop.read_status(made.id()).await?;
            assert_result(&held, 200, HELD);
            assert_eq!(held.json["checkoutState"], "HELD");
            shop.submit_card(made.id(), &[]).await?;
            assert_eq!(shop.read_status(made.id()).await?.id(), held.id(), "no other payment is taken");
            assert_eq!(decide(&shop, held.id(), "APPROVE", "jane").await?, 200);
            let paid = shop.read_status(made.id()).await?;
            assert_result(&paid, 200, approval_code(mode));
            assert_eq!(
                (&paid.json["checkoutState"], &paid.json["threeDSecure"]["eci"]),
                (&"PAID".into(), &"05".into())
            );
            if mode == "EXTERNAL" {
                assert_eq!(list_kinds(&scene).await?[before..], ["authorization", "capture"]);
            }
        }
    }
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_approvals_at_once_capture_once() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &["--review", "hold"]).await?;
    for mode in ["INTERNAL", "EXTERNAL"] {
        let held = Arc::new(pay(&shop, "40.00", &[("testMode", mode)]).await?);
        assert_result(&held, 200, HELD);
        let mut approvals = JoinSet::new();
        for number in 0..50 {
            let (shop, held) = (shop.clone(), Arc::clone(&held));
            approvals.spawn(async move { decide(&shop, held.id(), "APPROVE", &format!("user-{number}")).await });
        }
        let statuses: Vec<u16> = approvals.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert_result(&read(&shop, &held).await?, 200, approval_code(mode));
    }
    assert_eq!(list_kinds(&scene).await?, ["authorization", "capture"]);
    scene.reconcile().await
}

#[tokio::test]
async fn a_held_debit_survives_a_power_failure_and_is_captured_once() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let shop = create_shop(&scene.gateway, &["--review", "hold"]).await?;
    let held = pay(&shop, "40.00", &[EXTERNAL]).await?;
    assert_result(&held, 200, HELD);
    let scene = scene.restart_gateway()?;
    let shop = tillgate_tests::MerchantClient::new(scene.gateway.base_url(), shop.entity_id, shop.token);
    assert_result(&read(&shop, &held).await?, 200, HELD);
    assert_eq!(decide(&shop, held.id(), "APPROVE", "jane").await?, 200);
    assert_result(&read(&shop, &held).await?, 200, "000.100.112");
    assert_eq!(list_kinds(&scene).await?, ["authorization", "capture"]);
    scene.reconcile().await
}

#[tokio::test]
async fn a_debit_on_the_brands_page_is_held_between_its_steps() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for review in ["hold", "authorize"] {
        let shop = create_shop(&scene.gateway, &["--review", review]).await?;
        for (decision, status, code, second) in
            [("APPROVE", 200, "000.100.112", "capture"), ("CANCEL", 400, "100.400.147", "reversal")]
        {
            let before = list_kinds(&scene).await?.len();
            let paid = pay_by_redirect(&shop, &[TWO_STEPS, ("amount", "40.00")]).await?;
            let back = decide_on_page(&redirect_url(&paid), "pay").await?.1;
            assert_eq!(visit_page(&back).await?.0, 200);
            assert_result(&read(&shop, &paid).await?, 200, HELD);
            assert_eq!(list_kinds(&scene).await?[before..], ["authorization"], "{review}");
            assert_eq!(decide(&shop, paid.id(), decision, "jane").await?, 200);
            tillgate_tests::poll_until("the decision is carried out", async || {
                let code = read(&shop, &paid).await?.result_code().to_owned();
                let is_booked = list_kinds(&scene).await?.len() > before + 1;
                Ok((code != HELD && code != PENDING && is_booked).then_some(()))
            })
            .await?;
            assert_result(&read(&shop, &paid).await?, status, code);
            assert_eq!(list_kinds(&scene).await?[before..], ["authorization", second], "{review}");
        }
    }
    scene.reconcile().await
}
