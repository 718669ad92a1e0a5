//! Networks that fail: files that come late or never, frames that are blocked, no connection at the submit.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{Browser, browse};

use crate::Stage;

/// Tells of the merchant's callbacks, and lets time pass four times as fast.
const SCRIPT: &str = "
    const real = setTimeout; window.setTimeout = (work, time) => real(work, time / 4);
    var wpwlOptions = { onError(error) { witness.note('failed', error.name); }, onReady() { witness.note('ready', 1); } };";

const MESSAGE: &str = ".wpwl-message.wpwl-has-error";

/// Blocks what `patterns` say, as an extension would; nothing when there are none.
async fn block(browser: &Browser, patterns: &[&str]) -> anyhow::Result<()> {
    let patterns: Vec<_> = patterns.iter().map(|it| json!({ "urlPattern": it, "block": true })).collect();
    browser.cdp().send_raw("Network.enable", json!({})).await?;
    browser.cdp().send_raw("Network.setBlockedURLs", json!({ "urlPatterns": patterns })).await?;
    Ok(())
}

async fn pay(stage: &Stage, browser: &Browser) -> anyhow::Result<()> {
    let form = CardForm::ready(browser).await?;
    form.fill().await?;
    form.pay().await?;
    stage.paid(browser).await?;
    Ok(())
}

#[tokio::test]
async fn a_blocked_page_part_is_told_to_shopper_and_merchant_and_comes_at_the_button() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        block(&browser, &["*://*:*/*static.min.js"]).await?;
        let script = format!("{SCRIPT} wpwlOptions.locale = 'fr';");
        browser.goto(stage.page(&script)).await?;
        assert_eq!(browser.until_seen("failed").await?, "WidgetError");
        let message = browser.query(By::Css(MESSAGE)).and_displayed().first().await?;
        assert!(message.text().await?.starts_with("Le formulaire"), "{}", message.text().await?);
        assert!(browser.find(By::Css(".wpwl-button-retry")).await?.text().await? == "Réessayer");
        block(&browser, &[]).await?;
        browser.execute("window.setTimeout = real;", vec![]).await?;
        browser.find(By::Css(".wpwl-button-retry")).await?.click().await?;
        browser.until_seen("ready").await?;
        assert_eq!(browser.value(&format!("document.querySelectorAll('{MESSAGE}').length")).await?, 0);
        pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_page_part_that_is_lost_once_comes_by_itself() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        block(&browser, &["*://*:*/*static.min.js", "*://*:*/*locale-de.js", "*://*:*/*card.css"]).await?;
        // Without the haste: the block is lifted between two attempts.
        let script = "addEventListener('error', ({ target }) => witness.note('lost', target.src || target.href), true);
            var wpwlOptions = { locale: 'de', onError(error) { witness.note('failed', error.name); },
                onReady() { witness.note('ready', 1); } };";
        browser.goto(stage.page(script)).await?;
        browser.until_seen("lost").await?;
        block(&browser, &[]).await?;
        browser.until_seen("ready").await?;
        assert_eq!(browser.seen_of("failed").await?, Vec::<String>::new());
        let label = browser.value("document.querySelector('.wpwl-label-cardNumber').textContent").await?;
        assert_eq!(label, "Kartennummer");
        browser.until("getComputedStyle(document.querySelector('.wpwl-button-pay')).borderRadius !== '0px'").await?;
        pay(&stage, &browser).await
    })
    .await
}

/// A page whose lost scripts are asked for again when the test says so, by `again()`.
const HELD: &str = "
    const real = setTimeout, held = [];
    window.setTimeout = (work, time) => (time === 500 || time === 2000 ? held.push(work) : real(work, time));
    function again() { held.splice(0).forEach(work => work()); }
    var wpwlOptions = { onError(error) { witness.note('failed', error.name); }, onReady() { witness.note('ready', 1); },
        onChangeBrand(brand) { witness.note('brand', brand); } };";

/// A form without its page part, filled in and sent off; with `detects` the brand is to follow the number, else it is chosen.
async fn press_early<'a>(stage: &Stage, browser: &'a Browser, detects: bool) -> anyhow::Result<CardForm<'a>> {
    block(browser, &["*://*:*/*static.min.js"]).await?;
    browser.goto(stage.page(&format!("{HELD} wpwlOptions.brandDetection = {detects};"))).await?;
    browser.until_seen("ready").await?;
    let form = CardForm::standing(browser).await?;
    if !detects {
        form.brand("MASTER").await?;
    }
    form.number("5454545454545454").await?;
    form.expiry("534").await?;
    form.holder("Jane Jones").await?;
    form.code("123").await?;
    form.pay().await?;
    browser.until("held.length && document.querySelector('.wpwl-button-pay.wpwl-button-busy + .wpwl-spinner')").await?;
    assert_eq!(browser.value("document.querySelectorAll('.wpwl-live').length").await?, 0, "the page part is missing");
    Ok(form)
}

