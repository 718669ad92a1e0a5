//! Reminders of checkouts with a pending payment: they wait for the bank, and come once when that has ended.

use tillgate_tests::{ApiResponse, MerchantClient, poll_until};

use crate::checkout::reminders::{PATIENT, ReminderScene};
use crate::delivery::notifications::LOOPBACK;
use crate::payment::asynchronous::{press_button, redirect_url};
use crate::support::*;
use crate::three_ds;

const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");

/// Answers the challenge of a submitted payment with a return code. Ignores the response.
async fn answer_challenge(shop: &MerchantClient, submitted: &ApiResponse, code: &str) -> anyhow::Result<()> {
    let url = three_ds::redirect_field(submitted, "url");
    let (_, page) = three_ds::visit_page(shop, url).await?;
    three_ds::post_to_page(shop, url, &[("transaction", three_ds::challenge_transaction(&page)), ("returnCode", code)])
        .await?;
    Ok(())
}

#[tokio::test]
async fn no_reminder_comes_while_the_shopper_is_at_the_bank_and_one_comes_when_that_has_ended() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&PATIENT).await?;
    let shop = &scene.shop;
    let (ideal, ideal_page) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    let (paypal, paypal_page) = scene.redirect_shopper(&[("paymentBrand", "PAYPAL")]).await?;
    let (issuer, issuer_page) = scene.redirect_shopper(&[CHALLENGE]).await?;
    let (quick, quick_page) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    let at_once = scene.submit_checkout(&[]).await?;
    shop.advance_clock("10m").await?;
    press_button(shop, &redirect_url(&quick_page), "success").await?;
    // The payment of a shopper who has not decided is still pending.
    press_button(shop, &redirect_url(&paypal_page), "later").await?;
    shop.advance_clock("19m").await?;
    scene.assert_reminds(&[&at_once, &quick]).await?;
    assert_eq!(scene.count_reminders()?, 3);
    shop.advance_clock("11m").await?;
    press_button(shop, &redirect_url(&ideal_page), "success").await?;
    scene.assert_reminds(&[&ideal]).await?;
    press_button(shop, &redirect_url(&paypal_page), "cancel").await?;
    scene.assert_reminds(&[&paypal]).await?;
    answer_challenge(shop, &issuer_page, "000.100.110").await?;
    scene.assert_reminds(&[&issuer]).await?;
    for left in [&ideal_page, &paypal_page] {
        press_button(shop, &redirect_url(left), "success").await?;
    }
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_shopper_who_never_comes_back_from_the_bank_is_followed_by_the_reminder() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let (gone, _) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    let control = scene.submit_checkout(&[]).await?;
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&[&control]).await?;
    scene.shop.advance_clock("1m").await?;
    scene.assert_reminds(&[&gone]).await?;
    assert_result(&scene.shop.read_status(&gone).await?, 400, "100.396.103");
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_payment_that_stays_pending_without_a_shopper_is_reminded_of_after_29_minutes() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&PATIENT).await?;
    let back = scene.receiver.url("back");
    let forced = [("customParameters[forceResultCode]", "000.200.000"), ("shopperResultUrl", back.as_str())];
    let made = scene.shop.create_checkout(&forced).await?;
    scene.shop.submit_card(made.id(), &[]).await?;
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&[made.id()]).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_reminder_that_waits_for_the_bank_survives_the_gateway_and_comes_once() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&PATIENT).await?;
    let (id, submitted) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    scene.shop.advance_clock("40m").await?;
    let old = scene.shop.base.clone();
    let scene = scene.restart(&PATIENT).await?;
    assert_eq!(scene.count_reminders()?, 1);
    press_button(&scene.shop, &redirect_url(&submitted).replace(&old, &scene.shop.base), "success").await?;
    scene.assert_reminds(&[&id]).await?;
    poll_until("it is written that it was taken", async || {
        let query = "SELECT count(*) FROM message WHERE due IS NULL";
        let settled: u32 = open_database(&scene.gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((settled == 1).then_some(()))
    })
    .await?;
    let scene = scene.restart(&PATIENT).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_brand_that_was_given_up_does_not_hold_back_the_reminder_of_the_next() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&PATIENT).await?;
    let (id, abandoned) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    scene.shop.advance_clock("5m").await?;
    assert_result(&scene.shop.submit_card(&id, &[]).await?, 200, "000.000.100");
    let (waiting, first) = scene.redirect_shopper(&[("paymentBrand", "PAYPAL")]).await?;
    let second = scene.shop.submit_card(&waiting, &[("paymentBrand", "IDEAL")]).await?;
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&[&id]).await?;
    // The end of a replaced attempt does not affect the checkout.
    press_button(&scene.shop, &redirect_url(&abandoned), "success").await?;
    press_button(&scene.shop, &redirect_url(&first), "cancel").await?;
    assert_eq!(scene.count_reminders()?, 1);
    press_button(&scene.shop, &redirect_url(&second), "success").await?;
    scene.assert_reminds(&[&waiting]).await?;
    scene.assert_no_reminders().await
}
