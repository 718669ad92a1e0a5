//! Every field of the card in a frame of ours (`enableSAQACompliance`): holder and expiry date are nowhere in the merchant's
//! page, and all else is as it is without.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_shared::format::expiry::{Expiry, format_typed};
use tillgate_tests::card_form::{CardForm, NUMBER};
use tillgate_tests::{Browser, Page, browse};

use crate::{APPROVED, Stage};

const HOLDER: &str = "iframe.wpwl-control-cardHolder[name='card.holder']";
const EXPIRY: &str = "iframe.wpwl-control-expiry[name='card.expiry']";

/// Types into a frame, in place of what is there.
async fn enter(browser: &Browser, frame: &str, text: &str) -> anyhow::Result<()> {
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

async fn inside(browser: &Browser, frame: &str, expression: &str) -> anyhow::Result<Value> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let value = browser.value(expression).await;
    browser.enter_default_frame().await?;
    value
}

async fn until_inside(browser: &Browser, frame: &str, condition: &str) -> anyhow::Result<()> {
    browser.query(By::Css(frame)).first().await?.enter_frame().await?;
    let held = browser.until(condition).await;
    browser.enter_default_frame().await?;
    held
}

/// A page with the option and others, whose four frames have all been told what to look like.
async fn open<'a>(stage: &Stage, browser: &'a Browser, options: &str) -> anyhow::Result<CardForm<'a>> {
    let script = format!(
        "var wpwlOptions = {{ enableSAQACompliance: true, {options}
            onReadyIframeCommunication(frame) {{ witness.note('frame', frame.$iframe[0].name); }} }};"
    );
    browser.goto(stage.page(&script)).await?;
    let form = CardForm::ready(browser).await?;
    for frame in [HOLDER, EXPIRY] {
        until_inside(browser, frame, "tillgate.options.label").await?;
    }
    Ok(form)
}

