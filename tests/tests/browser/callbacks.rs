//! What a merchant's script can decide and learn.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, PAY};
use tillgate_tests::{Page, browse};

use crate::{APPROVED, PENDING, Stage};

/// Presses the button with a filled form and a callback that answers `answer`, and waits until it was asked.
async fn asked_and(answer: &'static str, goes_on: bool) -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        // The second time it says yes: who was stopped can go on.
        let script = format!(
            "var asked = 0;
             var wpwlOptions = {{ onBeforeSubmitCard: function (event) {{
                witness.note('asked', ++asked);
                if (asked > 1) return true;
                {answer}
             }} }};"
        );
        browser.goto(stage.page(&script)).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        browser.until_seen("asked").await?;
        if !goes_on {
            // The button is back when the answer has been heard.
            browser.until(&format!("!document.querySelector('{PAY}').disabled")).await?;
            assert_eq!(stage.submits(), 0, "nothing was sent after: {answer}");
            assert_eq!(stage.code().await?, PENDING);
            form.pay().await?;
        }
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.submits(), 1, "{answer}");
        assert_eq!(stage.code().await?, APPROVED);
        assert_eq!(browser.seen_of("asked").await?.len(), if goes_on { 1 } else { 2 });
        Ok(())
    })
    .await
}

#[tokio::test]
async fn on_before_submit_card_that_returns_false_stops_the_payment() -> anyhow::Result<()> {
    asked_and("return false;", false).await
}

#[tokio::test]
async fn on_before_submit_card_that_promises_false_stops_the_payment() -> anyhow::Result<()> {
    asked_and("return new Promise(function (done) { requestAnimationFrame(function () { done(false); }); });", false)
        .await
}

#[tokio::test]
async fn on_before_submit_card_that_returns_nothing_lets_the_payment_go_on() -> anyhow::Result<()> {
    asked_and("", true).await
}

#[tokio::test]
async fn on_before_submit_card_that_promises_true_lets_the_payment_go_on() -> anyhow::Result<()> {
    asked_and("return Promise.resolve(true);", true).await
}

#[tokio::test]
async fn on_ready_is_told_the_containers_and_options_may_be_set_after_the_loader() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let script = "addEventListener('DOMContentLoaded', function () {
            window.wpwlOptions = { onReady: function (containers) {
                witness.note('ready', [containers.length, typeof containers[0].containerKey, Array.isArray(containers[0].ccMethods)]);
            } };
        });";
        browser.goto(stage.page(script)).await?;
        let told = browser.until_seen("ready").await?;
        assert_eq!(told, "0: 1; 1: string; 2: true");
        // By then the form is there: merchants look into it in this callback.
        let config = browser.value("typeof wpwl.checkout.config.customRedirectPageConfig").await?;
        assert_eq!(config, "object");
        assert_eq!(browser.value("wpwl.checkout.id").await?, stage.checkout.id());
        assert_eq!(browser.value("wpwl.checkout.amount").await?, "92.00");
        assert_eq!(browser.value("wpwl.checkout.currency").await?, "EUR");
        assert_eq!(browser.value("wpwl.isTestSystem").await?, true);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_unknown_checkout_shows_a_message_and_calls_on_error() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let unknown = "00000000000000000000000000000000.tx01";
    browse(move |browser| async move {
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        browser.goto(stage.site.add(Page::for_id(unknown).script(script))).await?;
        assert_eq!(browser.until_seen("failed").await?, "InvalidCheckoutIdError");
        let message =
            browser.query(By::Css(".wpwl-container .wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert!(!message.text().await?.is_empty());
        assert!(browser.query(By::Css("form.paymentWidgets")).nowait().not_exists().await?);
        browser.picture("unknown-checkout").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_checkout_that_is_paid_already_shows_a_message() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    stage.merchant.submit(stage.checkout.id(), &[]).await?;
    assert_eq!(stage.code().await?, APPROVED);
    browse(move |browser| async move {
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        browser.goto(stage.page(script)).await?;
        assert_eq!(browser.until_seen("failed").await?, "InvalidCheckoutIdError");
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_callback_that_throws_and_options_that_nobody_knows_do_no_harm() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let script = "var wpwlOptions = {
            requireCardHolder: true, onSuccess: 5, locale: 'sr', iframeStyles: null, spinner: 'yes',
            onReady: function () { witness.note('ready', ''); throw new Error('the merchant\\'s own'); } };";
        browser.goto(stage.page(script)).await?;
        browser.until_seen("ready").await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}
