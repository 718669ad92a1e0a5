//! What shoppers curse elsewhere, and not here. Each has its test.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER, PAY};
use tillgate_tests::{Browser, browse};

use crate::{APPROVED, Stage};

/// Puts text into a field as a browser that fills it in does: all at once, without a key.
pub const FILL_IN: &str = "const [css, text] = arguments; const it = document.querySelector(css); it.value = text;
    it.dispatchEvent(new Event('input', { bubbles: true })); it.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test]
async fn expiry_dates_are_understood_however_browsers_and_people_write_them() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let written = [
            ("2034-01", "01"),
            ("34/01", "01"),
            ("1/34", "01"),
            ("01/2034", "01"),
            ("0134", "01"),
            ("12-34", "12"),
            ("01 / 34", "01"),
        ];
        for (text, month) in written {
            browser.execute(FILL_IN, vec![json!(".wpwl-control-expiry"), json!("")]).await?;
            browser.execute(FILL_IN, vec![json!(".wpwl-control-expiry"), json!(text)]).await?;
            form.pay().await?;
            form.hint("cardNumberError").await?;
            form.no_hint("expiryMonthError").await?;
            form.no_hint("expiryYearError").await?;
            let shown = browser.value("document.querySelector('.wpwl-control-expiry').value").await?;
            let shown = shown.as_str().unwrap_or_default().to_owned();
            assert!(shown.starts_with(month) && shown.ends_with("34"), "{text} is shown as {shown}");
            // The button lives again for the next one.
            browser.execute(FILL_IN, vec![json!(".wpwl-control-cardHolder"), json!("Jane Jones")]).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_caret_stays_where_a_date_or_a_number_is_corrected() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let press = async |keys: &[Key]| {
            let keys: String = keys.iter().map(Key::value).collect();
            browser.action_chain().send_keys(keys).perform().await
        };
        let type_in = async |text: &str| browser.action_chain().send_keys(text).perform().await;
        let state = "(it => it.value + '|' + it.selectionStart)(document.querySelector(arguments[0]))";
        let state = async |css: &str| {
            let state = browser.execute(format!("return {state}"), vec![json!(css)]).await?;
            anyhow::Ok(state.json().as_str().unwrap_or_default().to_owned())
        };
        let expiry = ".wpwl-control-expiry";
        form.expiry("0534").await?;
        assert_eq!(state(expiry).await?, "05 / 34|7");
        press(&[Key::Home, Key::Right, Key::Delete]).await?;
        type_in("7").await?;
        assert_eq!(state(expiry).await?, "07 / 34|2");
        press(&[Key::Left, Key::Backspace]).await?;
        type_in("1").await?;
        assert_eq!(state(expiry).await?, "17 / 34|1");
        // The number's groups move the digits, and the caret with them.
        form.number("4200000000000000").await?;
        form.find(NUMBER).await?.enter_frame().await?;
        press(&[Key::Home, Key::Right, Key::Right]).await?;
        type_in("123").await?;
        assert_eq!(state("input").await?, "4212 3000 0000 0000 000|6");
        press(&[Key::Backspace, Key::Backspace, Key::Backspace]).await?;
        assert_eq!(state("input").await?, "4200 0000 0000 0000|2");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn fields_are_not_translated_have_the_keypad_of_their_kind_and_no_name_says_frame() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let facts = "[...document.querySelectorAll('input:not([type=hidden]):not(.helper)')].map(it => [it.name, it.translate, it.type, it.inputMode].join(' ')).join()";
        assert_eq!(browser.value(facts).await?, "card.expiry false tel ,card.holder false text ");
        for (frame, expected) in [(NUMBER, "card.number false text numeric"), (CODE, "card.cvv false text numeric")] {
            let title = form.find(frame).await?.attr("title").await?.unwrap_or_default();
            assert!(!title.to_lowercase().contains("frame") && !title.is_empty(), "{title}");
            form.find(frame).await?.enter_frame().await?;
            let said = browser.value(facts).await?;
            let spoken = browser.value("document.title + document.body.textContent + document.querySelector('input').ariaLabel").await?;
            browser.enter_default_frame().await?;
            assert_eq!(said, expected);
            assert!(!spoken.as_str().unwrap_or_default().to_lowercase().contains("iframe"));
        }
        Ok(())
    })
    .await
}

/// What the live region says.
const SAID: &str = "document.querySelector('.wpwl-live').textContent.trim()";

