//! Payments whose shopper decides on a page of the acquirer's host. The gateway inquires about the outcome; nothing
//! that the browser sends back decides it.

use futures_util::future::join_all;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response};
use serde_json::json;
use tillgate_tests::{ApiResponse, MerchantClient, encode_form, poll_until};

use crate::acquirer::host::authorization_request;
use crate::acquirer::payments::AcquirerScene;
use crate::payment::asynchronous::{BACK, press_button, redirect_url};
use crate::support::*;

const PAID: &str = "000.100.112";
const PENDING: &str = "000.200.000";
const EXTERNAL: (&str, &str) = ("testMode", "EXTERNAL");
const PAYPAL: (&str, &str) = ("paymentBrand", "PAYPAL");

/// Pays 92.00 EUR at the host with a brand that has its own page, server to server. `fields` are added or replace the
/// defaults. Returns any response.
pub async fn pay_by_redirect(shop: &MerchantClient, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
    let defaults = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), PAYPAL, EXTERNAL, BACK];
    let defaults = defaults.iter().filter(|(name, _)| !fields.iter().any(|(other, _)| name == other));
    shop.post("v1/payments", &defaults.chain(fields).copied().collect::<Vec<_>>()).await
}

/// Creates an HTTP client that follows no redirects.
fn build_browser() -> anyhow::Result<Client> {
    Ok(Client::builder().redirect(Policy::none()).build()?)
}

/// Posts a decision, `pay` or `cancel`, to a page of the host. Returns the status, and the address that the shopper is
/// redirected to, or an empty string.
pub async fn decide_on_page(page: &str, decision: &str) -> anyhow::Result<(u16, String)> {
    let request = build_browser()?.post(page).header("content-type", "application/x-www-form-urlencoded");
    let answer = request.body(encode_form([("decision", decision)])).send().await?;
    let back = answer.headers().get("location").and_then(|address| address.to_str().ok()).unwrap_or_default();
    Ok((answer.status().as_u16(), back.to_owned()))
}

/// Gets a page. Returns its status and text.
pub async fn visit_page(address: &str) -> anyhow::Result<(u16, String)> {
    let answer = build_browser()?.get(address).send().await?;
    Ok((answer.status().as_u16(), answer.text().await?))
}

async fn read_payment(scene: &AcquirerScene, payment: &ApiResponse) -> anyhow::Result<ApiResponse> {
    scene.shop.get(&format!("v1/payments/{}", payment.id())).await
}

/// Returns the address to which the host redirects the shopper of the only redirected payment.
fn return_page_url(scene: &AcquirerScene) -> anyhow::Result<String> {
    let id: String = open_database(&scene.gateway)?.query_row("SELECT id FROM page", [], |row| row.get(0))?;
    Ok(format!("{}v1/return/{id}", scene.shop.base))
}

/// Returns the time of the next inquiry about the only payment without an outcome, by the clock of the gateway.
fn next_inquiry(scene: &AcquirerScene) -> anyhow::Result<jiff::Timestamp> {
    let query = "SELECT since FROM timer WHERE kind = 'ask'";
    let since = open_database(&scene.gateway)?.query_row(query, [], |row| row.get(0))?;
    Ok(jiff::Timestamp::from_millisecond(since)?)
}

#[tokio::test]
async fn a_shopper_decides_on_the_hosts_page_and_comes_back_to_the_outcome() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    for (brand, decision, status, code, title) in [
        ("PAYPAL", "pay", 200, PAID, "This payment is made"),
        ("PAYPAL", "cancel", 400, "100.396.101", "This payment is cancelled"),
        ("IDEAL", "pay", 200, PAID, "This payment is made"),
    ] {
        let paid =
            pay_by_redirect(&scene.shop, &[("paymentBrand", brand), ("bankAccount.bankName", "ING_TEST")]).await?;
        assert_result(&paid, 200, PENDING);
        let url = redirect_url(&paid);
        assert!(url.starts_with(&format!("http://{}/pay/", scene.host.address)), "{}", paid.text);
        assert_eq!(paid.json["redirect"]["method"], "GET");
        let (found, shown) = visit_page(&url).await?;
        assert!(found == 200 && shown.contains("Pay 92.00 EUR"), "{shown}");
        let (found, back) = decide_on_page(&url, decision).await?;
        assert!(found == 303 && back.starts_with(&format!("{}v1/return/", scene.shop.base)), "{found} {back}");
        let (found, shown) = visit_page(&back).await?;
        let shop = format!("https://shop.example/back?basket=7&amp;id={}", paid.id());
        assert!(found == 200 && shown.contains(title) && shown.contains(&shop), "{shown}");
        assert_result(&read_payment(&scene, &paid).await?, status, code);
    }
    let debits = scene.booked_entries("debit").await?;
    assert_eq!(debits.iter().map(|entry| &entry["approved"]).collect::<Vec<_>>(), [true, false, true]);
    scene.reconcile().await
}

