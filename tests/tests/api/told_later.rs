//! Notifications of payments that end later, and the addresses that they may go to.

use tillgate_tests::{Gateway, Merchant, Received, Receiver, Reply, until};

use crate::asynchronous::{BACK, page, pay, press};
use crate::support::*;

pub const LOOPBACK: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// A gateway that may talk to this machine, and a merchant of it.
pub fn gateway() -> anyhow::Result<(Gateway, Merchant)> {
    let gateway = Gateway::start_with(&LOOPBACK)?;
    let shop = gateway.merchant()?;
    Ok((gateway, shop))
}

/// Waits until it is written how so many attempts went.
pub async fn tried(gateway: &Gateway, attempts: u32) -> anyhow::Result<()> {
    until("the attempts are written", async || {
        let written: u32 = database(gateway)?.query_row("SELECT count(*) FROM delivery", [], |row| row.get(0))?;
        Ok((written == attempts).then_some(()))
    })
    .await
}

#[track_caller]
pub fn assert_told(received: &Received, path: &str, parameters: &[(&str, &str)]) {
    assert_eq!((received.method.as_str(), received.body.as_str()), ("GET", ""));
    assert_eq!(received.target.split('?').next(), Some(path));
    let query = received.query();
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(query, parameters, "{}", received.target);
    for header in ["authorization", "cookie", "referer"] {
        assert_eq!(received.header(header), "");
    }
}

#[tokio::test]
async fn a_payment_that_ends_later_is_told_at_its_notification_address() -> anyhow::Result<()> {
    let (_gateway, shop) = gateway()?;
    let receiver = Receiver::start().await?;
    let address = receiver.url("notify?shop=1");
    let notification = ("notificationUrl", address.as_str());
    let told = async |id: &str, path: String| -> anyhow::Result<()> {
        assert_told(&receiver.next().await?, "/notify", &[("shop", "1"), ("id", id), ("resourcePath", &path)]);
        Ok(())
    };
    for (button, ends) in [("success", true), ("cancel", true), ("close", true), ("later", false)] {
        let made = shop.checkout(&[BACK, notification]).await?;
        let submitted = shop.submit(made.id(), &[("paymentBrand", "IDEAL")]).await?;
        press(&shop, &page(&submitted), button).await?;
        if ends {
            told(made.id(), format!("/v1/checkouts/{}/payment", made.id())).await?;
            // Deciding again changes nothing, and tells nothing.
            press(&shop, &page(&submitted), "cancel").await?;
        }
        let paid = pay(&shop, "PAYPAL", &[notification]).await?;
        press(&shop, &page(&paid), button).await?;
        if ends {
            told(paid.id(), format!("/v1/payments/{}", paid.id())).await?;
        } else {
            // Two wait for their shoppers, who never come back.
            shop.advance("31m").await?;
            let (first, second) = (receiver.next().await?, receiver.next().await?);
            let ids = [&first, &second].map(|received| received.query()[1].1.clone());
            assert!(ids.contains(&made.id().to_owned()) && ids.contains(&paid.id().to_owned()), "{ids:?}");
        }
    }
    // Who is answered at once is told nothing.
    assert_answer(&shop.pay(&[notification]).await?, 200, "000.100.110");
    let last = pay(&shop, "PAYPAL", &[notification]).await?;
    press(&shop, &page(&last), "success").await?;
    told(last.id(), format!("/v1/payments/{}", last.id())).await
}

