//! Reminders of checkouts whose status the merchant did not read: their time, their conditions, and their number, which
//! is one.

use std::collections::BTreeSet;

use tillgate_tests::{ApiResponse, MerchantClient, Receiver, TestGateway, poll_until};
use tokio::task::JoinSet;

use crate::delivery::notifications::{LOOPBACK, assert_notified, start_loopback_gateway};
use crate::payment::asynchronous::{press_button, redirect_url};
use crate::support::*;

pub const DECLINED: (&str, &str) = ("card.number", "4200000000000001");
/// Options with a long lifetime of pending payments, for brands and issuers that take their time.
pub const PATIENT: [&str; 4] = ["--allow-network", "127.0.0.0/8", "--pending-lifetime", "2h"];

/// A merchant that never reads a status and so must be reminded, and its receiver.
pub struct ReminderScene {
    pub gateway: TestGateway,
    pub shop: MerchantClient,
    pub receiver: Receiver,
}

impl ReminderScene {
    /// Starts a gateway with these options, a merchant and a receiver.
    pub async fn new(options: &[&str]) -> anyhow::Result<Self> {
        let gateway = TestGateway::start_with(options)?;
        let shop = gateway.create_merchant()?;
        Ok(Self { gateway, shop, receiver: Receiver::start().await? })
    }

    /// Creates a checkout whose shopper returns to the receiver's address, and returns its id.
    pub async fn create_checkout(&self) -> anyhow::Result<String> {
        Ok(self.shop.create_checkout(&[("shopperResultUrl", &self.receiver.url("back"))]).await?.id().to_owned())
    }

    /// Creates a checkout, submits a card with these fields, whatever the result, and returns the checkout's id.
    pub async fn submit_checkout(&self, fields: &[(&str, &str)]) -> anyhow::Result<String> {
        let id = self.create_checkout().await?;
        self.shop.submit_card(&id, fields).await?;
        Ok(id)
    }

    /// Submits a checkout, and asserts that the shopper is redirected to a page. Returns the checkout's id and the
    /// response with the page's address.
    pub async fn redirect_shopper(&self, fields: &[(&str, &str)]) -> anyhow::Result<(String, ApiResponse)> {
        let id = self.create_checkout().await?;
        let submitted = self.shop.submit_card(&id, fields).await?;
        assert_result(&submitted, 200, "000.200.000");
        Ok((id, submitted))
    }

    /// Waits for as many requests as there are `ids`, and asserts that they are reminders of these checkouts, in any
    /// order, and that no further request has arrived.
    pub async fn assert_reminds(&self, ids: &[&str]) -> anyhow::Result<()> {
        let mut reminded = BTreeSet::new();
        for _ in ids {
            reminded.insert(self.receiver.next_request().await?.query_parameters()[0].1.clone());
        }
        assert_eq!(reminded, ids.iter().map(|id| (*id).to_owned()).collect());
        assert_eq!(self.receiver.drain_requests().await, []);
        Ok(())
    }

    /// Asserts that no reminder is left: after 48 hours on the sandbox's clock, the only one is about a checkout that
    /// is submitted now.
    pub async fn assert_no_reminders(&self) -> anyhow::Result<()> {
        let last = self.submit_checkout(&[]).await?;
        self.shop.advance_clock("48h").await?;
        self.assert_reminds(&[&last]).await?;
        assert_eq!(self.count_reminders()?, 0);
        Ok(())
    }

    /// Counts the reminders that the store schedules.
    pub fn count_reminders(&self) -> anyhow::Result<u32> {
        let query = "SELECT count(*) FROM timer WHERE kind = 'remind'";
        Ok(open_database(&self.gateway)?.query_row(query, [], |row| row.get(0))?)
    }

    /// Kills the gateway and starts it again on its data with these options. The receiver stays.
    pub async fn restart(self, options: &[&str]) -> anyhow::Result<Self> {
        let gateway = self.gateway.kill_and_restart(options)?;
        let shop = MerchantClient::new(gateway.base_url(), self.shop.entity_id, self.shop.token);
        Ok(Self { gateway, shop, ..self })
    }
}

