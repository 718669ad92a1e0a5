//! The frames: what they take over of the page, what goes in and out, and the way through them by keyboard.

use std::collections::HashSet;

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{Browser, browse};

use crate::Stage;

/// The value of an expression inside a frame, once it holds.
async fn until_inside(browser: &Browser, frame: &str, condition: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let held = browser.until(condition).await;
    browser.enter_default_frame().await?;
    held
}

async fn inside(browser: &Browser, frame: &str, expression: &str) -> anyhow::Result<Value> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let value = browser.value(expression).await;
    browser.enter_default_frame().await?;
    value
}

/// What the placeholder looks like.
const PLACEHOLDER: &str = "(it => [it.color, it.fontStyle, it.letterSpacing, it.backgroundImage, it.opacity].join(' | '))(getComputedStyle(document.querySelector('input'), '::placeholder'))";

#[tokio::test]
async fn merchants_style_the_placeholders_with_properties_that_can_do_no_harm() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for spelling in ["iframeStyles", "iframeStyle"] {
            let script = format!(
                "var wpwlOptions = {{ {spelling}: {{
                    'card-number-placeholder': {{ color: 'rgb(1, 2, 3)', fontStyle: 'italic', 'letter-spacing': '3px', opacity: 0.5,
                        'background-image': 'url(https://elsewhere.example/x.png)', background: 'red', position: 'fixed',
                        'font-family': 'x; background: url(y)', content: 'attr(value)' }},
                    'cvv-placeholder': {{ color: 'url(javascript:alert(1))', 'letter-spacing': 'expression(alert(1))',
                        '@import': 'url(x.css)', 'font-style': '}} * {{ display: none', nested: {{ a: function () {{}} }} }} }} }};"
            );
            browser.goto(stage.page(&script)).await?;
            CardForm::ready(&browser).await?;
            until_inside(&browser, NUMBER, &format!("{PLACEHOLDER} === 'rgb(1, 2, 3) | italic | 3px | none | 0.5'")).await?;
            until_inside(&browser, CODE, &format!("{PLACEHOLDER}.endsWith(' | normal | normal | none | 1')")).await?;
            let rules = inside(&browser, CODE, "getComputedStyle(document.querySelector('input')).display").await?;
            assert_eq!(rules, "block", "{spelling}");
        }
        assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_tab_key_goes_through_the_frames_in_both_directions_and_marks_where_it_is() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { autofocus: 'card.holder' };")).await?;
        CardForm::ready(&browser).await?;
        let at = async |name: &str| {
            let there = format!("document.activeElement.matches('.wpwl-control-{name}, .wpwl-button-{name}')");
            browser.until(&there).await?;
            // The class says so where `:focus` cannot: on the frames.
            let marked = "[...document.querySelectorAll('.wpwl-focus')].map(it => it.name).join()";
            let expected = match name {
                "cardNumber" => "card.number",
                "cvv" => "card.cvv",
                _ => "",
            };
            browser.until(&format!("{marked} === '{expected}'")).await
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
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for (wanted, css) in [("card.number", NUMBER), ("card.cvv", CODE), ("card.expiry", ".wpwl-control-expiry")] {
            browser.goto(stage.page(&format!("var wpwlOptions = {{ autofocus: '{wanted}' }};"))).await?;
            CardForm::ready(&browser).await?;
            browser.until(&format!("document.activeElement === document.querySelector('{css}')")).await?;
            if css.starts_with("iframe") {
                until_inside(&browser, css, "document.activeElement === document.querySelector('input')").await?;
            }
        }
        // What is no field does no harm.
        browser.goto(stage.page("var wpwlOptions = { autofocus: '\"]nothing' };")).await?;
        CardForm::ready(&browser).await?;
        assert_eq!(browser.seen_of("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_a_merchant_restyles_when_the_form_is_ready_reaches_the_frames() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = { onReady() { document.querySelectorAll('.wpwl-control').forEach(it => {
        it.style.color = 'rgb(1, 120, 3)'; it.style.fontSize = '21px'; it.style.fontFamily = 'monospace'; }); } };";
    browse(move |browser| async move {
        browser.goto(stage.page(script)).await?;
        CardForm::ready(&browser).await?;
        for frame in [NUMBER, CODE] {
            let look = "(it => [it.color, it.fontSize, it.fontFamily].join(' '))(getComputedStyle(document.querySelector('input')))";
            until_inside(&browser, frame, &format!("{look} === 'rgb(1, 120, 3) 21px monospace'")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_code_can_be_masked_and_keeps_its_keypad() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for (mask, look) in [("true", "disc"), ("false", "none")] {
            browser.goto(stage.page(&format!("var wpwlOptions = {{ maskCvv: {mask} }};"))).await?;
            CardForm::ready(&browser).await?;
            let kept = "(it => [getComputedStyle(it).webkitTextSecurity, it.type, it.inputMode, it.autocomplete].join())(document.querySelector('input'))";
            until_inside(&browser, CODE, &format!("{kept} === '{look},text,numeric,cc-csc'")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn where_the_code_stands_is_shown_to_pointers_and_carets_and_told_to_screen_readers() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { showCVVHint: true };")).await?;
        let form = CardForm::ready(&browser).await?;
        let shown = "(it => it.checkVisibility() && it.textContent)(document.querySelector('.wpwl-cvv-hint'))";
        assert_eq!(browser.value(shown).await?, false);
        // Hover.
        let field = form.find(CODE).await?;
        let label = form.find(".wpwl-label-cvv").await?;
        browser.action_chain().move_to_element_center(&label).move_to_element_center(&field).perform().await?;
        browser.until(&format!("/three digits on the back/.test({shown})")).await?;
        browser.picture("form-code-hint").await?;
        let away = form.find("h1").await?;
        browser.action_chain().move_to_element_center(&away).perform().await?;
        browser.until(&format!("{shown} === false")).await?;
        // The caret, which is what a finger brings too.
        form.code("").await?;
        field.click().await?;
        browser.until(&format!("/three digits on the back/.test({shown})")).await?;
        browser.action_chain().send_keys(Key::Escape.value().to_string()).perform().await?;
        browser.until(&format!("{shown} === false")).await?;
        // Each brand has its own.
        for (brand, text) in [("AMEX", "four digits on the front"), ("VISA", "three digits on the back")] {
            form.brand(brand).await?;
            browser.until(&format!("document.querySelector('.wpwl-cvv-hint').textContent.includes('{text}')")).await?;
            let described = "document.querySelector('input').getAttribute('aria-describedby').split(' ').map(id => document.getElementById(id).textContent).join('')";
            until_inside(&browser, CODE, &format!("{described}.includes('{text}')")).await?;
        }
        Ok(())
    })
    .await
}

/// The runs of letters and digits of `message`: what a name, a time or a number is made of.
fn words(message: &str) -> impl Iterator<Item = &str> {
    message.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty())
}

#[tokio::test]
async fn no_message_between_page_and_frames_carries_a_digit_of_number_or_code() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    const DIGITS: &str = "5454545454545454";
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { brandDetection: true, brandDetectionType: 'binlist', showCVVHint: true };")).await?;
        let form = CardForm::ready(&browser).await?;
        // At the frames' border: everything that a frame hears, and every port and channel.
        for frame in [NUMBER, CODE] {
            form.find(frame).await?.enter_frame().await?;
            let listen = "window.heard = []; addEventListener('message', it => heard.push(JSON.stringify(it.data)), true);
                for (const type of [MessagePort, BroadcastChannel]) { const post = type.prototype.postMessage;
                  type.prototype.postMessage = function (it, ...more) { heard.push(JSON.stringify(it)); return post.call(this, it, ...more); }; }";
            browser.execute(listen, vec![]).await?;
            browser.enter_default_frame().await?;
        }
        let mut known: HashSet<String> = HashSet::new();
        for message in browser.seen_of("message").await?.iter().chain(&browser.seen_of("posted").await?) {
            known.extend(words(message).map(str::to_owned));
        }
        // The request is lost, so that frames and page stay to be asked.
        browser.cdp().send_raw("Network.enable", json!({})).await?;
        form.number(DIGITS).await?;
        form.code("987").await?;
        form.empty(CODE).await?;
        form.code("98").await?;
        form.expiry("05 / 34").await?;
        form.pay().await?;
        form.hint("cvvError").await?;
        form.code("7").await?;
        form.find(NUMBER).await?.enter_frame().await?;
        browser.execute("window.fetch = () => Promise.reject(new Error('lost'))", vec![]).await?;
        browser.enter_default_frame().await?;
        form.pay().await?;
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_eq!(stage.submits(), 0);

        let mut messages = browser.seen_of("message").await?;
        messages.extend(browser.seen_of("posted").await?);
        let from_frames = messages.len();
        assert!(from_frames > 20, "the page heard the frames: {from_frames}");
        for frame in [NUMBER, CODE] {
            let heard = inside(&browser, frame, "heard").await?;
            let heard: Vec<String> = serde_json::from_value(heard)?;
            assert!(heard.iter().any(|it| it.contains("\"options\"")), "{frame} heard the page: {heard:?}");
            messages.extend(heard);
        }
        for message in messages {
            // Names and times that stood in messages before there was a card are not of the card, whatever digits they have.
            for word in words(&message).filter(|it| !known.contains(*it)) {
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
