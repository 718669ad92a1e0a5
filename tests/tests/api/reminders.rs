//! Reminders of checkouts whose outcome nobody asked for: when they come, what they wait for, and that each comes once.

use std::collections::BTreeSet;

use tillgate_tests::{Answer, Gateway, Merchant, Receiver, until};
use tokio::task::JoinSet;

use crate::asynchronous::{page, press};
use crate::support::*;
use crate::threeds;
use crate::told_later::{LOOPBACK, assert_told, gateway};

const DECLINED: (&str, &str) = ("card.number", "4200000000000001");
const CHALLENGE: (&str, &str) = ("card.number", "4200000000000018");
/// The gateway of a merchant whose brands and issuers take their time.
const PATIENT: [&str; 4] = ["--allow-network", "127.0.0.0/8", "--pending-lifetime", "2h"];

/// A merchant who has to be reminded, because it never asks, and its page.
struct Scene {
    gateway: Gateway,
    shop: Merchant,
    receiver: Receiver,
}

impl Scene {
    async fn new(options: &[&str]) -> anyhow::Result<Self> {
        let gateway = Gateway::start_with(options)?;
        let shop = gateway.merchant()?;
        Ok(Self { gateway, shop, receiver: Receiver::start().await? })
    }

    /// Opens a checkout; its id.
    async fn open(&self) -> anyhow::Result<String> {
        Ok(self.shop.checkout(&[("shopperResultUrl", &self.receiver.url("back"))]).await?.id().to_owned())
    }

    /// Opens a checkout and submits it; its id.
    async fn submitted(&self, fields: &[(&str, &str)]) -> anyhow::Result<String> {
        let id = self.open().await?;
        self.shop.submit(&id, fields).await?;
        Ok(id)
    }

    /// Sends the shopper to a page; the checkout's id and the answer that names the page.
    async fn leaving(&self, fields: &[(&str, &str)]) -> anyhow::Result<(String, Answer)> {
        let id = self.open().await?;
        let submitted = self.shop.submit(&id, fields).await?;
        assert_answer(&submitted, 200, "000.200.000");
        Ok((id, submitted))
    }

    /// Waits for the reminders of exactly these checkouts, in any order.
    async fn assert_reminds(&self, ids: &[&str]) -> anyhow::Result<()> {
        let mut told = BTreeSet::new();
        for _ in ids {
            told.insert(self.receiver.next().await?.query()[0].1.clone());
        }
        assert_eq!(told, ids.iter().map(|id| (*id).to_owned()).collect());
        assert_eq!(self.receiver.rest().await, []);
        Ok(())
    }

    /// Nothing is left to come: what comes next is about a checkout that is submitted now.
    async fn assert_ends(&self) -> anyhow::Result<()> {
        let last = self.submitted(&[]).await?;
        self.shop.advance("48h").await?;
        self.assert_reminds(&[&last]).await?;
        assert_eq!(self.reminders()?, 0);
        Ok(())
    }

    /// Counts the reminders in the store.
    fn reminders(&self) -> anyhow::Result<u32> {
        let query = "SELECT count(*) FROM timer WHERE kind = 'remind'";
        Ok(database(&self.gateway)?.query_row(query, [], |row| row.get(0))?)
    }

    async fn restarted(self, options: &[&str]) -> anyhow::Result<Self> {
        let gateway = self.gateway.restart(options)?;
        let shop = Merchant::new(gateway.base(), self.shop.entity_id, self.shop.token);
        Ok(Self { gateway, shop, ..self })
    }
}

/// Answers the challenge of an issuer.
async fn authenticate(shop: &Merchant, submitted: &Answer, code: &str) -> anyhow::Result<()> {
    let url = threeds::redirect(submitted, "url");
    let (_, page) = threeds::visit(shop, url).await?;
    threeds::post(shop, url, &[("transaction", threeds::transaction(&page)), ("returnCode", code)]).await?;
    Ok(())
}

