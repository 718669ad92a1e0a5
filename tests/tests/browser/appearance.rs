//! Languages, styles, sizes. The tests save screenshots in tests/screenshots.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE_FRAME, CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, TestDemoShop, TestGateway, poll_until, run_in_browser, run_in_new_browser};

use crate::CheckoutFixture;

/// Returns the visible text of the element that matches `css`.
async fn read_text(browser: &Browser, css: &str) -> anyhow::Result<String> {
    Ok(browser.query(By::Css(css)).first().await?.text().await?)
}

#[tokio::test]
async fn labels_hints_and_the_button_speak_the_locale() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        let form = demo.open_card_form(&browser, "", "approve").await?;
        assert_eq!(read_text(&browser, ".wpwl-label-cardNumber").await?, "Card Number");
        assert_eq!(read_text(&browser, ".wpwl-button-pay").await?, "Pay €36.50");
        form.press_pay_button().await?;
        let english = form.wait_for_hint("cardNumberError").await?;
        browser.save_screenshot("form-error").await?;

        let form = demo.open_card_form(&browser, "?lang=de", "approve").await?;
        assert_eq!(browser.evaluate("document.querySelector('.wpwl-form').lang").await?, "de");
        assert_ne!(read_text(&browser, ".wpwl-label-cardNumber").await?, "Card Number");
        assert_ne!(read_text(&browser, ".wpwl-button-pay").await?, "Pay €36.50");
        let title = form.find_element(NUMBER_FRAME).await?.attr("title").await?.unwrap_or_default();
        assert!(title.contains("Kartennummer"), "{title}");
        form.press_pay_button().await?;
        assert_ne!(form.wait_for_hint("cardNumberError").await?, english);
        browser.save_screenshot("form-german-error").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_language_has_many_names_and_what_nobody_knows_is_english() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let names = [
        ("", "en", "Pay now"),
        ("locale: 'de-AT'", "de-AT", "Jetzt bezahlen"),
        ("locale: 'DE'", "DE", "Jetzt bezahlen"),
        ("locale: 'dk'", "da", "Betal nu"),
        ("locale: 'no'", "nb", "Betal nå"),
        ("locale: 'zh-CN'", "zh-CN", "立即支付"),
        ("locale: 'cn'", "zh", "立即支付"),
        ("locale: 'pt_BR'", "pt-BR", "Pagar agora"),
        ("locale: 'nn-NO'", "nb", "Betal nå"),
        ("locale: 'es-419'", "es", "Pagar ahora"),
        ("locale: 'mo'", "ro", "Plătiți acum"),
        ("locale: 'de_DE.UTF-8'", "de-DE", "Jetzt bezahlen"),
        // The language tag of the simplified Chinese texts is `zh`, even for a request for traditional Chinese.
        ("locale: 'zh-TW'", "zh", "立即支付"),
        ("locale: 'zh-Hant-HK'", "zh", "立即支付"),
        ("locale: 'sr-Latn-RS'", "en", "Pay now"),
        ("locale: 'iw'", "en", "Pay now"),
        ("locale: 'sr'", "en", "Pay now"),
        ("locale: 'be-BY'", "en", "Pay now"),
    ];
    run_in_browser(move |browser| async move {
        for (option, lang, button) in names {
            browser.goto(stage.add_page(&format!("var wpwlOptions = {{ {option} }};"))).await?;
            CardForm::wait_until_ready(&browser).await?;
            assert_eq!(read_text(&browser, ".wpwl-button-pay").await?, button, "{option}");
            let said = browser.evaluate("document.querySelector('.wpwl-form').lang").await?;
            assert_eq!(said, lang, "{option}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn digits_run_from_left_to_right_in_arabic_too() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { locale: 'ar' };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.evaluate("document.querySelector('.wpwl-form').dir").await?, "rtl");
        assert_eq!(read_text(&browser, ".wpwl-label-cardNumber").await?, "رقم البطاقة");
        browser.save_screenshot("form-arabic-empty").await?;
        form.fill_fields().await?;
        browser.save_screenshot("form-arabic").await?;
        // The digits are aligned to the right, as Arabic text is, but run from left to right.
        let run = "(it => [it.direction, it.textAlign].join())";
        let run = |css: &str| format!("{run}(getComputedStyle(document.querySelector('{css}')))");
        assert_eq!(browser.evaluate(&run(".wpwl-control-expiry")).await?, "ltr,end");
        for frame in [NUMBER_FRAME, CODE_FRAME] {
            form.find_element(frame).await?.enter_frame().await?;
            assert_eq!(browser.evaluate(&run("input")).await?, "ltr,end", "{frame}");
            browser.enter_default_frame().await?;
        }
        form.press_pay_button().await?;
        stage.wait_until_paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn merchants_put_their_own_words_in() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = {
        labels: { cardHolder: 'Name on card', submit: 'Give', cvvError: 'The three digits, please' },
        errorMessages: { cardNumberError: 'Not a card we know' } };";
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(script)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(read_text(&browser, ".wpwl-label-cardHolder").await?, "Name on card");
        assert_eq!(read_text(&browser, ".wpwl-button-pay").await?, "Give");
        form.press_pay_button().await?;
        assert_eq!(form.wait_for_hint("cardNumberError").await?, "Not a card we know");
        assert_eq!(form.wait_for_hint("cvvError").await?, "The three digits, please");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn labels_and_placeholders_are_the_languages_and_can_be_left_out() -> anyhow::Result<()> {
    let german = ["MM / JJ", "Karteninhaber", "Kartennummer"];
    run_in_browser(move |browser| async move {
        for (options, labels, placeholders) in
            [("", true, german), ("showLabels: false, showPlaceholders: false,", false, ["", "", ""])]
        {
            let stage = CheckoutFixture::new().await?;
            browser.goto(stage.add_page(&format!("var wpwlOptions = {{ {options} locale: 'de' }};"))).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            let shown =
                "[...document.querySelectorAll('.wpwl-group:not(.wpwl-brand-quiet) > .wpwl-label')].every(it => it.textContent && it.checkVisibility())";
            assert_eq!(browser.evaluate(shown).await?, labels);
            let placeholder = |css: &str| format!("document.querySelector('{css}').placeholder");
            let [expiry, holder, number] = placeholders;
            assert_eq!(browser.evaluate(&placeholder(".wpwl-control-expiry")).await?, expiry);
            assert_eq!(browser.evaluate(&placeholder(".wpwl-control-cardHolder")).await?, holder);
            form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
            // The page sends the label and the placeholder of the field in one message.
            browser.wait_until("document.title === 'Kartennummer'").await?;
            assert_eq!(browser.evaluate(&placeholder("input")).await?, number);
            browser.enter_default_frame().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn every_style_has_the_contracts_elements_and_pays() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for style in ["card", "plain", "none"] {
            let form = demo.open_card_form(&browser, &format!("?style={style}"), "approve").await?;
            let groups = browser
                .evaluate(
                    "[...document.querySelectorAll('.wpwl-form-card > .wpwl-group')]
                       .map(it => [...it.classList].find(name => /^wpwl-group-/.test(name)).slice(11)).join(' ')",
                )
                .await?;
            assert_eq!(groups, "brand cardNumber expiry cardHolder cvv submit", "{style}");
            for css in [
                "div.wpwl-container.wpwl-container-card[id] > form.wpwl-form.wpwl-form-card[lang][method=POST]",
                "select.wpwl-control-brand[name=paymentBrand] > option[value=MASTER]",
                ".wpwl-wrapper-cardNumber > iframe.wpwl-control.wpwl-control-iframe[name='card.number']",
                ".wpwl-wrapper-cvv > iframe.wpwl-control.wpwl-control-iframe[name='card.cvv']",
                "input[type=tel].wpwl-control-expiry[name='card.expiry'][autocomplete='cc-exp']",
                "input[type=text].wpwl-control-cardHolder[name='card.holder'][autocomplete='cc-name']",
                "button[type=submit][name=pay].wpwl-button.wpwl-button-pay",
            ] {
                assert!(browser.query(By::Css(css)).nowait().exists().await?, "{style}: {css}");
            }
            browser.save_screenshot(&format!("form-{style}")).await?;
            // This frame is created later, because it costs browsers as much time as the rest of the form.
            let target = "div.wpwl-container-card > iframe.wpwl-target[src='about:blank'][frameborder='0']";
            browser.query(By::Css(target)).first().await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid", "{style}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn style_none_ships_no_style_but_that_what_is_hidden_stays_so() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { style: 'none' };")).await?;
        CardForm::wait_until_ready(&browser).await?;
        let rules = "[...document.styleSheets, ...document.adoptedStyleSheets]
            .flatMap(sheet => [...sheet.cssRules]).map(rule => rule.cssText).join()";
        assert_eq!(browser.evaluate(rules).await?, ".wpwl-container [hidden] { display: none; }");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_brand_is_found_from_the_number() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = "var wpwlOptions = { brandDetection: true,
        onDetectBrand: function (brands, active) { witness.note('brands', brands.join(' ') + ' / ' + active); },
        onChangeBrand: function (brand) { witness.note('changed', brand); } };";
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page(script)).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.enter_number("5454545454545454").await?;
        browser.wait_until("document.querySelector('.wpwl-control-brand').value === 'MASTER'").await?;
        browser.wait_until("witness.all().some(it => it.kind === 'brands' && it.detail === 'MASTER / MASTER')").await?;
        browser.wait_until("witness.all().some(it => it.kind === 'changed' && it.detail === 'MASTER')").await?;
        browser.wait_until("!!document.querySelector('.wpwl-brand-MASTER')").await?;
        form.enter_expiry("05 / 34").await?;
        form.enter_security_code("123").await?;
        form.press_pay_button().await?;
        let status = stage.wait_until_paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("MASTER"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn text_in_the_frames_looks_like_the_text_in_the_page() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for query in ["", "?dark=1", "?style=plain", "?style=plain&dark=1"] {
            let form = demo.open_card_form(&browser, query, "approve").await?;
            let look = "(it => { const style = getComputedStyle(it); return [style.color, style.fontSize, style.fontFamily].join(); })";
            let wanted = format!("{query}: the same look");
            let compared = poll_until(&wanted, async || {
                let page = browser.evaluate(&format!("{look}(document.querySelector('.wpwl-control-expiry'))")).await?;
                form.find_element(NUMBER_FRAME).await?.enter_frame().await?;
                let frame = browser.evaluate(&format!("{look}(document.querySelector('input'))")).await?;
                browser.enter_default_frame().await?;
                Ok((frame == page).then_some(page))
            });
            let look = compared.await?;
            assert!(!look.as_str().unwrap_or_default().contains("13.3333px"), "{query}: as nobody wanted it: {look}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_form_fits_a_phone_of_320_pixels() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    run_in_browser(move |browser| async move {
        for query in ["", "?lang=de", "?style=plain", "?style=none"] {
            browser.resize_page(320, 700).await?;
            let form = demo.open_card_form(&browser, query, "approve").await?;
            form.press_pay_button().await?;
            form.wait_for_hint("cvvError").await?;
            let wide = "[...document.querySelectorAll('body *')].filter(it => it.getBoundingClientRect().right > innerWidth + 0.5 && it.checkVisibility())
                .map(it => it.className || it.nodeName).join(', ')";
            assert_eq!(browser.evaluate(wide).await?, "", "{query}: sticks out");
            assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth").await?, true, "{query}");
            for css in [NUMBER_FRAME, CODE_FRAME, ".wpwl-control-expiry", ".wpwl-control-cardHolder", ".wpwl-button-pay"] {
                let size = format!("(it => Math.min(it.width, it.height))(document.querySelector('{css}').getBoundingClientRect())");
                let size = browser.evaluate(&size).await?.as_f64().unwrap_or_default();
                assert!(size >= 18.0, "{query}: {css} is {size} pixels small");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn pictures_of_the_form() -> anyhow::Result<()> {
    let demo = TestDemoShop::start(TestGateway::shared()).await?;
    // Double resolution, for use on web pages.
    run_in_new_browser(&["--force-device-scale-factor=2"], move |browser| async move {
        let devices = [
            ("desktop", 1280, 900, "light", ""),
            ("phone", 390, 1200, "light", ""),
            ("dark", 1280, 900, "dark", "?dark=1"),
            ("phone-german-dark", 320, 1200, "dark", "?lang=de&dark=1"),
        ];
        for (name, width, height, scheme, query) in devices {
            browser.resize_page(width, height).await?;
            browser.set_color_scheme(scheme).await?;
            browser.goto(format!("{}{query}", demo.public)).await?;
            browser.save_screenshot(&format!("shop-{name}")).await?;
            let form = demo.open_card_form(&browser, query, "approve").await?;
            browser.save_screenshot(&format!("form-{name}-empty")).await?;
            form.fill_fields().await?;
            browser.save_screenshot(&format!("form-{name}")).await?;
            form.press_pay_button().await?;
            assert_eq!(TestDemoShop::read_outcome(&browser).await?, "paid");
            browser.save_screenshot(&format!("result-{name}")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_spinner_is_the_merchants_own() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let options = "spinner: { lines: 8, length: 6, width: 3, radius: 8, speed: 0.5, color: 'rgb(200, 0, 0)', direction: -1, zIndex: 7 },
        onBeforeSubmitCard: function () { return new Promise(function () {}); }";
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA", options).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        form.fill_fields().await?;
        form.press_pay_button().await?;
        form.find_element(".wpwl-spinner.spinner").await?;
        let seen = "(it => [it.width, it.animationDuration, it.animationDirection, it.zIndex, it.backgroundImage.includes('rgb(200, 0, 0)'), it.maskImage.includes('0.125turn') || it.maskImage.includes('45deg')].join())(getComputedStyle(document.querySelector('.wpwl-spinner')))";
        assert_eq!(browser.evaluate(seen).await?, "28px,2s,reverse,7,true,true");
        browser.save_screenshot("spinner").await?;
        assert!(browser.observed_details("violation").await?.is_empty());
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate("document.adoptedStyleSheets.length").await?, 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_spinners_ends_can_be_round_its_tail_short_and_its_class_the_merchants() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (more, expected) in [
            ("corners: 1, className: 'mine own', animation: 'spinner-line-fade-quick'", "mine own | 60% | wpwl-spin | 12"),
            ("animation: 'of-the-page'", " | 0% | of-the-page | 2"),
        ] {
            let options = format!(
                "spinner: {{ lines: 5, length: 6, width: 4, radius: 8, scale: 2, {more} }}, onBeforeSubmitCard: function () {{ return new Promise(function () {{}}); }}"
            );
            stage.open_forms(&browser, "VISA", &options).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            form.find_element(".wpwl-spinner.spinner").await?;
            browser.wait_until("getComputedStyle(document.querySelector('.wpwl-spinner')).maskImage !== 'none'").await?;
            let seen = "(it => [[...it.classList].filter(name => !/spinner/.test(name)).join(' '),
                (getComputedStyle(it).backgroundImage.match(/\\d+%/) || ['0%'])[0], getComputedStyle(it).animationName,
                getComputedStyle(it).maskImage.split('gradient(').length - 1].join(' | '))(document.querySelector('.wpwl-spinner'))";
            // A line has a disc at each of its ends, in addition to the ring and the lines.
            assert_eq!(browser.evaluate(seen).await?, expected);
            browser.save_screenshot(if more.starts_with("corners") { "spinner-round" } else { "spinner-square" }).await?;
        }
        Ok(())
    })
    .await
}
