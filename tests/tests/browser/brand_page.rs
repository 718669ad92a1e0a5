//! The simulator's page in place of a brand's own page, as a shopper uses it: on any screen, without scripts, and in a
//! popup.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, poll_until, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// Submits a brand in the fixture's checkout. Returns the address of its page for browsers. Fails if the response has
/// none.
async fn submit_brand(fixture: &CheckoutFixture, brand: &str) -> anyhow::Result<String> {
    let submitted = fixture.merchant.submit_card(fixture.checkout.id(), &[("paymentBrand", brand)]).await?;
    let url = submitted.json["redirect"]["url"].as_str();
    let url = url.ok_or_else(|| anyhow::anyhow!("no page: {}", submitted.text))?;
    Ok(url.replace(&fixture.gateway.base_url(), &fixture.gateway.public_url()))
}

async fn press_button(browser: &Browser, button: &str) -> anyhow::Result<()> {
    Ok(browser.find(By::Css(format!("button[value={button}]"))).await?.click().await?)
}

/// Creates a fixture whose checkout returns the shopper to a page of the merchant's site.
async fn fixture_with_result_url() -> anyhow::Result<CheckoutFixture> {
    let mut fixture = CheckoutFixture::new().await?;
    let back = format!("{}back", fixture.site.public);
    fixture.checkout = fixture.merchant.create_checkout(&[("shopperResultUrl", &back)]).await?;
    Ok(fixture)
}

#[tokio::test]
async fn axe_finds_nothing_on_the_page_and_it_fits_a_phone() -> anyhow::Result<()> {
    let stage = fixture_with_result_url().await?;
    let page = submit_brand(&stage, "PAYPAL").await?;
    run_in_browser(move |browser| async move {
        for (scheme, width) in [("light", 1000), ("dark", 320)] {
            browser.set_color_scheme(scheme).await?;
            browser.resize_page(width, 640).await?;
            browser.goto(&page).await?;
            assert!(browser.run_axe().await?.is_empty(), "{scheme}: {:?}", browser.run_axe().await?);
            assert_eq!(browser.evaluate("document.documentElement.scrollWidth").await?, width);
            browser.save_screenshot(&format!("brand-page-{scheme}")).await?;
        }
        // After an answer, the page redirects by itself. After a late answer, it shows the outcome and stays.
        press_button(&browser, "cancel").await?;
        browser.wait_until("location.pathname === '/back'").await?;
        let post =
            "document.body.innerHTML = `<form method=post action='${arguments[0]}'><button name=answer value=success>`";
        browser.execute(post, vec![json!(page)]).await?;
        press_button(&browser, "success").await?;
        browser.wait_until("document.title === 'This payment has ended already'").await?;
        assert!(browser.run_axe().await?.is_empty(), "{:?}", browser.run_axe().await?);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_scripts_the_shopper_pays_and_comes_back_to_the_shop() -> anyhow::Result<()> {
    for brand in ["IDEAL", "PAYPAL"] {
        let stage = fixture_with_result_url().await?;
        let page = submit_brand(&stage, brand).await?;
        run_in_browser(move |browser| async move {
            browser.cdp().send_raw("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
            browser.goto(&page).await?;
            press_button(&browser, "success").await?;
            let id = stage.checkout.id();
            let back = format!("{}back?id={id}&resourcePath=%2Fv1%2Fcheckouts%2F{id}%2Fpayment", stage.site.public);
            poll_until("the shop's page", async || Ok((browser.current_url().await?.as_str() == back).then_some(())))
                .await?;
            assert_eq!(stage.read_result_code().await?, APPROVED);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_popup_cuts_itself_off_closes_when_it_is_done_and_the_gateway_knows_how_it_went() -> anyhow::Result<()> {
    for (button, stands) in [("success", "PAID"), ("cancel", "OPEN")] {
        let stage = fixture_with_result_url().await?;
        let page = submit_brand(&stage, "PAYPAL").await?;
        let shop = stage.add_page("");
        run_in_browser(move |browser| async move {
            browser.goto(&shop).await?;
            let own = browser.window().await?;
            browser.execute("window.popup = window.open(arguments[0])", vec![json!(page)]).await?;
            // To the shop's page, the popup looks closed as soon as it shows the brand's page (COOP), so `closed` is no
            // signal.
            browser.wait_until("window.popup.closed").await?;
            let windows = browser.windows().await?;
            let popup = windows.into_iter().find(|window| *window != own);
            browser.switch_to_window(popup.ok_or_else(|| anyhow::anyhow!("no popup"))?).await?;
            assert_eq!(browser.evaluate("window.opener").await?, json!(null));
            press_button(&browser, button).await?;
            poll_until("the popup closes", async || Ok((browser.windows().await?.len() == 1).then_some(()))).await?;
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
