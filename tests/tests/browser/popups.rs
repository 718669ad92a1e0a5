//! Brands with a page in a window of its own: paid there, cancelled there, closed, and what the form makes of it.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, browse};

use crate::forms::click;
use crate::{APPROVED, Stage};

const OPTIONS: &str = "onLightboxCancel: function () { witness.note('cancelled', ''); }";
const WAITS: &str = "!!document.querySelector('.wpwl-container-virtualAccount-PAYPAL > .wpwl-message')";

/// Presses the brand's button and goes to the window that opens. The answer is the shop's window.
async fn visit(browser: &Browser) -> anyhow::Result<WindowHandle> {
    let shop = browser.window().await?;
    let before = browser.windows().await?;
    click(browser, ".wpwl-button-brand-PAYPAL").await?;
    let found = tillgate_tests::until("a window of the brand", async || {
        Ok(browser.windows().await?.into_iter().find(|window| !before.contains(window)))
    });
    browser.switch_to_window(found.await?).await?;
    browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
    Ok(shop)
}

#[tokio::test]
async fn what_is_paid_in_the_window_takes_the_shop_on() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage.open(&browser, "PAYPAL VISA", OPTIONS).await?;
        let shop = visit(&browser).await?;
        let brand = browser.window().await?;
        browser.switch_to_window(shop.clone()).await?;
        browser.until(WAITS).await?;
        browser.picture("popup-waiting").await?;
        browser.switch_to_window(brand).await?;
        click(&browser, "button[value=success]").await?;
        browser.switch_to_window(shop).await?;
        browser.query(By::Id("result")).first().await?;
        let address = browser.current_url().await?;
        assert!(address.query().unwrap_or_default().contains("resourcePath=%2Fv1%2Fcheckouts%2F"), "{address}");
        assert_eq!(stage.code().await?, APPROVED);
        assert!(browser.seen_of("cancelled").await?.is_empty());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn after_a_cancelled_or_closed_window_the_shopper_goes_on_with_another_brand() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage.open(&browser, "PAYPAL VISA", OPTIONS).await?;
        // Cancelled on the brand's page.
        let shop = visit(&browser).await?;
        click(&browser, "button[value=cancel]").await?;
        browser.switch_to_window(shop).await?;
        browser.until("witness.all().filter(it => it.kind === 'cancelled').length === 1").await?;
        browser.until(&format!("!{WAITS}")).await?;
        // Closed without a word, and the shopper does something here.
        let shop = visit(&browser).await?;
        browser.close_window().await?;
        browser.switch_to_window(shop).await?;
        browser.until(WAITS).await?;
        click(&browser, "h1").await?;
        browser.until("witness.all().filter(it => it.kind === 'cancelled').length === 2").await?;
        // Cancelled in the form.
        let shop = visit(&browser).await?;
        browser.switch_to_window(shop).await?;
        click(&browser, ".wpwl-container-virtualAccount-PAYPAL > .wpwl-message button:last-of-type").await?;
        browser.until("witness.all().filter(it => it.kind === 'cancelled').length === 3").await?;

        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        let status = stage.paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("VISA"), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn where_no_window_may_open_the_brand_takes_the_tab_and_a_merchant_who_stops_it_leaves_none() -> anyhow::Result<()>
{
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage
            .open(
                &browser,
                "PAYPAL",
                "onBeforeSubmitVirtualAccount: function () { return Promise.resolve(window.goOn || false); }",
            )
            .await?;
        click(&browser, ".wpwl-button-brand-PAYPAL").await?;
        browser.until("!document.querySelector('.wpwl-button-busy')").await?;
        tillgate_tests::until("one window", async || Ok((browser.windows().await?.len() == 1).then_some(()))).await?;
        assert_eq!(stage.submits(), 0);
        browser.execute("window.goOn = true; window.open = () => null", vec![]).await?;
        click(&browser, ".wpwl-button-brand-PAYPAL").await?;
        browser.until("location.pathname.startsWith('/v1/simulator/')").await?;
        click(&browser, "button[value=success]").await?;
        tillgate_tests::until("paid", async || Ok((stage.code().await? == APPROVED).then_some(()))).await
    })
    .await
}

#[tokio::test]
async fn a_brands_page_opens_inside_the_form_where_the_merchant_wants_that() -> anyhow::Result<()> {
    let cases = [
        ("KLARNA_INVOICE", "virtualAccount", "onBeforeSubmitInlineVirtualAccount"),
        ("PAYPAL", "virtualAccount", "onBeforeSubmitInlineVirtualAccount"),
        ("IDEAL", "onlineTransfer", "onBeforeSubmitOnlineTransfer"),
    ];
    browse(move |browser| async move {
        for (brand, kind, callback) in cases {
            let stage = Stage::new().await?;
            let options =
                format!("{OPTIONS}, inlineFlow: ['{brand}'], {callback}: function () {{ witness.note('asked', 1); }}");
            stage.open(&browser, &format!("{brand} EPS"), &options).await?;
            let container = format!(".wpwl-container-{kind}-{brand}");
            let press = async |value: &str| {
                click(&browser, &format!(".wpwl-button-brand-{brand}")).await?;
                let frame = browser.query(By::Css(format!("{container} > iframe.wpwl-target"))).and_displayed();
                frame.first().await?.enter_frame().await?;
                let pressed = click(&browser, &format!("button[value={value}]")).await;
                browser.enter_default_frame().await?;
                pressed
            };
            press("cancel").await?;
            browser.until_seen("cancelled").await?;
            browser.until(&format!("document.querySelector('{container} > iframe.wpwl-target').hidden")).await?;
            press("success").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(browser.seen_of("asked").await?.len(), 2, "{brand}");
            assert_eq!((browser.windows().await?.len(), stage.code().await?.as_str()), (1, APPROVED), "{brand}");
        }
        Ok(())
    })
    .await
}
