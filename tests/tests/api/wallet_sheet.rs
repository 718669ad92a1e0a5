//! The sheet that stands in for a wallet: where it comes from, who may show it, and what it hands out.

use anyhow::Context as _;
use reqwest::Method;
use tillgate_tests::{Answer, Gateway, Merchant};

use crate::support::live_gateway;

async fn ask(shop: &Merchant, method: Method, checkout: &str, body: &str) -> anyhow::Result<Answer> {
    let request = shop.bare(method, &format!("v1/simulator/wallet/{checkout}?brand=APPLEPAY&form=n0nce"));
    let kind = "application/x-www-form-urlencoded";
    Answer::read(request.header("content-type", kind).body(body.to_owned()).send().await?).await
}

/// The token inside a page.
fn token(page: &str) -> Option<String> {
    let (_, rest) = page.split_once(r#"<p id="token" hidden>"#)?;
    Some(rest.split_once("</p>")?.0.replace("&quot;", "\""))
}

#[tokio::test]
async fn a_token_of_the_sheet_pays_once_and_any_other_token_is_another() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let shop = gateway.merchant()?;
    gateway.command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let checkout = shop.checkout(&[]).await?;
    let page = ask(&shop, Method::GET, checkout.id(), "").await?;
    assert!(page.status == 200 && page.text.contains("92.00 EUR") && token(&page.text).is_none(), "{}", page.text);
    let mut tokens = Vec::new();
    for card in ["card=0", "card=99"] {
        let made = ask(&shop, Method::POST, checkout.id(), card).await?;
        tokens.push(token(&made.text).context(made.text)?);
    }
    assert_ne!(tokens[0], tokens[1]);
    let fields = [("paymentBrand", "APPLEPAY"), ("walletPay.paymentToken", tokens[0].as_str())];
    let path = format!("v1/checkouts/{}/payment", checkout.id());
    assert_eq!(shop.post_as_browser(&path, &fields).await?.code(), "000.000.100");
    assert_eq!(shop.status(checkout.id()).await?.code(), "000.100.110");
    assert!(!gateway.log().contains(&tokens[0]));
    Ok(())
}

#[tokio::test]
async fn there_is_a_sheet_only_where_one_may_pay_with_it() -> anyhow::Result<()> {
    let gateway = Gateway::shared();
    let keyless = gateway.merchant()?;
    let live = live_gateway().merchant_with(&["--live"])?.behind_proxy();
    live_gateway().command(&["wallet-key", "create", "--entity", &live.entity_id])?;
    for shop in [&keyless, &live] {
        let checkout = shop.checkout(&[]).await?;
        for method in [Method::GET, Method::POST] {
            let answer = ask(shop, method, checkout.id(), "card=0").await?;
            assert_eq!((answer.status, token(&answer.text)), (404, None), "{}", answer.text);
        }
    }
    assert_eq!(ask(&keyless, Method::GET, "x", "").await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn the_sheet_is_shown_by_the_merchants_pages_only() -> anyhow::Result<()> {
    let shop = Gateway::shared().merchant_with(&["--origin", "https://shop.example"])?;
    let checkout = shop.checkout(&[]).await?;
    let answer = ask(&shop, Method::GET, checkout.id(), "").await?;
    let policy = answer.headers["content-security-policy"].to_str()?;
    assert!(policy.ends_with("frame-ancestors https://shop.example"), "{policy}");
    Ok(())
}
