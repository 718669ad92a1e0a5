//! Common annoyances of payment forms, which this form avoids. Each has its test.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME, PAY_BUTTON};
use tillgate_tests::{Browser, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// Sets a field's value as a browser's autofill does: at once, without key events.
pub const FILL_IN: &str = "const [css, text] = arguments; const it = document.querySelector(css); it.value = text;
    it.dispatchEvent(new Event('input', { bubbles: true })); it.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test]
async fn expiry_dates_are_understood_however_browsers_and_people_write_them() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
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
            form.press_pay_button().await?;
            form.wait_for_hint("cardNumberError").await?;
            form.wait_for_no_hint("expiryMonthError").await?;
            form.wait_for_no_hint("expiryYearError").await?;
            let shown = browser.evaluate("document.querySelector('.wpwl-control-expiry').value").await?;
            let shown = shown.as_str().unwrap_or_default().to_owned();
            assert!(shown.starts_with(month) && shown.ends_with("34"), "{text} is shown as {shown}");
            // A change enables the button again for the next attempt.
            browser.execute(FILL_IN, vec![json!(".wpwl-control-cardHolder"), json!("Jane Jones")]).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_caret_stays_where_a_date_or_a_number_is_corrected() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
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
        form.enter_expiry("0534").await?;
        assert_eq!(state(expiry).await?, "05 / 34|7");
        press(&[Key::Home, Key::Right, Key::Delete]).await?;
        type_in("7").await?;
        assert_eq!(state(expiry).await?, "07 / 34|2");
        press(&[Key::Left, Key::Backspace]).await?;
        type_in("1").await?;
        assert_eq!(state(expiry).await?, "17 / 34|1");
        // Grouping moves the digits, and the caret with them.
        form.enter_number("4200000000000000").await?;
        form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
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
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let facts = "[...document.querySelectorAll('input:not([type=hidden]):not(.helper)')].map(it => [it.name, it.translate, it.type, it.inputMode].join(' ')).join()";
        assert_eq!(browser.evaluate(facts).await?, "card.expiry false tel ,card.holder false text ");
        for (frame, expected) in [(NUMBER_FRAME, "card.number false text numeric"), (CODE_FRAME, "card.cvv false text numeric")] {
            let title = form.find_element(frame).await?.attr("title").await?.unwrap_or_default();
            assert!(!title.to_lowercase().contains("frame") && !title.is_empty(), "{title}");
            form.find_element(frame).await?.enter_frame().await?;
            let said = browser.evaluate(facts).await?;
            let spoken = browser.evaluate("document.title + document.body.textContent + document.querySelector('input').ariaLabel").await?;
            browser.enter_default_frame().await?;
            assert_eq!(said, expected);
            assert!(!spoken.as_str().unwrap_or_default().to_lowercase().contains("iframe"));
        }
        Ok(())
    })
    .await
}

/// Expression for the text of the live region.
const SAID: &str = "document.querySelector('.wpwl-live').textContent.trim()";

#[tokio::test]
async fn one_lasting_live_region_tells_what_is_wrong_when_a_field_is_left_and_when_all_is_sent() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        // The region exists before its text, and there is only one.
        assert_eq!(
            browser
                .evaluate(
                    "document.querySelectorAll('.wpwl-container [role=status], .wpwl-container [aria-live]').length"
                )
                .await?,
            1
        );
        browser.execute("window.region = document.querySelector('.wpwl-live')", vec![]).await?;
        assert_eq!(browser.evaluate(SAID).await?, "");
        // Typing is not announced. Leaving the field is.
        form.enter_number("42").await?;
        assert_eq!(browser.evaluate(SAID).await?, "");
        form.find_element(".wpwl-control-cardHolder").await?.click().await?;
        browser.wait_until(&format!("{SAID} === 'Please check the card number.'")).await?;
        // A corrected field clears the text.
        form.clear_frame_field(NUMBER_FRAME).await?;
        form.enter_number("4200000000000000").await?;
        browser.wait_until(&format!("{SAID} === ''")).await?;
        // A submit announces all errors together.
        form.press_pay_button().await?;
        browser.wait_until(&format!("{SAID} === 'Please enter month and year. Please enter the code.'")).await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        browser.wait_until(&format!("{SAID} === ''")).await?;
        assert_eq!(
            browser.evaluate("window.region === document.querySelector('.wpwl-live') && region.isConnected").await?,
            true
        );
        Ok(())
    })
    .await
}

