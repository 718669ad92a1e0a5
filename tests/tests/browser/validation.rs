//! What the form says before anything is sent.

use anyhow::Context;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER, PAY};
use tillgate_tests::{Browser, browse};

use crate::{PENDING, Stage};

/// Whether the element that `css` finds has the focus, once it has it.
async fn until_focused(browser: &Browser, css: &str) -> anyhow::Result<()> {
    browser.until(&format!("document.activeElement === document.querySelector('{css}')")).await
}

#[tokio::test]
async fn a_wrong_number_is_pointed_at_and_nothing_is_sent() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.empty(NUMBER).await?;
        form.number("4200000000000001").await?;
        form.pay().await?;
        let hint = form.hint("cardNumberError").await?;
        assert!(!hint.is_empty());
        until_focused(&browser, NUMBER).await?;
        browser.until(&format!("document.querySelector('{NUMBER}').classList.contains('wpwl-has-error')")).await?;

        form.find(NUMBER).await?.enter_frame().await?;
        let input = form.find("input").await?;
        assert_eq!(input.attr("aria-invalid").await?.as_deref(), Some("true"), "told to screen readers");
        browser.until("document.activeElement && document.activeElement.tagName === 'INPUT'").await?;
        browser.enter_default_frame().await?;

        assert_eq!(stage.submits(), 0, "nothing was sent");
        assert_eq!(stage.code().await?, PENDING);

        // Put right, it goes away, and the payment goes through.
        form.empty(NUMBER).await?;
        form.number("4200000000000000").await?;
        form.no_hint("cardNumberError").await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_date_that_is_over_or_none_is_pointed_at_and_nothing_is_sent() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        for wrong in ["01 / 20", "13 / 34", "00 / 34", "0", ""] {
            form.expiry(wrong).await?;
            form.pay().await?;
            // One of the two, by the date.
            let hint = ".wpwl-hint-expiryMonthError, .wpwl-hint-expiryYearError";
            let hint = browser.query(By::Css(hint)).and_displayed().first().await?.text().await?;
            assert!(!hint.is_empty(), "{wrong}");
            until_focused(&browser, "input.wpwl-control-expiry").await.with_context(|| wrong)?;
            let field = form.find("input.wpwl-control-expiry").await?;
            assert_eq!(field.attr("aria-invalid").await?.as_deref(), Some("true"), "{wrong}");
            let described = field.attr("aria-describedby").await?.unwrap_or_default();
            let text = format!(
                "{described:?}.split(' ').map(id => (document.getElementById(id) || {{}}).textContent || '').join(' ')"
            );
            let text = browser.value(&text).await?;
            assert!(text.as_str().unwrap_or_default().contains(&hint), "{wrong}: described by {text}");
            form.expiry("05 / 34").await?;
            form.no_hint("expiryMonthError").await?;
            form.no_hint("expiryYearError").await?;
        }
        assert_eq!(stage.submits(), 0);
        assert_eq!(stage.code().await?, PENDING);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_code_must_have_the_length_of_its_brand() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.empty(CODE).await?;
        form.code("12").await?;
        form.pay().await?;
        assert!(!form.hint("cvvError").await?.is_empty());
        until_focused(&browser, CODE).await?;
        assert_eq!(stage.submits(), 0);

        form.code("3").await?;
        form.no_hint("cvvError").await?;
        // An American Express code has four digits, and its numbers begin with 3.
        form.brand("AMEX").await?;
        form.pay().await?;
        assert!(!form.hint("cardNumberError").await?.is_empty());
        assert_eq!(stage.submits(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_empty_form_is_pointed_at_from_its_first_field_on() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.pay().await?;
        form.hint("cardNumberError").await?;
        form.hint("cvvError").await?;
        until_focused(&browser, NUMBER).await?;
        let button = form.find(PAY).await?;
        assert!(button.class_name().await?.unwrap_or_default().contains("wpwl-button-error"));
        assert_eq!(stage.submits(), 0);

        // The button lives again as soon as something is put right.
        form.number("4200000000000000").await?;
        browser.until(&format!("!document.querySelector('{PAY}').disabled")).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn digits_are_grouped_and_the_caret_stays_where_it_was() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.number("4200000000000000").await?;
        assert_eq!(form.inner_value(NUMBER).await?, "4200 0000 0000 0000");

        // A digit typed in the middle stays in the middle, and so does the caret behind it.
        form.empty(NUMBER).await?;
        form.number("42000000000000").await?;
        form.find(NUMBER).await?.enter_frame().await?;
        let input = form.find("input").await?;
        browser.execute("arguments[0].setSelectionRange(3, 3)", vec![input.to_json()?]).await?;
        input.send_keys("17").await?;
        let value = input.prop("value").await?.unwrap_or_default();
        let caret = browser.execute("return arguments[0].selectionStart", vec![input.to_json()?]).await?;
        let before: String = value.chars().take(caret.convert::<usize>()?).filter(char::is_ascii_digit).collect();
        browser.enter_default_frame().await?;
        assert_eq!(value.replace(' ', ""), "4201700000000000");
        assert_eq!(before, "42017", "caret in {value}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn letters_are_kept_out_of_the_number_and_a_pasted_number_is_cleaned() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.number("4200-0000 abc 0000.0000").await?;
        assert_eq!(form.inner_value(NUMBER).await?, "4200 0000 0000 0000");
        form.code("12a3").await?;
        assert_eq!(form.inner_value(CODE).await?, "123");
        Ok(())
    })
    .await
}
