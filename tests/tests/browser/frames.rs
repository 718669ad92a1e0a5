//! The frames: the styles that they take over from the page, their messages, and keyboard navigation through them.

use std::collections::HashSet;

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, run_in_browser};

use crate::CheckoutFixture;

/// Waits until an expression is true inside a frame, and returns to the page.
async fn wait_until_in_frame(browser: &Browser, frame: &str, condition: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let result = browser.wait_until(condition).await;
    browser.enter_default_frame().await?;
    result
}

/// Returns the value of an expression inside a frame, and returns to the page.
async fn evaluate_in_frame(browser: &Browser, frame: &str, expression: &str) -> anyhow::Result<Value> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let value = browser.evaluate(expression).await;
    browser.enter_default_frame().await?;
    value
}

/// Expression for the style of the placeholder.
const PLACEHOLDER: &str = "(it => [it.color, it.fontStyle, it.letterSpacing, it.backgroundImage, it.opacity].join(' | '))(getComputedStyle(document.querySelector('input'), '::placeholder'))";

#[tokio::test]
async fn merchants_style_the_placeholders_with_properties_that_can_do_no_harm() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for spelling in ["iframeStyles", "iframeStyle"] {
            let script = format!(
                "var wpwlOptions = {{ {spelling}: {{
                    'card-number-placeholder': {{ color: 'rgb(1, 2, 3)', fontStyle: 'italic', 'letter-spacing': '3px', opacity: 0.5,
                        'background-image': 'url(https://elsewhere.example/x.png)', background: 'red', position: 'fixed',
                        'font-family': 'x; background: url(y)', content: 'attr(value)' }},
                    'cvv-placeholder': {{ color: 'url(javascript:alert(1))', 'letter-spacing': 'expression(alert(1))',
                        '@import': 'url(x.css)', 'font-style': '}} * {{ display: none', nested: {{ a: function () {{}} }} }} }} }};"
            );
            browser.goto(stage.add_page(&script)).await?;
            CardForm::wait_until_ready(&browser).await?;
            wait_until_in_frame(&browser, NUMBER_FRAME, &format!("{PLACEHOLDER} === 'rgb(1, 2, 3) | italic | 3px | none | 0.5'")).await?;
            wait_until_in_frame(&browser, CODE_FRAME, &format!("{PLACEHOLDER}.endsWith(' | normal | normal | none | 1')")).await?;
            let rules = evaluate_in_frame(&browser, CODE_FRAME, "getComputedStyle(document.querySelector('input')).display").await?;
            assert_eq!(rules, "block", "{spelling}");
        }
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_tab_key_goes_through_the_frames_in_both_directions_and_marks_where_it_is() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { autofocus: 'card.holder' };")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let at = async |name: &str| {
            let there = format!("document.activeElement.matches('.wpwl-control-{name}, .wpwl-button-{name}')");
            browser.wait_until(&there).await?;
            // The class marks a focused frame, for which `:focus` does not match.
            let marked = "[...document.querySelectorAll('.wpwl-focus')].map(it => it.name).join()";
            let expected = match name {
                "cardNumber" => "card.number",
                "cvv" => "card.cvv",
                _ => "",
            };
            browser.wait_until(&format!("{marked} === '{expected}'")).await
        };
        at("cardHolder").await?;
        let order = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "pay"];
        for name in ["cvv", "pay"] {
            browser.action_chain().send_keys(Key::Tab.value().to_string()).perform().await?;
            at(name).await?;
        }
        for name in order.iter().rev().skip(1) {
            browser
                .action_chain()
                .key_down(Key::Shift)
                .send_keys(Key::Tab.value().to_string())
                .key_up(Key::Shift)
                .perform()
                .await?;
            at(name).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_caret_waits_where_the_merchant_wants_it() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (wanted, css) in
            [("card.number", NUMBER_FRAME), ("card.cvv", CODE_FRAME), ("card.expiry", ".wpwl-control-expiry")]
        {
            browser.goto(stage.add_page(&format!("var wpwlOptions = {{ autofocus: '{wanted}' }};"))).await?;
            CardForm::wait_until_ready(&browser).await?;
            browser.wait_until(&format!("document.activeElement === document.querySelector('{css}')")).await?;
            if css.starts_with("iframe") {
                wait_until_in_frame(&browser, css, "document.activeElement === document.querySelector('input')")
                    .await?;
            }
        }
        // The name of an unknown field is ignored.
        browser.goto(stage.add_page("var wpwlOptions = { autofocus: '\"]nothing' };")).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_a_merchant_restyles_when_the_form_is_ready_reaches_the_frames() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { onReady() { document.querySelectorAll('.wpwl-control').forEach(it => {
        it.style.color = 'rgb(1, 120, 3)'; it.style.fontSize = '21px'; it.style.fontFamily = 'monospace'; }); } };";
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(script)).await?;
        CardForm::wait_until_ready(&browser).await?;
        for frame in [NUMBER_FRAME, CODE_FRAME] {
            let look = "(it => [it.color, it.fontSize, it.fontFamily].join(' '))(getComputedStyle(document.querySelector('input')))";
            wait_until_in_frame(&browser, frame, &format!("{look} === 'rgb(1, 120, 3) 21px monospace'")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_code_can_be_masked_and_keeps_its_keypad() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (mask, look) in [("true", "disc"), ("false", "none")] {
            browser.goto(stage.add_page(&format!("var wpwlOptions = {{ maskCvv: {mask} }};"))).await?;
            CardForm::wait_until_ready(&browser).await?;
            let kept = "(it => [getComputedStyle(it).webkitTextSecurity, it.type, it.inputMode, it.autocomplete].join())(document.querySelector('input'))";
            wait_until_in_frame(&browser, CODE_FRAME, &format!("{kept} === '{look},text,numeric,cc-csc'")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn where_the_code_stands_is_shown_under_its_field_and_told_to_screen_readers() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { brandList: true, showCVVHint: true };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let shown = "(it => it.checkVisibility() && it.textContent)(document.querySelector('.wpwl-cvv-hint'))";
        browser.wait_until(&format!("/three digits on the back/.test({shown})")).await?;
        browser.save_screenshot("form-code-hint").await?;
        // Each brand has its own hint.
        for (brand, text) in [("AMEX", "four digits on the front"), ("VISA", "three digits on the back")] {
            form.select_brand(brand).await?;
            browser.wait_until(&format!("document.querySelector('.wpwl-cvv-hint').textContent.includes('{text}')")).await?;
            let described = "document.querySelector('input').getAttribute('aria-describedby').split(' ').map(id => document.getElementById(id).textContent).join('')";
            wait_until_in_frame(&browser, CODE_FRAME, &format!("{described}.includes('{text}')")).await?;
        }
        Ok(())
    })
    .await
}

/// Returns the runs of letters and digits in `message`: parts of names, times and numbers.
fn split_words(message: &str) -> impl Iterator<Item = &str> {
    message.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

#[tokio::test]
async fn no_message_between_page_and_frames_carries_a_digit_of_number_or_code() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    const DIGITS: &str = "5454545454545454";
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { brandDetection: true, brandDetectionType: 'binlist', showCVVHint: true };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        // Records all messages that a frame receives, and all messages on ports and channels.
        for frame in [NUMBER_FRAME, CODE_FRAME] {
            form.find_element(frame).await?.enter_frame().await?;
            let listen = "window.heard = []; addEventListener('message', it => heard.push(JSON.stringify(it.data)), true);
                for (const type of [MessagePort, BroadcastChannel]) { const post = type.prototype.postMessage;
                  type.prototype.postMessage = function (it, ...more) { heard.push(JSON.stringify(it)); return post.call(this, it, ...more); }; }";
            browser.execute(listen, vec![]).await?;
            browser.enter_default_frame().await?;
        }
        let mut known: HashSet<String> = HashSet::new();
        for message in browser.observed_details("message").await?.iter().chain(&browser.observed_details("posted").await?) {
            known.extend(split_words(message).map(str::to_owned));
        }
        // The payment request fails, so that frames and page stay open for inspection.
        browser.cdp().send_raw("Network.enable", json!({})).await?;
        form.enter_number(DIGITS).await?;
        form.enter_security_code("987").await?;
        form.clear_frame_field(CODE_FRAME).await?;
        form.enter_security_code("98").await?;
        form.enter_expiry("05 / 34").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cvvError").await?;
        form.enter_security_code("7").await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser.execute("window.fetch = () => Promise.reject(new Error('lost'))", vec![]).await?;
        browser.enter_default_frame().await?;
        form.press_pay_button().await?;
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_eq!(stage.submit_count(), 0);

        let mut messages = browser.observed_details("message").await?;
        messages.extend(browser.observed_details("posted").await?);
        let from_frames = messages.len();
        assert!(from_frames > 20, "the page heard the frames: {from_frames}");
        for frame in [NUMBER_FRAME, CODE_FRAME] {
            let heard = evaluate_in_frame(&browser, frame, "heard").await?;
            let heard: Vec<String> = serde_json::from_value(heard)?;
            assert!(heard.iter().any(|it| it.contains("\"options\"")), "{frame} heard the page: {heard:?}");
            messages.extend(heard);
        }
        for message in messages {
            // Words of messages before the card was typed are not from the card, whatever digits they contain.
            for word in split_words(&message).filter(|it| !known.contains(*it)) {
                for run in word.split(|it: char| !it.is_ascii_digit()).filter(|run| run.len() > 1) {
                    let within = DIGITS.contains(run) || "987".contains(run);
                    assert!(!within, "{run} of number or code is in {message}");
                }
            }
        }
        Ok(())
    })
    .await
}
