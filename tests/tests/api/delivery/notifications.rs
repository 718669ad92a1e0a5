//! Notifications of payments with a later outcome, and the permitted addresses.

use tillgate_tests::{MerchantClient, ReceivedRequest, Receiver, ReceiverReply, TestGateway, poll_until};

use crate::payment::asynchronous::{BACK, pay_by_brand, press_button, redirect_url};
use crate::support::*;

/// Option of a gateway that may send requests to this machine.
pub const LOOPBACK: [&str; 2] = ["--allow-network", "127.0.0.0/8"];

/// Starts a gateway that may send requests to this machine, and creates a merchant.
pub fn start_loopback_gateway() -> anyhow::Result<(TestGateway, MerchantClient)> {
    let gateway = TestGateway::start_with(&LOOPBACK)?;
    let shop = gateway.create_merchant()?;
    Ok((gateway, shop))
}

/// Waits until the store has the results of exactly this number of attempts to send a message.
pub async fn wait_for_attempts(gateway: &TestGateway, attempts: u32) -> anyhow::Result<()> {
    poll_until("the attempts are written", async || {
        let written: u32 = open_database(gateway)?.query_row("SELECT count(*) FROM delivery", [], |row| row.get(0))?;
        Ok((written == attempts).then_some(()))
    })
    .await
}

/// Asserts a GET to this path with exactly these query parameters, in this order, without a body, credentials, cookies
/// or a referrer.
#[track_caller]
pub fn assert_notified(received: &ReceivedRequest, path: &str, parameters: &[(&str, &str)]) {
    assert_eq!((received.method.as_str(), received.body.as_str()), ("GET", ""));
    assert_eq!(received.target.split('?').next(), Some(path));
    let query = received.query_parameters();
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(query, parameters, "{}", received.target);
    for header in ["authorization", "cookie", "referer"] {
        assert_eq!(received.header(header), "");
    }
}

#[tokio::test]
async fn a_payment_that_ends_later_is_told_at_its_notification_address() -> anyhow::Result<()> {
    let (_gateway, shop) = start_loopback_gateway()?;
    let receiver = Receiver::start().await?;
    let address = receiver.url("notify?shop=1");
    let notification = ("notificationUrl", address.as_str());
    let told = async |id: &str, path: String| -> anyhow::Result<()> {
        assert_notified(
            &receiver.next_request().await?,
            "/notify",
            &[("shop", "1"), ("id", id), ("resourcePath", &path)],
        );
        Ok(())
    };
    for (button, ends) in [("success", true), ("cancel", true), ("close", true), ("later", false)] {
        let made = shop.create_checkout(&[BACK, notification]).await?;
        let submitted = shop.submit_card(made.id(), &[("paymentBrand", "IDEAL")]).await?;
        press_button(&shop, &redirect_url(&submitted), button).await?;
        if ends {
            told(made.id(), format!("/v1/checkouts/{}/payment", made.id())).await?;
            // A second answer on the page has no effect and sends no notification.
            press_button(&shop, &redirect_url(&submitted), "cancel").await?;
        }
        let paid = pay_by_brand(&shop, "PAYPAL", &[notification]).await?;
        press_button(&shop, &redirect_url(&paid), button).await?;
        if ends {
            told(paid.id(), format!("/v1/payments/{}", paid.id())).await?;
        } else {
            // Two payments expire, because their shoppers never return.
            shop.advance_clock("31m").await?;
            let (first, second) = (receiver.next_request().await?, receiver.next_request().await?);
            let ids = [&first, &second].map(|received| received.query_parameters()[1].1.clone());
            assert!(ids.contains(&made.id().to_owned()) && ids.contains(&paid.id().to_owned()), "{ids:?}");
        }
    }
    // A payment whose outcome is in the response sends no notification.
    assert_result(&shop.pay_by_card(&[notification]).await?, 200, "000.100.110");
    let last = pay_by_brand(&shop, "PAYPAL", &[notification]).await?;
    press_button(&shop, &redirect_url(&last), "success").await?;
    told(last.id(), format!("/v1/payments/{}", last.id())).await
}

#[tokio::test]
async fn what_refers_to_a_payment_is_told_with_the_payment_that_it_refers_to() -> anyhow::Result<()> {
    let (gateway, shop) = start_loopback_gateway()?;
    let receiver = Receiver::start().await?;
    let address = receiver.url("");
    let notification = ("notificationUrl", address.as_str());
    let paid = shop.pay_by_card(&[]).await?;
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR"), notification];
    let refund = shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?;
    let path = format!("/v1/payments/{}", refund.id());
    let told = [("id", refund.id()), ("resourcePath", path.as_str()), ("referencedId", paid.id())];
    assert_notified(&receiver.next_request().await?, "/", &told);

    // A replaced payment that succeeds anyway is reversed without a request of the merchant, so both changes are
    // notified.
    let made = shop.create_checkout(&[BACK, notification]).await?;
    let abandoned = shop.submit_card(made.id(), &[("paymentBrand", "PAYPAL")]).await?;
    shop.submit_card(made.id(), &[]).await?;
    press_button(&shop, &redirect_url(&abandoned), "success").await?;
    let payments = stored_payments(&gateway, made.id())?;
    let first = payments[0]["id"].as_str().unwrap_or_default();
    let mut told =
        [receiver.next_request().await?.query_parameters(), receiver.next_request().await?.query_parameters()];
    told.sort_by_key(Vec::len);
    assert_eq!(told[0][0].1, first);
    assert_eq!(told[0][1].1, format!("/v1/payments/{first}"));
    assert_eq!(told[1][2], ("referencedId".to_owned(), first.to_owned()));
    let reversal = shop.get(told[1][1].1.trim_start_matches('/')).await?;
    assert_result(&reversal, 200, "000.100.110");
    assert_eq!(reversal.json["paymentType"], "RV");
    Ok(())
}