#[tokio::test]
async fn a_merchant_who_does_not_ask_is_reminded_after_29_minutes_and_once() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let receiver = Receiver::start().await?;
    let (back, other) = (receiver.url("back?basket=7#top"), receiver.url("other"));
    let other = other.replace("127.0.0.1", "shop.localhost");
    let shop = gateway.create_merchant_with(&["--origin", other.trim_end_matches("/other")])?;
    let submitted = shop.create_checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit_card(submitted.id(), &[]).await?;
    // No reminder is sent for a checkout that was not submitted, or whose status was read.
    shop.create_checkout(&[("shopperResultUrl", &back)]).await?;
    let asked = shop.create_checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit_card(asked.id(), &[]).await?;
    shop.read_status(asked.id()).await?;
    // A declined checkout was submitted too. The address that the form sent is used, because it is on a named origin.
    let declined = shop.create_checkout(&[]).await?;
    shop.submit_card(declined.id(), &[("card.number", "4200000000000001"), ("shopperResultUrl", &other)]).await?;
    poll_until("the merchant has asked", async || {
        let query = "SELECT count(*) FROM timer WHERE kind = 'remind'";
        let timers: u32 = open_database(&gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((timers == 2).then_some(()))
    })
    .await?;
    shop.advance_clock("28m").await?;
    assert_eq!(receiver.drain_requests().await, []);
    shop.advance_clock("1m").await?;
    let mut told = [receiver.next_request().await?, receiver.next_request().await?];
    told.sort_by(|a, b| a.target.cmp(&b.target));
    let path = |id: &str| format!("/v1/checkouts/{id}/payment");
    let first = [("basket", "7"), ("id", submitted.id()), ("resourcePath", &path(submitted.id()))];
    assert_notified(&told[0], "/back", &first);
    assert_notified(&told[1], "/other", &[("id", declined.id()), ("resourcePath", &path(declined.id()))]);
    // No further reminder is sent at any time: the next one is about another checkout.
    shop.advance_clock("48h").await?;
    let late = shop.create_checkout(&[("shopperResultUrl", &other)]).await?;
    shop.submit_card(late.id(), &[]).await?;
    shop.advance_clock("29m").await?;
    assert_eq!(receiver.next_request().await?.query_parameters()[0].1, late.id());
    Ok(())
}

#[tokio::test]
async fn a_merchant_is_reminded_of_a_stored_account_with_its_own_path() -> anyhow::Result<()> {
    let (_gateway, shop) = start_loopback_gateway()?;
    let receiver = Receiver::start().await?;
    let back = receiver.url("");
    let fields = [("createRegistration", "true"), ("shopperResultUrl", back.as_str())];
    let (asked, unasked) = (shop.post("v1/checkouts", &fields).await?, shop.post("v1/checkouts", &fields).await?);
    for made in [&asked, &unasked] {
        let path = format!("v1/checkouts/{}/registration", made.id());
        assert_result(&shop.post_as_browser(&path, &tillgate_tests::CARD).await?, 200, "000.000.100");
    }
    assert_result(&shop.get(&format!("v1/checkouts/{}/registration", asked.id())).await?, 200, "000.100.110");
    shop.advance_clock("29m").await?;
    let path = format!("/v1/checkouts/{}/registration", unasked.id());
    assert_notified(&receiver.next_request().await?, "/", &[("id", unasked.id()), ("resourcePath", &path)]);
    Ok(())
}