#[tokio::test]
async fn one_lasting_live_region_tells_what_is_wrong_when_a_field_is_left_and_when_all_is_sent() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        // Born before its text, and alone.
        assert_eq!(
            browser
                .value("document.querySelectorAll('.wpwl-container [role=status], .wpwl-container [aria-live]').length")
                .await?,
            1
        );
        browser.execute("window.region = document.querySelector('.wpwl-live')", vec![]).await?;
        assert_eq!(browser.value(SAID).await?, "");
        // Typing is not commented on; leaving is.
        form.number("42").await?;
        assert_eq!(browser.value(SAID).await?, "");
        form.find(".wpwl-control-cardHolder").await?.click().await?;
        browser.until(&format!("{SAID} === 'Please check the card number.'")).await?;
        // Put right, it is silent again.
        form.empty(NUMBER).await?;
        form.number("4200000000000000").await?;
        browser.until(&format!("{SAID} === ''")).await?;
        // Sending says everything at once.
        form.pay().await?;
        browser.until(&format!("{SAID} === 'Please enter month and year. Please check the code.'")).await?;
        form.expiry("05 / 34").await?;
        form.code("123").await?;
        browser.until(&format!("{SAID} === ''")).await?;
        assert_eq!(
            browser.value("window.region === document.querySelector('.wpwl-live') && region.isConnected").await?,
            true
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_the_list_of_brands_chooses_and_sends_nothing() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = { onBeforeSubmitCard() { witness.note('asked', 1); } };";
    browse(move |browser| async move {
        browser.goto(stage.page(script)).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        let enter = Key::Enter.value().to_string();
        browser.execute("document.querySelector('.wpwl-control-brand').focus()", vec![]).await?;
        browser.action_chain().send_keys(enter.as_str()).perform().await?;
        browser.execute("wpwlOptions.disableSubmitOnEnter = true", vec![]).await?;
        let holder = form.find(".wpwl-control-cardHolder").await?;
        holder.send_keys(enter.as_str()).await?;
        form.code(&enter).await?;
        assert_eq!(browser.seen_of("asked").await?, Vec::<String>::new());
        // The same key, where it may.
        browser.execute("wpwlOptions.disableSubmitOnEnter = false", vec![]).await?;
        holder.send_keys(enter.as_str()).await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!((stage.submits(), stage.code().await?.as_str()), (1, APPROVED));
        assert_eq!(browser.seen_of("asked").await?.len(), 1, "what a frame says may come late");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn after_a_refusal_the_button_lives_and_pays() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        // A field of the merchant's that the gateway refuses.
        let field = "const it = document.createElement('input'); it.name = 'billing.country'; it.value = 'Atlantis';
            document.querySelector('.wpwl-group-submit').before(it)";
        browser.execute(field, vec![]).await?;
        form.pay().await?;
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        browser
            .until(&format!(
                "!document.querySelector('{PAY}').disabled && !document.querySelector('.wpwl-button-busy')"
            ))
            .await?;
        browser.execute("document.querySelector('[name=\"billing.country\"]').value = 'DE'", vec![]).await?;
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_of_two_brands_leaves_the_choice_to_the_shopper() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = { brandDetection: true };";
    browse(move |browser| async move {
        let page = tillgate_tests::Page::of(&stage.checkout).script(script).brands("VISA CARTEBANCAIRE MASTER");
        browser.goto(stage.site.add(page)).await?;
        let form = CardForm::ready(&browser).await?;
        browser.execute("document.querySelector('.wpwl-group-brand').hidden = true", vec![]).await?;
        form.number("42000").await?;
        assert_eq!(browser.value("document.querySelectorAll('.wpwl-brand-option').length").await?, 0, "too early to tell");
        form.number("00000000000").await?;
        let options = "[...document.querySelectorAll('.wpwl-brand-option')].map(it => it.firstChild.value + ' ' + it.firstChild.checked).sort().join()";
        browser.until(&format!("{options} === 'CARTEBANCAIRE false,VISA true'")).await?;
        browser.picture("form-two-brands").await?;
        form.find(".wpwl-brand-option:has([value=CARTEBANCAIRE])").await?.click().await?;
        browser.until(&format!("{options} === 'CARTEBANCAIRE true,VISA false'")).await?;
        form.expiry("05 / 34").await?;
        form.code("123").await?;
        browser.until(&format!("{options} === 'CARTEBANCAIRE true,VISA false'")).await?;
        form.pay().await?;
        let status = stage.paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("CARTEBANCAIRE"));
        Ok(())
    })
    .await
}

/// Emulates what a shopper has set in the system.
async fn prefer(browser: &Browser, name: &str, value: &str) -> anyhow::Result<()> {
    let features = json!({ "features": [{ "name": name, "value": value }] });
    browser.cdp().send_raw("Emulation.setEmulatedMedia", features).await?;
    Ok(())
}

#[tokio::test]
async fn who_wants_little_motion_gets_none_and_high_contrast_keeps_every_border() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let moving = "[...document.querySelectorAll('.wpwl-container *')].filter(it => { const style = getComputedStyle(it);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0; }).map(it => it.className).join()";
        assert_ne!(browser.value(moving).await?, "", "there is something to be stilled");
        prefer(&browser, "prefers-reduced-motion", "reduce").await?;
        assert_eq!(browser.value(moving).await?, "");
        prefer(&browser, "forced-colors", "active").await?;
        form.pay().await?;
        form.hint("cvvError").await?;
        let bare = "[...document.querySelectorAll('.wpwl-control, .wpwl-button')].filter(it => getComputedStyle(it).borderTopWidth === '0px').map(it => it.className).join()";
        assert_eq!(browser.value(bare).await?, "");
        let width = "parseFloat(getComputedStyle(document.querySelector('.wpwl-control.wpwl-has-error')).borderTopWidth)";
        assert_eq!(browser.value(width).await?, 3, "an error is more than a colour");
        form.number("4200").await?;
        browser.picture("form-high-contrast").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_turns_dark_by_itself_takes_the_form_and_its_frames_along() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        prefer(&browser, "prefers-color-scheme", "light").await?;
        // The page has no colours of its own: the browser's, for light and dark.
        browser.goto(stage.page("document.documentElement.style.colorScheme = 'light dark';")).await?;
        CardForm::ready(&browser).await?;
        let dark = "document.querySelector('.wpwl-container').matches('.wpwl-dark')";
        // How light the text is, from 0 to 255.
        let light = "parseInt(getComputedStyle(document.querySelector('input')).color.match(/\\d+/)[0])";
        for (scheme, is_dark) in [("light", false), ("dark", true), ("light", false)] {
            prefer(&browser, "prefers-color-scheme", scheme).await?;
            browser.until(&format!("{dark} === {is_dark}")).await?;
            for frame in [NUMBER, CODE] {
                browser.find(By::Css(frame)).await?.enter_frame().await?;
                let seen = browser.until(&format!("({light} > 127) === {is_dark}")).await;
                browser.enter_default_frame().await?;
                seen?;
            }
        }
        Ok(())
    })
    .await
}

