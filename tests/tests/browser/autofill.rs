//! Autofill of a card. Number and code are in separate frames, and browsers fill in the document with the focus first.
//! The data that they put there is passed on to the right fields.

use anyhow::Context as _;
use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, poll_until, run_in_browser, run_in_desktop_browser};

use crate::CheckoutFixture;
use crate::usability::FILL_IN;

/// Makes the browser fill in a card that it knows, as after a choice from the list at the field. Waits until it knows
/// the field.
async fn autofill_card(browser: &Browser, field: &WebElement) -> anyhow::Result<()> {
    field.click().await?;
    // chromedriver identifies elements by frame, document and node: f.<frame>.d.<document>.e.<node>.
    let id = field.element_id().to_string();
    let parts: Vec<&str> = id.split('.').collect();
    let [_, frame, _, _, _, node] = parts[..] else { anyhow::bail!("{id} is no name of an element") };
    let card = json!({ "number": "4200000000000000", "name": "Jane Jones", "expiryMonth": "05", "expiryYear": "2034", "cvc": "123" });
    let parameters = json!({ "fieldId": node.parse::<u64>()?, "frameId": frame, "card": card });
    // The browser notices new fields with a delay.
    poll_until("the browser knows the field", async || {
        Ok(browser.cdp().send_raw("Autofill.trigger", parameters.clone()).await.ok())
    })
    .await
    .context(id)?;
    Ok(())
}

#[tokio::test]
async fn a_card_that_the_browser_knows_fills_in_the_whole_form_and_pays() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_desktop_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser.wait_until("document.querySelectorAll('.helper').length === 3").await?;
        autofill_card(&browser, &form.find_element("input").await?).await?;
        browser.wait_until("document.querySelector('input').value === '4200 0000 0000 0000'").await?;
        browser.enter_default_frame().await?;
        browser.wait_until("/^05 \\/ (20)?34$/.test(document.querySelector('.wpwl-control-expiry').value)").await?;
        browser.wait_until("document.querySelector('.wpwl-control-cardHolder').value === 'Jane Jones'").await?;
        form.find_element(CODE_FRAME).await?.enter_frame().await?;
        browser.wait_until("document.querySelector('input').value === '123'").await?;
        browser.enter_default_frame().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn whatever_of_a_card_is_filled_in_where_the_number_is_gets_to_its_field() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        // Browsers fill in fields that are rendered and have an `autocomplete` token. The helper fields are hidden from
        // the keyboard and from assistive technology.
        browser.wait_until("document.querySelectorAll('.helper').length === 3").await?;
        let tokens = "[...document.querySelectorAll('input')].map(it => [it.autocomplete, it.tabIndex, it.checkVisibility(), it.ariaHidden].join(' ')).join()";
        assert_eq!(
            browser.evaluate(tokens).await?,
            "cc-number 0 true ,cc-name -1 true true,cc-exp -1 true true,cc-csc -1 true true"
        );
        for (token, text) in [("number", "4200000000000000"), ("name", "Jane Jones"), ("exp", "2034-05"), ("csc", "123")] {
            browser.execute(FILL_IN, vec![json!(format!("[autocomplete=cc-{token}]")), json!(text)]).await?;
        }
        assert_eq!(browser.evaluate("document.querySelector('[autocomplete=cc-csc]').value").await?, "", "passed on, not kept");
        browser.enter_default_frame().await?;
        browser.wait_until("document.querySelector('.wpwl-control-expiry').value === '05 / 34' || document.querySelector('.wpwl-control-expiry').value === '05 / 2034'").await?;
        browser.wait_until("document.querySelector('.wpwl-control-cardHolder').value === 'Jane Jones'").await?;
        form.find_element(CODE_FRAME).await?.enter_frame().await?;
        browser.wait_until("document.querySelector('input').value === '123'").await?;
        browser.enter_default_frame().await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_shopper_typed_is_not_overwritten_by_what_the_browser_fills_in() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_holder("Ada").await?;
        form.enter_security_code("456").await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser.wait_until("document.querySelectorAll('.helper').length === 3").await?;
        for (token, text) in [("name", "Jane Jones"), ("csc", "123"), ("exp", "05/34")] {
            browser.execute(FILL_IN, vec![json!(format!("[autocomplete=cc-{token}]")), json!(text)]).await?;
        }
        browser.enter_default_frame().await?;
        browser.wait_until("document.querySelector('.wpwl-control-expiry').value === '05 / 34'").await?;
        assert_eq!(browser.evaluate("document.querySelector('.wpwl-control-cardHolder').value").await?, "Ada");
        assert_eq!(form.frame_value(CODE_FRAME).await?, "456");
        Ok(())
    })
    .await
}
