//! Stored cards and accounts in the form: selection, security code, missing data, and deletion.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantClient, run_in_browser};

use crate::forms::{click_element, enter_text};
use crate::{APPROVED, CheckoutFixture};

const CODE: &str = ".wpwl-container-registration iframe.wpwl-control-cvv";

/// Registers an account as the merchant, and returns its id. Fails if it is not approved.
async fn store_account(merchant: &MerchantClient, more: &[(&str, &str)]) -> anyhow::Result<String> {
    let stored = merchant.post("v1/registrations", more).await?;
    anyhow::ensure!(stored.result_code() == APPROVED, "{}", stored.text);
    Ok(stored.id().to_owned())
}

/// Stores a Visa card with a holder, a Mastercard without one, and a bank account. Returns their ids in this order.
async fn store_three_accounts(merchant: &MerchantClient) -> anyhow::Result<[String; 3]> {
    let expiry = [("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let card = |brand, number| [("paymentBrand", brand), ("card.number", number), expiry[0], expiry[1]];
    let visa = [&card("VISA", "4200000000000000")[..], &[("card.holder", "Jane Jones")]].concat();
    Ok([
        store_account(merchant, &visa).await?,
        store_account(merchant, &card("MASTER", "5454545454545454")).await?,
        store_account(
            merchant,
            &[
                ("paymentBrand", "SEPA"),
                ("bankAccount.holder", "Jane Jones"),
                ("bankAccount.iban", "DE23100000001234567890"),
                ("bankAccount.bic", "MARKDEF1100"),
            ],
        )
        .await?,
    ])
}

/// Creates a fixture whose checkout offers three stored accounts and has `more` fields. Also returns their ids.
pub async fn fixture_with_stored_accounts(more: &[(&str, &str)]) -> anyhow::Result<(CheckoutFixture, [String; 3])> {
    let mut fixture = CheckoutFixture::new().await?;
    let ids = store_three_accounts(&fixture.merchant).await?;
    let names = ["registrations[0].id", "registrations[1].id", "registrations[2].id"];
    let offered = names.into_iter().zip(ids.iter().map(String::as_str));
    let fields: Vec<(&str, &str)> = offered.chain(more.iter().copied()).collect();
    fixture.checkout = fixture.merchant.create_checkout(&fields).await?;
    Ok((fixture, ids))
}

/// Types the code of the selected card.
pub async fn enter_security_code(browser: &Browser, text: &str) -> anyhow::Result<()> {
    browser.query(By::Css(CODE)).first().await?.enter_frame().await?;
    let typed = async { anyhow::Ok(browser.query(By::Css("input")).first().await?.send_keys(text).await?) }.await;
    browser.enter_default_frame().await?;
    typed
}

#[tokio::test]
async fn stored_cards_have_the_contracts_markup_and_pay_at_one_click() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        let options = "onBeforeSubmitOneClickCard: function () { witness.note('asked', 'one click'); }";
        stage.open_forms(&browser, "VISA MASTER", options).await?;
        for css in [
            "#wpwl-registrations > .wpwl-container.wpwl-container-registration > form.wpwl-form-registrations[data-action=submit-registration]",
            &format!(".wpwl-group-registration.wpwl-selected label.wpwl-registration input[type=radio][name=registrationId][value='{}']", ids[0]),
            ".wpwl-wrapper-registration-brand > .wpwl-brand.wpwl-brand-VISA.wpwl-brand-inline",
            ".wpwl-container-registration > iframe.wpwl-target[name=registrations-target]",
            "#wpwl-registrations + .wpwl-container-card",
        ] {
            assert!(browser.query(By::Css(css)).nowait().exists().await?, "{css}");
        }
        let numbers = "[...document.querySelectorAll('.wpwl-registration-number')].map(it => it.textContent).join()";
        assert_eq!(browser.evaluate(numbers).await?, "**** 0000,**** 5454,**** 7890");
        let holder = browser.query(By::Css(".wpwl-registration-holder")).first().await?.text().await?;
        assert_eq!(holder, "Jane Jones");
        assert!(!browser.query(By::Css(CODE)).nowait().exists().await?, "no code is asked unless the merchant wants it");
        browser.sweep("stored cards and accounts").await?;
        click_element(&browser, &format!("input[value='{}']", ids[2])).await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.observed_details("asked").await?, ["one click"]);
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        let said = (status.result_code(), status.json["paymentBrand"].as_str(), status.json["registrationId"].as_str());
        assert_eq!(said, (APPROVED, Some("SEPA"), Some(ids[2].as_str())), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_code_that_the_server_demands_is_asked_although_the_page_does_not() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[("registrationsRequireCvv", "true")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER", "registrations: { requireCvv: false }").await?;
        browser.wait_until(&format!("document.querySelectorAll('{CODE}').length === 1")).await?;
        enter_security_code(&browser, "123").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["result"]["cvvResponse"], "M", "the code came along");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_pays_before_the_codes_frame_has_loaded_is_asked_for_the_code() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[("overrideHolder", "true")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER", "registrations: { requireCvv: true }").await?;
        // In one task, so that the frame of the chosen card has no time.
        let choose_and_pay = "document.querySelector(`input[value='${arguments[0]}']`).click();
            document.querySelector('.wpwl-container-registration .wpwl-button-pay').click();";
        browser.execute(choose_and_pay, vec![ids[1].as_str().into()]).await?;
        browser.query(By::Css(".wpwl-container-registration .wpwl-hint-cvvError")).first().await?;
        assert!(!browser.query(By::Css(".wpwl-message")).nowait().exists().await?, "the page has changed nothing");
        enter_security_code(&browser, "123").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-hint-cardHolderError")).first().await?;
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_code_of_the_chosen_card_is_asked_and_an_empty_holder_filled_in() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[("overrideHolder", "true")]).await?;
    run_in_browser(move |browser| async move {
        browser.resize_page(420, 1200).await?;
        stage.open_forms(&browser, "VISA MASTER", "registrations: { requireCvv: true }").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-container-registration .wpwl-hint-cvvError")).first().await?;
        browser.save_screenshot("one-click-error").await?;
        assert_eq!(stage.submit_count(), 0);
        click_element(&browser, &format!("input[value='{}']", ids[1])).await?;
        browser.wait_until(&format!("document.querySelectorAll('{CODE}').length === 1")).await?;
        enter_security_code(&browser, "123").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-hint-cardHolderError")).first().await?;
        enter_text(&browser, ".wpwl-registration-holder input", "Otto Over").await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("one-click").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["card"]["holder"], "Otto Over");
        assert_eq!(status.json["result"]["cvvResponse"], "M", "the code came along");
        let stored = stage.merchant.get(&format!("v1/registrations/{}", ids[1])).await?;
        assert!(stored.json["card"]["holder"].is_null(), "for this payment only: {}", stored.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_frame_of_a_stored_cards_code_is_told_of_like_the_others() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    let options = "registrations: { requireCvv: true }, requireCvv: false,
        onBlurSecurityCode: function (good) { witness.note('left', good + ' ' + this.$form[0].dataset.action); },";
    let noting = |name: &str| {
        format!(
            "{name}: function (it) {{ witness.note('{name}', [!!window.told, this.$iframe[0].name, it.$iframe[0] === document.querySelector(\"{CODE}\")].join(' ')); }},"
        )
    };
    let names = ["onReadyIframeCommunication", "onFocusIframeCommunication", "onBlurIframeCommunication"];
    let options = format!("{options}{}", names.map(noting).concat());
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", &options).await?;
        let own = "witness.all().filter(it => it.detail === 'true card.cvv true').map(it => it.kind).join(' ')";
        browser.wait_until(&format!("{own} === 'onReadyIframeCommunication'")).await?;
        enter_security_code(&browser, "123").await?;
        click_element(&browser, "h1").await?;
        browser
            .execute("document.querySelector('.wpwl-container-registration [name=registrationId]').focus()", vec![])
            .await?;
        browser.wait_for_observation("left").await?;
        assert_eq!(browser.observed_details("left").await?, ["true submit-registration"]);
        assert_eq!(browser.evaluate(own).await?, names.join(" "));
        // Another card has a separate frame.
        click_element(&browser, ".wpwl-group-registration:nth-of-type(2) [name=registrationId]").await?;
        browser.wait_until(&format!("{own}.endsWith(' onReadyIframeCommunication')")).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_shopper_removes_a_stored_card_where_the_merchant_lets_that_happen() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[("registrationsDeletable", "true")]).await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER", "").await?;
        let button =
            |class: &str| format!(".wpwl-group-registration:has(input[value='{}']) .wpwl-button-{class}", ids[0]);
        let has_focus = |class: &str| format!("document.activeElement.matches(\"{}\")", button(class));
        // The question is asked in place. Both its second button and Escape keep the account.
        for keep in [Key::Enter, Key::Escape] {
            click_element(&browser, &button("delete")).await?;
            browser.wait_until(&has_focus("keep")).await?;
            assert_eq!(browser.run_axe().await?, Vec::<String>::new());
            browser.save_screenshot("one-click-removal").await?;
            browser.action_chain().send_keys(keep.value().to_string()).perform().await?;
            browser.wait_until(&has_focus("delete")).await?;
        }
        click_element(&browser, &button("delete")).await?;
        assert_eq!(
            stage.merchant.get(&format!("v1/registrations/{}", ids[0])).await?.result_code(),
            APPROVED,
            "not yet"
        );
        click_element(&browser, &button("confirm")).await?;
        browser.wait_until("document.querySelectorAll('.wpwl-group-registration').length === 2").await?;
        assert_eq!(stage.merchant.get(&format!("v1/registrations/{}", ids[0])).await?.result_code(), "100.150.202");
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        let said = (status.result_code(), status.json["registrationId"].as_str());
        assert_eq!(said, (APPROVED, Some(ids[1].as_str())), "the next one was chosen: {}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn other_ways_to_pay_wait_behind_a_button_where_the_merchant_wants_that() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        let seen = "document.querySelector('.wpwl-container-card').checkVisibility()";
        stage.open_forms(&browser, "VISA MASTER", "showOneClickWidget: false").await?;
        assert!(!browser.query(By::Id("wpwl-registrations")).nowait().exists().await?);
        assert_eq!(browser.evaluate(seen).await?, true);
        // Some shops pass a string instead of a boolean.
        stage.open_forms(&browser, "VISA MASTER", "registrations: { hideInitialPaymentForms: 'true' }").await?;
        assert_eq!(browser.evaluate(seen).await?, false);
        click_element(&browser, "#wpwl-registrations + button.wpwl-button[data-action=show-initial-forms]").await?;
        assert_eq!(browser.evaluate(seen).await?, true);
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        click_element(&browser, ".wpwl-form-card .wpwl-button-pay").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