#[tokio::test]
async fn what_was_paid_on_the_hosts_page_is_captured_and_refunded_there() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = pay_by_redirect(&scene.shop, &[("paymentType", "PA")]).await?;
    assert_result(&scene.modify(paid.id(), "CP", "92.00").await?, 400, "700.400.570");
    let (_, back) = decide_on_page(&redirect_url(&paid), "pay").await?;
    visit_page(&back).await?;
    let captured = scene.modify(paid.id(), "CP", "92.00").await?;
    assert_result(&captured, 200, PAID);
    assert_result(&scene.modify(captured.id(), "RF", "1.00").await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn a_shopper_who_pays_and_never_comes_back_has_paid() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let made = scene.shop.create_checkout(&[EXTERNAL, BACK]).await?;
    let submitted = scene.shop.submit_card(made.id(), &[PAYPAL]).await?;
    assert_result(&submitted, 200, PENDING);
    decide_on_page(&redirect_url(&submitted), "pay").await?;
    let status = poll_until("the outcome is found out", async || {
        Ok(Some(scene.shop.read_status(made.id()).await?).filter(|status| status.result_code() != PENDING))
    })
    .await?;
    assert_result(&status, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn nothing_that_a_browser_brings_back_makes_a_payment() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = pay_by_redirect(&scene.shop, &[]).await?;
    let back = return_page_url(&scene)?;
    for address in [
        back.clone(),
        format!("{back}?outcome=approved&responseCode=00&decision=pay"),
        format!("{back}?id={}&result.code={PAID}", paid.id()),
    ] {
        let (status, shown) = visit_page(&address).await?;
        assert!(status == 200 && shown.contains("is being processed"), "{shown}");
    }
    let posted = build_browser()?.post(&back).body("outcome=approved&answer=success&decision=pay").send().await?;
    assert_eq!(posted.status().as_u16(), 200);
    // The pages of the simulator decide nothing about it.
    let id = back.rsplit('/').next().unwrap_or_default();
    let simulator = format!("{}v1/simulator/{id}", scene.shop.base);
    assert_eq!(press_button(&scene.shop, &simulator, "success").await?.status().as_u16(), 404);
    for page in [format!("v1/threeDSecure/{id}"), "v1/return/x".to_owned(), format!("v1/return/{}", paid.id())] {
        let found = scene.shop.bare_request(Method::GET, &page).send().await.map(Response::error_for_status)?;
        assert!(found.is_err(), "{page}");
    }
    assert_result(&read_payment(&scene, &paid).await?, 200, PENDING);
    decide_on_page(&redirect_url(&paid), "cancel").await?;
    visit_page(&back).await?;
    assert_result(&read_payment(&scene, &paid).await?, 400, "100.396.101");
    scene.reconcile().await
}

#[tokio::test]
async fn a_shopper_who_does_not_decide_in_time_cannot_pay_any_more() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = pay_by_redirect(&scene.shop, &[]).await?;
    scene.shop.advance_clock("29m").await?;
    assert_result(&read_payment(&scene, &paid).await?, 200, PENDING);
    scene.shop.advance_clock("2m").await?;
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 400, "100.396.103");
    assert_eq!(decide_on_page(&redirect_url(&paid), "pay").await?, (409, String::new()));
    assert_eq!(scene.booked_entries("debit").await?[0]["reversed"], true);
    scene.reconcile().await
}