#[tokio::test]
async fn a_card_is_paid_of_which_the_page_has_seen_nothing() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let options = "onBlurCardHolder(is) { witness.note('holder', is); }, onBlurExpiryDate(is) { witness.note('expiry', is); },
            onBeforeSubmitCard() { witness.note('asked', document.querySelector('.wpwl-control-cardHolder').value); },";
        let form = open(&stage, &browser, options).await?;
        browser.until("witness.all().filter(it => it.kind === 'frame').length === 4").await?;
        browser.picture("saqa").await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        let seen = "[...document.querySelectorAll('.wpwl-form input, .wpwl-form select')].filter(it => it.checkVisibility()).map(it => it.name).join()";
        assert_eq!(browser.value(seen).await?, "paymentBrand");

        form.number("4200000000000000").await?;
        form.code("123").await?;
        enter(&browser, EXPIRY, "1339").await?;
        enter(&browser, HOLDER, "Zo").await?;
        form.hint("expiryMonthError").await?;
        form.pay().await?;
        form.hint("cardHolderError").await?;
        // The first that is wrong has the caret, and says why to who listens.
        browser.until(&format!("document.activeElement === document.querySelector(\"{EXPIRY}\")")).await?;
        until_inside(&browser, EXPIRY, "document.activeElement === document.querySelector('input')").await?;
        for (frame, text) in [(EXPIRY, "month and year"), (HOLDER, "name on the card")] {
            browser.until(&format!("document.querySelector(\"{frame}\").classList.contains('wpwl-has-error')")).await?;
            let said = format!(
                "document.querySelector('input').getAttribute('aria-invalid') === 'true' && document.getElementById('error').textContent.includes('{text}')"
            );
            until_inside(&browser, frame, &said).await?;
        }
        browser.picture("saqa-error").await?;
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        enter(&browser, EXPIRY, "0120").await?;
        form.hint("expiryYearError").await?;

        enter(&browser, HOLDER, "Zora Quux").await?;
        enter(&browser, EXPIRY, "1139").await?;
        assert_eq!(inside(&browser, EXPIRY, "document.querySelector('input').value").await?, "11 / 39");
        form.no_hint("expiryYearError").await?;
        form.no_hint("cardHolderError").await?;
        browser.until("!document.querySelector('.wpwl-has-error, .wpwl-button-pay:disabled')").await?;
        let page = browser.value("witness.dom() + JSON.stringify([...document.querySelectorAll('input')].map(it => it.value))").await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(browser.seen_of("asked").await?, ["***"]);
        assert!(browser.seen_of("holder").await?.contains(&"true".to_owned()));
        assert!(browser.seen_of("expiry").await?.contains(&"false".to_owned()));
        let mut heard = browser.seen_of("message").await?;
        heard.extend(browser.seen_of("posted").await?);
        assert!(heard.iter().any(|it| it.contains("card.holder")), "the page hears the frames: {heard:?}");
        heard.push(page.as_str().unwrap_or_default().to_owned());
        heard.extend(stage.site.heard());
        for text in heard {
            let mut words = text.split(|it: char| !it.is_alphanumeric());
            assert!(!words.any(|word| ["Zora", "Quux", "2039"].contains(&word)), "{text}");
            assert!(!text.contains("11 / 39"), "{text}");
        }
        let status = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!(status.code(), APPROVED);
        let card = &status.json["card"];
        assert_eq!([&card["holder"], &card["expiryMonth"], &card["expiryYear"]], ["Zora Quux", "11", "2039"]);
        assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn dates_are_read_in_the_frame_as_everywhere_else() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        open(&stage, &browser, "").await?;
        browser.query(By::Css(EXPIRY)).first().await?.enter_frame().await?;
        let year = browser.value("new Date().getFullYear()").await?.as_u64().unwrap_or_default() as u16;
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
                "const [text] = arguments; const { input, fill, post } = tillgate; input.value = ''; fill(text);
                const body = new URLSearchParams(); post(body);
                const shown = input.value; input.value = ''; input.value = text;
                const bare = new URLSearchParams(); post(bare);
                return [shown, bare.get('card.expiryMonth'), bare.get('card.expiryYear')]";
            let seen = browser.execute(script, vec![json!(text)]).await?.json().clone();
            let date = Expiry::parse_text(text, year);
            let (month, full) =
                date.map_or(("00".to_owned(), String::new()), |date| (date.month_text(), date.year_text()));
            assert_eq!(seen, json!([format_typed(text), month, full]), "{text:?}");
        }
        browser.enter_default_frame().await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_browser_fills_in_goes_from_frame_to_frame() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let form = open(&stage, &browser, "").await?;
        form.find(NUMBER).await?.enter_frame().await?;
        browser.until("document.querySelectorAll('.helper').length === 3").await?;
        let fill = "for (const [token, value] of [['name', 'Zora Quux'], ['exp', '2039-11'], ['csc', '123']]) {
            const helper = document.querySelector(`.helper[autocomplete=cc-${token}]`);
            helper.value = value; helper.dispatchEvent(new Event('input')); }";
        browser.execute(fill, vec![]).await?;
        browser.enter_default_frame().await?;
        until_inside(&browser, HOLDER, "document.querySelector('input').value === 'Zora Quux'").await?;
        until_inside(&browser, EXPIRY, "document.querySelector('input').value === '11 / 2039'").await?;
        form.number("4200000000000000").await?;
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert!(!browser.seen_of("message").await?.iter().any(|it| it.contains("Zora") || it.contains("autofill")));
        assert_eq!(stage.code().await?, APPROVED);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_frames_look_as_the_others_do_in_arabic_on_a_phone_and_on_a_dark_page() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let look = "(it => [it.color, it.fontSize, it.fontFamily, getComputedStyle(document.querySelector('input'), '::placeholder').color].join(' | '))(getComputedStyle(document.querySelector('input')))";
        for style in ["card", "plain", "none"] {
            let page = Page::of(&stage.checkout)
                .style("body { background: #111; color: #eee; font: 17px serif; }")
                .script(&format!("var wpwlOptions = {{ enableSAQACompliance: true, style: '{style}', autofocus: 'card.holder' }};"));
            browser.goto(stage.site.add(page)).await?;
            CardForm::ready(&browser).await?;
            until_inside(&browser, HOLDER, "document.activeElement === document.querySelector('input')").await?;
            let number = inside(&browser, NUMBER, look).await?;
            for frame in [HOLDER, EXPIRY] {
                let same = format!("{look} === {number}");
                until_inside(&browser, frame, &same).await?;
            }
        }
        browser.resize(320, 900).await?;
        open(&stage, &browser, "locale: 'ar',").await?;
        browser.picture("saqa-arabic").await?;
        assert_eq!(inside(&browser, HOLDER, "getComputedStyle(document.querySelector('input')).direction").await?, "rtl");
        let run = "(it => [it.direction, it.textAlign].join())(getComputedStyle(document.querySelector('input')))";
        assert_eq!(inside(&browser, EXPIRY, run).await?, "ltr,end");
        assert_eq!(browser.axe().await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_frame_that_was_moved_is_filled_in_again_and_nothing_made_up_is_ever_sent() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let form =
            open(&stage, &browser, "locale: 'de', onError(error) { witness.note('failed', error.name); },").await?;
        form.number("4200000000000000").await?;
        form.code("123").await?;
        enter(&browser, EXPIRY, "1139").await?;
        // Moved by the merchant it loads again, and is empty.
        browser
            .execute(
                "document.querySelector('.wpwl-form').append(document.querySelector('.wpwl-group-expiry'))",
                vec![],
            )
            .await?;
        until_inside(&browser, EXPIRY, "tillgate.options.label").await?;
        browser.until("!document.querySelector('input[name=\"card.expiry\"]').value").await?;
        form.pay().await?;
        assert!(form.hint("expiryMonthError").await?.contains("Monat"));
        enter(&browser, EXPIRY, "1139").await?;
        form.no_hint("expiryMonthError").await?;
        // Taken away, there is nothing to send.
        browser.execute(&format!("document.querySelector(\"{EXPIRY}\").remove()"), vec![]).await?;
        form.pay().await?;
        assert_eq!(browser.until_seen("failed").await?, "PciIframeCommunicationError");
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        assert_eq!(stage.submits(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_a_frame_pays_and_an_unloaded_page_keeps_nothing() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        open(&stage, &browser, "").await?;
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.value("document.querySelectorAll('iframe, [class*=wpwl]').length").await?, 0);
        let form = open(&stage, &browser, "").await?;
        form.number("4200000000000000").await?;
        form.code("123").await?;
        enter(&browser, EXPIRY, "1139").await?;
        enter(&browser, HOLDER, "\u{e007}").await?;
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        // No holder is no mistake, and none is made up.
        assert_eq!((status.code(), status.json["card"].get("holder").is_none()), (APPROVED, true), "{}", status.text);
        Ok(())
    })
    .await
}
