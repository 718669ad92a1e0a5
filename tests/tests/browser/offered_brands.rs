//! Brands that the page requests but the channel does not offer: the other brands are shown, and the console names the
//! missing ones once.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::forms::click_element;

/// Creates a fixture whose channel offers only these brands.
async fn fixture_with_brands(brands: &str) -> anyhow::Result<CheckoutFixture> {
    let mut fixture = CheckoutFixture::new().await?;
    fixture.merchant = fixture.gateway.create_merchant_with(&["--brands", brands])?;
    fixture.checkout = fixture.merchant.create_checkout(&[]).await?;
    Ok(fixture)
}

/// Returns the second class of each container that is visible to a shopper, with blanks between.
async fn visible_containers(browser: &Browser) -> anyhow::Result<String> {
    let script = "[...document.querySelectorAll('.wpwl-container')].filter(it => it.checkVisibility()).map(it => it.classList[1]).join(' ')";
    Ok(browser.evaluate(script).await?.as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_is_offered_is_shown_and_the_rest_is_named_on_the_console() -> anyhow::Result<()> {
    // Brands of the channel, brands of the page, visible containers, and brands named on the console.
    let cases = [
        ("IDEAL,VISA", "SEPA IDEAL VISA AMEX", "onlineTransfer-IDEAL card", vec!["AMEX", "SEPA"]),
        ("IDEAL,SEPA", "VISA MASTER IDEAL SEPA", "onlineTransfer-IDEAL directDebit", vec!["MASTER", "VISA"]),
        ("VISA", "IDEAL PAYPAL VISA", "card", vec!["IDEAL", "PAYPAL"]),
        ("VISA", "VISA MASTER", "card", vec!["MASTER"]),
        ("VISA,IDEAL", "VISA IDEAL", "card onlineTransfer-IDEAL", vec![]),
    ];
    run_in_browser(move |browser| async move {
        for (offered, asked, expected, missing) in cases {
            let stage = fixture_with_brands(offered).await?;
            stage
                .open_forms(&browser, asked, "onError: function (error) { witness.note('failed', error.message); }")
                .await?;
            let containers: Vec<String> = expected.split(' ').map(|name| format!("wpwl-container-{name}")).collect();
            assert_eq!(visible_containers(&browser).await?, containers.join(" "), "{offered} / {asked}");
            let mut complaints = browser.console_warnings().await?;
            complaints.sort();
            assert_eq!(complaints.len(), missing.len(), "{asked}: {complaints:?}");
            for (complaint, brand) in complaints.iter().zip(missing) {
                let sentence = format!("Tillgate: data-brands names {brand}, which this channel does not offer.");
                assert!(complaint.contains(&sentence), "{complaint}");
            }
            assert_eq!(browser.observed_details("failed").await?, Vec::<String>::new(), "{asked}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_brand_beside_cards_that_are_not_offered_can_be_paid_with() -> anyhow::Result<()> {
    let stage = fixture_with_brands("IDEAL").await?;
    run_in_browser(move |browser| async move {
        let ready = stage.open_forms(&browser, "VISA IDEAL", "").await?;
        assert_eq!(ready, r#"[{"containerKey":"onlineTransfer","ccMethods":["IDEAL"]}]"#);
        click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
        click_element(&browser, "button[value=success]").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_can_be_paid_with_where_no_new_one_is_offered() -> anyhow::Result<()> {
    let mut stage = fixture_with_brands("VISA").await?;
    let card = [("card.number", "4200000000000000"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let stored = stage.merchant.post("v1/registrations", &[&[("paymentBrand", "VISA")], &card[..]].concat()).await?;
    stage.checkout = stage.merchant.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "AMEX", "").await?;
        assert_eq!(visible_containers(&browser).await?, "wpwl-container-registration");
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_of_which_nothing_is_offered_says_so() -> anyhow::Result<()> {
    let stage = fixture_with_brands("VISA").await?;
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = { onError: function (error) { witness.note('failed', error.name); } };";
        for brands in ["AMEX", "IDEAL", "AMEX IDEAL"] {
            browser
                .goto(
                    stage
                        .site
                        .add_page(MerchantPage::for_checkout(&stage.checkout).with_brands(brands).with_script(script)),
                )
                .await?;
            let message = browser.query(By::Css(".wpwl-container > .wpwl-message.wpwl-has-error")).and_displayed();
            let said = message.first().await?.text().await?;
            // The checkout is not at fault, so nobody is told to start again.
            assert!(said.contains("could not be loaded"), "{brands}: {said}");
            let warnings = browser.console_warnings().await?;
            assert!(warnings.iter().any(|it| it.contains("none of the brands is offered")), "{brands}: {warnings:?}");
        }
        assert_eq!(browser.observed_details("failed").await?, ["WidgetError"; 3]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_empty_holder_is_a_fault_where_the_merchant_wants_a_name() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", "allowEmptyCardHolderName: false").await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200000000000000").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cardHolderError").await?;
        assert_eq!(stage.submit_count(), 0);
        form.enter_holder("Jane Jones").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
