//! Decisions and information of a merchant's script.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, PAY_BUTTON};
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::{APPROVED, CheckoutFixture, PENDING};

/// Asserts that `onBeforeSubmitCard` with the statement `answer` lets the form submit, or prevents it. After a refusal
/// the callback returns true, and a second press of the button submits. In both cases the checkout is paid once.
async fn check_before_submit(answer: &'static str, submits: bool) -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        // The second call returns true: after a refusal the shopper can continue.
        let script = format!(
            "var asked = 0;
             var wpwlOptions = {{ onBeforeSubmitCard: function (event) {{
                witness.note('asked', ++asked);
                if (asked > 1) return true;
                {answer}
             }} }};"
        );
        browser.goto(fixture.add_page(&script)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_for_observation("asked").await?;
        if !submits {
            // The button is enabled again after the refusal.
            browser.wait_until(&format!("!document.querySelector('{PAY_BUTTON}').disabled")).await?;
            assert_eq!(fixture.submit_count(), 0, "nothing was sent after: {answer}");
            assert_eq!(fixture.read_result_code().await?, PENDING);
            form.press_pay_button().await?;
        }
        browser.query(By::Id("result")).first().await?;
        assert_eq!(fixture.submit_count(), 1, "{answer}");
        assert_eq!(fixture.read_result_code().await?, APPROVED);
        assert_eq!(browser.observed_details("asked").await?.len(), if submits { 1 } else { 2 });
        Ok(())
    })
    .await
}

#[tokio::test]
async fn on_before_submit_card_that_returns_false_stops_the_payment() -> anyhow::Result<()> {
    check_before_submit("return false;", false).await
}

#[tokio::test]
async fn on_before_submit_card_that_promises_false_stops_the_payment() -> anyhow::Result<()> {
    check_before_submit(
        "return new Promise(function (done) { requestAnimationFrame(function () { done(false); }); });",
        false,
    )
    .await
}

#[tokio::test]
async fn on_before_submit_card_that_returns_nothing_lets_the_payment_go_on() -> anyhow::Result<()> {
    check_before_submit("", true).await
}

#[tokio::test]
async fn on_before_submit_card_that_promises_true_lets_the_payment_go_on() -> anyhow::Result<()> {
    check_before_submit("return Promise.resolve(true);", true).await
}

#[tokio::test]
async fn on_ready_is_told_the_containers_and_options_may_be_set_after_the_loader() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let script = "addEventListener('DOMContentLoaded', function () {
            window.wpwlOptions = { onReady: function (containers) {
                witness.note('ready', [containers.length, typeof containers[0].containerKey, Array.isArray(containers[0].ccMethods)]);
            } };
        });";
        browser.goto(stage.add_page(script)).await?;
        let told = browser.wait_for_observation("ready").await?;
        assert_eq!(told, "0: 1; 1: string; 2: true");
        // The configuration is available by then, because merchants read it in this callback.
        let config = browser.evaluate("typeof wpwl.checkout.config.customRedirectPageConfig").await?;
        assert_eq!(config, "object");
        assert_eq!(browser.evaluate("wpwl.checkout.id").await?, stage.checkout.id());
        assert_eq!(browser.evaluate("wpwl.checkout.amount").await?, "92.00");
        assert_eq!(browser.evaluate("wpwl.checkout.currency").await?, "EUR");
        assert_eq!(browser.evaluate("wpwl.isTestSystem").await?, true);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_unknown_checkout_shows_a_message_and_calls_on_error() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let unknown = "00000000000000000000000000000000.tx01";
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        browser.goto(stage.site.add_page(MerchantPage::for_checkout_id(unknown).with_script(script))).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "InvalidCheckoutIdError");
        let message =
            browser.query(By::Css(".wpwl-container .wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert!(!message.text().await?.is_empty());
        assert!(browser.query(By::Css("form.paymentWidgets")).nowait().not_exists().await?);
        browser.save_screenshot("unknown-checkout").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_checkout_that_is_paid_already_shows_a_message() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.merchant.submit_card(stage.checkout.id(), &[]).await?;
    assert_eq!(stage.read_result_code().await?, APPROVED);
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        browser.goto(stage.add_page(script)).await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "InvalidCheckoutIdError");
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_callback_that_throws_and_options_that_nobody_knows_do_no_harm() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = {
            requireCardHolder: true, onSuccess: 5, locale: 'sr', iframeStyles: null, spinner: 'yes',
            onReady: function () { witness.note('ready', ''); throw new Error('the merchant\\'s own'); } };";
        browser.goto(stage.add_page(script)).await?;
        browser.wait_for_observation("ready").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
