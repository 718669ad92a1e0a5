//! Tests that the load of one tenant leaves the other tenants their share of every limited resource.

use anyhow::Context as _;
use tillgate_tests::TestGateway;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::acquirer::payments::AcquirerScene;
use crate::support::*;

/// An amount that the host books and never answers.
const UNANSWERED: &str = "2000.02";

#[tokio::test]
async fn payments_that_wait_for_a_silent_host_leave_room_for_those_of_other_merchants() -> anyhow::Result<()> {
    // Each of the payments has a connection of its own to the gateway.
    let scene = AcquirerScene::start(&[], &["--connections-per-address", "0"]).await?;
    let other = scene.gateway.create_merchant()?;
    let mut waiting = JoinSet::new();
    for _ in 0..300 {
        let shop = scene.shop.clone();
        waiting.spawn(async move { shop.pay_by_card(&[("testMode", "EXTERNAL"), ("amount", UNANSWERED)]).await });
    }
    // The first answer is that of a payment without a place, so all places of the merchant are taken by then.
    let refused = waiting.join_next().await.context("no payment")???;
    assert_eq!(refused.result_code(), "900.100.600", "{}", refused.text);
    for _ in 0..8 {
        let paid = other.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
        assert_result(&paid, 200, "000.100.112");
    }
    Ok(())
}

#[tokio::test]
async fn large_requests_that_do_not_go_on_leave_the_large_requests_of_others_alone() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--connections-per-address", "0"])?;
    let (greedy, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let host = greedy.base.trim_start_matches("http://").trim_end_matches('/');
    let mut stalled = Vec::new();
    // More than the gateway has threads: a form without its end, a form of unknown size, and a file.
    for head in [
        "POST /v1/payments HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 200000",
        "POST /v1/payments HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked",
        "POST /v1/disputes/8a/evidence HTTP/1.1\r\nContent-Type: application/pdf\r\nContent-Length: 200000",
    ] {
        for _ in 0..64 {
            let mut connection = TcpStream::connect(host).await?;
            let head = format!("{head}\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", greedy.token);
            connection.write_all(head.as_bytes()).await?;
            stalled.push(connection);
        }
    }
    let items: Vec<(String, String)> =
        (0..1000).map(|item| (format!("cart.items[{item}].sku"), format!("sku-{item}"))).collect();
    let cart: Vec<(&str, &str)> = items.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for shop in [&other, &greedy] {
        let paid = shop.pay_by_card(&cart).await?;
        assert_result(&paid, 200, "000.100.110");
        assert_envelope(&paid);
    }
    drop(stalled);
    Ok(())
}
