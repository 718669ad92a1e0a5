//! All fields of the card in frames of the gateway (`enableSAQACompliance`): holder and expiry date never reach the
//! merchant's page, and everything else works as without the option.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_shared::format::expiry::{Expiry, format_typed};
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

const HOLDER: &str = "iframe.wpwl-control-cardHolder[name='card.holder']";
const EXPIRY: &str = "iframe.wpwl-control-expiry[name='card.expiry']";

/// Replaces the text in a frame, and returns to the page.
async fn replace_frame_text(browser: &Browser, frame: &str, text: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let typed = async {
        let input = browser.query(By::Css("input")).first().await?;
        input.send_keys(Key::Control + "a" + Key::Backspace).await?;
        anyhow::Ok(input.send_keys(text).await?)
    };
    let typed = typed.await;
    browser.enter_default_frame().await?;
    typed
}

/// Returns the value of an expression inside a frame, and returns to the page.
async fn evaluate_in_frame(browser: &Browser, frame: &str, expression: &str) -> anyhow::Result<Value> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let value = browser.evaluate(expression).await;
    browser.enter_default_frame().await?;
    value
}

/// Waits until an expression is true inside a frame, and returns to the page.
async fn wait_until_in_frame(browser: &Browser, frame: &str, condition: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let result = browser.wait_until(condition).await;
    browser.enter_default_frame().await?;
    result
}

/// Opens a page with all card fields in frames and more options, and waits until its form and all four frames are
/// ready. Records the names of frames that are ready.
async fn open_secure_form<'a>(
    fixture: &CheckoutFixture,
    browser: &'a Browser,
    options: &str,
) -> anyhow::Result<CardForm<'a>> {
    let script = format!(
        "var wpwlOptions = {{ enableSAQACompliance: true, {options}
            onReadyIframeCommunication(frame) {{ witness.note('frame', frame.$iframe[0].name); }} }};"
    );
    browser.goto(fixture.add_page(&script)).await?;
    let form = CardForm::wait_until_ready(browser).await?;
    for frame in [HOLDER, EXPIRY] {
        wait_until_in_frame(browser, frame, "tillgate.isComplete()").await?;
    }
    Ok(form)
}

