//! Limits of an acquirer (`serve --acquirer-…`): a request beyond them is refused before anything is written or sent,
//! and the error names the parameter. Each merchant has its own id at the acquirer.

use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::acquirer::host::{authorization_request, earlier_request, with_changes};
use crate::acquirer::payments::{AcquirerScene, booked_entries};
use crate::acquirer::redirects::{decide_on_page, visit_page};
use crate::payment::asynchronous::{BACK, redirect_url};
use crate::support::*;

const PAID: &str = "000.100.112";
const EXTERNAL: [(&str, &str); 1] = [("testMode", "EXTERNAL")];

/// Asserts 400 with this code and exactly one parameter, and no payment id.
#[track_caller]
fn assert_refused(answer: &ApiResponse, code: &str, parameter: &str) {
    assert_result(answer, 400, code);
    assert_eq!(answer.invalid_parameters(), [parameter], "{}", answer.text);
    assert!(answer.json["id"].is_null(), "{}", answer.text);
}

/// Returns the merchant ids in the host's ledger, in the order of its entries.
async fn ledger_merchant_ids(scene: &AcquirerScene) -> anyhow::Result<Vec<String>> {
    let ledger = scene.host.read_ledger().await?;
    Ok(ledger.iter().map(|entry| entry["merchantId"].as_str().unwrap_or_default().to_owned()).collect())
}

#[tokio::test]
async fn a_payment_that_the_acquirer_does_not_take_is_refused_before_anything_leaves() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(
        &[],
        &["--acquirer-payment-types", "PA,CP", "--acquirer-brands", "VISA", "--acquirer-currencies", "EUR,USD"],
    )
    .await?;
    let master = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454"), ("paymentType", "PA")];
    for (fields, code, parameter) in [
        (&[("paymentType", "DB")][..], "600.200.202", "paymentType"),
        (&master, "600.200.201", "paymentBrand"),
        (&[("paymentType", "PA"), ("currency", "GBP")], "600.200.500", "currency"),
    ] {
        assert_refused(&scene.pay_by_card("92.00", fields).await?, code, parameter);
    }
    // The form is told alike, and the checkout can still be paid.
    let made = scene.shop.create_checkout(&[("testMode", "EXTERNAL"), ("paymentType", "PA")]).await?;
    assert_refused(&scene.shop.submit_card(made.id(), &master).await?, "600.200.201", "paymentBrand");
    assert_eq!(scene.shop.submit_card(made.id(), &[]).await?.status, 200);
    // An account of a brand that could never be charged is not stored.
    let account = [&tillgate_tests::CARD[2..], &master[..2], &EXTERNAL].concat();
    assert_refused(&scene.shop.post("v1/registrations", &account).await?, "600.200.201", "paymentBrand");
    // A payment inside the gateway has no such limits.
    assert_result(&scene.shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_result(&authorized, 200, PAID);
    assert_refused(&scene.reverse(authorized.id()).await?, "600.200.202", "paymentType");
    let captured = scene.modify(authorized.id(), "CP", "92.00").await?;
    assert_result(&captured, 200, PAID);
    assert_refused(&scene.modify(captured.id(), "RF", "1.00").await?, "600.200.202", "paymentType");
    let kinds: Vec<_> = scene.host.read_ledger().await?.iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["authorization", "authorization", "capture"]);
    scene.reconcile().await
}

#[tokio::test]
async fn captures_are_as_many_and_as_small_as_the_acquirer_takes() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-captures", "one-part"]).await?;
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_result(&scene.modify(authorized.id(), "CP", "60.00").await?, 200, PAID);
    assert_refused(&scene.modify(authorized.id(), "CP", "1.00").await?, "700.400.101", "paymentType");
    scene.reconcile().await?;

    let scene = AcquirerScene::start(&[], &["--acquirer-captures", "whole"]).await?;
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_refused(&scene.modify(authorized.id(), "CP", "91.99").await?, "700.400.101", "amount");
    let captured = scene.modify(authorized.id(), "CP", "92.00").await?;
    assert_result(&captured, 200, PAID);
    assert_result(&scene.modify(captured.id(), "RF", "0.01").await?, 200, PAID);
    assert_eq!(scene.booked_entries("capture").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test]
async fn twenty_captures_at_once_are_one_where_the_acquirer_takes_one() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-captures", "one-part"]).await?;
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    let captures = (0..20).map(|_| scene.modify(authorized.id(), "CP", "1.00"));
    let captured = futures_util::future::join_all(captures).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert_eq!(captured.iter().filter(|answer| answer.result_code() == PAID).count(), 1);
    assert_eq!(scene.booked_entries("capture").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test]
