//! Wallets: a simulated sheet over the page in a test system, the merchant's own token, and what is said where there is
//! neither.

use thirtyfour::prelude::*;
use tillgate_tests::{Browser, browse};

use crate::forms::click;
use crate::{APPROVED, PENDING, Stage};

const OPTIONS: &str = "
    onReadyExternal: function () { witness.note('external', !!window.told); },
    onBeforeSubmitVirtualAccount: function () { witness.note('asked', 1); },
    onLightboxCancel: function () { witness.note('cancelled', 1); },
    onError: function (error) { witness.note('failed', error.name + ' ' + error.brand); }";

async fn with_key() -> anyhow::Result<Stage> {
    let stage = Stage::new().await?;
    stage.gateway.command(&["wallet-key", "create", "--entity", &stage.merchant.entity_id])?;
    Ok(stage)
}

/// Presses the wallet's button, and one in the sheet that comes.
async fn press(browser: &Browser, brand: &str, css: &str) -> anyhow::Result<()> {
    click(browser, &format!(".wpwl-button-brand-{brand}")).await?;
    browser.query(By::Css("dialog.wpwl-wallet[open] > iframe")).first().await?.enter_frame().await?;
    let pressed = async {
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        browser.picture("wallet-sheet").await?;
        click(browser, css).await
    };
    let pressed = pressed.await;
    browser.enter_default_frame().await?;
    pressed
}

#[tokio::test]
async fn a_card_of_the_simulated_wallet_pays_and_its_token_stays_with_us() -> anyhow::Result<()> {
    browse(move |browser| async move {
        for (brand, card, last4) in
            [("APPLEPAY", 0, "0000"), ("GOOGLEPAY", 1, "5454"), ("CLICK_TO_PAY", 0, "0000"), ("MASTERPASS", 0, "0000")]
        {
            let stage = with_key().await?;
            stage.open(&browser, &format!("VISA {brand}"), OPTIONS).await?;
            press(&browser, brand, &format!("button[value='{card}']")).await?;
            browser.query(By::Id("result")).first().await?;
            let status = stage.merchant.status(stage.checkout.id()).await?;
            let said =
                (status.code(), status.json["paymentBrand"].as_str(), status.json["card"]["last4Digits"].as_str());
            assert_eq!(said, (APPROVED, Some(brand), Some(last4)), "{}", status.text);
            assert_eq!(browser.seen_of("external").await?, ["true"], "{brand}");
            assert_eq!(browser.seen_of("asked").await?.len(), 1);
            let seen = browser.seen().await?;
            assert!(seen.iter().all(|seen| !seen.detail.contains("TILLGATE_WALLET")), "no message carries a token");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn who_leaves_the_sheet_pays_otherwise_or_opens_it_again() -> anyhow::Result<()> {
    let stage = with_key().await?;
    browse(move |browser| async move {
        stage.open(&browser, "APPLEPAY", OPTIONS).await?;
        press(&browser, "APPLEPAY", "#cancel").await?;
        browser.until("!document.querySelector('dialog')").await?;
        browser.until_seen("cancelled").await?;
        browser.until("document.activeElement.matches('.wpwl-button-brand-APPLEPAY')").await?;
        assert_eq!((stage.submits(), stage.code().await?.as_str()), (0, PENDING));
        press(&browser, "APPLEPAY", "button[value='0']").await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_merchants_own_wallet_puts_its_token_into_the_form() -> anyhow::Result<()> {
    let stage = with_key().await?;
    let made = stage.gateway.command(&["wallet-token", "make", "--entity", &stage.merchant.entity_id])?;
    browse(move |browser| async move {
        stage.open(&browser, "GOOGLEPAY", OPTIONS).await?;
        let script = "const input = document.createElement('input');
            input.type = 'hidden'; input.name = 'walletPay.paymentToken'; input.value = arguments[0];
            document.querySelector('.wpwl-form-virtualAccount-GOOGLEPAY').append(input);";
        browser.execute(script, vec![made["paymentToken"].clone()]).await?;
        click(&browser, ".wpwl-button-brand-GOOGLEPAY").await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_channel_that_no_wallet_is_set_up_for_says_so() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        stage.open(&browser, "APPLEPAY VISA", OPTIONS).await?;
        click(&browser, ".wpwl-button-brand-APPLEPAY").await?;
        let message = browser.query(By::Css(".wpwl-container-virtualAccount-APPLEPAY > .wpwl-message[role=alert]"));
        assert_eq!(
            message.first().await?.text().await?,
            "Apple Pay is not available at the moment. Please choose another way to pay."
        );
        assert_eq!(browser.until_seen("failed").await?, "WidgetError APPLEPAY");
        assert_eq!(stage.submits(), 0);
        Ok(())
    })
    .await
}
