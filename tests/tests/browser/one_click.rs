//! Stored cards and accounts in the form: chosen, confirmed by their code, completed, removed.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, Merchant, browse};

use crate::forms::{click, fill};
use crate::{APPROVED, Stage};

const CODE: &str = ".wpwl-container-registration iframe.wpwl-control-cvv";

async fn store(merchant: &Merchant, more: &[(&str, &str)]) -> anyhow::Result<String> {
    let stored = merchant.post("v1/registrations", more).await?;
    anyhow::ensure!(stored.code() == APPROVED, "{}", stored.text);
    Ok(stored.id().to_owned())
}

/// A Visa with a holder, a Mastercard without, and an account.
async fn stored(merchant: &Merchant) -> anyhow::Result<[String; 3]> {
    let expiry = [("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let card = |brand, number| [("paymentBrand", brand), ("card.number", number), expiry[0], expiry[1]];
    let visa = [&card("VISA", "4200000000000000")[..], &[("card.holder", "Jane Jones")]].concat();
    Ok([
        store(merchant, &visa).await?,
        store(merchant, &card("MASTER", "5454545454545454")).await?,
        store(
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

/// A stage whose checkout offers the three, and their ids.
async fn stage(more: &[(&str, &str)]) -> anyhow::Result<(Stage, [String; 3])> {
    let mut stage = Stage::new().await?;
    let ids = stored(&stage.merchant).await?;
    let names = ["registrations[0].id", "registrations[1].id", "registrations[2].id"];
    let offered = names.into_iter().zip(ids.iter().map(String::as_str));
    let fields: Vec<(&str, &str)> = offered.chain(more.iter().copied()).collect();
    stage.checkout = stage.merchant.checkout(&fields).await?;
    Ok((stage, ids))
}

/// Types the code of the chosen card.
async fn code(browser: &Browser, text: &str) -> anyhow::Result<()> {
    browser.query(By::Css(CODE)).first().await?.enter_frame().await?;
    let typed = async { anyhow::Ok(browser.query(By::Css("input")).first().await?.send_keys(text).await?) }.await;
    browser.enter_default_frame().await?;
    typed
}

#[tokio::test]
async fn stored_cards_have_the_contracts_markup_and_pay_at_one_click() -> anyhow::Result<()> {
    let (stage, ids) = stage(&[]).await?;
    browse(move |browser| async move {
        let options = "onBeforeSubmitOneClickCard: function () { witness.note('asked', 'one click'); }";
        stage.open(&browser, "VISA MASTER", options).await?;
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
        assert_eq!(browser.value(numbers).await?, "**** 0000,**** 5454,**** 7890");
        let holder = browser.query(By::Css(".wpwl-registration-holder")).first().await?.text().await?;
        assert_eq!(holder, "Jane Jones");
        assert!(!browser.query(By::Css(CODE)).nowait().exists().await?, "no code is asked unless the merchant wants it");
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        click(&browser, &format!("input[value='{}']", ids[2])).await?;
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.seen_of("asked").await?, ["one click"]);
        let status = stage.merchant.status(stage.checkout.id()).await?;
        let said = (status.code(), status.json["paymentBrand"].as_str(), status.json["registrationId"].as_str());
        assert_eq!(said, (APPROVED, Some("SEPA"), Some(ids[2].as_str())), "{}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_code_that_the_server_demands_is_asked_although_the_page_does_not() -> anyhow::Result<()> {
    let (stage, _) = stage(&[("registrationsRequireCvv", "true")]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA MASTER", "registrations: { requireCvv: false }").await?;
        browser.until(&format!("document.querySelectorAll('{CODE}').length === 1")).await?;
        code(&browser, "123").await?;
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        let status = stage.paid(&browser).await?;
        assert_eq!(status.json["result"]["cvvResponse"], "M", "the code came along");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_code_of_the_chosen_card_is_asked_and_an_empty_holder_filled_in() -> anyhow::Result<()> {
    let (stage, ids) = stage(&[("overrideHolder", "true")]).await?;
    browse(move |browser| async move {
        browser.resize(420, 1200).await?;
        stage.open(&browser, "VISA MASTER", "registrations: { requireCvv: true }").await?;
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-container-registration .wpwl-hint-cvvError")).first().await?;
        browser.picture("one-click-error").await?;
        assert_eq!(stage.submits(), 0);
        click(&browser, &format!("input[value='{}']", ids[1])).await?;
        browser.until(&format!("document.querySelectorAll('{CODE}').length === 1")).await?;
        code(&browser, "123").await?;
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-hint-cardHolderError")).first().await?;
        fill(&browser, ".wpwl-registration-holder input", "Otto Over").await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("one-click").await?;
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        let status = stage.paid(&browser).await?;
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
    let (stage, _) = stage(&[]).await?;
    let options = "registrations: { requireCvv: true }, requireCvv: false,
        onBlurSecurityCode: function (good) { witness.note('left', good + ' ' + this.$form[0].dataset.action); },";
    let noting = |name: &str| {
        format!(
            "{name}: function (it) {{ witness.note('{name}', [!!window.told, this.$iframe[0].name, it.$iframe[0] === document.querySelector(\"{CODE}\")].join(' ')); }},"
        )
    };
    let names = ["onReadyIframeCommunication", "onFocusIframeCommunication", "onBlurIframeCommunication"];
    let options = format!("{options}{}", names.map(noting).concat());
    browse(move |browser| async move {
        stage.open(&browser, "VISA", &options).await?;
        let own = "witness.all().filter(it => it.detail === 'true card.cvv true').map(it => it.kind).join(' ')";
        browser.until(&format!("{own} === 'onReadyIframeCommunication'")).await?;
        code(&browser, "123").await?;
        click(&browser, "h1").await?;
        browser
            .execute("document.querySelector('.wpwl-container-registration [name=registrationId]').focus()", vec![])
            .await?;
        browser.until_seen("left").await?;
        assert_eq!(browser.seen_of("left").await?, ["true submit-registration"]);
        assert_eq!(browser.value(own).await?, names.join(" "));
        // Another card has a frame of its own.
        click(&browser, ".wpwl-group-registration:nth-of-type(2) [name=registrationId]").await?;
        browser.until(&format!("{own}.endsWith(' onReadyIframeCommunication')")).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_shopper_removes_a_stored_card_where_the_merchant_lets_that_happen() -> anyhow::Result<()> {
    let (stage, ids) = stage(&[("registrationsDeletable", "true")]).await?;
    browse(move |browser| async move {
        stage.open(&browser, "VISA MASTER", "").await?;
        let button = format!(".wpwl-group-registration:has(input[value='{}']) .wpwl-button-delete", ids[0]);
        click(&browser, &button).await?;
        assert_eq!(stage.merchant.get(&format!("v1/registrations/{}", ids[0])).await?.code(), APPROVED, "not yet");
        click(&browser, &button).await?;
        browser.until("document.querySelectorAll('.wpwl-group-registration').length === 2").await?;
        assert_eq!(stage.merchant.get(&format!("v1/registrations/{}", ids[0])).await?.code(), "100.150.202");
        click(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        let said = (status.code(), status.json["registrationId"].as_str());
        assert_eq!(said, (APPROVED, Some(ids[1].as_str())), "the next one was chosen: {}", status.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn other_ways_to_pay_wait_behind_a_button_where_the_merchant_wants_that() -> anyhow::Result<()> {
    let (stage, _) = stage(&[]).await?;
    browse(move |browser| async move {
        let seen = "document.querySelector('.wpwl-container-card').checkVisibility()";
        stage.open(&browser, "VISA MASTER", "showOneClickWidget: false").await?;
        assert!(!browser.query(By::Id("wpwl-registrations")).nowait().exists().await?);
        assert_eq!(browser.value(seen).await?, true);
        // Some shops pass the word instead of the value.
        stage.open(&browser, "VISA MASTER", "registrations: { hideInitialPaymentForms: 'true' }").await?;
        assert_eq!(browser.value(seen).await?, false);
        click(&browser, "#wpwl-registrations + button.wpwl-button[data-action=show-initial-forms]").await?;
        assert_eq!(browser.value(seen).await?, true);
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        click(&browser, ".wpwl-form-card .wpwl-button-pay").await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}