#[tokio::test]
async fn a_merchant_who_does_not_ask_is_reminded_after_29_minutes_and_once() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let receiver = Receiver::start().await?;
    let (back, other) = (receiver.url("back?basket=7#top"), receiver.url("other"));
    let other = other.replace("127.0.0.1", "shop.localhost");
    let shop = gateway.merchant_with(&["--origin", other.trim_end_matches("/other")])?;
    let submitted = shop.checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit(submitted.id(), &[]).await?;
    // Neither of a checkout that nobody submitted, nor of one whose status was asked for.
    shop.checkout(&[("shopperResultUrl", &back)]).await?;
    let asked = shop.checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit(asked.id(), &[]).await?;
    shop.status(asked.id()).await?;
    // A decline was submitted too, and the form's own address serves where it lies on a named origin.
    let declined = shop.checkout(&[]).await?;
    shop.submit(declined.id(), &[("card.number", "4200000000000001"), ("shopperResultUrl", &other)]).await?;
    until("the merchant has asked", async || {
        let query = "SELECT count(*) FROM timer WHERE kind = 'remind'";
        let timers: u32 = database(&gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((timers == 2).then_some(()))
    })
    .await?;
    shop.advance("28m").await?;
    assert_eq!(receiver.rest().await, []);
    shop.advance("1m").await?;
    let mut told = [receiver.next().await?, receiver.next().await?];
    told.sort_by(|a, b| a.target.cmp(&b.target));
    let path = |id: &str| format!("/v1/checkouts/{id}/payment");
    let first = [("basket", "7"), ("id", submitted.id()), ("resourcePath", &path(submitted.id()))];
    assert_told(&told[0], "/back", &first);
    assert_told(&told[1], "/other", &[("id", declined.id()), ("resourcePath", &path(declined.id()))]);
    // Nothing more comes, however long one waits: the next that comes is about another checkout.
    shop.advance("48h").await?;
    let late = shop.checkout(&[("shopperResultUrl", &other)]).await?;
    shop.submit(late.id(), &[]).await?;
    shop.advance("29m").await?;
    assert_eq!(receiver.next().await?.query()[0].1, late.id());
    Ok(())
}

#[tokio::test]
async fn a_merchant_is_reminded_of_a_stored_account_with_its_own_path() -> anyhow::Result<()> {
    let (_gateway, shop) = gateway()?;
    let receiver = Receiver::start().await?;
    let back = receiver.url("");
    let fields = [("createRegistration", "true"), ("shopperResultUrl", back.as_str())];
    let (asked, unasked) = (shop.post("v1/checkouts", &fields).await?, shop.post("v1/checkouts", &fields).await?);
    for made in [&asked, &unasked] {
        let path = format!("v1/checkouts/{}/registration", made.id());
        assert_answer(&shop.post_as_browser(&path, &tillgate_tests::CARD).await?, 200, "000.000.100");
    }
    assert_answer(&shop.get(&format!("v1/checkouts/{}/registration", asked.id())).await?, 200, "000.100.110");
    shop.advance("29m").await?;
    let path = format!("/v1/checkouts/{}/registration", unasked.id());
    assert_told(&receiver.next().await?, "/", &[("id", unasked.id()), ("resourcePath", &path)]);
    Ok(())
}

