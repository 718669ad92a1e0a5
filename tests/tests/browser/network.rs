//! Network failures: late or missing files, blocked frames, no connection at the submit.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, run_in_browser};

use crate::CheckoutFixture;

/// Records the merchant's callbacks, and makes timers four times as fast.
const SCRIPT: &str = "
    const real = setTimeout; window.setTimeout = (work, time) => real(work, time / 4);
    var wpwlOptions = { onError(error) { witness.note('failed', error.name); }, onReady() { witness.note('ready', 1); } };";

const MESSAGE: &str = ".wpwl-message.wpwl-has-error";

/// Blocks requests that match `patterns`, as a browser extension does. An empty list unblocks all.
pub async fn block_requests(browser: &Browser, patterns: &[&str]) -> anyhow::Result<()> {
    let patterns: Vec<_> = patterns.iter().map(|it| json!({ "urlPattern": it, "block": true })).collect();
    browser.cdp().send_raw("Network.enable", json!({})).await?;
    browser.cdp().send_raw("Network.setBlockedURLs", json!({ "urlPatterns": patterns })).await?;
    Ok(())
}

/// Fills in the form, presses the button, and waits until the checkout is paid.
pub async fn fill_and_pay(fixture: &CheckoutFixture, browser: &Browser) -> anyhow::Result<()> {
    let form = CardForm::wait_until_ready(browser).await?;
    form.fill_fields().await?;
    form.press_pay_button().await?;
    fixture.wait_until_paid(browser).await?;
    Ok(())
}

#[tokio::test]
async fn a_blocked_page_part_is_told_to_shopper_and_merchant_and_comes_at_the_button() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        block_requests(&browser, &["*://*:*/*static.min.js"]).await?;
        let script = format!("{SCRIPT} wpwlOptions.locale = 'fr';");
        browser.goto(stage.add_page(&script)).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "WidgetError");
        let message = browser.query(By::Css(MESSAGE)).and_displayed().first().await?;
        assert!(message.text().await?.starts_with("Le formulaire"), "{}", message.text().await?);
        assert!(browser.find(By::Css(".wpwl-button-retry")).await?.text().await? == "Réessayer");
        block_requests(&browser, &[]).await?;
        browser.execute("window.setTimeout = real;", vec![]).await?;
        browser.find(By::Css(".wpwl-button-retry")).await?.click().await?;
        browser.wait_for_observation("ready").await?;
        assert_eq!(browser.evaluate(&format!("document.querySelectorAll('{MESSAGE}').length")).await?, 0);
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_page_part_that_is_lost_once_comes_by_itself() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        block_requests(&browser, &["*://*:*/*static.min.js", "*://*:*/*locale-de.js", "*://*:*/*card.css"]).await?;
        // With normal timers: the block is removed between two attempts.
        let script = "addEventListener('error', ({ target }) => witness.note('lost', target.src || target.href), true);
            var wpwlOptions = { locale: 'de', onError(error) { witness.note('failed', error.name); },
                onReady() { witness.note('ready', 1); } };";
        browser.goto(stage.add_page(script)).await?;
        browser.wait_for_observation("lost").await?;
        block_requests(&browser, &[]).await?;
        browser.wait_for_observation("ready").await?;
        assert_eq!(browser.observed_details("failed").await?, Vec::<String>::new());
        let label = browser.evaluate("document.querySelector('.wpwl-label-cardNumber').textContent").await?;
        assert_eq!(label, "Kartennummer");
        browser
            .wait_until("getComputedStyle(document.querySelector('.wpwl-button-pay')).borderRadius !== '0px'")
            .await?;
        fill_and_pay(&stage, &browser).await
    })
    .await
}

/// A page that repeats failed scripts only when the test calls `again()`.
pub const HELD: &str = "
    const real = setTimeout, held = [];
    window.setTimeout = (work, time) => (time === 500 || time === 2000 ? held.push(work) : real(work, time));
    function again() { held.splice(0).forEach(work => work()); }
    var wpwlOptions = { onError(error) { witness.note('failed', error.name); }, onReady() { witness.note('ready', 1); },
        onChangeBrand(brand) { witness.note('brand', brand); } };";