#[tokio::test]
async fn a_card_is_paid_of_which_the_page_has_seen_nothing() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let options = "onBlurCardHolder(is) { witness.note('holder', is); }, onBlurExpiryDate(is) { witness.note('expiry', is); },
            onBeforeSubmitCard() { witness.note('asked', document.querySelector('.wpwl-control-cardHolder').tagName); },";
        let form = open_secure_form(&stage, &browser, options).await?;
        browser.wait_until("witness.all().filter(it => it.kind === 'frame').length === 4").await?;
        browser.save_screenshot("saqa").await?;
        browser.sweep("all card fields in frames").await?;
        let seen = "[...document.querySelectorAll('.wpwl-form input, .wpwl-form select')].filter(it => it.checkVisibility()).map(it => it.name).join()";
        assert_eq!(browser.evaluate(seen).await?, "");

        form.enter_number("4200000000000000").await?;
        form.enter_security_code("123").await?;
        replace_frame_text(&browser, EXPIRY, "1339").await?;
        replace_frame_text(&browser, HOLDER, "Zo").await?;
        form.wait_for_hint("expiryMonthError").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cardHolderError").await?;
        // The first invalid field has the focus, and its error is available to assistive technology.
        browser.wait_until(&format!("document.activeElement === document.querySelector(\"{EXPIRY}\")")).await?;
        wait_until_in_frame(&browser, EXPIRY, "document.activeElement === document.querySelector('input')").await?;
        for (frame, text) in [(EXPIRY, "month and year"), (HOLDER, "name on the card")] {
            browser.wait_until(&format!("document.querySelector(\"{frame}\").classList.contains('wpwl-has-error')")).await?;
            let said = format!(
                "document.querySelector('input').getAttribute('aria-invalid') === 'true' && document.getElementById('error').textContent.includes('{text}')"
            );
            wait_until_in_frame(&browser, frame, &said).await?;
        }
        browser.save_screenshot("saqa-error").await?;
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        replace_frame_text(&browser, EXPIRY, "0120").await?;
        form.wait_for_hint("expiryYearError").await?;

        replace_frame_text(&browser, HOLDER, "Zora Quux").await?;
        replace_frame_text(&browser, EXPIRY, "1139").await?;
        assert_eq!(evaluate_in_frame(&browser, EXPIRY, "document.querySelector('input').value").await?, "11 / 39");
        form.wait_for_no_hint("expiryYearError").await?;
        form.wait_for_no_hint("cardHolderError").await?;
        browser.wait_until("!document.querySelector('.wpwl-has-error, .wpwl-button-pay:disabled')").await?;
        let page = browser.evaluate("witness.dom() + JSON.stringify([...document.querySelectorAll('input')].map(it => it.value))").await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.observed_details("asked").await?, ["IFRAME"]);
        assert!(browser.observed_details("holder").await?.contains(&"true".to_owned()));
        assert!(browser.observed_details("expiry").await?.contains(&"false".to_owned()));
        let mut heard = browser.observed_details("message").await?;
        heard.extend(browser.observed_details("posted").await?);
        assert!(heard.iter().any(|it| it.contains("card.holder")), "the page hears the frames: {heard:?}");
        heard.push(page.as_str().unwrap_or_default().to_owned());
        heard.extend(stage.site.received_requests());
        for text in heard {
            let mut words = text.split(|it: char| !it.is_alphanumeric());
            assert!(!words.any(|word| ["Zora", "Quux", "2039"].contains(&word)), "{text}");
            assert!(!text.contains("11 / 39"), "{text}");
        }
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!(status.result_code(), APPROVED);
        let card = &status.json["card"];
        assert_eq!([&card["holder"], &card["expiryMonth"], &card["expiryYear"]], ["Zora Quux", "11", "2039"]);
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn dates_are_read_in_the_frame_as_everywhere_else() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        open_secure_form(&stage, &browser, "").await?;
        browser.query(By::Css(EXPIRY)).first().await?.enter_frame().await?;
        let year = browser.evaluate("new Date().getFullYear()").await?.as_u64().unwrap_or_default() as u16;
        for text in [
            "",
            "0",
            "1",
            "5",
            "9",
            "00",
            "10",
            "12",
            "13",
            "12/",
            "12 /",
            "1/",
            "129",
            "929",
            "1229",
            "2912",
            "1329",
            "12029",
            "122029",
            "202912",
            "2029-12",
            "29/12",
            "1/29",
            "12/2029",
            "12 / 2029",
            "12.29",
            "12\u{2013}29",
            "\u{661}\u{662}/\u{662}\u{669}",
            "12/29x",
            "x12/29",
            "12/292",
            "/12/29",
            "0/29",
            "13/30",
            "12/99",
            "12/1999",
            "30/30",
            "2030/1",
            "12 29 ",
            "1212",
            "3012",
            "20/30",
            "1/2",
            "12/20291",
            "2/",
            "0012",
            "123456789",
        ] {
            let script =
                "const [text] = arguments; const input = document.querySelector('input'); input.value = '';
                const { owner } = JSON.parse(document.getElementById('tillgate-config').textContent);
                const content = tillgate.openFor(owner);
                content.fill(text);
                const shown = input.value; input.value = ''; input.value = text;
                const body = new URLSearchParams();
                return content.addToBody(body).then(() => [shown, body.get('card.expiryMonth'), body.get('card.expiryYear')])";
            let seen = browser.execute(script, vec![json!(text)]).await?.json().clone();
            let date = Expiry::parse_text(text, year);
            let (month, full) =
                date.map_or(("00".to_owned(), String::new()), |date| (date.month_text(), date.year_text()));
            assert_eq!(seen, json!([format_typed(text).as_str(), month, full]), "{text:?}");
        }
        browser.enter_default_frame().await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_browser_fills_in_goes_from_frame_to_frame() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let form = open_secure_form(&stage, &browser, "").await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
        browser.wait_until("document.querySelectorAll('.helper').length === 3").await?;
        let fill = "for (const [token, value] of [['name', 'Zora Quux'], ['exp', '2039-11'], ['csc', '123']]) {
            const helper = document.querySelector(`.helper[autocomplete=cc-${token}]`);
            helper.value = value; helper.dispatchEvent(new Event('input')); }";
        browser.execute(fill, vec![]).await?;
        browser.enter_default_frame().await?;
        wait_until_in_frame(&browser, HOLDER, "document.querySelector('input').value === 'Zora Quux'").await?;
        wait_until_in_frame(&browser, EXPIRY, "document.querySelector('input').value === '11 / 2039'").await?;
        form.enter_number("4200000000000000").await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert!(
            !browser.observed_details("message").await?.iter().any(|it| it.contains("Zora") || it.contains("autofill"))
        );
        assert_eq!(stage.read_result_code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_frames_look_as_the_others_do_in_arabic_on_a_phone_and_on_a_dark_page() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let look = "(it => [it.color, it.fontSize, it.fontFamily, getComputedStyle(document.querySelector('input'), '::placeholder').color].join(' | '))(getComputedStyle(document.querySelector('input')))";
        for style in ["card", "plain", "none"] {
            let page = MerchantPage::for_checkout(&stage.checkout)
                .with_style("body { background: #111; color: #eee; font: 17px serif; }")
                .with_script(&format!("var wpwlOptions = {{ enableSAQACompliance: true, style: '{style}', autofocus: 'card.holder' }};"));
            browser.goto(stage.site.add_page(page)).await?;
            CardForm::wait_until_ready(&browser).await?;
            wait_until_in_frame(&browser, HOLDER, "document.activeElement === document.querySelector('input')").await?;
            let number = evaluate_in_frame(&browser, NUMBER_FRAME, look).await?;
            for frame in [HOLDER, EXPIRY] {
                let same = format!("{look} === {number}");
                wait_until_in_frame(&browser, frame, &same).await?;
            }
        }
        browser.resize_page(320, 900).await?;
        open_secure_form(&stage, &browser, "locale: 'ar',").await?;
        browser.save_screenshot("saqa-arabic").await?;
        assert_eq!(evaluate_in_frame(&browser, HOLDER, "getComputedStyle(document.querySelector('input')).direction").await?, "rtl");
        let run = "(it => [it.direction, it.textAlign].join())(getComputedStyle(document.querySelector('input')))";
        assert_eq!(evaluate_in_frame(&browser, EXPIRY, run).await?, "ltr,end");
        assert_eq!(browser.run_axe().await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_that_was_moved_is_filled_in_again_and_nothing_made_up_is_ever_sent() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let form =
            open_secure_form(&stage, &browser, "locale: 'de', onError(error) { witness.note('failed', error.name); },")
                .await?;
        form.enter_number("4200000000000000").await?;
        form.enter_security_code("123").await?;
        replace_frame_text(&browser, EXPIRY, "1139").await?;
        // If the merchant moves the frame, it loads again and is empty.
        browser
            .execute(
                "document.querySelector('.wpwl-form').append(document.querySelector('.wpwl-group-expiry'))",
                vec![],
            )
            .await?;
        wait_until_in_frame(&browser, EXPIRY, "tillgate.isComplete()").await?;
        wait_until_in_frame(&browser, EXPIRY, "!document.querySelector('input').value").await?;
        form.press_pay_button().await?;
        assert!(form.wait_for_hint("expiryMonthError").await?.contains("Monat"));
        replace_frame_text(&browser, EXPIRY, "1139").await?;
        form.wait_for_no_hint("expiryMonthError").await?;
        // If the frame is removed, the form cannot be submitted.
        browser.execute(&format!("document.querySelector(\"{EXPIRY}\").remove()"), vec![]).await?;
        form.press_pay_button().await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "PciIframeCommunicationError");
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_a_frame_pays_and_an_unloaded_page_keeps_nothing() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        open_secure_form(&stage, &browser, "").await?;
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('iframe, [class*=wpwl]').length").await?, 0);
        let form = open_secure_form(&stage, &browser, "").await?;
        form.enter_number("4200000000000000").await?;
        form.enter_security_code("123").await?;
        replace_frame_text(&browser, EXPIRY, "1139").await?;
        replace_frame_text(&browser, HOLDER, "\u{e007}").await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        // A missing holder is no error, and no holder is sent.
        assert_eq!(
            (status.result_code(), status.json["card"].get("holder").is_none()),
            (APPROVED, true),
            "{}",
            status.text
        );
        Ok(())
    })
    .await
}
