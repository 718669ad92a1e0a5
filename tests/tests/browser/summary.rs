//! A summary page of the merchant's between the form and the payment: kept, shown, confirmed by its server.

use thirtyfour::prelude::*;
use tillgate_tests::browse;
use tillgate_tests::card_form::CardForm;

use crate::forms::{click, fill};
use crate::{APPROVED, PENDING, Stage};

const OPTIONS: &str = "useSummaryPage: true,
    onBeforeSubmitCard: function () { witness.note('asked', 1); },
    onSaveTransactionData: function (data) { witness.note('saved', this.$form[0].nodeName + JSON.stringify(data)); }";

#[tokio::test]
async fn what_the_shopper_filled_in_is_paid_with_when_the_merchant_says_so() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA SEPA", OPTIONS).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        let card = r#"FORM{"paymentBrand":"VISA","card":{"last4Digits":"0000","holder":"Jane Jones","expiryMonth":"05","expiryYear":"2034"}}"#;
        assert_eq!(browser.until_seen("saved").await?, card);
        browser.until("!document.querySelector('.wpwl-button-busy')").await?;
        assert_eq!(stage.code().await?, PENDING, "nobody was charged");
        // The shopper changes their mind, and takes another way.
        fill(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        fill(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
        fill(&browser, ".wpwl-control-accountBank", "MARKDEF1100").await?;
        click(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
        browser.until("witness.all().filter(it => it.kind === 'saved').length === 2").await?;
        let saved = browser.seen_of("saved").await?.pop().unwrap_or_default();
        assert!(saved.starts_with(r#"FORM{"paymentBrand":"SEPA","bankAccount""#) && !saved.contains("12345678"), "{saved}");
        let confirmed = stage.merchant.post(&format!("v1/checkouts/{}/confirm", stage.checkout.id()), &[]).await?;
        assert_eq!((confirmed.code(), confirmed.json["paymentBrand"].as_str()), (APPROVED, Some("SEPA")), "{}", confirmed.text);
        assert_eq!(stage.code().await?, APPROVED);
        assert!(!browser.query(By::Id("result")).nowait().exists().await?, "what comes next is the merchant's to show");
        assert_eq!(browser.seen_of("asked").await?.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_cannot_be_paid_with_is_not_kept_and_no_window_opens() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage.open(&browser, "SEPA PAYPAL", OPTIONS).await?;
        fill(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        // Too short for its country: the gateway knows that, the page does not.
        fill(&browser, ".wpwl-control-accountNumber", "DE981000000012345678").await?;
        fill(&browser, ".wpwl-control-accountBank", "MARKDEF1100").await?;
        click(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-control-accountNumber.wpwl-has-error + .wpwl-hint")).first().await?;
        assert!(browser.seen_of("saved").await?.is_empty());
        click(&browser, ".wpwl-button-brand-PAYPAL").await?;
        assert_eq!(browser.until_seen("saved").await?, r#"FORM{"paymentBrand":"PAYPAL"}"#);
        assert_eq!(browser.windows().await?.len(), 1);
        // A brand with a page of its own: the merchant sends the shopper there.
        let confirmed = stage.merchant.post(&format!("v1/checkouts/{}/confirm", stage.checkout.id()), &[]).await?;
        assert_eq!(confirmed.code(), PENDING, "{}", confirmed.text);
        assert!(confirmed.json["redirect"]["url"].as_str().unwrap_or_default().contains("/v1/simulator/"));
        Ok(())
    })
    .await
}