#[tokio::test]
async fn a_payment_that_the_shopper_might_still_make_is_not_over_before_the_host_has_undone_it() -> anyhow::Result<()> {
    // Long enough for a busy machine: a payment whose inquiry gets no answer in time is reversed.
    let scene = AcquirerScene::start(&["--control"], &["--acquirer-timeout", "8s"]).await?;
    let paid = pay_by_redirect(&scene.shop, &[]).await?;
    scene.line.set_target(None);
    let before = next_inquiry(&scene)?;
    scene.shop.advance_clock("31m").await?;
    // The shopper pays meanwhile, and the gateway cannot know.
    assert_eq!(decide_on_page(&redirect_url(&paid), "pay").await?.0, 303);
    // An inquiry that is still under way would be counted from the time that the clock shows at its end.
    poll_until("an inquiry was in vain", async || {
        Ok((next_inquiry(&scene)? > before + jiff::SignedDuration::from_mins(5)).then_some(()))
    })
    .await?;
    assert_result(&read_payment(&scene, &paid).await?, 200, PENDING);
    scene.line.set_target(Some(&scene.host.address));
    scene.shop.advance_clock("20m").await?;
    assert_result(&scene.wait_for_outcome(paid.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn a_redirect_whose_answer_is_lost_is_found_out_and_the_shopper_can_go_there() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &["--acquirer-timeout", "1s"]).await?;
    let paid = pay_by_redirect(&scene.shop, &[("amount", "2000.03")]).await?;
    assert_result(&paid, 200, PENDING);
    let shown = poll_until("the page is known", async || {
        Ok(Some(read_payment(&scene, &paid).await?).filter(|found| !redirect_url(found).is_empty()))
    })
    .await?;
    let (found, back) = decide_on_page(&redirect_url(&shown), "pay").await?;
    assert_eq!(found, 303);
    visit_page(&back).await?;
    assert_result(&read_payment(&scene, &paid).await?, 200, PAID);
    assert_eq!(scene.booked_entries("debit").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_decides_and_comes_back_twenty_times_pays_once() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = pay_by_redirect(&scene.shop, &[]).await?;
    let (url, back) = (redirect_url(&paid), return_page_url(&scene)?);
    let decisions =
        join_all((0..20).map(|number| decide_on_page(&url, if number % 2 == 0 { "pay" } else { "cancel" }))).await;
    let decided = decisions.into_iter().collect::<Result<Vec<_>, _>>()?;
    let [paying, cancelling] =
        [0, 1].map(|parity| decided.iter().skip(parity).step_by(2).all(|(status, _)| *status == 303));
    assert_ne!(paying, cancelling, "the first decision stands: {decided:?}");
    for visit in join_all((0..20).map(|_| visit_page(&back))).await {
        assert_eq!(visit?.0, 200);
    }
    let settled = scene.wait_for_outcome(paid.id()).await?;
    assert_eq!(settled.result_code(), if paying { PAID } else { "100.396.101" });
    scene.reconcile().await
}

#[tokio::test]
async fn a_page_that_its_shopper_has_left_for_a_card_takes_no_second_payment() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let made = scene.shop.create_checkout(&[EXTERNAL, BACK]).await?;
    let submitted = scene.shop.submit_card(made.id(), &[PAYPAL]).await?;
    assert_eq!(scene.shop.submit_card(made.id(), &[]).await?.status, 200);
    assert_result(&scene.shop.read_status(made.id()).await?, 200, PAID);
    // The late success on the page that was left.
    let (_, back) = decide_on_page(&redirect_url(&submitted), "pay").await?;
    visit_page(&back).await?;
    scene.wait_until_booked("reversal", 1).await?;
    let effective: Vec<_> =
        scene.booked_entries("debit").await?.iter().map(|entry| entry["reversed"].clone()).collect();
    assert_eq!(effective, [true, false]);
    assert_result(&scene.shop.read_status(made.id()).await?, 200, PAID);
    scene.reconcile().await
}

#[tokio::test]
async fn a_shopper_who_has_to_leave_needs_a_way_back() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let fields = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB"), PAYPAL, EXTERNAL];
    assert_errors(&scene.shop.post("v1/payments", &fields).await?, &["shopperResultUrl"]);
    assert!(scene.host.read_ledger().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_host_answers_alike_while_its_page_waits_and_undoes_what_waits() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let host = &scene.host;
    let mut body = authorization_request("p1");
    body["account"] = json!({ "type": "provider" });
    body["returnUrl"] = json!("https://pay.example/v1/return/1");
    let first = host.send_operation("authorize", "p1", &body).await?;
    assert_eq!((first.outcome_and_code().0, first.is_signed), ("redirect", true), "{}", first.json);
    assert_eq!(host.send_operation("authorize", "p1", &body).await?.json, first.json);
    let earlier = crate::acquirer::host::earlier_request("p1", "p1");
    let inquired = host.send_operation("inquire", "q1", &earlier).await?;
    assert_eq!(inquired.json["redirectUrl"], first.json["redirectUrl"]);
    let url = first.json["redirectUrl"].as_str().unwrap_or_default().to_owned();
    for wrong in [format!("{url}0"), url.replace("/pay/", "/pay/0"), format!("http://{}/pay/", host.address)] {
        assert_eq!(visit_page(&wrong).await?.0, 404, "{wrong}");
    }
    assert_eq!(decide_on_page(&url, "maybe").await?.0, 400);
    assert_eq!(host.send_operation("reverse", "r1", &earlier).await?.outcome_and_code().0, "approved");
    assert_eq!(host.send_operation("inquire", "q2", &earlier).await?.outcome_and_code().0, "reversed");
    assert_eq!(decide_on_page(&url, "pay").await?.0, 409);
    assert_eq!(host.send_operation("authorize", "p1", &body).await?.outcome_and_code(), ("declined", "21"));
    Ok(())
}
