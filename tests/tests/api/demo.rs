//! The demo: a gateway, and a shop that uses it in a separate process.

use reqwest::redirect::Policy;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::poll_until;

use crate::command_line::{RunningCommand, start_tillgate};

/// Starts a demo with its data in this folder, on free ports. Also returns the shop's address by IP, for clients that
/// cannot resolve `shop.localhost`.
async fn start_demo(folder: &TempDir) -> anyhow::Result<(RunningCommand, String)> {
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let demo =
        start_tillgate(&["demo", "--data", data, "--listen", "127.0.0.1:0", "--shop", "127.0.0.1:0", "--json"]).await?;
    let started: Value = serde_json::from_str(&demo.line)?;
    let address = started["shop"].as_str().unwrap_or_default();
    Ok((demo, address.replace("shop.localhost", "127.0.0.1")))
}

/// Waits until a request to an address fails.
async fn wait_until_closed(address: &str) -> anyhow::Result<()> {
    poll_until("the shop to end with its demo", async || Ok(reqwest::get(address).await.is_err().then_some(()))).await
}

#[tokio::test]
async fn the_shop_of_a_demo_sells_through_its_gateway() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (_demo, shop) = start_demo(&folder).await?;
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let order = client.post(format!("{shop}checkout")).header("content-type", "application/x-www-form-urlencoded");
    let ordered = order.body("item=teapot&quantity=1&outcome=approve").send().await?;
    let page = ordered.headers().get("location").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(ordered.status(), 303);
    let page = client.get(format!("{shop}{}", page.trim_start_matches('/'))).send().await?.text().await?;
    assert!(page.contains("checkoutId=") && page.contains("http://pay.localhost:"), "{page}");
    Ok(())
}

#[tokio::test]
async fn the_shop_ends_with_its_demo_however_that_ends() -> anyhow::Result<()> {
    for signal in ["TERM", "KILL"] {
        let folder = TempDir::new()?;
        let (mut demo, shop) = start_demo(&folder).await?;
        assert_eq!(reqwest::get(&shop).await?.status(), 200);
        demo.send_signal(signal).await?;
        let ended = demo.wait_for_exit().await?;
        assert_eq!(ended.success(), signal == "TERM", "{ended}");
        wait_until_closed(&shop).await?;
    }
    Ok(())
}
