//! Limits of outgoing requests: their addresses and ports, and each merchant's share of the slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tillgate_tests::{MerchantClient, Receiver, ReceiverReply, TestGateway};

use crate::delivery::notifications::{LOOPBACK, assert_notified, wait_for_attempts};
use crate::support::*;

#[tokio::test]
async fn a_reminder_never_goes_to_an_address_that_only_a_browser_named() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let receiver = Receiver::start().await?;
    let (mine, victim) = (receiver.url("mine"), receiver.url("victim"));
    let origin = mine.trim_end_matches("/mine").replace("127.0.0.1", "shop.localhost");
    let elsewhere = [
        victim.clone(),
        victim.replace("127.0.0.1", "evil.localhost"),
        format!("{origin}.evil.localhost/victim"),
        format!("{}1/victim", origin.trim_end_matches(|digit: char| digit.is_ascii_digit())),
    ];
    let shops = [gateway.create_merchant()?, gateway.create_merchant_with(&["--origin", &origin])?];
    for shop in &shops {
        for address in &elsewhere {
            // All requests in which a browser can send the address, for a payment and for a stored account.
            let paid = shop.create_checkout(&[]).await?;
            shop.submit_card(paid.id(), &[("shopperResultUrl", address), ("notificationUrl", address)]).await?;
            let stored = shop.post("v1/checkouts", &[("createRegistration", "true")]).await?;
            let fields = [&tillgate_tests::CARD[..], &[("shopperResultUrl", address.as_str())]].concat();
            shop.post_as_browser(&format!("v1/checkouts/{}/registration", stored.id()), &fields).await?;
            let plain = shop.create_checkout(&[]).await?;
            let path = format!("v1/plainForm.html?checkoutId={}&brands=VISA", plain.id());
            shop.post_as_browser(&path, &fields).await?;
        }
        // The merchant's server may send any address.
        let told = shop.create_checkout(&[("shopperResultUrl", &mine)]).await?;
        shop.submit_card(told.id(), &[("shopperResultUrl", &victim)]).await?;
        shop.advance_clock("29m").await?;
        let received = receiver.next_request().await?;
        assert_notified(
            &received,
            "/mine",
            &[("id", told.id()), ("resourcePath", &format!("/v1/checkouts/{}/payment", told.id()))],
        );
    }
    let written: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM message", [], |row| row.get(0))?;
    assert_eq!((written, receiver.drain_requests().await), (2, Vec::new()));
    Ok(())
}

#[tokio::test]
async fn an_address_with_a_port_of_another_service_is_refused_when_it_is_set() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--allow-port", "25", "--allow-port", "6379"])?;
    let shop = gateway.create_merchant()?;
    let (paid, open) = (shop.pay_by_card(&[]).await?, shop.create_checkout(&[]).await?);
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
                shop.create_checkout(&[field]).await?,
                shop.post(&format!("v1/checkouts/{}", open.id()), &[field]).await?,
                shop.pay_by_card(&[field]).await?,
                shop.post("v1/registrations", &[&tillgate_tests::CARD[..], &[field]].concat()).await?,
                shop.post(&format!("v1/payments/{}", paid.id()), &[&refund[..], &[field]].concat()).await?,
            ];
            for answer in answers.iter().filter(|_| !allowed) {
                assert_eq!(
                    (answer.status, answer.invalid_parameters()),
                    (400, vec![name]),
                    "{address}: {}",
                    answer.text
                );
            }
            assert!(!allowed || answers[0].status == 200, "{address}: {}", answers[0].text);
        }
    }
    // The address of a webhook is checked too.
    let create = |url: &str, options: &[&str]| {
        let command = ["webhook", "create", "--entity", &shop.entity_id, "--url", url];
        gateway.run_command(&[&command, options].concat())
    };
    assert!(
        create("https://shop.example:5432/", &[])
            .is_err_and(|error| error.to_string().contains("port that is not allowed"))
    );
    create("https://shop.example:5432/", &["--allow-port", "5432"])?;
    create("https://shop.example:8443/", &[])?;
    Ok(())
}

#[tokio::test]
async fn hundreds_of_receivers_that_never_answer_delay_no_other_merchant() -> anyhow::Result<()> {
    const TARPITS: usize = 300;
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let (slow, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let hangs = Arc::new(AtomicBool::new(false));
    let tarpit = Receiver::start_with({
        let hangs = Arc::clone(&hangs);
        move |_| match hangs.load(Ordering::SeqCst) {
            true => ReceiverReply::Silence,
            false => ReceiverReply::with_status(503),
        }
    })
    .await?;
    let refund = async |shop: &MerchantClient, payment: &str, address: &str| {
        let fields = [("paymentType", "RF"), ("amount", "0.01"), ("currency", "EUR"), ("notificationUrl", address)];
        shop.post(&format!("v1/payments/{payment}"), &fields).await
    };
    let paid = slow.pay_by_card(&[]).await?;
    for host in 0..TARPITS {
        let address = tarpit.url("").replace("127.0.0.1", &format!("t{host}.localhost"));
        assert_eq!(refund(&slow, paid.id(), &address).await?.status, 200);
    }
    wait_for_attempts(&gateway, u32::try_from(TARPITS)?).await?;
    tarpit.drain_requests().await;
    let tries = AtomicUsize::new(0);
    let fine = Receiver::start_with(move |_| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => ReceiverReply::with_status(503),
        _ => ReceiverReply::with_status(200),
    })
    .await?;
    let bought = other.pay_by_card(&[]).await?;

    // All retries are due at once, and none is answered.
    hangs.store(true, Ordering::SeqCst);
    slow.advance_clock("67s").await?;
    for _ in 0..32 {
        tarpit.next_request().await?;
    }
    let refunded = refund(&other, bought.id(), &fine.url("notify")).await?;
    assert_eq!(fine.next_request().await?.query_parameters()[0].1, refunded.id());
    // The retry for the other merchant is not delayed either.
    wait_for_attempts(&gateway, u32::try_from(TARPITS)? + 1).await?;
    other.advance_clock("67s").await?;
    assert_eq!(fine.next_request().await?.query_parameters()[0].1, refunded.id());
    let ended: u32 = open_database(&gateway)?.query_row(
        "SELECT count(*) FROM delivery JOIN message ON message.id = message WHERE entity = ?1",
        [&slow.entity_id],
        |row| row.get(0),
    )?;
    assert_eq!(ended as usize, TARPITS, "a receiver that never answers was given up before");
    Ok(())
}

#[tokio::test]
async fn a_merchant_shares_its_slots_with_its_channels() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &shop.entity_id])?;
    let tarpit = Receiver::start_with(|_| ReceiverReply::Silence).await?;
    let paid = channel.pay_by_card(&[]).await?;
    for host in 0..2 {
        let address = tarpit.url("").replace("127.0.0.1", &format!("t{host}.localhost"));
        let fields = [("paymentType", "RF"), ("amount", "0.01"), ("currency", "EUR"), ("notificationUrl", &address)];
        channel.post(&format!("v1/payments/{}", paid.id()), &fields).await?;
        tarpit.next_request().await?;
    }
    let owners = open_database(&gateway)?;
    let owners: Vec<String> = owners
        .prepare("SELECT DISTINCT owner FROM message")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    assert_eq!(owners, [shop.entity_id]);
    Ok(())
}
