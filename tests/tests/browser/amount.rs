//! The amount on the pay button: in the language of the form, and never another one than is charged.

use tillgate_tests::card_form::{CardForm, NUMBER_FRAME, PAY_BUTTON};
use tillgate_tests::{Browser, run_in_browser};

use crate::CheckoutFixture;

/// Waits until the visible pay button has this text, in which any blank counts as one.
async fn wait_for_button(browser: &Browser, text: &str) -> anyhow::Result<()> {
    let shown = format!("document.querySelector('{PAY_BUTTON}')?.textContent.replace(/\\s/g, ' ').trim()");
    browser.wait_until(&format!("({shown}) === '{text}'")).await
}

#[tokio::test]
async fn the_button_shows_the_amount_in_the_language_of_the_form() -> anyhow::Result<()> {
    let cases = [
        ("EUR", "1192.00", "", "Pay €1,192.00"),
        ("EUR", "1192.00", "locale: 'de',", "1.192,00 € zahlen"),
        ("JPY", "1192", "locale: 'ja',", "￥1,192 を支払う"),
        ("KWD", "1.25", "", "Pay KWD 1.25"),
        // Browsers write this one without decimals, but it has two.
        ("LAK", "92.50", "", "Pay LAK 92.50"),
        ("EUR", "92.00", "buttonPurpose: 'order', locale: 'de',", "Jetzt kaufen"),
        ("EUR", "92.00", "buttonPurpose: 'store',", "Save"),
        ("EUR", "92.00", "labels: { submit: 'Buy for {amount}!' },", "Buy for €92.00!"),
    ];
    run_in_browser(move |browser| async move {
        for (currency, amount, options, text) in cases {
            let stage = CheckoutFixture::with_fields(&[("currency", currency), ("amount", amount)]).await?;
            stage.open_forms(&browser, "VISA", &format!("{options} showAmount: true")).await?;
            wait_for_button(&browser, text).await?;
        }
        let stage = CheckoutFixture::new().await?;
        stage.open_forms(&browser, "VISA", "labels: { submit: 'Buy' }").await?;
        wait_for_button(&browser, "Buy").await
    })
    .await
}

#[tokio::test]
async fn a_form_that_is_refreshed_shows_the_new_amount_and_keeps_what_was_typed() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_fields(&[("amount", "92.00")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", "showAmount: true").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        wait_for_button(&browser, "Pay €92.00").await?;
        form.fill_fields().await?;
        stage.update_checkout(&[("amount", "101.50")]).await?;
        browser.evaluate("wpwl.refresh()").await?;
        wait_for_button(&browser, "Pay €101.50").await?;
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000");
        form.press_pay_button().await?;
        assert_eq!(stage.wait_until_paid(&browser).await?.json["amount"], "101.50");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn nobody_pays_an_amount_that_the_button_does_not_show() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_fields(&[("amount", "92.00")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", "showAmount: true").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        wait_for_button(&browser, "Pay €92.00").await?;
        stage.update_checkout(&[("amount", "920.00")]).await?;
        form.press_pay_button().await?;
        browser
            .wait_until("document.querySelector('.wpwl-message')?.textContent.startsWith('The amount has changed')")
            .await?;
        wait_for_button(&browser, "Pay €920.00").await?;
        assert_eq!(stage.merchant.read_status(stage.checkout.id()).await?.result_code(), "000.200.000");
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000", "nothing has to be typed again");
        form.press_pay_button().await?;
        assert_eq!(stage.wait_until_paid(&browser).await?.json["amount"], "920.00");
        Ok(())
    })
    .await
}
