//! The browser fills in a card. Number and code are in frames of their own, and browsers fill in the document with the caret
//! first of all: what they put there gets to its fields.

use anyhow::Context as _;
use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{Browser, browse, until};

use crate::Stage;
use crate::kindness::FILL_IN;

/// Has the browser fill in a card that it knows, by its own rules of what goes where, as after a choice from the list at
/// the field.
async fn choose_card(browser: &Browser, field: &WebElement) -> anyhow::Result<()> {
    field.click().await?;
    // chromedriver names elements by frame, document and node: f.<frame>.d.<document>.e.<node>.
    let id = field.element_id().to_string();
    let parts: Vec<&str> = id.split('.').collect();
    let [_, frame, _, _, _, node] = parts[..] else { anyhow::bail!("{id} is no name of an element") };
    let card = json!({ "number": "4200000000000000", "name": "Jane Jones", "expiryMonth": "05", "expiryYear": "2034", "cvc": "123" });
    let wanted = json!({ "fieldId": node.parse::<u64>()?, "frameId": frame, "card": card });
    // The browser looks at new fields after a while.
    until("the browser knows the field", async || {
        Ok(browser.cdp().send_raw("Autofill.trigger", wanted.clone()).await.ok())
    })
    .await
    .context(id)?;
    Ok(())
}

#[tokio::test]
async fn a_card_that_the_browser_knows_fills_in_the_whole_form_and_pays() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.find(NUMBER).await?.enter_frame().await?;
        browser.until("document.querySelectorAll('.helper').length === 3").await?;
        choose_card(&browser, &form.find("input").await?).await?;
        browser.until("document.querySelector('input').value === '4200 0000 0000 0000'").await?;
        browser.enter_default_frame().await?;
        browser.until("/^05 \\/ (20)?34$/.test(document.querySelector('.wpwl-control-expiry').value)").await?;
        browser.until("document.querySelector('.wpwl-control-cardHolder').value === 'Jane Jones'").await?;
        form.find(CODE).await?.enter_frame().await?;
        browser.until("document.querySelector('input').value === '123'").await?;
        browser.enter_default_frame().await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn whatever_of_a_card_is_filled_in_where_the_number_is_gets_to_its_field() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.find(NUMBER).await?.enter_frame().await?;
        // What browsers look for: fields that are rendered, each with its token, and that nobody else meets.
        browser.until("document.querySelectorAll('.helper').length === 3").await?;
        let tokens = "[...document.querySelectorAll('input')].map(it => [it.autocomplete, it.tabIndex, it.checkVisibility(), it.ariaHidden].join(' ')).join()";
        assert_eq!(
            browser.value(tokens).await?,
            "cc-number 0 true ,cc-name -1 true true,cc-exp -1 true true,cc-csc -1 true true"
        );
        for (token, text) in [("number", "4200000000000000"), ("name", "Jane Jones"), ("exp", "2034-05"), ("csc", "123")] {
            browser.execute(FILL_IN, vec![json!(format!("[autocomplete=cc-{token}]")), json!(text)]).await?;
        }
        assert_eq!(browser.value("document.querySelector('[autocomplete=cc-csc]').value").await?, "", "passed on, not kept");
        browser.enter_default_frame().await?;
        browser.until("document.querySelector('.wpwl-control-expiry').value === '05 / 34' || document.querySelector('.wpwl-control-expiry').value === '05 / 2034'").await?;
        browser.until("document.querySelector('.wpwl-control-cardHolder').value === 'Jane Jones'").await?;
        form.find(CODE).await?.enter_frame().await?;
        browser.until("document.querySelector('input').value === '123'").await?;
        browser.enter_default_frame().await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_shopper_typed_is_not_overwritten_by_what_the_browser_fills_in() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.holder("Ada").await?;
        form.code("456").await?;
        form.find(NUMBER).await?.enter_frame().await?;
        browser.until("document.querySelectorAll('.helper').length === 3").await?;
        for (token, text) in [("name", "Jane Jones"), ("csc", "123"), ("exp", "05/34")] {
            browser.execute(FILL_IN, vec![json!(format!("[autocomplete=cc-{token}]")), json!(text)]).await?;
        }
        browser.enter_default_frame().await?;
        browser.until("document.querySelector('.wpwl-control-expiry').value === '05 / 34'").await?;
        assert_eq!(browser.value("document.querySelector('.wpwl-control-cardHolder').value").await?, "Ada");
        assert_eq!(form.inner_value(CODE).await?, "456");
        Ok(())
    })
    .await
}
