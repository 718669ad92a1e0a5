//! The announced end of a gateway, as a proxy in front of several gateways sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;
use tillgate_tests::{MerchantClient, poll_until};
use tokio::task::JoinSet;

use crate::service::resilience::start_gateway_process;

/// Clients that pay one after the other, each on its own connections.
const CLIENTS: usize = 8;

/// Reads the status of a gateway's health, in HTTP and in words.
async fn read_health(shop: &MerchantClient) -> anyhow::Result<(u16, String)> {
    let response = reqwest::get(format!("{}health", shop.base)).await?;
    let status = response.status().as_u16();
    let health: Value = response.json().await?;
    Ok((status, health["status"].as_str().unwrap_or_default().to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn under_load_no_request_fails_that_is_sent_before_a_proxy_has_noticed_the_end() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (mut gateway, shop) = start_gateway_process(folder.path(), &["--drain", "2s"]).await?;
    assert_eq!(read_health(&shop).await?, (200, "ok".to_owned()));
    let (is_noticed, paid) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let shop = MerchantClient::new(shop.base.clone(), shop.entity_id.clone(), shop.token.clone());
        let (is_noticed, paid) = (Arc::clone(&is_noticed), Arc::clone(&paid));
        clients.spawn(async move {
            while !is_noticed.load(Ordering::Acquire) {
                let response = shop.pay_by_card(&[]).await?;
                anyhow::ensure!(response.status == 200, "{}", response.text);
                paid.fetch_add(1, Ordering::AcqRel);
            }
            Ok(())
        });
    }
    let wait_for_payments = async |more: usize| {
        let reached = paid.load(Ordering::Acquire) + more;
        poll_until("payments go on", async || Ok((paid.load(Ordering::Acquire) >= reached).then_some(()))).await
    };
    wait_for_payments(CLIENTS).await?;
    gateway.send_signal("TERM").await?;
    let is_draining = async || Ok((read_health(&shop).await? == (503, "draining".to_owned())).then_some(()));
    poll_until("the health says that the gateway drains", is_draining).await?;
    wait_for_payments(CLIENTS).await?;
    is_noticed.store(true, Ordering::Release);
    while let Some(ended) = clients.join_next().await {
        ended??;
    }
    let status = gateway.wait_for_exit().await?;
    assert!(status.success(), "{status}");
    let database = rusqlite::Connection::open(folder.path().join("data/tillgate.db"))?;
    let stored: i64 = database.query_row("SELECT count(*) FROM payment", [], |row| row.get(0))?;
    assert_eq!(usize::try_from(stored)?, paid.load(Ordering::Acquire));
    Ok(())
}

#[tokio::test]
async fn while_it_drains_a_gateway_keeps_no_connection_and_a_second_signal_ends_it() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (mut gateway, shop) = start_gateway_process(folder.path(), &["--drain", "10m"]).await?;
    let connection_of = async || {
        let response = reqwest::get(format!("{}v1/resultcodes", shop.base)).await?;
        anyhow::Ok(response.headers().get("connection").map(|value| value.as_bytes().to_vec()))
    };
    assert_eq!(connection_of().await?, None);
    gateway.send_signal("TERM").await?;
    let is_draining = async || Ok((read_health(&shop).await?.0 == 503).then_some(()));
    poll_until("the health says that the gateway drains", is_draining).await?;
    assert_eq!(connection_of().await?.as_deref(), Some(&b"close"[..]));
    gateway.send_signal("TERM").await?;
    assert!(gateway.wait_for_exit().await?.success());
    Ok(())
}