async fn a_debit_is_refunded_and_not_reversed_once_the_acquirer_has_booked_its_day() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-cut-off", "22:00"]).await?;
    let (first, second) = (scene.pay_by_card("10.00", &[]).await?, scene.pay_by_card("20.00", &[]).await?);
    let authorized = scene.pay_by_card("30.00", &[("paymentType", "PA")]).await?;
    scene.shop.advance_clock("24h").await?;
    assert_result(&scene.reverse(first.id()).await?, 400, "700.300.700");
    assert_result(&scene.modify(second.id(), "RF", "20.00").await?, 200, PAID);
    // An amount that was only reserved is not booked.
    assert_result(&scene.reverse(authorized.id()).await?, 200, PAID);
    let fresh = scene.pay_by_card("40.00", &[]).await?;
    assert_result(&scene.reverse(fresh.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn a_given_up_payment_that_succeeds_after_the_cut_off_is_refunded() -> anyhow::Result<()> {
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(10);
    let scene = AcquirerScene::start(&[], &["--acquirer-cut-off", &soon.strftime("%H:%M").to_string()]).await?;
    let made = scene.shop.create_checkout(&[EXTERNAL[0], BACK]).await?;
    let submitted = scene.shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    assert_eq!(scene.shop.submit_card(made.id(), &[]).await?.status, 200);
    scene.shop.advance_clock("15m").await?;
    let (_, back) = decide_on_page(&redirect_url(&submitted), "pay").await?;
    visit_page(&back).await?;
    scene.wait_until_booked("refund", 1).await?;
    assert!(scene.booked_entries("reversal").await?.is_empty());
    assert_result(&scene.shop.read_status(made.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn an_ability_that_is_none_is_refused_at_the_start() -> anyhow::Result<()> {
    for (option, value, message) in [
        ("--acquirer-payment-types", "DB,XX", "is not a payment type"),
        ("--acquirer-payment-types", "CB", "is not a payment type"),
        ("--acquirer-brands", "visa", "is not a brand"),
        ("--acquirer-currencies", "EUR,XXX", "is not an ISO 4217 code"),
        ("--acquirer-cut-off", "25:00", "22:00"),
        ("--acquirer-captures", "some", "one-part"),
    ] {
        let Err(error) = TestGateway::start_with(&[option, value]) else { anyhow::bail!("{option} {value} starts") };
        assert!(error.to_string().contains(message), "{option} {value}: {error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_merchant_has_its_own_id_at_the_acquirer_and_inherits_one_from_above() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let own = scene.pay_by_card("1.00", &[]).await?;
    let named = scene.gateway.create_merchant_with(&["--acquirer-merchant", "shop-42"])?;
    let paid = named.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    assert_result(&paid, 200, PAID);
    let made = scene.gateway.run_command(&[
        "entity",
        "create",
        "--name",
        "Acme",
        "--level",
        "psp",
        "--acquirer-merchant",
        "acme-7",
    ])?;
    let psp = made["entityId"].as_str().unwrap_or_default().to_owned();
    let below = scene.gateway.create_merchant_with(&["--parent", &psp])?;
    assert_result(&below.pay_by_card(&[("testMode", "EXTERNAL")]).await?, 200, PAID);
    assert_eq!(ledger_merchant_ids(&scene).await?, [scene.shop.entity_id.as_str(), "shop-42", "acme-7"]);

    // A payment is refunded and reversed under the id that it was made with, even if the setting changes later.
    scene.gateway.run_command(&["entity", "set", "--entity", &named.entity_id, "--acquirer-merchant", "shop-43"])?;
    let later = poll_until("the setting holds", async || {
        let paid = named.pay_by_card(&[("testMode", "EXTERNAL"), ("amount", "1.00")]).await?;
        let last = ledger_merchant_ids(&scene).await?.pop().unwrap_or_default();
        Ok((last == "shop-43").then_some(paid))
    })
    .await?;
    let refund = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&named.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, PAID);
    assert_eq!(ledger_merchant_ids(&scene).await?.pop().as_deref(), Some("shop-42"));
    let reversal = [("paymentType", "RV")];
    assert_result(&named.post(&format!("v1/payments/{}", later.id()), &reversal).await?, 200, PAID);
    assert_result(&scene.reverse(own.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn an_id_that_no_acquirer_could_take_is_refused() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    for id in ["", "a b", &"x".repeat(65), "käse"] {
        let set = ["entity", "set", "--entity", &shop.entity_id, "--acquirer-merchant", id];
        let Err(error) = TestGateway::shared().run_command(&set) else { anyhow::bail!("{id:?} is taken") };
        assert!(error.to_string().contains("1 to 64 visible characters"), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_host_touches_no_transaction_of_another_merchant() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let host = &scene.host;
    let debit = with_changes(authorization_request("p1"), &[("/capture", true.into())]);
    let debit = host.send_operation("authorize", "p1", &debit).await?;
    let other = |body| with_changes(body, &[("/merchantId", "other".into())]);
    let refund = serde_json::json!({
        "merchantId": "other", "paymentId": "f1", "reference": debit.json["connectorTxId1"], "amount": 1, "currency": "EUR"
    });
    assert_eq!(host.send_operation("refund", "f1", &refund).await?.outcome_and_code(), ("declined", "25"));
    assert_eq!(
        host.send_operation("reverse", "r1", &other(earlier_request("p1", "p1"))).await?.outcome_and_code(),
        ("declined", "25")
    );
    assert_eq!(
        host.send_operation("inquire", "q1", &other(earlier_request("p1", "p1"))).await?.outcome_and_code(),
        ("notFound", "25")
    );
    // Another merchant's reversal of what has not come yet stops nobody's payment silently.
    assert_eq!(
        host.send_operation("reverse", "r2", &other(earlier_request("p2", "p2"))).await?.outcome_and_code().0,
        "approved"
    );
    let reply = host.send_operation("authorize", "p2", &authorization_request("p2")).await?;
    assert_eq!((reply.status, reply.json["error"].as_str()), (409, Some("keyReused")));
    assert_eq!(booked_entries(host, "debit").await?[0]["used"], 0);
    Ok(())
}

#[tokio::test]
async fn a_live_merchant_is_known_by_its_own_id_too() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &LIVE).await?;
    let shop: MerchantClient = scene
        .gateway
        .create_merchant_with(&["--live", "--connector", "http", "--acquirer-merchant", "live-1"])?
        .behind_proxy();
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.000.000");
    assert_eq!(ledger_merchant_ids(&scene).await?, ["live-1"]);
    scene.reconcile().await
}
