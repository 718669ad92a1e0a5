//! All forms other than a typed card, up to the completed payment: direct debit, transfers, accounts. Also the fields
//! that options add to a card form.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::{APPROVED, CheckoutFixture, PENDING};

impl CheckoutFixture {
    /// Opens a page with these brands and options, and waits until its forms are ready. Returns the argument of
    /// `onReady` as JSON.
    pub async fn open_forms(&self, browser: &Browser, brands: &str, options: &str) -> anyhow::Result<String> {
        let script = format!(
            "var wpwlOptions = {{ onReady: function (list) {{ window.told = JSON.stringify(list); }}, {options} }};"
        );
        browser
            .goto(
                self.site.add_page(MerchantPage::for_checkout(&self.checkout).with_brands(brands).with_script(&script)),
            )
            .await?;
        browser.wait_until("window.told").await?;
        Ok(browser.evaluate("window.told").await?.as_str().unwrap_or_default().to_owned())
    }
}

/// Replaces the text of the visible input that matches `css`.
pub async fn enter_text(browser: &Browser, css: &str, text: &str) -> anyhow::Result<()> {
    let field = browser.query(By::Css(css)).and_displayed().first().await?;
    field.send_keys(Key::Control + "a" + Key::Backspace).await?;
    Ok(field.send_keys(text).await?)
}

/// Waits for a visible element that matches `css`, and clicks it.
pub async fn click_element(browser: &Browser, css: &str) -> anyhow::Result<()> {
    Ok(browser.query(By::Css(css)).and_displayed().first().await?.click().await?)
}

