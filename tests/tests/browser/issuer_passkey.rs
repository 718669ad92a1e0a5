//! The simulated issuer's question for a passkey, in its frame inside of another site's page.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::{Browser, run_in_browser};

use crate::back_office::passkeys::add_authenticator;
use crate::three_ds::{
    CALLBACKS, CHALLENGE_WITH_METHOD, TARGET, WITHOUT, answer_challenge, fixture_with_three_ds, pay_until_challenge,
};
use crate::{APPROVED, CheckoutFixture, PENDING};

const NOTICE: &str = "document.querySelector('#code').textContent";

async fn fixture_with_passkey() -> anyhow::Result<CheckoutFixture> {
    fixture_with_three_ds(&[("customParameters[3DS2_flow]", "passkey")]).await
}

/// Presses the button of the passkey in the issuer's frame, and waits for this condition there, unless it is empty.
async fn press_passkey(browser: &Browser, condition: &str) -> anyhow::Result<()> {
    browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
    let pressed = async {
        browser.query(By::Css("#passkey button")).and_displayed().first().await?.click().await?;
        if !condition.is_empty() {
            browser.wait_until(condition).await?;
        }
        anyhow::Ok(())
    };
    let pressed = pressed.await;
    browser.enter_default_frame().await?;
    pressed
}

#[tokio::test]
async fn a_passkey_that_is_made_and_used_in_the_issuers_frame_authenticates_the_cardholder() -> anyhow::Result<()> {
    for number in [WITHOUT, CHALLENGE_WITH_METHOD] {
        let stage = fixture_with_passkey().await?;
        run_in_browser(move |browser| async move {
            add_authenticator(&browser).await?;
            stage.open_forms(&browser, "VISA", CALLBACKS).await?;
            pay_until_challenge(&browser, number).await?;
            browser.save_screenshot("challenge-passkey").await?;
            press_passkey(&browser, "").await?;
            let status = stage.wait_until_paid(&browser).await?;
            assert_eq!(status.json["threeDSecure"]["authenticationStatus"], "Y", "{}", status.text);
            assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_cardholder_who_refuses_the_passkey_answers_with_the_code() -> anyhow::Result<()> {
    let stage = fixture_with_passkey().await?;
    run_in_browser(move |browser| async move {
        let authenticator = add_authenticator(&browser).await?;
        let refuses = json!({ "authenticatorId": authenticator, "isUserVerified": false });
        browser.cdp().send_raw("WebAuthn.setUserVerified", refuses).await?;
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        pay_until_challenge(&browser, WITHOUT).await?;
        press_passkey(&browser, &format!("{NOTICE}.startsWith('The passkey was refused')")).await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        browser.save_screenshot("challenge-passkey-refused").await?;
        assert_eq!(stage.read_result_code().await?, PENDING);
        answer_challenge(&browser, TARGET, APPROVED).await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_browser_without_passkeys_is_asked_for_the_code() -> anyhow::Result<()> {
    let stage = fixture_with_passkey().await?;
    run_in_browser(move |browser| async move {
        let without = json!({ "source": "delete globalThis.PublicKeyCredential" });
        browser.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", without).await?;
        stage.open_forms(&browser, "VISA", CALLBACKS).await?;
        pay_until_challenge(&browser, WITHOUT).await?;
        browser.query(By::Css(TARGET)).first().await?.enter_frame().await?;
        let seen = browser.evaluate(&format!("[document.querySelector('#passkey').hidden, {NOTICE}]")).await;
        browser.enter_default_frame().await?;
        assert_eq!(seen?, json!([true, "This browser has no passkeys here. Answer with a code instead."]));
        answer_challenge(&browser, TARGET, APPROVED).await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}
