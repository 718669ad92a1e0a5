//! Languages, styles, sizes. Whoever wants to see them: the pictures are in tests/screenshots.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CODE, CardForm, NUMBER};
use tillgate_tests::{Browser, DemoShop, Gateway, browse, browse_with, until};

use crate::Stage;

/// The visible text of the element that `css` finds.
async fn text(browser: &Browser, css: &str) -> anyhow::Result<String> {
    Ok(browser.query(By::Css(css)).first().await?.text().await?)
}

#[tokio::test]
async fn labels_hints_and_the_button_speak_the_locale() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        let form = demo.to_checkout(&browser, "", "approve").await?;
        assert_eq!(text(&browser, ".wpwl-label-cardNumber").await?, "Card Number");
        assert_eq!(text(&browser, ".wpwl-button-pay").await?, "Pay now");
        form.pay().await?;
        let english = form.hint("cardNumberError").await?;
        browser.picture("form-error").await?;

        let form = demo.to_checkout(&browser, "?lang=de", "approve").await?;
        assert_eq!(browser.value("document.querySelector('.wpwl-form').lang").await?, "de");
        assert_ne!(text(&browser, ".wpwl-label-cardNumber").await?, "Card Number");
        assert_ne!(text(&browser, ".wpwl-button-pay").await?, "Pay now");
        let title = form.find(NUMBER).await?.attr("title").await?.unwrap_or_default();
        assert!(title.contains("Kartennummer"), "{title}");
        form.pay().await?;
        assert_ne!(form.hint("cardNumberError").await?, english);
        browser.picture("form-german-error").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_language_has_many_names_and_what_nobody_knows_is_english() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
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
        // Simplified characters say that they are, wherever they are read.
        ("locale: 'zh-TW'", "zh", "立即支付"),
        ("locale: 'zh-Hant-HK'", "zh", "立即支付"),
        ("locale: 'sr-Latn-RS'", "en", "Pay now"),
        ("locale: 'iw'", "en", "Pay now"),
        ("locale: 'sr'", "en", "Pay now"),
        ("locale: 'be-BY'", "en", "Pay now"),
    ];
    browse(move |browser| async move {
        for (option, lang, button) in names {
            browser.goto(stage.page(&format!("var wpwlOptions = {{ {option} }};"))).await?;
            CardForm::ready(&browser).await?;
            assert_eq!(text(&browser, ".wpwl-button-pay").await?, button, "{option}");
            let said = browser.value("document.querySelector('.wpwl-form').lang").await?;
            assert_eq!(said, lang, "{option}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn digits_run_from_left_to_right_in_arabic_too() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { locale: 'ar' };")).await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(browser.value("document.querySelector('.wpwl-form').dir").await?, "rtl");
        assert_eq!(text(&browser, ".wpwl-label-cardNumber").await?, "رقم البطاقة");
        browser.picture("form-arabic-empty").await?;
        form.fill().await?;
        browser.picture("form-arabic").await?;
        // Where its digits begin: at the right, as a line of Arabic does; in which direction they run: as everywhere.
        let run = "(it => [it.direction, it.textAlign].join())";
        let run = |css: &str| format!("{run}(getComputedStyle(document.querySelector('{css}')))");
        assert_eq!(browser.value(&run(".wpwl-control-expiry")).await?, "ltr,end");
        for frame in [NUMBER, CODE] {
            form.find(frame).await?.enter_frame().await?;
            assert_eq!(browser.value(&run("input")).await?, "ltr,end", "{frame}");
            browser.enter_default_frame().await?;
        }
        form.pay().await?;
        stage.paid(&browser).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn merchants_put_their_own_words_in() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = {
        labels: { cardHolder: 'Name on card', submit: 'Give', cvvError: 'The three digits, please' },
        errorMessages: { cardNumberError: 'Not a card we know' } };";
    browse(move |browser| async move {
        browser.goto(stage.page(script)).await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(text(&browser, ".wpwl-label-cardHolder").await?, "Name on card");
        assert_eq!(text(&browser, ".wpwl-button-pay").await?, "Give");
        form.pay().await?;
        assert_eq!(form.hint("cardNumberError").await?, "Not a card we know");
        assert_eq!(form.hint("cvvError").await?, "The three digits, please");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn labels_and_placeholders_are_the_languages_and_can_be_left_out() -> anyhow::Result<()> {
    let german = ["MM / JJ", "Karteninhaber", "Kartennummer"];
    browse(move |browser| async move {
        for (options, labels, placeholders) in
            [("", true, german), ("showLabels: false, showPlaceholders: false,", false, ["", "", ""])]
        {
            let stage = Stage::new().await?;
            browser.goto(stage.page(&format!("var wpwlOptions = {{ {options} locale: 'de' }};"))).await?;
            let form = CardForm::ready(&browser).await?;
            let shown =
                "[...document.querySelectorAll('.wpwl-label')].every(it => it.textContent && it.checkVisibility())";
            assert_eq!(browser.value(shown).await?, labels);
            let placeholder = |css: &str| format!("document.querySelector('{css}').placeholder");
            let [expiry, holder, number] = placeholders;
            assert_eq!(browser.value(&placeholder(".wpwl-control-expiry")).await?, expiry);
            assert_eq!(browser.value(&placeholder(".wpwl-control-cardHolder")).await?, holder);
            form.find(NUMBER).await?.enter_frame().await?;
            // What the page says of the field arrives as one message.
            browser.until("document.title === 'Kartennummer'").await?;
            assert_eq!(browser.value(&placeholder("input")).await?, number);
            browser.enter_default_frame().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn every_style_has_the_contracts_elements_and_pays() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for style in ["card", "plain", "none"] {
            let form = demo.to_checkout(&browser, &format!("?style={style}"), "approve").await?;
            let groups = browser
                .value(
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
            browser.picture(&format!("form-{style}")).await?;
            // Comes later, as it costs browsers as much as the rest.
            let target = "div.wpwl-container-card > iframe.wpwl-target[src='about:blank'][frameborder='0']";
            browser.query(By::Css(target)).first().await?;
            form.fill().await?;
            form.pay().await?;
            assert_eq!(DemoShop::outcome(&browser).await?, "paid", "{style}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn style_none_ships_no_style_but_that_what_is_hidden_stays_so() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { style: 'none' };")).await?;
        CardForm::ready(&browser).await?;
        let rules = "[...document.styleSheets, ...document.adoptedStyleSheets]
            .flatMap(sheet => [...sheet.cssRules]).map(rule => rule.cssText).join()";
        assert_eq!(browser.value(rules).await?, ".wpwl-container [hidden] { display: none; }");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_brand_is_found_from_the_number() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let script = "var wpwlOptions = { brandDetection: true,
        onDetectBrand: function (brands, active) { witness.note('brands', brands.join(' ') + ' / ' + active); },
        onChangeBrand: function (brand) { witness.note('changed', brand); } };";
    browse(move |browser| async move {
        browser.goto(stage.page(script)).await?;
        let form = CardForm::ready(&browser).await?;
        form.number("5454545454545454").await?;
        browser.until("document.querySelector('.wpwl-control-brand').value === 'MASTER'").await?;
        browser.until("witness.all().some(it => it.kind === 'brands' && it.detail === 'MASTER / MASTER')").await?;
        browser.until("witness.all().some(it => it.kind === 'changed' && it.detail === 'MASTER')").await?;
        browser.until("!!document.querySelector('.wpwl-brand-MASTER')").await?;
        form.expiry("05 / 34").await?;
        form.code("123").await?;
        form.pay().await?;
        let status = stage.paid(&browser).await?;
        assert_eq!(status.json["paymentBrand"].as_str(), Some("MASTER"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn text_in_the_frames_looks_like_the_text_in_the_page() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for query in ["", "?dark=1", "?style=plain", "?style=plain&dark=1"] {
            let form = demo.to_checkout(&browser, query, "approve").await?;
            let look = "(it => { const style = getComputedStyle(it); return [style.color, style.fontSize, style.fontFamily].join(); })";
            let wanted = format!("{query}: the same look");
            let compared = until(&wanted, async || {
                let page = browser.value(&format!("{look}(document.querySelector('.wpwl-control-expiry'))")).await?;
                form.find(NUMBER).await?.enter_frame().await?;
                let frame = browser.value(&format!("{look}(document.querySelector('input'))")).await?;
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
    let demo = DemoShop::start(Gateway::shared()).await?;
    browse(move |browser| async move {
        for query in ["", "?lang=de", "?style=plain", "?style=none"] {
            browser.resize(320, 700).await?;
            let form = demo.to_checkout(&browser, query, "approve").await?;
            form.pay().await?;
            form.hint("cvvError").await?;
            let wide = "[...document.querySelectorAll('body *')].filter(it => it.getBoundingClientRect().right > innerWidth + 0.5 && it.checkVisibility())
                .map(it => it.className || it.nodeName).join(', ')";
            assert_eq!(browser.value(wide).await?, "", "{query}: sticks out");
            assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth").await?, true, "{query}");
            for css in [NUMBER, CODE, ".wpwl-control-expiry", ".wpwl-control-cardHolder", ".wpwl-button-pay"] {
                let size = format!("(it => Math.min(it.width, it.height))(document.querySelector('{css}').getBoundingClientRect())");
                let size = browser.value(&size).await?.as_f64().unwrap_or_default();
                assert!(size >= 18.0, "{query}: {css} is {size} pixels small");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn pictures_of_the_form() -> anyhow::Result<()> {
    let demo = DemoShop::start(Gateway::shared()).await?;
    // Twice as fine as the page's pixels, for whoever puts them on a page.
    browse_with(&["--force-device-scale-factor=2"], move |browser| async move {
        let devices = [
            ("desktop", 1280, 900, "light", ""),
            ("phone", 390, 1200, "light", ""),
            ("dark", 1280, 900, "dark", "?dark=1"),
            ("phone-german-dark", 320, 1200, "dark", "?lang=de&dark=1"),
        ];
        for (name, width, height, scheme, query) in devices {
            browser.resize(width, height).await?;
            browser.prefer(scheme).await?;
            browser.goto(format!("{}{query}", demo.public)).await?;
            browser.picture(&format!("shop-{name}")).await?;
            let form = demo.to_checkout(&browser, query, "approve").await?;
            browser.picture(&format!("form-{name}-empty")).await?;
            form.fill().await?;
            browser.picture(&format!("form-{name}")).await?;
            form.pay().await?;
            assert_eq!(DemoShop::outcome(&browser).await?, "paid");
            browser.picture(&format!("result-{name}")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_spinner_is_the_merchants_own() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    let options = "spinner: { lines: 8, length: 6, width: 3, radius: 8, speed: 0.5, color: 'rgb(200, 0, 0)', direction: -1, zIndex: 7 },
        onBeforeSubmitCard: function () { return new Promise(function () {}); }";
    browse(move |browser| async move {
        stage.open(&browser, "VISA", options).await?;
        let form = CardForm::ready(&browser).await?;
        form.fill().await?;
        form.pay().await?;
        form.find(".wpwl-spinner.spinner").await?;
        let seen = "(it => [it.width, it.animationDuration, it.animationDirection, it.zIndex, it.backgroundImage.includes('rgb(200, 0, 0)'), it.maskImage.includes('0.125turn') || it.maskImage.includes('45deg')].join())(getComputedStyle(document.querySelector('.wpwl-spinner')))";
        assert_eq!(browser.value(seen).await?, "28px,2s,reverse,7,true,true");
        browser.picture("spinner").await?;
        assert!(browser.seen_of("violation").await?.is_empty());
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.value("document.adoptedStyleSheets.length").await?, 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_spinners_ends_can_be_round_its_tail_short_and_its_class_the_merchants() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for (more, expected) in [
            ("corners: 1, className: 'mine own', animation: 'spinner-line-fade-quick'", "mine own | 60% | wpwl-spin | 12"),
            ("animation: 'of-the-page'", " | 0% | of-the-page | 2"),
        ] {
            let options = format!(
                "spinner: {{ lines: 5, length: 6, width: 4, radius: 8, scale: 2, {more} }}, onBeforeSubmitCard: function () {{ return new Promise(function () {{}}); }}"
            );
            stage.open(&browser, "VISA", &options).await?;
            let form = CardForm::ready(&browser).await?;
            form.fill().await?;
            form.pay().await?;
            form.find(".wpwl-spinner.spinner").await?;
            browser.until("getComputedStyle(document.querySelector('.wpwl-spinner')).maskImage !== 'none'").await?;
            let seen = "(it => [[...it.classList].filter(name => !/spinner/.test(name)).join(' '),
                (getComputedStyle(it).backgroundImage.match(/\\d+%/) || ['0%'])[0], getComputedStyle(it).animationName,
                getComputedStyle(it).maskImage.split('gradient(').length - 1].join(' | '))(document.querySelector('.wpwl-spinner'))";
            // A line has a disc at each of its ends, beside the ring and the lines.
            assert_eq!(browser.value(seen).await?, expected);
            browser.picture(if more.starts_with("corners") { "spinner-round" } else { "spinner-square" }).await?;
        }
        Ok(())
    })
    .await
}
