//! Passkeys with an authenticator that the browser emulates.

use anyhow::Context as _;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_domain::access::one_time_code::{CodeSecret, step_at};
use tillgate_tests::{Browser, TestGateway, run_in_browser};

use super::{become_administrator, check_page};

/// Mail address and password of the first administrator, as [`become_administrator`] sets them.
const MAIL: &str = "maria@kiln.example";
const PASSWORD: &str = "a long walk by the sea 7";

/// Adds an authenticator that verifies its user to the browser. Returns its id.
pub async fn add_authenticator(browser: &Browser) -> anyhow::Result<String> {
    browser.cdp().send_raw("WebAuthn.enable", json!({})).await?;
    let options = json!({
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
        "isUserVerified": true, "automaticPresenceSimulation": true,
    });
    let added = browser.cdp().send_raw("WebAuthn.addVirtualAuthenticator", json!({ "options": options })).await?;
    Ok(added["authenticatorId"].as_str().context("no authenticator")?.to_owned())
}

/// Sets the counter of the only passkey of the authenticator.
async fn set_counter(browser: &Browser, authenticator: &str, counter: u32) -> anyhow::Result<()> {
    let of = json!({ "authenticatorId": authenticator });
    let kept = browser.cdp().send_raw("WebAuthn.getCredentials", of).await?;
    let mut credential: Value = kept["credentials"][0].clone();
    let id = credential["credentialId"].clone();
    credential["signCount"] = json!(counter);
    let removed = json!({ "authenticatorId": authenticator, "credentialId": id });
    browser.cdp().send_raw("WebAuthn.removeCredential", removed).await?;
    let added = json!({ "authenticatorId": authenticator, "credential": credential });
    browser.cdp().send_raw("WebAuthn.addCredential", added).await?;
    Ok(())
}

async fn type_into(browser: &Browser, id: &str, text: &str) -> anyhow::Result<()> {
    Ok(browser.find(By::Id(id)).await?.send_keys(text).await?)
}

async fn press(browser: &Browser, selector: &str) -> anyhow::Result<()> {
    Ok(browser.query(By::Css(selector)).and_displayed().first().await?.click().await?)
}

async fn sign_out(browser: &Browser) -> anyhow::Result<()> {
    press(browser, "form[action$='/sign-out'] button").await?;
    browser.wait_until("location.pathname === '/backoffice/sign-in'").await
}

/// Adds a passkey on the page of the account.
async fn add_passkey(browser: &Browser, account: &str, secret: &CodeSecret) -> anyhow::Result<()> {
    browser.goto(account).await?;
    // The code of the enrolment is used, and the next one is accepted already.
    let code = secret.code_of_step(step_at(jiff::Timestamp::now()) + 1).to_string();
    type_into(browser, "passkey-name", "Emulated <key>").await?;
    type_into(browser, "passkey-code", &code).await?;
    press(browser, "form[data-passkey=create] button").await?;
    browser.wait_until("location.search === '?done=passkey_added'").await
}

#[tokio::test]
async fn a_passkey_signs_in_alone_and_after_the_password_until_its_counter_goes_back() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    run_in_browser(move |browser| async move {
        let (account, page) = (format!("{}backoffice/account", gateway.public_url()), gateway.public_url());
        let secret = become_administrator(&gateway, &browser).await?;
        let authenticator = add_authenticator(&browser).await?;
        add_passkey(&browser, &account, &secret).await?;
        let text = browser.find(By::Css("main")).await?.text().await?;
        assert!(text.contains("Emulated <key>") && text.contains("The passkey is added"), "{text}");
        check_page(&browser, &account).await?;
        sign_out(&browser).await?;
        check_page(&browser, &format!("{page}backoffice/sign-in")).await?;
        browser.goto(format!("{page}backoffice/sign-in?next=%2Fbackoffice%2Fpayments")).await?;
        // Without the script the form stays hidden.
        let display = "getComputedStyle(document.querySelector('.passkey')).display";
        browser.wait_until(&format!("{display} !== 'none'")).await?;
        let hide = "document.querySelector('.passkey').toggleAttribute('hidden')";
        browser.evaluate(hide).await?;
        assert_eq!(browser.evaluate(display).await?, "none");
        browser.evaluate(hide).await?;
        press(&browser, "form[data-passkey=get] button").await?;
        browser.wait_until("location.pathname === '/backoffice/payments'").await?;
        sign_out(&browser).await?;
        type_into(&browser, "f-mail", MAIL).await?;
        type_into(&browser, "f-password", PASSWORD).await?;
        press(&browser, "form[action$='/sign-in'] button").await?;
        browser.wait_until("location.pathname === '/backoffice/sign-in/factor'").await?;
        press(&browser, "form[data-passkey=get] button").await?;
        browser.wait_until("location.pathname === '/backoffice'").await?;
        sign_out(&browser).await?;
        set_counter(&browser, &authenticator, 0).await?;
        press(&browser, "form[data-passkey=get] button").await?;
        browser.wait_until("document.querySelector('[role=alert]').textContent.includes('not accepted')").await?;
        gateway.wait_for_log("its counter went back").await?;
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}
