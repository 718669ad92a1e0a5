//! Status reads of checkouts, which cancel the reminder once the checkout has ended.

use crate::checkout::reminders::{DECLINED, PATIENT, ReminderScene};
use crate::delivery::notifications::LOOPBACK;
use crate::payment::asynchronous::{press_button, redirect_url};
use crate::support::*;

#[tokio::test]
async fn a_status_takes_the_reminder_back_when_it_tells_how_it_ended_and_not_before() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&PATIENT).await?;
    let shop = &scene.shop;
    let (before, before_page) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    let (after, after_page) = scene.redirect_shopper(&[("paymentBrand", "IDEAL")]).await?;
    for id in [&before, &after] {
        assert_result(&shop.read_status(id).await?, 200, "000.200.000");
    }
    for left in [&before_page, &after_page] {
        press_button(shop, &redirect_url(left), "success").await?;
    }
    assert_result(&shop.read_status(&after).await?, 200, "000.100.110");
    shop.advance_clock("29m").await?;
    scene.assert_reminds(&[&before]).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_shopper_who_tries_again_after_the_merchant_has_asked_is_reminded_of_all_the_same() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let mut all = Vec::new();
    // The merchant's read is stored a moment later. Some submits come before that, some after.
    for _ in 0..20 {
        let id = scene.submit_checkout(&[DECLINED]).await?;
        assert_result(&scene.shop.read_status(&id).await?, 400, "100.100.101");
        assert_result(&scene.shop.submit_card(&id, &[]).await?, 200, "000.000.100");
        all.push(id);
    }
    let asked_twice = all.pop().unwrap_or_default();
    assert_result(&scene.shop.read_status(&asked_twice).await?, 200, "000.100.110");
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&all.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_stranger_takes_no_reminder_back_and_a_merchant_that_of_its_channel() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let stranger = scene.gateway.create_merchant()?;
    let channel = scene.gateway.create_merchant_with(&["--merchant", &scene.shop.entity_id])?;
    let back = scene.receiver.url("back");
    let own = scene.submit_checkout(&[]).await?;
    let of_channel = channel.create_checkout(&[("shopperResultUrl", &back)]).await?;
    channel.submit_card(of_channel.id(), &[]).await?;
    for id in [own.as_str(), of_channel.id()] {
        assert_result(&stranger.read_status(id).await?, 404, "200.300.404");
        assert_eq!(stranger.get(&format!("v1/checkouts/{id}/registration")).await?.status, 404);
    }
    assert_result(&scene.shop.read_status(of_channel.id()).await?, 200, "000.100.110");
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&[&own]).await?;
    // Channels share their merchant's clock. Other merchants have their own.
    let theirs = stranger.create_checkout(&[("shopperResultUrl", &back)]).await?;
    stranger.submit_card(theirs.id(), &[]).await?;
    let last = scene.submit_checkout(&[]).await?;
    scene.shop.advance_clock("48h").await?;
    scene.assert_reminds(&[&last]).await?;
    assert_eq!(scene.count_reminders()?, 1);
    stranger.advance_clock("29m").await?;
    scene.assert_reminds(&[theirs.id()]).await
}
