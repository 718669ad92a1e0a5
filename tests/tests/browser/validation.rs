//! Validation messages of the form before a submit.

use anyhow::Context;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME, PAY_BUTTON};
use tillgate_tests::{Browser, run_in_browser};

use crate::{CheckoutFixture, PENDING};

/// Waits until the element that matches `css` has the focus.
async fn wait_until_focused(browser: &Browser, css: &str) -> anyhow::Result<()> {
    browser.wait_until(&format!("document.activeElement === document.querySelector('{css}')")).await
}

#[tokio::test]
async fn a_wrong_number_is_pointed_at_and_nothing_is_sent() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000000001").await?;
        form.press_pay_button().await?;
        let hint = form.wait_for_hint("cardNumberError").await?;
        assert!(!hint.is_empty());
        wait_until_focused(&browser, NUMBER_FRAME).await?;
        browser
            .wait_until(&format!("document.querySelector('{NUMBER_FRAME}').classList.contains('wpwl-has-error')"))
            .await?;

        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        let input = form.find_element("input").await?;
        assert_eq!(input.attr("aria-invalid").await?.as_deref(), Some("true"), "told to screen readers");
        browser.wait_until("document.activeElement && document.activeElement.tagName === 'INPUT'").await?;
        browser.enter_default_frame().await?;

        assert_eq!(stage.submit_count(), 0, "nothing was sent");
        assert_eq!(stage.read_result_code().await?, PENDING);

        // After a correction the message disappears, and the payment succeeds.
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000000000").await?;
        form.wait_for_no_hint("cardNumberError").await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_date_that_is_over_or_none_is_pointed_at_and_nothing_is_sent() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        for wrong in ["01 / 20", "13 / 34", "00 / 34", "0", ""] {
            form.enter_expiry(wrong).await?;
            form.press_pay_button().await?;
            // Either of the two hints, depending on the date.
            let hint = ".wpwl-hint-expiryMonthError, .wpwl-hint-expiryYearError";
            let hint = browser.query(By::Css(hint)).and_displayed().first().await?.text().await?;
            assert!(!hint.is_empty(), "{wrong}");
            wait_until_focused(&browser, "input.wpwl-control-expiry").await.with_context(|| wrong)?;
            let field = form.find_element("input.wpwl-control-expiry").await?;
            assert_eq!(field.attr("aria-invalid").await?.as_deref(), Some("true"), "{wrong}");
            let described = field.attr("aria-describedby").await?.unwrap_or_default();
            let text = format!(
                "{described:?}.split(' ').map(id => (document.getElementById(id) || {{}}).textContent || '').join(' ')"
            );
            let text = browser.evaluate(&text).await?;
            assert!(text.as_str().unwrap_or_default().contains(&hint), "{wrong}: described by {text}");
            form.enter_expiry("05 / 34").await?;
            form.wait_for_no_hint("expiryMonthError").await?;
            form.wait_for_no_hint("expiryYearError").await?;
        }
        assert_eq!(stage.submit_count(), 0);
        assert_eq!(stage.read_result_code().await?, PENDING);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_code_must_have_the_length_of_its_brand() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { brandList: true };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.clear_frame_field(CODE_FRAME).await?;
        form.enter_security_code("12").await?;
        form.press_pay_button().await?;
        assert!(!form.wait_for_hint("cvvError").await?.is_empty());
        wait_until_focused(&browser, CODE_FRAME).await?;
        assert_eq!(stage.submit_count(), 0);

        form.enter_security_code("3").await?;
        form.wait_for_no_hint("cvvError").await?;
        // The number decides the brand, whatever is chosen: it begins like those of Visa.
        form.select_brand("AMEX").await?;
        browser.wait_until("document.querySelector('.wpwl-control-brand').value === 'VISA'").await?;
        // The code of an American Express card has four digits.
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("377777777777770").await?;
        browser.wait_until("document.querySelector('.wpwl-control-brand').value === 'AMEX'").await?;
        form.press_pay_button().await?;
        assert!(!form.wait_for_hint("cvvError").await?.is_empty());
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_empty_form_is_pointed_at_from_its_first_field_on() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cardNumberError").await?;
        form.wait_for_hint("cvvError").await?;
        wait_until_focused(&browser, NUMBER_FRAME).await?;
        let button = form.find_element(PAY_BUTTON).await?;
        assert!(button.class_name().await?.unwrap_or_default().contains("wpwl-button-error"));
        assert_eq!(stage.submit_count(), 0);

        // The button is enabled again after any correction.
        form.enter_number("4200000000000000").await?;
        browser.wait_until(&format!("!document.querySelector('{PAY_BUTTON}').disabled")).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn digits_are_grouped_and_the_caret_stays_where_it_was() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200000000000000").await?;
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000");

        // Digits typed in the middle stay there, and the caret stays behind them.
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("42000000000000").await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        let input = form.find_element("input").await?;
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
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("4200-0000 abc 0000.0000").await?;
        assert_eq!(form.frame_value(NUMBER_FRAME).await?, "4200 0000 0000 0000");
        form.enter_security_code("12a3").await?;
        assert_eq!(form.frame_value(CODE_FRAME).await?, "123");
        Ok(())
    })
    .await
}