#[tokio::test]
async fn a_placeholder_becomes_a_form_for_all_cards_and_one_for_each_other_brand_in_its_order() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let brands = "DIRECTDEBIT_SEPA VISA IDEAL MASTER PAYPAL SEPA PREPAYMENT NOBODY AFTERPAY";
        let ready = stage.open_forms(&browser, brands, "").await?;
        let classes = "[...document.querySelectorAll('.wpwl-container')].map(it => it.classList[1]).join(' ')";
        let expected = "wpwl-container-directDebit wpwl-container-card wpwl-container-onlineTransfer-IDEAL \
                        wpwl-container-virtualAccount-PAYPAL wpwl-container-prepayment-PREPAYMENT \
                        wpwl-container-virtualAccount-AFTERPAY";
        assert_eq!(browser.evaluate(classes).await?, expected);
        assert_eq!(ready.matches("containerKey").count(), 6, "onReady once, for all: {ready}");
        for css in [
            "div.wpwl-container-directDebit[id] > form.wpwl-form.wpwl-form-directDebit.wpwl-form-has-inputs[method=POST]",
            "input.wpwl-control-accountHolder[name='bankAccount.holder']",
            "input.wpwl-control-accountNumber[name='bankAccount.iban']",
            "input.wpwl-control-accountBank[name='bankAccount.bic']",
            "select.wpwl-control-country[name='bankAccount.country'] > option[value=DE]",
            "form.wpwl-form-onlineTransfer-IDEAL:not(.wpwl-form-has-inputs) \
               .wpwl-wrapper-brand-IDEAL > button.wpwl-button.wpwl-button-brand.wpwl-button-brand-IDEAL",
            "form.wpwl-form-virtualAccount-AFTERPAY input[name='virtualAccount.accountId']",
            "form.wpwl-form-virtualAccount-AFTERPAY button.wpwl-button-pay",
            "form.wpwl-form-card select.wpwl-control-brand > option[value=MASTER]",
        ] {
            assert!(browser.query(By::Css(css)).nowait().exists().await?, "{css}");
        }
        let complaints = browser.console_warnings().await?;
        assert!(complaints.len() == 1 && complaints[0].contains("NOBODY"), "the strictest policy suffices: {complaints:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_direct_debit_is_paid_and_tells_what_is_wrong_before() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage
            .open_forms(
                &browser,
                "DIRECTDEBIT_SEPA",
                "onBeforeSubmitDirectDebit: function () { witness.note('asked', 'debit'); }",
            )
            .await?;
        assert!(!browser.query(By::Css("iframe.wpwl-control")).nowait().exists().await?, "no card, no frame for it");
        enter_text(&browser, ".wpwl-control-accountNumber", "DE23 1000 0000 1234 5678 91").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        for hint in ["accountHolderError", "accountNumberError"] {
            browser.query(By::Css(format!(".wpwl-control.wpwl-has-error + .wpwl-hint-{hint}"))).first().await?;
        }
        browser.wait_until("document.activeElement.matches('.wpwl-control-accountHolder')").await?;
        browser.wait_until("document.querySelector('.wpwl-button-pay').matches('.wpwl-button-error:disabled')").await?;
        browser.save_screenshot("debit-error").await?;
        assert_eq!(stage.submit_count(), 0);

        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        enter_text(&browser, ".wpwl-control-accountNumber", "DE23 1000 0000 1234 5678 90").await?;
        assert_eq!(
            browser.evaluate("document.querySelector('.wpwl-control-country').value").await?,
            "DE",
            "the IBAN says it"
        );
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-hint').length").await?, 0);
        click_element(&browser, ".wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.observed_details("asked").await?, ["debit"]);
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!(status.result_code(), APPROVED, "{}", status.text);
        assert_eq!(status.json["bankAccount"]["last4Digits"], "7890");
        assert!(stage.site.received_requests().iter().all(|it| !it.contains("12345678")), "the account stays with us");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_gateway_finds_wrong_is_told_at_the_field() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "SEPA", "").await?;
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        // Valid as far as the page knows, but its country has no letter there.
        enter_text(&browser, ".wpwl-control-accountNumber", "DE04A00000001234567890").await?;
        let valid = "!document.querySelector('.wpwl-has-error')";
        browser.wait_until(valid).await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-control-accountNumber.wpwl-has-error + .wpwl-hint")).first().await?;
        enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_mandate_that_the_merchant_has_in_mind_is_agreed_to_first() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_fields(&[("bankAccount.mandate.id", "M4711")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "DIRECTDEBIT_SEPA", "locale: 'de'").await?;
        enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
        enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        let hint = browser.query(By::Css(".wpwl-hint-mandateError")).first().await?.text().await?;
        assert!(hint.contains("Lastschrift"), "{hint}");
        click_element(&browser, ".wpwl-agree").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        let signed = status.json["bankAccount"]["mandate"]["dateOfSignature"].as_str().unwrap_or_default().len();
        assert_eq!((status.result_code(), signed), (APPROVED, 10), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_account_at_the_brand_is_paid_with() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "AFTERPAY", "").await?;
        enter_text(&browser, "[name='virtualAccount.accountId']", "jane@shop.example").await?;
        // Enter submits like the button.
        enter_text(&browser, "[name='virtualAccount.accountId']", "jane@shop.example\u{e007}").await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("AFTERPAY"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn billing_names_and_the_wish_to_keep_the_card_are_posted_with_it() -> anyhow::Result<()> {
    let stage = CheckoutFixture::with_fields(&[("registrationsCreatable", "true")]).await?;
    let options = "billingAddress: { country: 'DE', city: 'Köln' },
        mandatoryBillingFields: { country: true, city: true, postcode: true, street1: true },
        forceCardHolderEqualsBillingName: true, registrations: { offer: true }";
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", options).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200000000000000").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        for hint in ["givenNameError", "surNameError", "billingPostCodeError", "billingStreetError"] {
            form.wait_for_hint(hint).await?;
        }
        browser.save_screenshot("card-billing-error").await?;
        for css in ["street1", "street2", "city", "state", "postcode", "country"] {
            let css = format!(".wpwl-form-card .wpwl-sup-wrapper-{css} > .wpwl-control[name='billing.{css}']");
            assert!(browser.query(By::Css(css.as_str())).nowait().exists().await?, "{css}");
        }
        assert_eq!(stage.submit_count(), 0);
        enter_text(&browser, "[name='customer.givenName']", "Jane").await?;
        enter_text(&browser, "[name='customer.surname']", "Jones").await?;
        enter_text(&browser, "[name='billing.postcode']", "50667").await?;
        enter_text(&browser, "[name='billing.street1']", "Domstraße 1").await?;
        click_element(&browser, "[name=createRegistration]").await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["card"]["holder"], "Jane Jones");
        assert_eq!(status.json["customer"]["surname"], "Jones");
        assert_eq!(status.json["billing"]["city"], "Köln");
        assert_eq!(status.json["billing"]["street1"], "Domstraße 1");
        assert!(status.json["registrationId"].is_string(), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn logos_come_first_and_choose_the_form_and_the_cards_brand() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER IDEAL", "style: 'logos'").await?;
        let seen = "[...document.querySelectorAll('.wpwl-container')].filter(it => it.checkVisibility()).length";
        assert_eq!(browser.evaluate(seen).await?, 0);
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-logos > .wpwl-logo').length").await?, 3);
        click_element(&browser, ".wpwl-logo:nth-child(3)").await?;
        browser.wait_until("document.querySelector('.wpwl-button-brand-IDEAL').checkVisibility()").await?;
        click_element(&browser, ".wpwl-logo:nth-child(2)").await?;
        browser.wait_until("document.querySelector('.wpwl-control-brand').value === 'MASTER'").await?;
        assert_eq!(browser.evaluate(seen).await?, 1);
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("5454545454545454").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("MASTER"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_tokenisation_form_saves_a_card_or_an_account_and_charges_nobody() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for brand in ["VISA", "SEPA"] {
            let checkout = stage.merchant.post("v1/checkouts", &[("createRegistration", "true")]).await?;
            let page = MerchantPage::for_checkout_id(&format!("{}/registration", checkout.id())).with_brands(brand);
            browser.goto(stage.site.add_page(page)).await?;
            if brand == "VISA" {
                let form = CardForm::wait_until_ready(&browser).await?;
                assert_eq!(form.find_element(".wpwl-button-pay").await?.text().await?, "Save");
                form.fill_fields().await?;
            } else {
                enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
            }
            click_element(&browser, ".wpwl-button-pay").await?;
            browser.query(By::Id("result")).first().await?;
            let path = format!("v1/checkouts/{}/registration", checkout.id());
            let address = browser.current_url().await?;
            let told = address.query_pairs().find(|(name, _)| name == "resourcePath");
            assert_eq!(told.map(|(_, value)| value.into_owned()), Some(format!("/{path}")));
            let status = stage.merchant.get(&path).await?;
            assert_eq!(
                (status.result_code(), status.json["paymentBrand"].as_str()),
                (APPROVED, Some(brand)),
                "{}",
                status.text
            );
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn every_form_is_usable_for_everybody_and_on_a_phone() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (name, options, width) in [
            ("card", "", 1000),
            ("phone-german", "locale: 'de', billingAddress: {}", 320),
            ("phone-arabic", "locale: 'ar'", 320),
            ("plain", "style: 'plain'", 600),
            ("none", "style: 'none'", 600),
        ] {
            browser.resize_page(width, 1400).await?;
            stage.open_forms(&browser, "SEPA VISA IDEAL AFTERPAY", options).await?;
            browser.save_screenshot(&format!("forms-{name}")).await?;
            let label = browser.query(By::Css(".wpwl-label-accountHolder")).first().await?.text().await?;
            let expected = match name {
                "phone-german" => "Kontoinhaber",
                "phone-arabic" => "صاحب الحساب",
                _ => "Account holder",
            };
            assert_eq!(label, expected, "{name}");
            browser.sweep("direct debit, button and invoice, empty").await?;
            click_element(&browser, ".wpwl-form-directDebit .wpwl-button-pay").await?;
            browser.query(By::Css(".wpwl-hint-accountNumberError")).first().await?;
            browser.sweep("direct debit with errors").await?;
            browser.save_screenshot(&format!("forms-{name}-error")).await?;
            let wide = "[...document.querySelectorAll('body *')].filter(it => it.getBoundingClientRect().right > innerWidth + 0.5 && it.checkVisibility())
                .map(it => it.className || it.nodeName).join(', ')";
            assert_eq!(browser.evaluate(wide).await?, "", "{name}: sticks out");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_merchant_names_the_countries_of_a_bank_transfer() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let options = "sofortCountries: { AT: 'Österreich', DE: 'Deutschland' }";
        stage.open_forms(&browser, "SOFORTUEBERWEISUNG ENTERCASH", options).await?;
        let choices = "[...document.querySelectorAll('.wpwl-form-onlineTransfer-SOFORTUEBERWEISUNG option')].slice(1).map(it => it.value + it.text).join()";
        assert_eq!(browser.evaluate(choices).await?, "ATÖsterreich,DEDeutschland");
        let others = "document.querySelectorAll('.wpwl-form-onlineTransfer-ENTERCASH option').length > 100";
        assert_eq!(browser.evaluate(others).await?, true);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn brands_with_the_banks_own_page_take_the_whole_tab_there() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for brand in ["IDEAL", "PREPAYMENT", "SOFORTUEBERWEISUNG"] {
            let stage = CheckoutFixture::new().await?;
            stage.open_forms(&browser, brand, "").await?;
            if brand == "SOFORTUEBERWEISUNG" {
                click_element(&browser, "option[value=AT]").await?;
                click_element(&browser, ".wpwl-button-pay").await?;
            } else {
                click_element(&browser, &format!(".wpwl-button-brand-{brand}")).await?;
            }
            browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await?;
            assert_eq!(stage.read_result_code().await?, PENDING, "{brand}");
            click_element(&browser, "button[value=success]").await?;
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.read_status(stage.checkout.id()).await?;
            assert_eq!(
                (status.result_code(), status.json["paymentBrand"].as_str()),
                (APPROVED, Some(brand)),
                "{}",
                status.text
            );
        }
        Ok(())
    })
    .await
}