#[tokio::test]
async fn a_notification_that_is_not_taken_comes_again_when_its_time_has_come() -> anyhow::Result<()> {
    let (gateway, shop) = start_loopback_gateway()?;
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let receiver = Receiver::start_with(move |_| match tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => ReceiverReply::Close,
        1 => ReceiverReply::Status(503, vec![("Retry-After", "7200".to_owned())]),
        2 => ReceiverReply::Status(302, vec![("Location", "/elsewhere".to_owned())]),
        _ => ReceiverReply::with_status(204),
    })
    .await?;
    let address = receiver.url("notify");
    let paid = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press_button(&shop, &redirect_url(&paid), "success").await?;
    let first = receiver.next_request().await?;
    // Each wait is longer than the previous one, with up to a tenth of random variation. The receiver requested the
    // second one.
    for (written, wait) in (1..).zip(["67s", "121m", "5m"]) {
        wait_for_attempts(&gateway, written).await?;
        shop.advance_clock(wait).await?;
        assert_eq!(receiver.next_request().await?.target, first.target);
    }
    wait_for_attempts(&gateway, 4).await?;
    shop.advance_clock("48h").await?;
    let next = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press_button(&shop, &redirect_url(&next), "success").await?;
    assert_eq!(receiver.next_request().await?.query_parameters()[0].1, next.id());
    Ok(())
}

#[tokio::test]
async fn receivers_that_are_down_silent_endless_or_closing_delay_nobody() -> anyhow::Result<()> {
    let (_gateway, shop) = start_loopback_gateway()?;
    let fine = Receiver::start().await?;
    let mut bad = Vec::new();
    for reply in [ReceiverReply::Silence, ReceiverReply::Endless, ReceiverReply::Truncated, ReceiverReply::Close] {
        bad.push(Receiver::start_with(move |_| reply.clone()).await?);
    }
    let mut addresses: Vec<String> = bad.iter().map(|receiver| receiver.url("notify")).collect();
    // Nothing listens at this address any more.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
    addresses.push(format!("http://{gone}/nobody"));
    for address in &addresses {
        for _ in 0..12 {
            let paid = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", address)]).await?;
            press_button(&shop, &redirect_url(&paid), "success").await?;
        }
    }
    for receiver in &bad {
        receiver.next_request().await?;
    }
    let address = fine.url("notify");
    let began = std::time::Instant::now();
    for _ in 0..5 {
        let paid = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
        press_button(&shop, &redirect_url(&paid), "success").await?;
        assert_eq!(fine.next_request().await?.query_parameters()[0].1, paid.id());
    }
    // Much less than the half minute of the silent receiver's time-out.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    Ok(())
}

#[tokio::test]
async fn nothing_goes_to_an_address_that_is_not_public_unless_its_network_is_allowed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let receiver = Receiver::start().await?;
    let port = receiver.url("").rsplit(':').next().unwrap_or_default().trim_end_matches('/').to_owned();
    let hosts = ["127.0.0.1", "localhost", "shop.localhost", "127.1", "2130706433", "0.0.0.0"];
    for host in hosts {
        let address = format!("http://{host}:{port}/");
        let paid = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
        press_button(&shop, &redirect_url(&paid), "success").await?;
    }
    poll_until("each was tried", async || {
        let database = open_database(&gateway)?;
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
    assert_eq!(receiver.drain_requests().await, []);
    Ok(())
}

#[tokio::test]
async fn what_was_being_sent_when_the_gateway_died_is_settled_after_the_next_start() -> anyhow::Result<()> {
    let (gateway, shop) = start_loopback_gateway()?;
    let receiver = Receiver::start().await?;
    let address = receiver.url("");
    let paid = pay_by_brand(&shop, "IDEAL", &[("notificationUrl", &address)]).await?;
    press_button(&shop, &redirect_url(&paid), "success").await?;
    // The restart is equivalent to a crash between sending the notification and storing its result.
    let gateway = gateway.kill_and_restart(&LOOPBACK)?;
    poll_until("it is settled", async || {
        let query = "SELECT count(*) FROM message WHERE due IS NULL";
        let settled: u32 = open_database(&gateway)?.query_row(query, [], |row| row.get(0))?;
        Ok((settled == 1).then_some(()))
    })
    .await
}
