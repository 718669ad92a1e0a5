//! Frames of the gateway for another checkout beside the merchant's form, opened by a hostile script with the nonce of
//! the form. Nothing that the shopper enters for the merchant's checkout goes into them, nor from them into the form.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, CARD, CardForm, MerchantPage, run_in_desktop_browser};

use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture, PENDING};

/// The hostile script. It runs before the form is loaded.
const SCRIPT: &str = include_str!("sibling_frames.js");

const CODE: &str = "737";
/// Fields of a card without number and code.
const FIELDS: [(&str, &str); 4] =
    [("paymentBrand", "VISA"), ("card.holder", "Jane Jones"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];

/// Opens a frame of the gateway for a checkout. Without a field it is a relay frame.
async fn open_frame(browser: &Browser, checkout: &str, field: &str) -> anyhow::Result<()> {
    let script = "openFrame(arguments[0], arguments[1]).then(arguments[2])";
    browser.execute_async(script, vec![json!(checkout), json!(field)]).await?;
    Ok(())
}

/// Makes a frame submit a checkout with fields, and returns its answer.
async fn submit_by(
    browser: &Browser,
    frame: &str,
    checkout: &str,
    fields: &[(&str, &str)],
    wallet: bool,
) -> anyhow::Result<String> {
    let script = "submitBy(arguments[0], arguments[1], arguments[2], { wallet: arguments[3], code: !arguments[3] })
        .then(arguments[4])";
    let arguments = vec![json!(frame), json!(checkout), json!(fields), json!(wallet)];
    Ok(browser.execute_async(script, arguments).await?.json().as_str().unwrap_or_default().to_owned())
}

/// Types into a frame that the hostile script has opened: a shopper can be led there.
async fn type_into(browser: &Browser, frame: &str, text: &str) -> anyhow::Result<()> {
    browser.find(By::Id(frame)).await?.enter_frame().await?;
    browser.query(By::Css("input")).first().await?.send_keys(text).await?;
    Ok(browser.enter_default_frame().await?)
}

/// Opens the merchant's page and fills in its form.
async fn fill_in_form<'a>(
    stage: &CheckoutFixture,
    browser: &'a Browser,
    options: &str,
) -> anyhow::Result<CardForm<'a>> {
    let script = format!("{SCRIPT} var wpwlOptions = {{ {options} }};");
    browser.goto(stage.site.add_page(MerchantPage::for_checkout(&stage.checkout).with_script(&script))).await?;
    let form = CardForm::wait_until_ready(browser).await?;
    form.enter_number("4200000000000000").await?;
    form.enter_security_code(CODE).await?;
    form.wait_until_code_valid().await?;
    Ok(form)
}

