//! What shoppers curse elsewhere, and not here. Each has its test.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER, PAY};
use tillgate_tests::{Browser, browse};

use crate::{APPROVED, Stage};

/// Puts text into a field as a browser that fills it in does: all at once, without a key.
const FILL_IN: &str = "const [css, text] = arguments; const it = document.querySelector(css); it.value = text;
    it.dispatchEvent(new Event('input', { bubbles: true })); it.dispatchEvent(new Event('change', { bubbles: true }));";

#[tokio::test]
async fn a_browser_that_fills_in_the_card_where_the_number_is_fills_in_the_whole_form() -> anyhow::Result<()> {
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
        assert_eq!(form.inner_value(CODE).await?, "123");
        form.pay().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.code().await?, APPROVED);
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
async fn the_caret_stays_in_the_middle_of_a_date() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        form.expiry("0534").await?;
        browser.execute("document.querySelector('.wpwl-control-expiry').setSelectionRange(1, 2)", vec![]).await?;
        form.find(".wpwl-control-expiry").await?.send_keys("7").await?;
        let state = "(it => it.value + ' ' + it.selectionStart)(document.querySelector('.wpwl-control-expiry'))";
        // Clicking into a field may put the caret elsewhere; typing does not.
        let state = browser.value(state).await?;
        let state = state.as_str().unwrap_or_default();
        assert!(state.starts_with("07 / 34") || state.starts_with("05 / 34"), "{state}");
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
        browser.query(By::Id("result")).first().await?;
        assert_eq!(stage.code().await?, APPROVED);
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
        browser.query(By::Id("result")).first().await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!((status.code(), status.json["paymentBrand"].as_str()), (APPROVED, Some("CARTEBANCAIRE")));
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
        prefer(&browser, "prefers-reduced-motion", "reduce").await?;
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let moving = "[...document.querySelectorAll('.wpwl-container *')].filter(it => { const style = getComputedStyle(it);
            return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0; }).map(it => it.className).join()";
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
async fn large_text_and_narrow_windows_need_no_scrolling_sideways() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for (width, zoom, style) in [(320, "100%", "card"), (640, "200%", "card"), (320, "200%", "card"), (320, "200%", "plain")] {
            browser.resize(width, 900).await?;
            browser.goto(stage.page(&format!("var wpwlOptions = {{ style: '{style}', showCVVHint: true }};"))).await?;
            let form = CardForm::ready(&browser).await?;
            browser.execute("document.documentElement.style.fontSize = arguments[0]", vec![json!(zoom)]).await?;
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
