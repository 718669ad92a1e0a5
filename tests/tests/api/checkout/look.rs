//! The look of the form: each checkout carries the one of its channel, and the loader is the same for all.

use anyhow::Context as _;
use reqwest::Method;
use tillgate_tests::{MerchantClient, TestGateway, poll_until};

use crate::checkout::form_files::sha256_base64;
use crate::checkout::frame_document::read_configuration;
use crate::checkout::plain_form::get_form;

/// Returns the bytes of the loader for a checkout.
async fn read_loader(shop: &MerchantClient, checkout: &str) -> anyhow::Result<Vec<u8>> {
    let loader = shop.bare_request(Method::GET, &format!("v1/paymentWidgets.js?checkoutId={checkout}")).send().await?;
    Ok(loader.bytes().await?.to_vec())
}

/// Creates a checkout, and returns its id.
async fn prepare(shop: &MerchantClient) -> anyhow::Result<String> {
    Ok(shop.create_checkout(&[]).await?.id().to_owned())
}

#[tokio::test]
async fn a_checkout_carries_the_look_of_its_channel_and_no_other() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant_with(&["--form-accent", "#6D3A97", "--form-radius", "0"])?;
    let channel = gateway.create_merchant_with(&[
        "--merchant",
        &shop.entity_id,
        "--form-radius",
        "8px",
        "--form-height",
        "4rem",
    ])?;
    let bare = gateway.create_merchant_with(&["--merchant", &shop.entity_id, "--form-accent", "none"])?;
    let other = gateway.create_merchant()?;
    let colours = "--wpwl-accent:#6d3a97;--wpwl-on-accent:#ffffff;";
    let whole = format!(":where(.wpwl-container){{{colours}--wpwl-radius:8px;--wpwl-height:max(44px,4rem)}}");
    let expected = [
        (&shop, Some(format!(":where(.wpwl-container){{{colours}--wpwl-radius:0px}}"))),
        (&channel, Some(whole)),
        (&bare, Some(":where(.wpwl-container){--wpwl-radius:0px}".to_owned())),
        (&other, None),
    ];
    let mut loaders = Vec::new();
    for (entity, look) in expected {
        let checkout = prepare(entity).await?;
        let config = read_configuration(entity, &checkout, "VISA").await?;
        assert_eq!(config["look"].as_str(), look.as_deref(), "{config}");
        loaders.push(read_loader(entity, &checkout).await?);
        let (_, plain) = get_form(entity, &checkout, "&brands=VISA").await?;
        assert_eq!(plain.contains("background: #6d3a97"), look.is_some_and(|look| look.contains("#6d3a97")), "{plain}");
    }
    // The merchant pins the loader by its integrity, so its bytes must not depend on the look.
    assert!(loaders.iter().all(|loader| !loader.is_empty() && *loader == loaders[0]));
    Ok(())
}

#[tokio::test]
async fn a_change_of_the_look_applies_to_open_checkouts() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let checkout = prepare(&shop).await?;
    for (value, is_carried) in [("#b3261e", true), ("none", false)] {
        gateway.run_command(&["entity", "set", "--entity", &shop.entity_id, "--form-error", value])?;
        poll_until("the form has the look", async || {
            let config = read_configuration(&shop, &checkout, "VISA").await?;
            let (_, plain) = get_form(&shop, &checkout, "&brands=VISA").await?;
            let has_look = config["look"].as_str().is_some_and(|look| look.contains("--wpwl-error:#b3261e"));
            Ok((has_look == is_carried && plain.contains(".error, .alert { color: #b3261e; }") == is_carried)
                .then_some(()))
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_plain_form_has_the_look_in_its_policy_and_no_error_that_cannot_be_read() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    // A colour for dark pages: the plain form is white.
    let shop =
        gateway.create_merchant_with(&["--form-error", "#ffa79c", "--form-height", "60px", "--form-gap", "2rem"])?;
    let checkout = prepare(&shop).await?;
    let path = format!("v1/plainForm.html?checkoutId={checkout}&brands=VISA");
    let answer = shop.bare_request(Method::GET, &path).send().await?;
    let policy = answer.headers().get("content-security-policy").context("no policy")?.to_str()?.to_owned();
    let page = answer.text().await?;
    let style = page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).context("no style")?.0;
    assert!(style.contains("min-height: 60px") && style.contains("margin-bottom: 2rem"), "{style}");
    assert!(!style.contains("#ffa79c"), "{style}");
    let hash = sha256_base64(style.as_bytes());
    assert!(policy.contains(&format!("style-src 'sha256-{hash}'")), "{policy}");
    Ok(())
}