#[tokio::test]
async fn what_refers_to_a_payment_is_told_with_the_payment_that_it_refers_to() -> anyhow::Result<()> {
    let (gateway, shop) = gateway()?;
    let receiver = Receiver::start().await?;
    let address = receiver.url("");
    let notification = ("notificationUrl", address.as_str());
    let paid = shop.pay(&[]).await?;
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR"), notification];
    let refund = shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?;
    let path = format!("/v1/payments/{}", refund.id());
    let told = [("id", refund.id()), ("resourcePath", path.as_str()), ("referencedId", paid.id())];
    assert_told(&receiver.next().await?, "/", &told);

    // A brand that was given up and succeeds all the same is taken back, which nobody has asked for.
    let made = shop.checkout(&[BACK, notification]).await?;
    let abandoned = shop.submit(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit(made.id(), &[]).await?;
    press(&shop, &page(&abandoned), "success").await?;
    let payments = stored_payments(&gateway, made.id())?;
    let first = payments[0]["id"].as_str().unwrap_or_default();
    let mut told = [receiver.next().await?.query(), receiver.next().await?.query()];
    told.sort_by_key(Vec::len);
    assert_eq!(told[0][0].1, first);
    assert_eq!(told[0][1].1, format!("/v1/payments/{first}"));
    assert_eq!(told[1][2], ("referencedId".to_owned(), first.to_owned()));
    let reversal = shop.get(told[1][1].1.trim_start_matches('/')).await?;
    assert_answer(&reversal, 200, "000.100.110");
    assert_eq!(reversal.json["paymentType"], "RV");
    Ok(())
}

#[tokio::test]
async fn a_notification_that_is_not_taken_comes_again_when_its_time_has_come() -> anyhow::Result<()> {
    let (gateway, shop) = gateway()?;
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let receiver = Receiver::answering(move |_| match tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => Reply::Close,
        1 => Reply::Status(503, vec![("Retry-After", "7200".to_owned())]),
        2 => Reply::Status(302, vec![("Location", "/elsewhere".to_owned())]),
        _ => Reply::status(204),
    })
    .await?;
    let address = receiver.url("notify");
    let paid = pay(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press(&shop, &page(&paid), "success").await?;
    let first = receiver.next().await?;
    // Each wait is longer than the one before, by a tenth at most; the second is the receiver's own wish.
    for (written, wait) in (1..).zip(["67s", "121m", "5m"]) {
        tried(&gateway, written).await?;
        shop.advance(wait).await?;
        assert_eq!(receiver.next().await?.target, first.target);
    }
    tried(&gateway, 4).await?;
    shop.advance("48h").await?;
    let next = pay(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press(&shop, &page(&next), "success").await?;
    assert_eq!(receiver.next().await?.query()[0].1, next.id());
    Ok(())
}

#[tokio::test]
async fn receivers_that_are_down_silent_endless_or_closing_delay_nobody() -> anyhow::Result<()> {
    let (_gateway, shop) = gateway()?;
    let fine = Receiver::start().await?;
    let mut bad = Vec::new();
    for reply in [Reply::Silence, Reply::Endless, Reply::Half, Reply::Close] {
        bad.push(Receiver::answering(move |_| reply.clone()).await?);
    }
    let mut addresses: Vec<String> = bad.iter().map(|receiver| receiver.url("notify")).collect();
    // Nobody listens there any more.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
    addresses.push(format!("http://{gone}/nobody"));
    for address in &addresses {
        for _ in 0..12 {
            let paid = pay(&shop, "IDEAL", &[("notificationUrl", address)]).await?;
            press(&shop, &page(&paid), "success").await?;
        }
    }
    for receiver in &bad {
        receiver.next().await?;
    }
    let address = fine.url("notify");
    let began = std::time::Instant::now();
    for _ in 0..5 {
        let paid = pay(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
        press(&shop, &page(&paid), "success").await?;
        assert_eq!(fine.next().await?.query()[0].1, paid.id());
    }
    // Far less than the half minute that the silent one takes.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    Ok(())
}

#[tokio::test]
async fn nothing_goes_to_an_address_that_is_not_public_unless_its_network_is_allowed() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let receiver = Receiver::start().await?;
    let port = receiver.url("").rsplit(':').next().unwrap_or_default().trim_end_matches('/').to_owned();
    let hosts = ["127.0.0.1", "localhost", "shop.localhost", "127.1", "2130706433", "0.0.0.0"];
    for host in hosts {
        let address = format!("http://{host}:{port}/");
        let paid = pay(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
        press(&shop, &page(&paid), "success").await?;
    }
    until("each was tried", async || {
        let database = database(&gateway)?;
        let mut statement = database.prepare("SELECT status, fault FROM delivery")?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, Option<u16>>(0)?, row.get::<_, String>(1)?)))?;
        let tried = rows.collect::<Result<Vec<_>, _>>()?;
        for (status, fault) in &tried {
            assert_eq!(*status, None);
            assert!(fault.contains("not public"), "{fault}");
        }
        Ok((tried.len() == hosts.len()).then_some(()))
    })
    .await?;
    assert_eq!(receiver.rest().await, []);
    Ok(())
}

#[tokio::test]
async fn what_was_being_sent_when_the_gateway_died_is_settled_after_the_next_start() -> anyhow::Result<()> {
    let (gateway, shop) = gateway()?;
    let receiver = Receiver::start().await?;
    let address = receiver.url("");
    let paid = pay(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press(&shop, &page(&paid), "success").await?;
    // It dies, as far as anybody can tell, between sending and writing that it was taken.
    let gateway = gateway.restart(&LOOPBACK)?;
    until("it is settled", async || {
        let query = "SELECT count(*) FROM message WHERE due IS NULL";
        let settled: u32 = database(&gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((settled == 1).then_some(()))
    })
    .await
}