#[tokio::test]
async fn a_reminder_comes_once_also_when_the_gateway_dies_before_and_after_it() -> anyhow::Result<()> {
    let (gateway, shop) = start_loopback_gateway()?;
    let receiver = Receiver::start().await?;
    let back = receiver.url("");
    let made = shop.create_checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit_card(made.id(), &[]).await?;
    let gateway = gateway.kill_and_restart(&LOOPBACK)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    shop.advance_clock("29m").await?;
    assert_eq!(receiver.next_request().await?.query_parameters()[0].1, made.id());
    poll_until("it is written that it was taken", async || {
        let query = "SELECT count(*) FROM message WHERE due IS NULL";
        let settled: u32 = open_database(&gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((settled == 1).then_some(()))
    })
    .await?;
    let gateway = gateway.kill_and_restart(&LOOPBACK)?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let next = shop.create_checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit_card(next.id(), &[]).await?;
    shop.advance_clock("29m").await?;
    assert_eq!(receiver.next_request().await?.query_parameters()[0].1, next.id());
    Ok(())
}

#[tokio::test]
async fn the_reminder_comes_29_minutes_after_the_last_submit_and_not_after_the_checkout_was_made() -> anyhow::Result<()>
{
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let late = scene.create_checkout().await?;
    scene.shop.advance_clock("5m").await?;
    let early = scene.submit_checkout(&[]).await?;
    scene.shop.advance_clock("15m").await?;
    scene.shop.submit_card(&late, &[]).await?;
    // Half an hour has passed since it was created, but not since it was submitted.
    scene.shop.advance_clock("14m").await?;
    scene.assert_reminds(&[&early]).await?;
    assert_eq!(scene.count_reminders()?, 1);
    scene.shop.advance_clock("15m").await?;
    scene.assert_reminds(&[&late]).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_submit_that_the_checkout_took_begins_the_29_minutes_anew_and_no_other_does() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let shop = &scene.shop;
    let [form, plain, refused, paid, confirmed] = [
        scene.submit_checkout(&[DECLINED]).await?,
        scene.submit_checkout(&[DECLINED]).await?,
        scene.submit_checkout(&[DECLINED]).await?,
        scene.submit_checkout(&[]).await?,
        scene.submit_checkout(&[DECLINED]).await?,
    ];
    let back = scene.receiver.url("back");
    let stored = shop.post("v1/checkouts", &[("createRegistration", "true"), ("shopperResultUrl", &back)]).await?;
    let store = format!("v1/checkouts/{}/registration", stored.id());
    let card = tillgate_tests::CARD.map(|(name, value)| if name == DECLINED.0 { DECLINED } else { (name, value) });
    shop.post_as_browser(&store, &card).await?;
    shop.advance_clock("10m").await?;
    shop.submit_card(&form, &[DECLINED]).await?;
    let path = format!("v1/plainForm.html?checkoutId={plain}&brands=VISA");
    let expiry = [("card.number", "4200000000000000"), ("card.expiry", "05/34"), ("card.cvv", "123")];
    crate::checkout::presence::post_as_browser(shop, &path, &[&[("paymentBrand", "VISA")][..], &expiry].concat())
        .await?;
    assert_result(&shop.post_as_browser(&store, &tillgate_tests::CARD).await?, 200, "000.000.100");
    // None of these is a submit: one is refused, one repeats a paid checkout, one is only stored for a summary page.
    assert_result(&shop.submit_card(&refused, &[("card.number", "42")]).await?, 400, "200.300.404");
    assert_result(&shop.submit_card(&paid, &[]).await?, 200, "000.000.100");
    shop.submit_card(&confirmed, &[("useSummaryPage", "true")]).await?;
    shop.advance_clock("19m").await?;
    scene.assert_reminds(&[&refused, &paid, &confirmed]).await?;
    // The merchant's confirmation pays, and its response contains the outcome.
    shop.advance_clock("30s").await?;
    assert_result(&shop.post(&format!("v1/checkouts/{confirmed}/confirm"), &[]).await?, 200, "000.100.110");
    shop.advance_clock("570s").await?;
    scene.assert_reminds(&[&form, &plain, stored.id()]).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn many_submits_at_once_leave_one_reminder() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = scene.create_checkout().await?;
        let mut submits = JoinSet::new();
        for number in 0..30 {
            let (shop, id) = (scene.shop.clone(), id.clone());
            let fields = if number % 3 == 0 { vec![] } else { vec![DECLINED] };
            submits.spawn(async move { shop.submit_card(&id, &fields).await.map(drop) });
        }
        while let Some(submit) = submits.join_next().await {
            submit??;
        }
        ids.push(id);
    }
    assert_eq!(scene.count_reminders()?, 4);
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn each_checkout_is_reminded_of_once_while_the_clock_moves_under_submits_and_answers() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&PATIENT).await?;
    let mut shoppers = JoinSet::new();
    let mut ids = Vec::new();
    for number in 0..24 {
        let (id, shop) = (scene.create_checkout().await?, scene.shop.clone());
        ids.push(id.clone());
        shoppers.spawn(async move {
            let brand: &[(&str, &str)] = if number % 2 == 0 { &[("paymentBrand", "IDEAL")] } else { &[DECLINED] };
            let submitted = shop.submit_card(&id, brand).await?;
            if number % 2 == 0 {
                press_button(&shop, &redirect_url(&submitted), if number % 4 == 0 { "success" } else { "cancel" })
                    .await?;
            } else {
                shop.submit_card(&id, &[]).await?;
            }
            anyhow::Ok(())
        });
    }
    // In total less than half a minute, so every submit is in time.
    for _ in 0..24 {
        scene.shop.advance_clock("1s").await?;
    }
    while let Some(shopper) = shoppers.join_next().await {
        shopper??;
    }
    for _ in 0..60 {
        scene.shop.advance_clock("30s").await?;
    }
    scene.assert_reminds(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_later_submit_without_an_address_is_reminded_of_at_the_earlier_ones() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let receiver = Receiver::start().await?;
    let back = receiver.url("back").replace("127.0.0.1", "shop.localhost");
    let shop = gateway.create_merchant_with(&["--origin", back.trim_end_matches("/back")])?;
    let made = shop.create_checkout(&[]).await?;
    shop.submit_card(made.id(), &[DECLINED, ("shopperResultUrl", &back)]).await?;
    shop.advance_clock("10m").await?;
    shop.submit_card(made.id(), &[]).await?;
    let scene = ReminderScene { gateway, shop, receiver };
    let control = scene.submit_checkout(&[]).await?;
    scene.shop.advance_clock("29m").await?;
    scene.assert_reminds(&[&control, made.id()]).await?;
    // This checkout has no address.
    let nowhere = scene.shop.create_checkout(&[]).await?;
    scene.shop.submit_card(nowhere.id(), &[DECLINED]).await?;
    scene.shop.submit_card(nowhere.id(), &[]).await?;
    scene.assert_no_reminders().await
}

#[tokio::test]
async fn a_checkout_that_could_not_store_a_card_and_was_then_paid_tells_of_the_payment() -> anyhow::Result<()> {
    let scene = ReminderScene::new(&LOOPBACK).await?;
    let back = scene.receiver.url("back");
    let made = scene.shop.post("v1/checkouts", &[("createRegistration", "true"), ("shopperResultUrl", &back)]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    let card = tillgate_tests::CARD.map(|(name, value)| if name == DECLINED.0 { DECLINED } else { (name, value) });
    scene.shop.post_as_browser(&format!("{path}/registration"), &card).await?;
    let payment = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_result(&scene.shop.post(&path, &payment).await?, 200, "000.200.101");
    scene.shop.advance_clock("10m").await?;
    assert_result(&scene.shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    scene.shop.advance_clock("29m").await?;
    let told = scene.receiver.next_request().await?;
    assert_notified(&told, "/back", &[("id", made.id()), ("resourcePath", &format!("/{path}/payment"))]);
    let status = scene.shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["paymentType"], "DB", "{}", status.text);
    Ok(())
}
