//! A summary page of the merchant between the form and the payment: stored, shown, confirmed by the merchant's server.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::run_in_browser;

use crate::forms::{click_element, enter_text};
use crate::{APPROVED, CheckoutFixture, PENDING};

const OPTIONS: &str = "useSummaryPage: true,
    onBeforeSubmitCard: function () { witness.note('asked', 1); },
    onSaveTransactionData: function (data) { witness.note('saved', this.$form[0].nodeName + JSON.stringify(data)); }";

#[tokio::test]
async fn what_the_shopper_filled_in_is_paid_with_when_the_merchant_says_so() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA SEPA", OPTIONS).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        let card = r#"FORM{"paymentBrand":"VISA","card":{"last4Digits":"0000","holder":"Jane Jones","expiryMonth":"05","expiryYear":"2034"}}"#;
        assert_eq!(browser.wait_for_observation("saved").await?, card);
        browser.wait_until("!document.querySelector('.wpwl-button-busy')").await?;
        assert_eq!(stage.read_result_code().await?, PENDING, "nobody was charged");
        // The shopper changes to another payment method.
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
        click_element(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
        browser.wait_until("witness.all().filter(it => it.kind === 'saved').length === 2").await?;
        let saved = browser.observed_details("saved").await?.pop().unwrap_or_default();
        assert!(saved.starts_with(r#"FORM{"paymentBrand":"SEPA","bankAccount""#) && !saved.contains("12345678"), "{saved}");
        let confirmed = stage.merchant.post(&format!("v1/checkouts/{}/confirm", stage.checkout.id()), &[]).await?;
        assert_eq!((confirmed.result_code(), confirmed.json["paymentBrand"].as_str()), (APPROVED, Some("SEPA")), "{}", confirmed.text);
        assert_eq!(stage.read_result_code().await?, APPROVED);
        assert!(!browser.query(By::Id("result")).nowait().exists().await?, "what comes next is the merchant's to show");
        assert_eq!(browser.observed_details("asked").await?.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_cannot_be_paid_with_is_not_kept_and_no_window_opens() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "SEPA PAYPAL", OPTIONS).await?;
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        // Its country has no letter there, which only the gateway checks.
        enter_text(&browser, ".wpwl-control-accountNumber", "DE04A00000001234567890").await?;
        click_element(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-control-accountNumber.wpwl-has-error + .wpwl-hint")).first().await?;
        assert!(browser.observed_details("saved").await?.is_empty());
        click_element(&browser, ".wpwl-button-brand-PAYPAL").await?;
        assert_eq!(browser.wait_for_observation("saved").await?, r#"FORM{"paymentBrand":"PAYPAL"}"#);
        assert_eq!(browser.windows().await?.len(), 1);
        // A brand with its own page: the merchant redirects the shopper there.
        let confirmed = stage.merchant.post(&format!("v1/checkouts/{}/confirm", stage.checkout.id()), &[]).await?;
        assert_eq!(confirmed.result_code(), PENDING, "{}", confirmed.text);
        assert!(confirmed.json["redirect"]["url"].as_str().unwrap_or_default().contains("/v1/simulator/"));
        Ok(())
    })
    .await
}
