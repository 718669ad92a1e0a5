//! The sheet that simulates a wallet: its address, its permitted embedding pages, and its token.

use anyhow::Context as _;
use reqwest::Method;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::support::live_gateway;

/// Calls the sheet of a checkout for Apple Pay as a browser does. Returns any response.
async fn call_sheet(shop: &MerchantClient, method: Method, checkout: &str, body: &str) -> anyhow::Result<ApiResponse> {
    let request = shop.bare_request(method, &format!("v1/simulator/wallet/{checkout}?brand=APPLEPAY&form=n0nce"));
    let kind = "application/x-www-form-urlencoded";
    ApiResponse::read_from(request.header("content-type", kind).body(body.to_owned()).send().await?).await
}

/// Returns the token in the sheet's page, or `None`.
fn token_in_page(page: &str) -> Option<String> {
    let (_, rest) = page.split_once(r#"<p id="token" hidden>"#)?;
    Some(rest.split_once("</p>")?.0.replace("&quot;", "\""))
}

#[tokio::test]
async fn a_token_of_the_sheet_pays_once_and_any_other_token_is_another() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    gateway.run_command(&["wallet-key", "create", "--entity", &shop.entity_id])?;
    let checkout = shop.create_checkout(&[]).await?;
    let page = call_sheet(&shop, Method::GET, checkout.id(), "").await?;
    assert!(
        page.status == 200 && page.text.contains("92.00 EUR") && token_in_page(&page.text).is_none(),
        "{}",
        page.text
    );
    let mut tokens = Vec::new();
    for card in ["card=0", "card=99"] {
        let made = call_sheet(&shop, Method::POST, checkout.id(), card).await?;
        tokens.push(token_in_page(&made.text).context(made.text)?);
    }
    assert_ne!(tokens[0], tokens[1]);
    let fields = [("paymentBrand", "APPLEPAY"), ("walletPay.paymentToken", tokens[0].as_str())];
    let path = format!("v1/checkouts/{}/payment", checkout.id());
    assert_eq!(shop.post_as_browser(&path, &fields).await?.result_code(), "000.000.100");
    assert_eq!(shop.read_status(checkout.id()).await?.result_code(), "000.100.110");
    assert!(!gateway.read_log().contains(&tokens[0]));
    Ok(())
}

#[tokio::test]
async fn there_is_a_sheet_only_where_one_may_pay_with_it() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let keyless = gateway.create_merchant()?;
    let live = live_gateway().create_merchant_with(&["--live"])?.behind_proxy();
    live_gateway().run_command(&["wallet-key", "create", "--entity", &live.entity_id])?;
    for shop in [&keyless, &live] {
        let checkout = shop.create_checkout(&[]).await?;
        for method in [Method::GET, Method::POST] {
            let answer = call_sheet(shop, method, checkout.id(), "card=0").await?;
            assert_eq!((answer.status, token_in_page(&answer.text)), (404, None), "{}", answer.text);
        }
    }
    assert_eq!(call_sheet(&keyless, Method::GET, "x", "").await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn a_brand_that_is_no_wallet_is_the_reason_of_its_refusal() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant()?;
    let checkout = shop.create_checkout(&[]).await?;
    for brand in ["VISA", "NONE", ""] {
        for method in [Method::GET, Method::POST] {
            let path = format!("v1/simulator/wallet/{}?brand={brand}", checkout.id());
            let answer = ApiResponse::read_from(shop.bare_request(method, &path).send().await?).await?;
            assert_eq!(answer.status, 404, "{brand}: {}", answer.text);
            assert!(answer.text.contains("There is no wallet of this brand."), "{brand}: {}", answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_sheet_is_shown_by_the_merchants_pages_only() -> anyhow::Result<()> {
    let shop = TestGateway::shared().create_merchant_with(&["--origin", "https://shop.example"])?;
    let checkout = shop.create_checkout(&[]).await?;
    let answer = call_sheet(&shop, Method::GET, checkout.id(), "").await?;
    let policy = answer.headers["content-security-policy"].to_str()?;
    assert!(policy.ends_with("frame-ancestors https://shop.example"), "{policy}");
    Ok(())
}