#[tokio::test]
async fn a_reminder_comes_once_also_when_the_gateway_dies_before_and_after_it() -> anyhow::Result<()> {
    let (gateway, shop) = gateway()?;
    let receiver = Receiver::start().await?;
    let back = receiver.url("");
    let made = shop.checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit(made.id(), &[]).await?;
    let gateway = gateway.restart(&LOOPBACK)?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    shop.advance("29m").await?;
    assert_eq!(receiver.next().await?.query()[0].1, made.id());
    until("it is written that it was taken", async || {
        let query = "SELECT count(*) FROM message WHERE due IS NULL";
        let settled: u32 = database(&gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((settled == 1).then_some(()))
    })
    .await?;
    let gateway = gateway.restart(&LOOPBACK)?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    let next = shop.checkout(&[("shopperResultUrl", &back)]).await?;
    shop.submit(next.id(), &[]).await?;
    shop.advance("29m").await?;
    assert_eq!(receiver.next().await?.query()[0].1, next.id());
    Ok(())
}

#[tokio::test]
async fn the_reminder_comes_29_minutes_after_the_last_submit_and_not_after_the_checkout_was_made() -> anyhow::Result<()>
{
    let scene = Scene::new(&LOOPBACK).await?;
    let late = scene.open().await?;
    scene.shop.advance("5m").await?;
    let early = scene.submitted(&[]).await?;
    scene.shop.advance("15m").await?;
    scene.shop.submit(&late, &[]).await?;
    // Half an hour is over since the first was made, but not since it was submitted.
    scene.shop.advance("14m").await?;
    scene.assert_reminds(&[&early]).await?;
    assert_eq!(scene.reminders()?, 1);
    scene.shop.advance("15m").await?;
    scene.assert_reminds(&[&late]).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_submit_that_the_checkout_took_begins_the_29_minutes_anew_and_no_other_does() -> anyhow::Result<()> {
    let scene = Scene::new(&LOOPBACK).await?;
    let shop = &scene.shop;
    let [form, plain, refused, paid, confirmed] = [
        scene.submitted(&[DECLINED]).await?,
        scene.submitted(&[DECLINED]).await?,
        scene.submitted(&[DECLINED]).await?,
        scene.submitted(&[]).await?,
        scene.submitted(&[DECLINED]).await?,
    ];
    let back = scene.receiver.url("back");
    let stored = shop.post("v1/checkouts", &[("createRegistration", "true"), ("shopperResultUrl", &back)]).await?;
    let store = format!("v1/checkouts/{}/registration", stored.id());
    let card = tillgate_tests::CARD.map(|(name, value)| if name == DECLINED.0 { DECLINED } else { (name, value) });
    shop.post_as_browser(&store, &card).await?;
    shop.advance("10m").await?;
    shop.submit(&form, &[DECLINED]).await?;
    let path = format!("v1/plainForm.html?checkoutId={plain}&brands=VISA");
    let expiry = [("card.number", "4200000000000000"), ("card.expiry", "05/34"), ("card.cvv", "123")];
    crate::presence::post(shop, &path, &[&[("paymentBrand", "VISA")][..], &expiry].concat()).await?;
    assert_answer(&shop.post_as_browser(&store, &tillgate_tests::CARD).await?, 200, "000.000.100");
    // None of these is a submit: one is refused, one repeats what has been paid, one is only kept for a summary.
    assert_answer(&shop.submit(&refused, &[("card.number", "42")]).await?, 400, "200.300.404");
    assert_answer(&shop.submit(&paid, &[]).await?, 200, "000.000.100");
    shop.submit(&confirmed, &[("useSummaryPage", "true")]).await?;
    shop.advance("19m").await?;
    scene.assert_reminds(&[&refused, &paid, &confirmed]).await?;
    // The merchant's word pays, and tells the merchant how it went.
    shop.advance("30s").await?;
    assert_answer(&shop.post(&format!("v1/checkouts/{confirmed}/confirm"), &[]).await?, 200, "000.100.110");
    shop.advance("570s").await?;
    scene.assert_reminds(&[&form, &plain, stored.id()]).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn no_reminder_comes_while_the_shopper_is_at_the_bank_and_one_comes_when_that_has_ended() -> anyhow::Result<()> {
    let scene = Scene::new(&PATIENT).await?;
    let shop = &scene.shop;
    let (ideal, ideal_page) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    let (paypal, paypal_page) = scene.leaving(&[("paymentBrand", "PAYPAL")]).await?;
    let (issuer, issuer_page) = scene.leaving(&[CHALLENGE]).await?;
    let (quick, quick_page) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    let at_once = scene.submitted(&[]).await?;
    shop.advance("10m").await?;
    press(shop, &page(&quick_page), "success").await?;
    // A shopper who has not decided is still there.
    press(shop, &page(&paypal_page), "later").await?;
    shop.advance("19m").await?;
    scene.assert_reminds(&[&at_once, &quick]).await?;
    assert_eq!(scene.reminders()?, 3);
    shop.advance("11m").await?;
    press(shop, &page(&ideal_page), "success").await?;
    scene.assert_reminds(&[&ideal]).await?;
    press(shop, &page(&paypal_page), "cancel").await?;
    scene.assert_reminds(&[&paypal]).await?;
    authenticate(shop, &issuer_page, "000.100.110").await?;
    scene.assert_reminds(&[&issuer]).await?;
    for left in [&ideal_page, &paypal_page] {
        press(shop, &page(left), "success").await?;
    }
    scene.assert_ends().await
}

#[tokio::test]
async fn a_shopper_who_never_comes_back_from_the_bank_is_followed_by_the_reminder() -> anyhow::Result<()> {
    let scene = Scene::new(&LOOPBACK).await?;
    let (gone, _) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    let control = scene.submitted(&[]).await?;
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&[&control]).await?;
    scene.shop.advance("1m").await?;
    scene.assert_reminds(&[&gone]).await?;
    assert_answer(&scene.shop.status(&gone).await?, 400, "100.396.103");
    scene.assert_ends().await
}

#[tokio::test]
async fn a_payment_that_stays_pending_without_a_shopper_is_reminded_of_after_29_minutes() -> anyhow::Result<()> {
    let scene = Scene::new(&PATIENT).await?;
    let back = scene.receiver.url("back");
    let forced = [("customParameters[forceResultCode]", "000.200.000"), ("shopperResultUrl", back.as_str())];
    let made = scene.shop.checkout(&forced).await?;
    scene.shop.submit(made.id(), &[]).await?;
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&[made.id()]).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_status_takes_the_reminder_back_when_it_tells_how_it_ended_and_not_before() -> anyhow::Result<()> {
    let scene = Scene::new(&PATIENT).await?;
    let shop = &scene.shop;
    let (before, before_page) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    let (after, after_page) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    for id in [&before, &after] {
        assert_answer(&shop.status(id).await?, 200, "000.200.000");
    }
    for left in [&before_page, &after_page] {
        press(shop, &page(left), "success").await?;
    }
    assert_answer(&shop.status(&after).await?, 200, "000.100.110");
    shop.advance("29m").await?;
    scene.assert_reminds(&[&before]).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_shopper_who_tries_again_after_the_merchant_has_asked_is_reminded_of_all_the_same() -> anyhow::Result<()> {
    let scene = Scene::new(&LOOPBACK).await?;
    let mut all = Vec::new();
    // The merchant's question is written a moment later: some submits come before that, some after.
    for _ in 0..20 {
        let id = scene.submitted(&[DECLINED]).await?;
        assert_answer(&scene.shop.status(&id).await?, 400, "100.100.101");
        assert_answer(&scene.shop.submit(&id, &[]).await?, 200, "000.000.100");
        all.push(id);
    }
    let asked_twice = all.pop().unwrap_or_default();
    assert_answer(&scene.shop.status(&asked_twice).await?, 200, "000.100.110");
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&all.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn many_submits_at_once_leave_one_reminder() -> anyhow::Result<()> {
    let scene = Scene::new(&LOOPBACK).await?;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = scene.open().await?;
        let mut submits = JoinSet::new();
        for number in 0..30 {
            let (shop, id) = (scene.shop.clone(), id.clone());
            let fields = if number % 3 == 0 { vec![] } else { vec![DECLINED] };
            submits.spawn(async move { shop.submit(&id, &fields).await.map(drop) });
        }
        while let Some(submit) = submits.join_next().await {
            submit??;
        }
        ids.push(id);
    }
    assert_eq!(scene.reminders()?, 4);
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_reminder_that_waits_for_the_bank_survives_the_gateway_and_comes_once() -> anyhow::Result<()> {
    let scene = Scene::new(&PATIENT).await?;
    let (id, submitted) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    scene.shop.advance("40m").await?;
    let old = scene.shop.base.clone();
    let scene = scene.restarted(&PATIENT).await?;
    assert_eq!(scene.reminders()?, 1);
    press(&scene.shop, &page(&submitted).replace(&old, &scene.shop.base), "success").await?;
    scene.assert_reminds(&[&id]).await?;
    until("it is written that it was taken", async || {
        let query = "SELECT count(*) FROM message WHERE due IS NULL";
        let settled: u32 = database(&scene.gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((settled == 1).then_some(()))
    })
    .await?;
    let scene = scene.restarted(&PATIENT).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_brand_that_was_given_up_does_not_hold_back_the_reminder_of_the_next() -> anyhow::Result<()> {
    let scene = Scene::new(&PATIENT).await?;
    let (id, abandoned) = scene.leaving(&[("paymentBrand", "IDEAL")]).await?;
    scene.shop.advance("5m").await?;
    assert_answer(&scene.shop.submit(&id, &[]).await?, 200, "000.000.100");
    let (waiting, first) = scene.leaving(&[("paymentBrand", "PAYPAL")]).await?;
    let second = scene.shop.submit(&waiting, &[("paymentBrand", "IDEAL")]).await?;
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&[&id]).await?;
    // An attempt that was given up is no news of the checkout when it ends.
    press(&scene.shop, &page(&abandoned), "success").await?;
    press(&scene.shop, &page(&first), "cancel").await?;
    assert_eq!(scene.reminders()?, 1);
    press(&scene.shop, &page(&second), "success").await?;
    scene.assert_reminds(&[&waiting]).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_stranger_takes_no_reminder_back_and_a_merchant_that_of_its_channel() -> anyhow::Result<()> {
    let scene = Scene::new(&LOOPBACK).await?;
    let stranger = scene.gateway.merchant()?;
    let channel = scene.gateway.merchant_with(&["--merchant", &scene.shop.entity_id])?;
    let back = scene.receiver.url("back");
    let own = scene.submitted(&[]).await?;
    let of_channel = channel.checkout(&[("shopperResultUrl", &back)]).await?;
    channel.submit(of_channel.id(), &[]).await?;
    for id in [own.as_str(), of_channel.id()] {
        assert_answer(&stranger.status(id).await?, 404, "200.300.404");
        assert_eq!(stranger.get(&format!("v1/checkouts/{id}/registration")).await?.status, 404);
    }
    assert_answer(&scene.shop.status(of_channel.id()).await?, 200, "000.100.110");
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&[&own]).await?;
    // A merchant's clock is its channels' clock too, and nobody else's.
    let theirs = stranger.checkout(&[("shopperResultUrl", &back)]).await?;
    stranger.submit(theirs.id(), &[]).await?;
    let last = scene.submitted(&[]).await?;
    scene.shop.advance("48h").await?;
    scene.assert_reminds(&[&last]).await?;
    assert_eq!(scene.reminders()?, 1);
    stranger.advance("29m").await?;
    scene.assert_reminds(&[theirs.id()]).await
}

#[tokio::test]
async fn each_checkout_is_reminded_of_once_while_the_clock_moves_under_submits_and_answers() -> anyhow::Result<()> {
    let scene = Scene::new(&PATIENT).await?;
    let mut shoppers = JoinSet::new();
    let mut ids = Vec::new();
    for number in 0..24 {
        let (id, shop) = (scene.open().await?, scene.shop.clone());
        ids.push(id.clone());
        shoppers.spawn(async move {
            let brand: &[(&str, &str)] = if number % 2 == 0 { &[("paymentBrand", "IDEAL")] } else { &[DECLINED] };
            let submitted = shop.submit(&id, brand).await?;
            if number % 2 == 0 {
                press(&shop, &page(&submitted), if number % 4 == 0 { "success" } else { "cancel" }).await?;
            } else {
                shop.submit(&id, &[]).await?;
            }
            anyhow::Ok(())
        });
    }
    // Together less than half a minute: every submit is in time.
    for _ in 0..24 {
        scene.shop.advance("1s").await?;
    }
    while let Some(shopper) = shoppers.join_next().await {
        shopper??;
    }
    for _ in 0..60 {
        scene.shop.advance("30s").await?;
    }
    scene.assert_reminds(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_later_submit_without_an_address_is_reminded_of_at_the_earlier_ones() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let receiver = Receiver::start().await?;
    let back = receiver.url("back").replace("127.0.0.1", "shop.localhost");
    let shop = gateway.merchant_with(&["--origin", back.trim_end_matches("/back")])?;
    let made = shop.checkout(&[]).await?;
    shop.submit(made.id(), &[DECLINED, ("shopperResultUrl", &back)]).await?;
    shop.advance("10m").await?;
    shop.submit(made.id(), &[]).await?;
    let scene = Scene { gateway, shop, receiver };
    let control = scene.submitted(&[]).await?;
    scene.shop.advance("29m").await?;
    scene.assert_reminds(&[&control, made.id()]).await?;
    // Nobody has said where, for this one.
    let nowhere = scene.shop.checkout(&[]).await?;
    scene.shop.submit(nowhere.id(), &[DECLINED]).await?;
    scene.shop.submit(nowhere.id(), &[]).await?;
    scene.assert_ends().await
}

#[tokio::test]
async fn a_checkout_that_could_not_store_a_card_and_was_then_paid_tells_of_the_payment() -> anyhow::Result<()> {
    let scene = Scene::new(&LOOPBACK).await?;
    let back = scene.receiver.url("back");
    let made = scene.shop.post("v1/checkouts", &[("createRegistration", "true"), ("shopperResultUrl", &back)]).await?;
    let path = format!("v1/checkouts/{}", made.id());
    let card = tillgate_tests::CARD.map(|(name, value)| if name == DECLINED.0 { DECLINED } else { (name, value) });
    scene.shop.post_as_browser(&format!("{path}/registration"), &card).await?;
    let payment = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
    assert_answer(&scene.shop.post(&path, &payment).await?, 200, "000.200.101");
    scene.shop.advance("10m").await?;
    assert_answer(&scene.shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    scene.shop.advance("29m").await?;
    let told = scene.receiver.next().await?;
    assert_told(&told, "/back", &[("id", made.id()), ("resourcePath", &format!("/{path}/payment"))]);
    let status = scene.shop.status(made.id()).await?;
    assert_answer(&status, 200, "000.100.110");
    assert_eq!(status.json["paymentType"], "DB", "{}", status.text);
    Ok(())
}
