//! Wallets: a simulated sheet over the page in a test system, the merchant's own token, and the message if neither is
//! available.

use thirtyfour::prelude::*;
use tillgate_tests::{Browser, run_in_browser};

use crate::forms::click_element;
use crate::{APPROVED, CheckoutFixture, PENDING};

const OPTIONS: &str = "
    onReadyExternal: function () { witness.note('external', !!window.told); },
    onBeforeSubmitVirtualAccount: function () { witness.note('asked', 1); },
    onLightboxCancel: function () { witness.note('cancelled', 1); },
    onError: function (error) { witness.note('failed', error.name + ' ' + error.brand); }";

/// Creates a fixture whose channel has a key for wallets.
async fn fixture_with_wallet_key() -> anyhow::Result<CheckoutFixture> {
    let fixture = CheckoutFixture::new().await?;
    fixture.gateway.run_command(&["wallet-key", "create", "--entity", &fixture.merchant.entity_id])?;
    Ok(fixture)
}

/// Opens the wallet's sheet, asserts that axe-core has no findings in it, presses the button that matches `css`, and
/// returns to the page.
async fn press_in_wallet_sheet(browser: &Browser, brand: &str, css: &str) -> anyhow::Result<()> {
    click_element(browser, &format!(".wpwl-button-brand-{brand}")).await?;
    browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?.enter_frame().await?;
    let result = async {
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("wallet-sheet").await?;
        click_element(browser, css).await
    };
    let result = result.await;
    browser.enter_default_frame().await?;
    result
}

#[tokio::test]
async fn a_card_of_the_simulated_wallet_pays_and_its_token_stays_with_us() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for (brand, card, last4) in
            [("APPLEPAY", 0, "0000"), ("GOOGLEPAY", 1, "5454"), ("CLICK_TO_PAY", 0, "0000"), ("MASTERPASS", 0, "0000")]
        {
            let stage = fixture_with_wallet_key().await?;
            stage.open_forms(&browser, &format!("VISA {brand}"), OPTIONS).await?;
            press_in_wallet_sheet(&browser, brand, &format!("button[value='{card}']")).await?;
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.read_status(stage.checkout.id()).await?;
            let said = (
                status.result_code(),
                status.json["paymentBrand"].as_str(),
                status.json["card"]["last4Digits"].as_str(),
            );
            assert_eq!(said, (APPROVED, Some(brand), Some(last4)), "{}", status.text);
            assert_eq!(browser.observed_details("external").await?, ["true"], "{brand}");
            assert_eq!(browser.observed_details("asked").await?.len(), 1);
            let seen = browser.observations().await?;
            assert!(seen.iter().all(|seen| !seen.detail.contains("TILLGATE_WALLET")), "no message carries a token");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_leaves_the_sheet_pays_otherwise_or_opens_it_again() -> anyhow::Result<()> {
    let stage = fixture_with_wallet_key().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "APPLEPAY", OPTIONS).await?;
        press_in_wallet_sheet(&browser, "APPLEPAY", "#cancel").await?;
        browser.wait_until("!document.querySelector('dialog')").await?;
        browser.wait_for_observation("cancelled").await?;
        browser.wait_until("document.activeElement.matches('.wpwl-button-brand-APPLEPAY')").await?;
        assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (0, PENDING));
        press_in_wallet_sheet(&browser, "APPLEPAY", "button[value='0']").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn escape_closes_the_sheet_from_the_page_and_from_the_sheet_itself() -> anyhow::Result<()> {
    let stage = fixture_with_wallet_key().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "APPLEPAY", OPTIONS).await?;
        for (at, in_sheet) in [false, true].into_iter().enumerate() {
            click_element(&browser, ".wpwl-button-brand-APPLEPAY").await?;
            let frame = browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?;
            if in_sheet {
                frame.enter_frame().await?;
                let cancel = browser.query(By::Css("#cancel")).first().await?;
                cancel.send_keys(Key::Escape + "").await?;
                browser.enter_default_frame().await?;
            } else {
                let focus = "const sheet = document.querySelector('dialog'); sheet.tabIndex = -1; sheet.focus()";
                browser.execute(focus, vec![]).await?;
                browser.action_chain().send_keys(Key::Escape.value().to_string()).perform().await?;
            }
            browser.wait_until("!document.querySelector('dialog')").await?;
            let count = format!("witness.all().filter(it => it.kind === 'cancelled').length === {}", at + 1);
            browser.wait_until(&count).await?;
            browser.wait_until("document.activeElement.matches('.wpwl-button-brand-APPLEPAY')").await?;
        }
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_merchants_own_wallet_puts_its_token_into_the_form() -> anyhow::Result<()> {
    let stage = fixture_with_wallet_key().await?;
    let made = stage.gateway.run_command(&["wallet-token", "make", "--entity", &stage.merchant.entity_id])?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "GOOGLEPAY", OPTIONS).await?;
        let script = "const input = document.createElement('input');
            input.type = 'hidden'; input.name = 'walletPay.paymentToken'; input.value = arguments[0];
            document.querySelector('.wpwl-form-virtualAccount-GOOGLEPAY').append(input);";
        browser.execute(script, vec![made["paymentToken"].clone()]).await?;
        click_element(&browser, ".wpwl-button-brand-GOOGLEPAY").await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_channel_that_no_wallet_is_set_up_for_says_so() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "APPLEPAY VISA", OPTIONS).await?;
        click_element(&browser, ".wpwl-button-brand-APPLEPAY").await?;
        let message = browser.query(By::Css(".wpwl-container-virtualAccount-APPLEPAY > .wpwl-message[role=alert]"));
        assert_eq!(
            message.first().await?.text().await?,
            "Apple Pay is not available at the moment. Please choose another way to pay."
        );
        assert_eq!(browser.wait_for_observation("failed").await?, "WidgetError APPLEPAY");
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}