/// Opens a form whose page module is blocked, and types into its frames, which are there without it.
async fn type_without_page_module<'a>(fixture: &CheckoutFixture, browser: &'a Browser) -> anyhow::Result<CardForm<'a>> {
    block_requests(browser, &["*://*:*/*static.min.js"]).await?;
    browser.goto(fixture.add_page(HELD)).await?;
    browser.wait_until("held.length").await?;
    let form = CardForm::in_page(browser);
    form.enter_number("5454545454545454").await?;
    form.enter_security_code("123").await?;
    assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-button-pay').length").await?, 0, "no page module");
    Ok(form)
}

/// Fills in the fields of the page.
async fn fill_page_fields(form: &CardForm<'_>) -> anyhow::Result<()> {
    form.enter_expiry("534").await?;
    form.enter_holder("Jane Jones").await?;
    form.press_pay_button().await
}

#[tokio::test]
async fn what_a_shopper_types_before_the_page_module_has_come_is_paid_with() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let form = type_without_page_module(&stage, &browser).await?;
        block_requests(&browser, &[]).await?;
        browser.execute("again()", vec![]).await?;
        browser.wait_for_observation("ready").await?;
        fill_page_fields(&form).await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"], "MASTER", "the brand is that of the number");
        assert_eq!(status.json["card"]["expiryMonth"], "05");
        assert_eq!(browser.observed_details("brand").await?, ["MASTER"]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_was_typed_outlives_a_failure_and_enter_is_not_made_up_for_later() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let form = type_without_page_module(&stage, &browser).await?;
        // Enter in a frame is a submit, if there is something to submit.
        form.enter_security_code("\u{e007}").await?;
        for _ in 0..2 {
            browser.wait_until("held.length").await?;
            browser.execute("again()", vec![]).await?;
        }
        assert_eq!(browser.wait_for_observation("failed").await?, "WidgetError");
        block_requests(&browser, &[]).await?;
        browser.query(By::Css(".wpwl-button-retry")).and_displayed().first().await?.click().await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!(status.json["checkoutState"], "OPEN", "nothing was sent: {}", status.text);
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "5454 5454 5454 5454");
        fill_page_fields(&form).await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn blocked_frames_are_told_after_a_while() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.set_policy("script-src 'self' {gateway} 'wasm-unsafe-eval'; style-src {gateway}; frame-src 'none'");
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(SCRIPT)).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeCommunicationError");
        browser.query(By::Css(MESSAGE)).and_displayed().first().await?;
        assert_eq!(browser.observed_details("ready").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn frames_that_are_not_heard_come_at_the_button() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let deaf = "addEventListener('message', event => window.hears || event.stopImmediatePropagation());";
        browser.goto(stage.add_page(&format!("{deaf} {SCRIPT}"))).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeCommunicationError");
        // From here on timers run at normal speed. Otherwise the frames could time out again on a slow machine.
        browser.execute("window.hears = true; window.setTimeout = real;", vec![]).await?;
        browser.query(By::Css(".wpwl-button-retry")).and_displayed().first().await?.click().await?;
        browser.wait_for_observation("ready").await?;
        assert_eq!(browser.evaluate(&format!("document.querySelectorAll('{MESSAGE}').length")).await?, 0);
        // The frames are visible again before the shopper can type.
        browser.wait_until("!document.querySelector('.wpwl-loading') && document.querySelector('.wpwl-control-cardNumber').checkVisibility({ visibilityProperty: true, opacityProperty: true })").await?;
        fill_and_pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn without_a_connection_the_submit_says_so_and_the_button_lives_again() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser
            .goto(stage.add_page("var wpwlOptions = { onError(error) { witness.note('failed', error.name); } };"))
            .await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        // Only the payment request fails. It comes from the frame, a separate process that the page's network emulation
        // does not affect.
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser
            .execute("window.connected = fetch; window.fetch = () => Promise.reject(new TypeError('offline'))", vec![])
            .await?;
        browser.enter_default_frame().await?;
        form.press_pay_button().await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeSubmitError");
        let notice = browser.query(By::Css(MESSAGE)).and_displayed().first().await?;
        assert!(notice.text().await?.contains("connection"));
        assert_eq!(stage.submit_count(), 0);
        assert_eq!(form.frame_value(CODE_FRAME).await?, "123", "nothing has to be typed again");
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser.execute("window.fetch = window.connected", vec![]).await?;
        browser.enter_default_frame().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        assert_eq!(stage.submit_count(), 1);
        Ok(())
    })
    .await
}
