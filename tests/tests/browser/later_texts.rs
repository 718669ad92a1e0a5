//! Texts that a form of cards does not say at once: a script of their own, which nothing waits for without need.

use serde_json::json;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::run_in_browser;

use crate::CheckoutFixture;
use crate::network::block_requests;
use crate::one_click::fixture_with_stored_accounts;

/// Names of the scripts with later texts that the page has asked for.
const ASKED: &str = "performance.getEntriesByType('resource').map(it => it.name.split('/').pop())
    .filter(name => name.startsWith('later-')).join()";

/// Labels, placeholders and buttons without text.
const EMPTY: &str = "[...document.querySelectorAll('.wpwl-label, .wpwl-button, .wpwl-agree span, .wpwl-show-all')]
    .filter(it => !it.textContent.trim()).map(it => it.className)
    .concat([...document.querySelectorAll('input:not([type=hidden])[placeholder=\"\"]')].map(it => it.name)).join()";

#[tokio::test]
async fn a_card_form_loads_its_later_texts_once_when_a_shopper_begins() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (locale, file) in [("en", "later-en.js"), ("de", "later-de.js")] {
            stage.open_forms(&browser, "VISA MASTER", &format!("locale: '{locale}'")).await?;
            assert_eq!(browser.evaluate(ASKED).await?, "");
            let form = CardForm::in_page(&browser);
            form.enter_holder("Jane").await?;
            browser.wait_until(&format!("({ASKED}) === '{file}'")).await?;
            form.enter_number("4200000000000000").await?;
            form.enter_expiry("534").await?;
            assert_eq!(browser.evaluate(ASKED).await?, file, "once");
            // Without a frame nothing can be sent, and the form says so in the words of the language.
            browser.execute("document.querySelector('iframe.wpwl-control-cvv').remove()", vec![]).await?;
            form.press_pay_button().await?;
            browser.wait_until("document.querySelector('.wpwl-message')").await?;
            let said = browser.evaluate("document.querySelector('.wpwl-message').textContent").await?;
            let said = said.as_str().unwrap_or_default();
            assert!(
                said.starts_with(if locale == "de" { "Das Zahlungsformular" } else { "The payment form" }),
                "{said}"
            );
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_form_that_shows_more_has_its_texts_from_the_beginning() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let options = "locale: 'de', billingAddress: true, forceCardHolderEqualsBillingName: true, showCVVHint: true,
            registrations: { offer: true }";
        stage.open_forms(&browser, "VISA MASTER", options).await?;
        assert_eq!(browser.evaluate(EMPTY).await?, "");
        let page = browser.evaluate("document.querySelector('.wpwl-form').textContent").await?;
        for text in ["Vorname", "Rechnungsadresse", "Die letzten drei Ziffern", "Diese Karte"] {
            assert!(page.as_str().is_some_and(|page| page.contains(text)), "{text} in {page}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn other_forms_and_stored_accounts_speak_the_language_also_where_the_page_begins_again() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER SEPA PAYPAL", "locale: 'de'").await?;
        assert_eq!(browser.evaluate(EMPTY).await?, "");
        let texts = "[...document.querySelectorAll('.wpwl-label, .wpwl-button')].map(it => it.textContent).join('|')";
        for brands in ["", "VISA SEPA PAYPAL"] {
            if !brands.is_empty() {
                browser.execute("window.told = ''; wpwl.unload()", vec![]).await?;
                stage.add_form(&browser, stage.checkout.id(), brands, "/result").await?;
                browser.wait_until("window.told").await?;
            }
            let known = browser.evaluate(texts).await?;
            for text in ["Kontoinhaber", "Mit PayPal bezahlen"] {
                assert!(known.as_str().is_some_and(|known| known.contains(text)), "{text} in {known}");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn later_texts_that_are_lost_hold_up_no_form_and_leave_no_text_empty() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        block_requests(&browser, &["*://*:*/*later-*"]).await?;
        let options = "locale: 'de', billingAddress: true, registrations: { offer: true }";
        stage.open_forms(&browser, "VISA MASTER SEPA PAYPAL", options).await?;
        assert_eq!(browser.evaluate(EMPTY).await?, "");
        let names = "[...document.querySelectorAll('.wpwl-wrapper-billing input')].map(it => it.placeholder)";
        let names = browser.evaluate(names).await?;
        assert!(names.as_array().is_some_and(|names| names.contains(&json!("Billing city"))), "{names}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_is_paid_although_its_later_texts_are_lost() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        block_requests(&browser, &["*://*:*/*later-*"]).await?;
        stage.open_forms(&browser, "VISA MASTER", "").await?;
        let form = CardForm::in_page(&browser);
        form.fill_fields().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