/// A script of a page that holds back what frames report about their fields until `release()`: it has the listener
/// that comes first. Reports of a kind in `lost` never arrive.
const HOLD_REPORTS: &str = r#"
    const held = [], lost = window.lost || [];
    let holds = true;
    addEventListener('message', event => {
        const { type } = event.data || {};
        if (!event.isTrusted || !event.data.tillgate) return;
        if (lost.includes(type)) return event.stopImmediatePropagation();
        if (!holds || !['state', 'blur'].includes(type)) return;
        event.stopImmediatePropagation();
        held.push(event);
    });
    function release() {
        holds = false;
        for (const { data, origin, source } of held) dispatchEvent(new MessageEvent('message', { data, origin, source }));
    }
    function hold() { holds = true; }
    holds = false;
"#;

#[tokio::test]
async fn a_press_that_overtakes_the_reports_of_the_frames_pays() -> anyhow::Result<()> {
    for press in ["document.querySelector('.wpwl-button-pay').click()", "wpwl.executePayment('wpwl-container-card')"] {
        let stage = CheckoutFixture::new().await?;
        run_in_browser(move |browser| async move {
            browser.goto(stage.add_page(HOLD_REPORTS)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            browser.execute("hold()", vec![]).await?;
            form.fill_fields().await?;
            // The page learns of number and code after the press.
            browser.execute(format!("{press}; setTimeout(release)"), vec![]).await?;
            stage.wait_until_paid(&browser).await?;
            assert_eq!(stage.submit_count(), 1, "{press}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_code_that_is_missing_is_pointed_at_even_if_its_frame_does_not_answer() -> anyhow::Result<()> {
    for lost in ["window.lost = [];", "window.lost = ['told'];"] {
        let stage = CheckoutFixture::new().await?;
        run_in_browser(move |browser| async move {
            browser.goto(stage.add_page(&[lost, HOLD_REPORTS].concat())).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            form.clear_frame_field(CODE_FRAME).await?;
            // Two presses are one.
            browser
                .execute(
                    "for (let press = 0; press < 2; press++) document.querySelector('.wpwl-button-pay').click()",
                    vec![],
                )
                .await?;
            assert!(!form.wait_for_hint("cvvError").await?.is_empty(), "{lost}");
            wait_until_focused(&browser, CODE_FRAME).await?;
            form.enter_security_code("123").await?;
            form.wait_for_no_hint("cvvError").await?;
            form.press_pay_button().await?;
            stage.wait_until_paid(&browser).await?;
            assert_eq!(stage.submit_count(), 1, "{lost}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
