//! Tests that the load of one tenant leaves the other tenants their share of every limited resource.

use anyhow::Context as _;
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
