//! `retryInPlace`: after a decline the form stays, says what may help, and takes another card.

use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, run_in_browser};

use crate::CheckoutFixture;
use crate::three_ds::{CHALLENGE, FAILED, TARGET, answer_challenge, fixture_with_three_ds, pay_until_challenge};

const OPTIONS: &str = "retryInPlace: true";

async fn wait_for_advice(browser: &Browser, text: &str) -> anyhow::Result<()> {
    let messages = "[...document.querySelectorAll('.wpwl-message[role=alert]')].filter(it => it.checkVisibility())";
    browser.wait_until(&format!("{messages}.some(it => it.textContent.includes('{text}'))")).await
}

#[tokio::test]
async fn a_declined_card_is_followed_by_another_one_without_leaving_the_page() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", OPTIONS).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        for (number, advice) in [
            ("4200000000005512", "The payment was declined."),
            ("4200000000005546", "The amount is above the balance or the limit."),
            ("4200000000005538", "Your bank could not match the details."),
        ] {
            form.clear_frame_field(NUMBER_FRAME).await?;
            form.enter_number(number).await?;
            form.press_pay_button().await?;
            wait_for_advice(&browser, advice).await?;
            browser.save_screenshot(&format!("declined-in-place-{number}")).await?;
        }
        let is_free = "!document.querySelector('.wpwl-form [inert], .wpwl-button-pay:disabled, .wpwl-spinner')
            && document.querySelector('.wpwl-button-pay').getAttribute('aria-busy') === 'false'";
        browser.wait_until(is_free).await?;
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000000000").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_failed_challenge_brings_the_form_back() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", OPTIONS).await?;
        pay_until_challenge(&browser, CHALLENGE).await?;
        answer_challenge(&browser, TARGET, FAILED).await?;
        wait_for_advice(&browser, "The payment was declined.").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000000000").await?;
        form.clear_frame_field(CODE_FRAME).await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_whose_merchant_hides_declines_leaves_as_before() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_options(&["--hide-declines"], &[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", OPTIONS).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000005512").await?;
        form.press_pay_button().await?;
        browser.wait_until("location.search.includes('resourcePath')").await?;
        assert_eq!(stage.read_result_code().await?, "800.100.152");
        Ok(())
    })
    .await
}
