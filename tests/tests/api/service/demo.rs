//! The demo: a gateway, and a shop that uses it in a separate process.

use reqwest::redirect::Policy;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{MerchantClient, poll_until};

use crate::service::command_line::{RunningCommand, run_tillgate, start_tillgate};
use crate::settlement::reconciliation_files::today;

/// Starts a demo with its data in this folder, on free ports. Also returns the shop's address by IP, for clients that
/// cannot resolve `shop.localhost`, and the demo's merchant.
async fn start_demo(folder: &TempDir) -> anyhow::Result<(RunningCommand, String, MerchantClient)> {
    start_demo_with(folder, &["--payments", "0"]).await
}

/// Starts a demo like [`start_demo`], with more arguments.
async fn start_demo_with(folder: &TempDir, more: &[&str]) -> anyhow::Result<(RunningCommand, String, MerchantClient)> {
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let arguments = ["demo", "--data", data, "--listen", "127.0.0.1:0", "--shop", "127.0.0.1:0", "--json"];
    let demo = start_tillgate(&[&arguments, more].concat()).await?;
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
async fn the_first_start_of_a_demo_makes_the_payments_of_a_month_and_later_starts_make_none() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let mut counts = Vec::new();
    for payments in ["30", "40"] {
        let (_demo, _, merchant) = start_demo_with(&folder, &["--payments", payments]).await?;
        let (from, to) = (today().saturating_sub(jiff::Span::new().days(40)).to_string(), today().to_string());
        let entity = merchant.entity_id.as_str();
        let arguments = ["report", "transactions", "--entity", entity, "--from", &from, "--to", &to];
        let listed = run_tillgate(&[&arguments[..], &["--data", data, "--json"]].concat()).await?;
        let listed: Vec<Value> = serde_json::from_slice(&listed.stdout)?;
        counts.push(listed.len());
    }
    assert!(counts[0] >= 30 && counts[0] == counts[1], "{counts:?}");
    Ok(())
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

/// Orders a teapot with more form fields, and pays it. Returns the address and the text of the result page.
async fn order_and_pay(shop: &str, merchant: &MerchantClient, more: &str) -> anyhow::Result<(String, String)> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let order = client.post(format!("{shop}checkout")).header("content-type", "application/x-www-form-urlencoded");
    let ordered = order.body(format!("item=teapot&quantity=1{more}")).send().await?;
    let page = ordered.headers().get("location").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    let html = client.get(format!("{shop}{}", page.trim_start_matches('/'))).send().await?.text().await?;
    let id = html.split_once("checkoutId=").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(id, _)| id);
    merchant.submit_card(id, &[]).await?;
    let result = format!("{shop}{}", page.trim_start_matches('/').replacen("checkout/", "result/", 1));
    let text = client.get(&result).send().await?.text().await?;
    Ok((result, text))
}

#[tokio::test]
async fn a_demo_holds_a_suspicious_order_until_the_commands_of_its_page_decide() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (demo, shop, merchant) = start_demo(&folder).await?;
    let (_, page) = order_and_pay(&shop, &merchant, "").await?;
    assert!(page.contains(r#"data-outcome="paid""#) && !page.contains("<code>"), "{page}");
    for (decision, outcome, code) in [("approve", "paid", "000.100.110"), ("cancel", "declined", "100.400.142")] {
        let (address, page) = order_and_pay(&shop, &merchant, "&suspicious=1").await?;
        assert!(page.contains(r#"data-outcome="pending""#) && page.contains("100.400.500"), "{page}");
        let commands: Vec<&str> =
            page.split("<code>").skip(1).filter_map(|rest| rest.split("</code>").next()).collect();
        let find = |part: &str| commands.iter().find(|command| command.contains(part)).copied().unwrap_or_default();
        let explained = run_in_shell(find("risk explain")).await?;
        let fired = "review  score 60\n  fired    disposable e-mail, sent elsewhere\n";
        assert!(explained.starts_with(fired), "{commands:?}: {explained}");
        assert!(
            explained.contains("email.domain, mismatch.country") && !explained.contains("trash.example"),
            "{explained}"
        );
        // The command that the demo prints at its start lists the order, too.
        let printed: Value = serde_json::from_str(&demo.line)?;
        assert_eq!(printed["review"], find("review list"));
        let listed = run_in_shell(find("review list")).await?;
        assert!(listed.contains("unclaimed  disposable e-mail, sent elsewhere"), "{listed}");
        let decided = run_in_shell(find(&format!("review {decision}"))).await?;
        assert!(decided.contains(code), "{decided}");
        let page = reqwest::get(&address).await?.text().await?;
        assert!(page.contains(&format!(r#"data-outcome="{outcome}""#)) && page.contains(code), "{decision}: {page}");
        assert_eq!(run_in_shell(find("review list")).await?.trim(), "no payments");
    }
    Ok(())
}

/// Runs a command of the shop's page in a shell, as a visitor does who copies it. Returns what it prints.
async fn run_in_shell(command: &str) -> anyhow::Result<String> {
    anyhow::ensure!(!command.is_empty(), "the page has no such command");
    let output = tokio::process::Command::new("sh").args(["-c", command]).output().await?;
    let errors = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{command}: {errors}");
    Ok(String::from_utf8(output.stdout)?)
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
    let (_, page) = order_and_pay(&shop, &merchant, "&suspicious=1").await?;
    assert!(page.contains(r#"data-outcome="paid""#), "{page}");
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
