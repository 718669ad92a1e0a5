//! Held payments of an external connector: its host gets a request only for what the review allows.

use tillgate_tests::{ApiResponse, MerchantClient};

use crate::acquirer::payments::AcquirerScene;
use crate::payment::held_payments::{DENIED, HELD, REVERSED, create_reviewed_shop, decide, read};
use crate::support::*;

#[tokio::test]
async fn an_external_connector_is_asked_only_for_what_the_review_allows() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let kinds = async || -> anyhow::Result<Vec<String>> {
        let ledger = scene.host.read_ledger().await?;
        Ok(ledger.iter().map(|entry| entry["kind"].as_str().unwrap_or_default().to_owned()).collect())
    };
    let pay = async |shop: &MerchantClient| {
        shop.pay_by_card(&[("testMode", "EXTERNAL"), ("merchantTransactionId", "external-4711")]).await
    };
    let hold = create_reviewed_shop(&scene.gateway, "hold", &[]).await?;
    let (approved, cancelled) = (pay(&hold).await?, pay(&hold).await?);
    assert_result(&approved, 200, HELD);
    assert_eq!(kinds().await?, [""; 0], "the host knows nothing of a held payment");
    assert_eq!(decide(&hold, approved.id(), "APPROVE", "jane").await?, 200);
    assert_eq!(decide(&hold, cancelled.id(), "CANCEL", "jane").await?, 200);
    assert_result(&read(&hold, &approved).await?, 200, "000.100.112");
    assert_result(&read(&hold, &cancelled).await?, 400, DENIED);
    assert_eq!(kinds().await?, ["debit"]);

    let authorize = create_reviewed_shop(&scene.gateway, "authorize", &[]).await?;
    let (approved, cancelled) = (pay(&authorize).await?, pay(&authorize).await?);
    assert_result(&approved, 200, HELD);
    assert_eq!(kinds().await?[1..], ["authorization", "authorization"]);
    assert_eq!(decide(&authorize, approved.id(), "APPROVE", "jane").await?, 200);
    assert_result(&read(&authorize, &approved).await?, 200, "000.100.112");
    assert_eq!(decide(&authorize, cancelled.id(), "CANCEL", "jane").await?, 200);
    assert_result(&read(&authorize, &cancelled).await?, 400, REVERSED);
    tillgate_tests::poll_until("the reservation is reversed", async || {
        Ok((kinds().await?[3..] == ["capture", "reversal"]).then_some(()))
    })
    .await?;
    // A payment that was captured after its review is refunded and reversed like a debit.
    let refund = [("paymentType", "RF"), ("amount", "2.00"), ("currency", "EUR")];
    let path = |payment: &ApiResponse| format!("v1/payments/{}", payment.id());
    assert_result(&authorize.post(&path(&approved), &refund).await?, 200, "000.100.112");
    let another = pay(&authorize).await?;
    assert_eq!(decide(&authorize, another.id(), "APPROVE", "jane").await?, 200);
    assert_result(&authorize.post(&path(&another), &[("paymentType", "RV")]).await?, 200, "000.100.112");
    let expected = ["refund", "authorization", "capture", "reversal", "reversal"];
    assert_eq!(kinds().await?[5..], expected);
    Ok(())
}

#[tokio::test]
async fn a_host_that_is_down_while_an_analyst_approves_is_asked_again() -> anyhow::Result<()> {
    for review in ["hold", "authorize"] {
        let scene = AcquirerScene::start(&[], &[]).await?;
        let shop = create_reviewed_shop(&scene.gateway, review, &[]).await?;
        let paid = shop.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
        assert_result(&paid, 200, HELD);
        scene.line.set_target(None);
        assert_eq!(decide(&shop, paid.id(), "APPROVE", "jane").await?, 200);
        assert_result(&read(&shop, &paid).await?, 200, "000.200.000");
        assert_eq!(decide(&shop, paid.id(), "CANCEL", "joe").await?, 404, "it is decided already");
        let scene = scene.restart_gateway()?;
        let scene = scene.restart_host()?;
        let shop = MerchantClient::new(scene.gateway.base_url(), shop.entity_id, shop.token);
        if review == "hold" {
            // The request may have arrived, so it is reversed and declined after half a minute.
            shop.advance_clock("1m").await?;
        }
        let ended = tillgate_tests::poll_until("the outcome is known", async || {
            Ok(Some(read(&shop, &paid).await?).filter(|payment| payment.result_code() != "000.200.000"))
        })
        .await?;
        if review == "hold" {
            assert_result(&ended, 400, "900.100.300");
        } else {
            assert_result(&ended, 200, "000.100.112");
        }
    }
    Ok(())
}
