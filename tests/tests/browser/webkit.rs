//! The main flows in a third engine, that of Safari: a card with its mistakes, a challenge, a stored card.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, NUMBER_FRAME};
use tillgate_tests::{Browser, poll_until, run_in_webkit};

use crate::forms::click_element;
use crate::one_click::fixture_with_stored_accounts;
use crate::three_ds::{CHALLENGE, TARGET, answer_challenge, fixture_with_three_ds};
use crate::{APPROVED, CheckoutFixture};

/// Puts the caret into a field by a click, and types at the end of its text.
async fn type_into(browser: &Browser, css: &str, text: &str) -> anyhow::Result<()> {
    let field = browser.query(By::Css(css)).and_displayed().first().await?;
    browser.action_chain().click_element(&field).perform().await?;
    browser.wait_until(&format!("document.activeElement.matches('{css}:is(input, .wpwl-focus)')")).await?;
    Ok(browser.action_chain().send_keys(text).perform().await?)
}

async fn fill_in_card(browser: &Browser, number: &str) -> anyhow::Result<()> {
    type_into(browser, NUMBER_FRAME, number).await?;
    type_into(browser, ".wpwl-control-expiry", "0534").await?;
    type_into(browser, ".wpwl-control-cardHolder", "Jane Jones").await?;
    type_into(browser, CODE_FRAME, "123").await
}

/// Waits for the page with the result. WebKit fails a search that is interrupted by the way to another page.
async fn wait_for_result(browser: &Browser) -> anyhow::Result<()> {
    poll_until("the page with the result", async || Ok(browser.find(By::Id("result")).await.ok())).await.map(drop)
}

#[tokio::test]
async fn the_form_says_what_is_wrong_and_pays_in_webkit() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_webkit(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER", "").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        for kind in ["cardNumberError", "expiryMonthError", "cvvError"] {
            browser.query(By::Css(format!(".wpwl-hint-{kind}"))).and_displayed().first().await?;
        }
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        fill_in_card(&browser, "5454545454545454").await?;
        browser.wait_until("document.querySelectorAll('.wpwl-hint').length === 0").await?;
        browser.wait_until("document.querySelectorAll('.wpwl-brands .wpwl-brand-MASTER').length === 1").await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        wait_for_result(&browser).await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_challenge_is_passed_in_webkit() -> anyhow::Result<()> {
    let stage = fixture_with_three_ds(&[]).await?;
    run_in_webkit(move |browser| async move {
        stage.open_forms(&browser, "VISA", "").await?;
        fill_in_card(&browser, CHALLENGE).await?;
        click_element(&browser, ".wpwl-button-pay").await?;
        browser.query(By::Css(".wpwl-challenge-bar")).first().await?;
        answer_challenge(&browser, TARGET, APPROVED).await?;
        wait_for_result(&browser).await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_is_paid_with_its_code_in_webkit() -> anyhow::Result<()> {
    let (stage, ids) = fixture_with_stored_accounts(&[]).await?;
    run_in_webkit(move |browser| async move {
        stage.open_forms(&browser, "VISA", "registrations: { requireCvv: true }").await?;
        click_element(&browser, &format!("input[value='{}']", ids[1])).await?;
        type_into(&browser, ".wpwl-container-registration iframe.wpwl-control-cvv", "123").await?;
        click_element(&browser, ".wpwl-container-registration .wpwl-button-pay").await?;
        wait_for_result(&browser).await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!((status.result_code(), status.json["registrationId"].as_str()), (APPROVED, Some(ids[1].as_str())));
        Ok(())
    })
    .await
}