#[tokio::test]
async fn a_frame_for_another_checkout_gets_no_code_of_the_form() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let stage = CheckoutFixture::new().await?;
        let attacker = stage.gateway.create_merchant()?;
        let stored = attacker.post("v1/registrations", &CARD).await?;
        let of_merchant = stage.merchant.post("v1/registrations", &CARD).await?;
        let own = attacker.create_checkout(&[("registrations[0].id", stored.id())]).await?;
        // Another checkout of the same merchant, which anybody gets who buys there.
        let sibling = stage.merchant.create_checkout(&[("registrations[0].id", of_merchant.id())]).await?;
        let form = fill_in_form(&stage, &browser, "").await?;
        for (merchant, checkout, account) in
            [(&attacker, own.id(), stored.id()), (&stage.merchant, sibling.id(), of_merchant.id())]
        {
            // An empty id gives frames that pay whichever checkout the page names.
            for opened in [checkout, ""] {
                open_frame(&browser, opened, "").await?;
                let by_account = submit_by(&browser, "relay", checkout, &[("registrationId", account)], false).await?;
                assert!(by_account.contains("\"status\":0"), "{by_account}");
                open_frame(&browser, opened, "card.number").await?;
                type_into(&browser, "hostile-card.number", "4200000000000000").await?;
                let by_number = submit_by(&browser, "card.number", checkout, &FIELDS, false).await?;
                assert!(by_number.contains("failed"), "{by_number}");
                browser
                    .execute("document.querySelectorAll('[id^=hostile]').forEach(it => it.remove())", vec![])
                    .await?;
            }
            let status = merchant.read_status(checkout).await?;
            assert_eq!(status.result_code(), PENDING, "{}", status.text);
        }
        // The form pays its own checkout all the same, with the code that was typed into it.
        form.enter_expiry("05 / 34").await?;
        form.enter_holder("Jane Jones").await?;
        form.press_pay_button().await?;
        let paid = stage.wait_until_paid(&browser).await?;
        assert_eq!(paid.json["result"]["cvvResponse"], "M", "{}", paid.text);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_for_another_checkout_gives_the_form_nothing_and_gets_neither_holder_nor_date() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let stage = CheckoutFixture::new().await?;
        let attacker = stage.gateway.create_merchant()?;
        let own = attacker.create_checkout(&[]).await?;
        let form = fill_in_form(&stage, &browser, "enableSAQACompliance: true").await?;
        for (frame, text) in [("card.expiry", "0534"), ("card.holder", "Jane Jones")] {
            browser.query(By::Css(format!("iframe[name='{frame}']"))).first().await?.enter_frame().await?;
            browser.query(By::Css("input")).first().await?.send_keys(text).await?;
            browser.enter_default_frame().await?;
        }
        for field in ["card.holder", "card.expiry", "card.cvv"] {
            open_frame(&browser, own.id(), field).await?;
        }
        for (frame, text) in [("card.holder", "Mallory"), ("card.expiry", "1139"), ("card.cvv", "999")] {
            type_into(&browser, &format!("hostile-{frame}"), text).await?;
        }
        // A frame before all others is found first.
        browser.execute("document.body.prepend(...document.querySelectorAll('[id^=hostile]'))", vec![]).await?;
        form.press_pay_button().await?;
        let paid = stage.wait_until_paid(&browser).await?;
        assert_eq!(paid.json["card"]["holder"], "Jane Jones", "{}", paid.text);
        assert_eq!(paid.json["card"]["expiryYear"], "2034", "{}", paid.text);
        Ok(())
    })
    .await
}

/// Opens the sheet of the wallet, and chooses its first card.
async fn choose_wallet_card(browser: &Browser) -> anyhow::Result<()> {
    click_element(browser, ".wpwl-button-brand-APPLEPAY").await?;
    browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?.enter_frame().await?;
    let chosen = click_element(browser, "button[value='0']").await;
    browser.enter_default_frame().await?;
    chosen
}

#[tokio::test]
async fn a_wallets_token_pays_the_checkout_of_its_sheet_and_no_other() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let stage = CheckoutFixture::new().await?;
        stage.gateway.run_command(&["wallet-key", "create", "--entity", &stage.merchant.entity_id])?;
        let sibling = stage.merchant.create_checkout(&[]).await?;
        let page = MerchantPage::for_checkout(&stage.checkout).with_script(SCRIPT).with_brands("VISA APPLEPAY");
        let address = stage.site.add_page(page);
        for opened in [sibling.id(), ""] {
            browser.goto(&address).await?;
            CardForm::wait_until_ready(&browser).await?;
            open_frame(&browser, opened, "").await?;
            browser.execute("isMuted = true", vec![]).await?;
            choose_wallet_card(&browser).await?;
            browser.wait_until("closedSheets").await?;
            let answer = submit_by(&browser, "relay", sibling.id(), &[("paymentBrand", "APPLEPAY")], true).await?;
            assert!(!answer.contains("\"status\":200"), "{answer}");
            assert_eq!(stage.merchant.read_status(sibling.id()).await?.result_code(), PENDING);
        }
        browser.goto(&address).await?;
        CardForm::wait_until_ready(&browser).await?;
        choose_wallet_card(&browser).await?;
        stage.wait_until_paid(&browser).await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}