#[tokio::test]
async fn enter_in_the_list_of_brands_chooses_and_sends_nothing() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { brandList: true, onBeforeSubmitCard() { witness.note('asked', 1); } };";
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(script)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        let enter = Key::Enter.value().to_string();
        browser.execute("document.querySelector('.wpwl-control-brand').focus()", vec![]).await?;
        browser.action_chain().send_keys(enter.as_str()).perform().await?;
        browser.execute("wpwlOptions.disableSubmitOnEnter = true", vec![]).await?;
        let holder = form.find_element(".wpwl-control-cardHolder").await?;
        holder.send_keys(enter.as_str()).await?;
        form.enter_security_code(&enter).await?;
        // The frame tells the page, which looks at the option when it hears of it.
        form.wait_for_message_of_code("type: enter").await?;
        assert_eq!(browser.observed_details("asked").await?, Vec::<String>::new());
        // The same key submits if it is permitted.
        browser.execute("wpwlOptions.disableSubmitOnEnter = false", vec![]).await?;
        holder.send_keys(enter.as_str()).await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (1, APPROVED));
        assert_eq!(browser.observed_details("asked").await?.len(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn after_a_refusal_the_button_lives_and_pays() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        // An input of the merchant whose value the gateway refuses.
        let field = "const it = document.createElement('input'); it.name = 'billing.country'; it.value = 'Atlantis';
            document.querySelector('.wpwl-group-submit').before(it)";
        browser.execute(field, vec![]).await?;
        form.press_pay_button().await?;
        browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
        browser
            .wait_until(&format!(
                "!document.querySelector('{PAY_BUTTON}').disabled && !document.querySelector('.wpwl-button-busy')"
            ))
            .await?;
        browser.execute("document.querySelector('[name=\"billing.country\"]').value = 'DE'", vec![]).await?;
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_of_two_brands_leaves_the_choice_to_the_shopper() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { brandDetection: true };";
    run_in_browser(move |browser| async move {
        let page = tillgate_tests::MerchantPage::for_checkout(&stage.checkout).with_script(script).with_brands("VISA CARTEBANCAIRE MASTER");
        browser.goto(stage.site.add_page(page)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("42000").await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-brand-option').length").await?, 0, "too early to tell");
        form.enter_number("00000000000").await?;
        let options = "[...document.querySelectorAll('.wpwl-brand-option')].map(it => it.firstChild.value + ' ' + it.firstChild.checked).sort().join()";
        browser.wait_until(&format!("{options} === 'CARTEBANCAIRE false,VISA true'")).await?;
        browser.save_screenshot("form-two-brands").await?;
        form.find_element(".wpwl-brand-option:has([value=CARTEBANCAIRE])").await?.click().await?;
        browser.wait_until(&format!("{options} === 'CARTEBANCAIRE true,VISA false'")).await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        browser.wait_until(&format!("{options} === 'CARTEBANCAIRE true,VISA false'")).await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("CARTEBANCAIRE"));
        Ok(())
    })
    .await
}

/// Emulates a preference of the shopper's system, such as `prefers-reduced-motion`.
async fn emulate_media_feature(browser: &Browser, name: &str, value: &str) -> anyhow::Result<()> {
    let features = json!({ "features": [{ "name": name, "value": value }] });
    browser.cdp().send_raw("Emulation.setEmulatedMedia", features).await?;
    Ok(())
}

#[tokio::test]
async fn who_wants_little_motion_gets_none_and_high_contrast_keeps_every_border() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let moving = "[...document.querySelectorAll('.wpwl-container *')].filter(it => { const style = getComputedStyle(it);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0; }).map(it => it.className).join()";
        assert_ne!(browser.evaluate(moving).await?, "", "there is something to be stilled");
        emulate_media_feature(&browser, "prefers-reduced-motion", "reduce").await?;
        assert_eq!(browser.evaluate(moving).await?, "");
        emulate_media_feature(&browser, "forced-colors", "active").await?;
        form.press_pay_button().await?;
        form.wait_for_hint("cvvError").await?;
        let bare = "[...document.querySelectorAll('.wpwl-control, .wpwl-button')].filter(it => getComputedStyle(it).borderTopWidth === '0px').map(it => it.className).join()";
        assert_eq!(browser.evaluate(bare).await?, "");
        let width = "parseFloat(getComputedStyle(document.querySelector('.wpwl-control.wpwl-has-error')).borderTopWidth)";
        assert_eq!(browser.evaluate(width).await?, 3, "an error is more than a colour");
        form.enter_number("4200").await?;
        browser.save_screenshot("form-high-contrast").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_turns_dark_by_itself_takes_the_form_and_its_frames_along() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        emulate_media_feature(&browser, "prefers-color-scheme", "light").await?;
        // The page has no own colors; the browser's colors for light and dark apply.
        browser.goto(stage.add_page("document.documentElement.style.colorScheme = 'light dark';")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let dark = "document.querySelector('.wpwl-container').matches('.wpwl-dark')";
        // Expression for the brightness of the text, from 0 to 255.
        let light = "parseInt(getComputedStyle(document.querySelector('input')).color.match(/\\d+/)[0])";
        for (scheme, is_dark) in [("light", false), ("dark", true), ("light", false)] {
            emulate_media_feature(&browser, "prefers-color-scheme", scheme).await?;
            browser.wait_until(&format!("{dark} === {is_dark}")).await?;
            for frame in [NUMBER_FRAME, CODE_FRAME] {
                browser.find(By::Css(frame)).await?.enter_frame().await?;
                let seen = browser.wait_until(&format!("({light} > 127) === {is_dark}")).await;
                browser.enter_default_frame().await?;
                seen?;
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn large_text_and_narrow_windows_need_no_scrolling_sideways() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (width, zoom, style) in [(320, "100%", "card"), (640, "200%", "card"), (320, "200%", "card"), (320, "200%", "plain")] {
            browser.resize_page(width, 900).await?;
            browser.goto(stage.add_page(&format!("var wpwlOptions = {{ style: '{style}', showCVVHint: true }};"))).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            browser.execute("document.documentElement.style.fontSize = arguments[0]", vec![json!(zoom)]).await?;
            // The same font size applies in the frames.
            let size = |css: &str| format!("getComputedStyle(document.querySelector('{css}')).fontSize");
            let wanted = browser.evaluate(&size("iframe.wpwl-control-cardNumber")).await?;
            form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
            browser.wait_until(&format!("{} === {wanted}", size("input"))).await?;
            browser.enter_default_frame().await?;
            form.press_pay_button().await?;
            form.wait_for_hint("cvvError").await?;
            let wide = "[...document.querySelectorAll('.wpwl-container *')].filter(it => it.checkVisibility() && it.getBoundingClientRect().right > innerWidth + 0.5).map(it => it.className).join()";
            assert_eq!(browser.evaluate(wide).await?, "", "{width} {zoom} {style}");
            assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth").await?, true, "{width} {zoom} {style}");
            browser.save_screenshot(&format!("form-large-{width}-{style}")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_codes_hint_stands_under_its_field_and_covers_nothing() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.resize_page(590, 900).await?;
        browser.goto(stage.add_page("var wpwlOptions = { showCVVHint: true };")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let covered = "(() => {
            const box = css => document.querySelector(css).getBoundingClientRect();
            const hint = box('.wpwl-cvv-hint'), form = box('.wpwl-form');
            const isOver = ({ left, right, top, bottom }) => left < hint.right && hint.left < right && top < hint.bottom && hint.top < bottom;
            const isInside = hint.left >= form.left - 0.5 && hint.right <= form.right + 0.5 && hint.width > 80;
            const isUnder = hint.top >= box('.wpwl-control-cvv').bottom;
            return ['.wpwl-control-expiry', '.wpwl-control-cvv', '.wpwl-control-cardHolder', '.wpwl-button-pay'].filter(css => isOver(box(css)))
                .concat(isInside ? [] : 'beside the form', isUnder ? [] : 'over its field');
        })()";
        for width in ["10rem", "13rem", "14.9rem", "16rem", "19.4rem", "19.6rem", "22rem", "24.9rem", "25.5rem", "27.9rem", "28.1rem", "32rem"] {
            browser.execute("document.querySelector('.wpwl-container').style.width = arguments[0]", vec![json!(width)]).await?;
            browser.save_screenshot(&format!("form-code-hint-{width}")).await?;
            assert_eq!(browser.evaluate(covered).await?, json!([]), "{width}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_button_has_a_line_of_its_own_in_a_column_of_any_width() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.resize_page(1200, 900).await?;
        browser.goto(stage.add_page("")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let column = "document.querySelector('.wpwl-container').parentElement.style";
        let share = "document.querySelector('.wpwl-group-submit').clientWidth / document.querySelector('.wpwl-form').clientWidth";
        for width in ["16rem", "25.1rem", "27rem", "40rem"] {
            browser.execute(format!("{column}.width = arguments[0]"), vec![json!(width)]).await?;
            assert_eq!(browser.evaluate(&format!("{share} > 0.99")).await?, true, "{width}");
            browser.save_screenshot(&format!("form-column-{width}")).await?;
        }
        // A column that fits its content keeps its width.
        browser.execute(format!("{column}.width = 'fit-content'"), vec![]).await?;
        assert_eq!(browser.evaluate("document.querySelector('.wpwl-form').clientWidth > 160").await?, true);
        Ok(())
    })
    .await
}