#[tokio::test]
async fn a_shopper_who_is_quicker_than_the_page_part_pays_all_the_same() -> anyhow::Result<()> {
    browse(move |browser| async move {
        for detects in [false, true] {
            let stage = Stage::new().await?;
            press_early(&stage, &browser, detects).await?;
            block(&browser, &[]).await?;
            browser.execute("again()", vec![]).await?;
            let status = stage.paid(&browser).await?;
            assert_eq!(status.json["paymentBrand"], "MASTER", "detection: {detects}");
            assert_eq!(status.json["card"]["expiryMonth"], "05");
            assert_eq!(browser.seen_of("brand").await?.last().map(String::as_str), Some("MASTER"));
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_press_that_was_lost_with_the_page_part_is_not_made_up_for_later() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let form = press_early(&stage, &browser, false).await?;
        // Enter in a frame is a press, too.
        form.code("\u{e007}").await?;
        for _ in 0..2 {
            browser.until("held.length").await?;
            browser.execute("again()", vec![]).await?;
        }
        assert_eq!(browser.until_seen("failed").await?, "WidgetError");
        block(&browser, &[]).await?;
        browser.query(By::Css(".wpwl-button-retry")).and_displayed().first().await?.click().await?;
        let form = CardForm::ready(&browser).await?;
        browser.until("document.querySelector('.wpwl-control-expiry').value === '05 / 34'").await?;
        browser.until("!document.querySelector('.wpwl-button-busy, .wpwl-spinner')").await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!(status.json["checkoutState"], "OPEN", "nothing was sent: {}", status.text);
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn blocked_frames_are_told_after_a_while() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    stage.site.set_policy("script-src 'self' {gateway} 'wasm-unsafe-eval'; style-src {gateway}; frame-src 'none'");
    browse(move |browser| async move {
        browser.goto(stage.page(SCRIPT)).await?;
        assert_eq!(browser.until_seen("failed").await?, "PciIframeCommunicationError");
        browser.query(By::Css(MESSAGE)).and_displayed().first().await?;
        assert_eq!(browser.seen_of("ready").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn frames_that_are_not_heard_come_at_the_button() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let deaf = "addEventListener('message', event => window.hears || event.stopImmediatePropagation());";
        browser.goto(stage.page(&format!("{deaf} {SCRIPT}"))).await?;
        assert_eq!(browser.until_seen("failed").await?, "PciIframeCommunicationError");
        // From here on time is its own again: on a slow machine the frames would be given up a second time.
        browser.execute("window.hears = true; window.setTimeout = real;", vec![]).await?;
        browser.query(By::Css(".wpwl-button-retry")).and_displayed().first().await?.click().await?;
        browser.until_seen("ready").await?;
        assert_eq!(browser.value(&format!("document.querySelectorAll('{MESSAGE}').length")).await?, 0);
        // The frames are there again before the shopper can type.
        browser.until("!document.querySelector('.wpwl-loading') && document.querySelector('.wpwl-control-cardNumber').checkVisibility({ visibilityProperty: true, opacityProperty: true })").await?;
        pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn without_a_connection_the_submit_says_so_and_the_button_lives_again() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser
            .goto(stage.page("var wpwlOptions = { onError(error) { witness.note('failed', error.name); } };"))
            .await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        // The payment alone: the frame is another process, which the page's network switch does not reach.
        form.find(NUMBER).await?.enter_frame().await?;
        browser
            .execute("window.connected = fetch; window.fetch = () => Promise.reject(new TypeError('offline'))", vec![])
            .await?;
        browser.enter_default_frame().await?;
        form.pay().await?;
        assert_eq!(browser.until_seen("failed").await?, "PciIframeSubmitError");
        let notice = browser.query(By::Css(MESSAGE)).and_displayed().first().await?;
        assert!(notice.text().await?.contains("connection"));
        assert_eq!(stage.submits(), 0);
        assert_eq!(form.inner_value(CODE).await?, "123", "nothing has to be typed again");
        form.find(NUMBER).await?.enter_frame().await?;
        browser.execute("window.fetch = window.connected", vec![]).await?;
        browser.enter_default_frame().await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        assert_eq!(stage.submits(), 1);
        Ok(())
    })
    .await
}