/// Touches the middle of what `css` finds, and lets go.
async fn touch(browser: &Browser, css: &str) -> anyhow::Result<()> {
    let middle = "(it => ({ x: it.x + it.width / 2, y: it.y + it.height / 2 }))(document.querySelector(arguments[0]).getBoundingClientRect())";
    let point = browser.execute(format!("return {middle}"), vec![json!(css)]).await?.json().clone();
    for (kind, points) in [("touchStart", json!([point])), ("touchEnd", json!([]))] {
        let event = json!({ "type": kind, "touchPoints": points });
        browser.cdp().send_raw("Input.dispatchTouchEvent", event).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_finger_on_the_codes_field_brings_the_hint_and_one_elsewhere_takes_it_away() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.resize(390, 840).await?;
        browser.cdp().send_raw("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await?;
        browser.goto(stage.page("var wpwlOptions = { showCVVHint: true };")).await?;
        CardForm::ready(&browser).await?;
        assert_eq!(browser.value("matchMedia('(hover: none)').matches").await?, true, "a phone");
        let shown = "document.querySelector('.wpwl-cvv-hint').checkVisibility()";
        assert_eq!(browser.value(shown).await?, false);
        touch(&browser, CODE).await?;
        browser.until(shown).await?;
        browser.until("document.activeElement.matches('iframe.wpwl-control-cvv')").await?;
        touch(&browser, ".wpwl-control-expiry").await?;
        browser.until(&format!("!{shown}")).await?;
        browser.until("document.activeElement.matches('.wpwl-control-expiry')").await
    })
    .await
}

#[tokio::test]
async fn large_text_and_narrow_windows_need_no_scrolling_sideways() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for (width, zoom, style) in [(320, "100%", "card"), (640, "200%", "card"), (320, "200%", "card"), (320, "200%", "plain")] {
            browser.resize(width, 900).await?;
            browser.goto(stage.page(&format!("var wpwlOptions = {{ style: '{style}', showCVVHint: true }};"))).await?;
            let form = CardForm::ready(&browser).await?;
            browser.execute("document.documentElement.style.fontSize = arguments[0]", vec![json!(zoom)]).await?;
            // In the frames too.
            let size = |css: &str| format!("getComputedStyle(document.querySelector('{css}')).fontSize");
            let wanted = browser.value(&size("iframe.wpwl-control-cardNumber")).await?;
            form.find(NUMBER).await?.enter_frame().await?;
            browser.until(&format!("{} === {wanted}", size("input"))).await?;
            browser.enter_default_frame().await?;
            form.pay().await?;
            form.hint("cvvError").await?;
            let wide = "[...document.querySelectorAll('.wpwl-container *')].filter(it => it.checkVisibility() && it.getBoundingClientRect().right > innerWidth + 0.5).map(it => it.className).join()";
            assert_eq!(browser.value(wide).await?, "", "{width} {zoom} {style}");
            assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth").await?, true, "{width} {zoom} {style}");
            browser.picture(&format!("form-large-{width}-{style}")).await?;
        }
        Ok(())
    })
    .await
}
