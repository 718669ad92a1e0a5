//! The page that stands in for a brand's own, as a shopper meets it: on any screen, without scripts, and in a popup.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, browse, until};

use crate::{APPROVED, Stage};

/// Submits a brand. Returns the address of its page, as browsers reach it.
async fn submit(stage: &Stage, brand: &str) -> anyhow::Result<String> {
    let submitted = stage.merchant.submit(stage.checkout.id(), &[("paymentBrand", brand)]).await?;
    let url = submitted.json["redirect"]["url"].as_str();
    let url = url.ok_or_else(|| anyhow::anyhow!("no page: {}", submitted.text))?;
    Ok(url.replace(&stage.gateway.base(), &stage.gateway.public()))
}

async fn press(browser: &Browser, button: &str) -> anyhow::Result<()> {
    Ok(browser.find(By::Css(format!("button[value={button}]"))).await?.click().await?)
}

/// A stage whose shop has a result page.
async fn stage() -> anyhow::Result<Stage> {
    let mut stage = Stage::new().await?;
    let back = format!("{}back", stage.site.public);
    stage.checkout = stage.merchant.checkout(&[("shopperResultUrl", &back)]).await?;
    Ok(stage)
}

#[tokio::test]
async fn axe_finds_nothing_on_the_page_and_it_fits_a_phone() -> anyhow::Result<()> {
    let stage = stage().await?;
    let page = submit(&stage, "PAYPAL").await?;
    browse(move |browser| async move {
        for (scheme, width) in [("light", 1000), ("dark", 320)] {
            browser.prefer(scheme).await?;
            browser.resize(width, 640).await?;
            browser.goto(&page).await?;
            assert!(browser.axe().await?.is_empty(), "{scheme}: {:?}", browser.axe().await?);
            assert_eq!(browser.value("document.documentElement.scrollWidth").await?, width);
            browser.picture(&format!("brand-page-{scheme}")).await?;
        }
        // In the end it goes away by itself; the answer that comes too late shows what it says, and stays.
        press(&browser, "cancel").await?;
        browser.until("location.pathname === '/back'").await?;
        let post =
            "document.body.innerHTML = `<form method=post action='${arguments[0]}'><button name=answer value=success>`";
        browser.execute(post, vec![json!(page)]).await?;
        press(&browser, "success").await?;
        browser.until("document.title === 'This payment has ended already'").await?;
        assert!(browser.axe().await?.is_empty(), "{:?}", browser.axe().await?);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_scripts_the_shopper_pays_and_comes_back_to_the_shop() -> anyhow::Result<()> {
    for brand in ["IDEAL", "PAYPAL"] {
        let stage = stage().await?;
        let page = submit(&stage, brand).await?;
        browse(move |browser| async move {
            browser.cdp().send_raw("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
            browser.goto(&page).await?;
            press(&browser, "success").await?;
            let id = stage.checkout.id();
            let back = format!("{}back?id={id}&resourcePath=%2Fv1%2Fcheckouts%2F{id}%2Fpayment", stage.site.public);
            until("the shop's page", async || Ok((browser.current_url().await?.as_str() == back).then_some(())))
                .await?;
            assert_eq!(stage.code().await?, APPROVED);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_popup_cuts_itself_off_closes_when_it_is_done_and_the_gateway_knows_how_it_went() -> anyhow::Result<()> {
    for (button, stands) in [("success", "PAID"), ("cancel", "OPEN")] {
        let stage = stage().await?;
        let page = submit(&stage, "PAYPAL").await?;
        let shop = stage.page("");
        browse(move |browser| async move {
            browser.goto(&shop).await?;
            let own = browser.window().await?;
            browser.execute("window.popup = window.open(arguments[0])", vec![json!(page)]).await?;
            // To the shop's page it looks closed as soon as it shows the wallet, so that this tells nothing.
            browser.until("window.popup.closed").await?;
            let windows = browser.windows().await?;
            let popup = windows.into_iter().find(|window| *window != own);
            browser.switch_to_window(popup.ok_or_else(|| anyhow::anyhow!("no popup"))?).await?;
            assert_eq!(browser.value("window.opener").await?, json!(null));
            press(&browser, button).await?;
            until("the popup closes", async || Ok((browser.windows().await?.len() == 1).then_some(()))).await?;
            browser.switch_to_window(own).await?;
            assert_eq!(browser.current_url().await?.as_str(), shop);
            let path = format!("{}v1/checkouts/{}/state", stage.merchant.base, stage.checkout.id());
            let told: serde_json::Value = stage.merchant.client.get(path).send().await?.json().await?;
            assert_eq!(told["checkoutState"], stands);
            Ok(())
        })
        .await?;
    }
    Ok(())
}
