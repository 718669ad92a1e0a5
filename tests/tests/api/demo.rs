//! The demo: a gateway, and a shop that uses it in a separate process.

use reqwest::redirect::Policy;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{MerchantClient, poll_until};

use crate::command_line::{RunningCommand, run_tillgate, start_tillgate};

/// Starts a demo with its data in this folder, on free ports. Also returns the shop's address by IP, for clients that
/// cannot resolve `shop.localhost`, and the demo's merchant.
async fn start_demo(folder: &TempDir) -> anyhow::Result<(RunningCommand, String, MerchantClient)> {
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let demo =
        start_tillgate(&["demo", "--data", data, "--listen", "127.0.0.1:0", "--shop", "127.0.0.1:0", "--json"]).await?;
    let started: Value = serde_json::from_str(&demo.line)?;
    let text = |name: &str| started[name].as_str().unwrap_or_default().to_owned();
    let gateway = text("gateway").replace("pay.localhost", "127.0.0.1");
    let merchant = MerchantClient::new(gateway, text("entityId"), text("token"));
    Ok((demo, text("shop").replace("shop.localhost", "127.0.0.1"), merchant))
}

/// Waits until a request to an address fails.
async fn wait_until_closed(address: &str) -> anyhow::Result<()> {
    poll_until("the shop to end with its demo", async || Ok(reqwest::get(address).await.is_err().then_some(()))).await
}

#[tokio::test]
async fn the_shop_of_a_demo_sells_through_its_gateway() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (_demo, shop, _) = start_demo(&folder).await?;
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let order = client.post(format!("{shop}checkout")).header("content-type", "application/x-www-form-urlencoded");
    let ordered = order.body("item=teapot&quantity=1&outcome=approve").send().await?;
    let page = ordered.headers().get("location").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    assert_eq!(ordered.status(), 303);
    let page = client.get(format!("{shop}{}", page.trim_start_matches('/'))).send().await?.text().await?;
    assert!(page.contains("checkoutId=") && page.contains("http://pay.localhost:"), "{page}");
    Ok(())
}

/// Orders a teapot with more form fields, and pays it. Returns the text of the result page.
async fn order_and_pay(shop: &str, merchant: &MerchantClient, more: &str) -> anyhow::Result<String> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let order = client.post(format!("{shop}checkout")).header("content-type", "application/x-www-form-urlencoded");
    let ordered = order.body(format!("item=teapot&quantity=1{more}")).send().await?;
    let page = ordered.headers().get("location").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    let html = client.get(format!("{shop}{}", page.trim_start_matches('/'))).send().await?.text().await?;
    let id = html.split_once("checkoutId=").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(id, _)| id);
    merchant.submit_card(id, &[]).await?;
    let result = page.trim_start_matches('/').replacen("checkout/", "result/", 1);
    Ok(client.get(format!("{shop}{result}")).send().await?.text().await?)
}

#[tokio::test]
async fn a_demo_stops_a_suspicious_order_and_its_command_tells_why() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (_demo, shop, merchant) = start_demo(&folder).await?;
    let page = order_and_pay(&shop, &merchant, "").await?;
    assert!(page.contains(r#"data-outcome="paid""#), "{page}");
    let page = order_and_pay(&shop, &merchant, "&suspicious=1").await?;
    assert!(page.contains(r#"data-outcome="declined""#) && page.contains("100.400.141"), "{page}");
    let command = page.split_once("<code>tillgate ").and_then(|(_, rest)| rest.split_once("</code>")).map(|(it, _)| it);
    let command = command.unwrap_or_default().replace(['\'', '"'], "").replace("&#39;", "").replace("&quot;", "");
    let arguments: Vec<&str> = command.split(' ').collect();
    let explained = run_tillgate(&arguments).await?;
    let text = String::from_utf8(explained.stdout)?;
    assert!(text.starts_with("review  score 60\n  fired    disposable e-mail, sent elsewhere\n"), "{command}: {text}");
    assert!(text.contains("email.domain, mismatch.country") && !text.contains("trash.example"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_demo_keeps_the_rules_of_its_visitor() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (mut demo, _, merchant) = start_demo(&folder).await?;
    let versions = merchant.get("v2/risk/rules").await?.json["versions"].as_array().map(Vec::len);
    assert_eq!(versions, Some(1));
    assert_eq!(merchant.post("v2/risk/rules/none/activate", &[]).await?.status, 200);
    demo.send_signal("TERM").await?;
    demo.wait_for_exit().await?;
    let (_demo, shop, merchant) = start_demo(&folder).await?;
    assert!(merchant.get("v2/risk/rules").await?.json["active"].is_null());
    assert!(order_and_pay(&shop, &merchant, "&suspicious=1").await?.contains(r#"data-outcome="paid""#));
    Ok(())
}

#[tokio::test]
async fn the_shop_ends_with_its_demo_however_that_ends() -> anyhow::Result<()> {
    for signal in ["TERM", "KILL"] {
        let folder = TempDir::new()?;
        let (mut demo, shop, _) = start_demo(&folder).await?;
        assert_eq!(reqwest::get(&shop).await?.status(), 200);
        demo.send_signal(signal).await?;
        let ended = demo.wait_for_exit().await?;
        assert_eq!(ended.success(), signal == "TERM", "{ended}");
        wait_until_closed(&shop).await?;
    }
    Ok(())
}
