//! Limits of outgoing requests: their addresses and ports, and each merchant's share of the slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tillgate_tests::{Gateway, Merchant, Receiver, Reply};

use crate::support::*;
use crate::told_later::{LOOPBACK, assert_told, tried};

#[tokio::test]
async fn a_reminder_never_goes_to_an_address_that_only_a_browser_named() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let receiver = Receiver::start().await?;
    let (mine, victim) = (receiver.url("mine"), receiver.url("victim"));
    let origin = mine.trim_end_matches("/mine").replace("127.0.0.1", "shop.localhost");
    let elsewhere = [
        victim.clone(),
        victim.replace("127.0.0.1", "evil.localhost"),
        format!("{origin}.evil.localhost/victim"),
        format!("{}1/victim", origin.trim_end_matches(|digit: char| digit.is_ascii_digit())),
    ];
    let shops = [gateway.merchant()?, gateway.merchant_with(&["--origin", &origin])?];
    for shop in &shops {
        for address in &elsewhere {
            // In every way in which a browser can name it, of a payment and of a stored account.
            let paid = shop.checkout(&[]).await?;
            shop.submit(paid.id(), &[("shopperResultUrl", address), ("notificationUrl", address)]).await?;
            let stored = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
            let fields = [&tillgate_tests::CARD[..], &[("shopperResultUrl", address.as_str())]].concat();
            shop.post_as_browser(&format!("v1/checkouts/{}/registration", stored.id()), &fields).await?;
            let plain = shop.checkout(&[]).await?;
            let path = format!("v1/plainForm.html?checkoutId={}&brands=VISA", plain.id());
            shop.post_as_browser(&path, &fields).await?;
        }
        // The merchant's server may name any address.
        let told = shop.checkout(&[("shopperResultUrl", &mine)]).await?;
        shop.submit(told.id(), &[("shopperResultUrl", &victim)]).await?;
        shop.advance("29m").await?;
        let received = receiver.next().await?;
        assert_told(
            &received,
            "/mine",
            &[("id", told.id()), ("resourcePath", &format!("/v1/checkouts/{}/payment", told.id()))],
        );
    }
    let written: u32 = database(&gateway)?.query_row("SELECT count(*) FROM message", [], |row| row.get(0))?;
    assert_eq!((written, receiver.rest().await), (2, Vec::new()));
    Ok(())
}

#[tokio::test]
async fn an_address_with_a_port_of_another_service_is_refused_when_it_is_set() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&["--allow-port", "25", "--allow-port", "6379"])?;
    let shop = gateway.merchant()?;
    let (paid, open) = (shop.pay(&[]).await?, shop.checkout(&[]).await?);
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR")];
    for name in ["notificationUrl", "shopperResultUrl"] {
        for (port, allowed) in [
            ("", true),
            (":80", true),
            (":443", true),
            (":8443", true),
            (":25", true),
            (":6379", true),
            (":22", false),
            (":0", false),
            (":110", false),
            (":587", false),
            (":3306", false),
            (":5432", false),
            (":11211", false),
            (":27017", false),
            (":65536", false),
            (":+80", false),
        ] {
            let address = format!("https://shop.example{port}/x");
            let field = (name, address.as_str());
            let answers = [
                shop.checkout(&[field]).await?,
                shop.post(&format!("v1/checkouts/{}", open.id()), &[field]).await?,
                shop.pay(&[field]).await?,
                shop.post("v1/registrations", &[&tillgate_tests::CARD[..], &[field]].concat()).await?,
                shop.post(&format!("v1/payments/{}", paid.id()), &[&refund[..], &[field]].concat()).await?,
            ];
            for answer in answers.iter().filter(|_| !allowed) {
                assert_eq!((answer.status, answer.errors()), (400, vec![name]), "{address}: {}", answer.text);
            }
            assert!(!allowed || answers[0].status == 200, "{address}: {}", answers[0].text);
        }
    }
    // So is the address of a webhook.
    let create = |url: &str, options: &[&str]| {
        let command = ["webhook", "create", "--entity", &shop.entity_id, "--url", url];
        gateway.command(&[&command, options].concat())
    };
    assert!(create("https://shop.example:5432/", &[]).is_err_and(|error| error.to_string().contains("--allow-port")));
    create("https://shop.example:5432/", &["--allow-port", "5432"])?;
    create("https://shop.example:8443/", &[])?;
    Ok(())
}

#[tokio::test]
async fn hundreds_of_receivers_that_never_answer_delay_no_other_merchant() -> anyhow::Result<()> {
    const TARPITS: usize = 300;
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let (slow, other) = (gateway.merchant()?, gateway.merchant()?);
    let hangs = Arc::new(AtomicBool::new(false));
    let tarpit = Receiver::answering({
        let hangs = Arc::clone(&hangs);
        move |_| match hangs.load(Ordering::SeqCst) {
            true => Reply::Silence,
            false => Reply::status(503),
        }
    })
    .await?;
    let refund = async |shop: &Merchant, payment: &str, address: &str| {
        let fields = [("paymentType", "RF"), ("amount", "0.01"), ("currency", "EUR"), ("notificationUrl", address)];
        shop.post(&format!("v1/payments/{payment}"), &fields).await
    };
    let paid = slow.pay(&[]).await?;
    for host in 0..TARPITS {
        let address = tarpit.url("").replace("127.0.0.1", &format!("t{host}.localhost"));
        assert_eq!(refund(&slow, paid.id(), &address).await?.status, 200);
    }
    tried(&gateway, u32::try_from(TARPITS)?).await?;
    tarpit.rest().await;
    let tries = AtomicUsize::new(0);
    let fine = Receiver::answering(move |_| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status(503),
        _ => Reply::status(200),
    })
    .await?;
    let bought = other.pay(&[]).await?;

    // All retries are due at once, and none is answered.
    hangs.store(true, Ordering::SeqCst);
    slow.advance("67s").await?;
    for _ in 0..32 {
        tarpit.next().await?;
    }
    let refunded = refund(&other, bought.id(), &fine.url("notify")).await?;
    assert_eq!(fine.next().await?.query()[0].1, refunded.id());
    // Its retry is not delayed, either.
    tried(&gateway, u32::try_from(TARPITS)? + 1).await?;
    other.advance("67s").await?;
    assert_eq!(fine.next().await?.query()[0].1, refunded.id());
    let ended: u32 = database(&gateway)?.query_row(
        "SELECT count(*) FROM delivery JOIN message ON message.id = message WHERE entity = ?1",
        [&slow.entity_id],
        |row| row.get(0),
    )?;
    assert_eq!(ended as usize, TARPITS, "a receiver that never answers was given up before");
    Ok(())
}

#[tokio::test]
async fn a_merchant_shares_its_slots_with_its_channels() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let shop = gateway.merchant()?;
    let channel = gateway.merchant_with(&["--merchant", &shop.entity_id])?;
    let tarpit = Receiver::answering(|_| Reply::Silence).await?;
    let paid = channel.pay(&[]).await?;
    for host in 0..2 {
        let address = tarpit.url("").replace("127.0.0.1", &format!("t{host}.localhost"));
        let fields = [("paymentType", "RF"), ("amount", "0.01"), ("currency", "EUR"), ("notificationUrl", &address)];
        channel.post(&format!("v1/payments/{}", paid.id()), &fields).await?;
        tarpit.next().await?;
    }
    let mut owners = database(&gateway)?;
    let owners: Vec<String> = owners
        .transaction()?
        .prepare("SELECT DISTINCT owner FROM message")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    assert_eq!(owners, [shop.entity_id]);
    Ok(())
}
