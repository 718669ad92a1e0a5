//! Merchants' style sheets that reset browser defaults or style every element: the form stays usable.

use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{MerchantPage, run_in_browser};

use crate::{APPROVED, CheckoutFixture};

/// Style sheets by name.
const SHEETS: [(&str, &str); 3] = [
    (
        "a reset of everything",
        "html, body, div, span, h1, p, a, img, iframe, form, fieldset, legend, label, input, select, button, ul, li {
            margin: 0; padding: 0; border: 0; font: inherit; font-size: 100%; vertical-align: baseline; }
         body { line-height: 1; }
         :focus { outline: 0; }",
    ),
    (
        "a reset of a framework",
        "*, ::before, ::after { box-sizing: border-box; border: 0 solid; margin: 0; padding: 0; }
         button, input, select { font: inherit; letter-spacing: inherit; color: inherit; border-radius: 0;
            background-color: transparent; opacity: 1; appearance: none; }
         img, svg, video, canvas, iframe { display: block; vertical-align: middle; max-width: 100%; height: auto; }
         ::placeholder { opacity: 0.1; }",
    ),
    (
        "an old shop's",
        "* { box-sizing: content-box; }
         div, form, iframe { display: block; }
         form { width: 900px; display: table; }
         form div { padding: 4px; overflow: visible; }
         input, select, button, iframe { display: inline; width: 60px; height: 14px; margin: 9px; padding: 1px;
            border: 3px ridge #c0c; float: left; font-size: 7px; line-height: 7px; }
         button { text-transform: uppercase; position: absolute; top: 0; }
         div:empty { display: none; }
         :focus { outline: none; }",
    ),
];

/// Script that returns the faults of fields and button: wrong sizes, overlaps, and visible hidden elements.
const WRONG: &str = "(() => {
    const wrong = [];
    const container = document.querySelector('.wpwl-container').getBoundingClientRect();
    const fields = [...document.querySelectorAll('.wpwl-form .wpwl-control, .wpwl-form .wpwl-button')].filter(it => !it.closest('[hidden], .wpwl-brand-quiet'));
    if (fields.length < 6) wrong.push('only ' + fields.length + ' fields');
    const boxes = fields.map(it => [it.className, it.getBoundingClientRect()]);
    for (const [name, box] of boxes) {
        if (box.height < 34 || box.width < 90) wrong.push(name + ' is ' + box.width + ' x ' + box.height);
        if (box.left < container.left - 1 || box.right > container.right + 1 || box.right > innerWidth) wrong.push(name + ' sticks out');
        for (const [other, its] of boxes)
            if (other < name && box.left < its.right - 1 && its.left < box.right - 1 && box.top < its.bottom - 1 && its.top < box.bottom - 1)
                wrong.push(name + ' is over ' + other);
    }
    for (const it of document.querySelectorAll('[hidden], .wpwl-live'))
        if (it.getBoundingClientRect().width > 1 && it.getBoundingClientRect().height > 1) wrong.push('seen: ' + it.outerHTML.slice(0, 90));
    return wrong;
})()";

#[tokio::test]
async fn merchants_sheets_that_touch_every_element_leave_the_form_whole() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for (name, sheet) in SHEETS {
            // In the plain style, the page itself styles the fields.
            let styles: &[&str] = if name == "an old shop's" { &["card"] } else { &["card", "plain"] };
            for style in styles {
                for width in [1000, 360] {
                    let place = format!("{name}, {style}, {width}");
                    let stage = CheckoutFixture::new().await?;
                    browser.resize_page(width, 1200).await?;
                    let script = format!("var wpwlOptions = {{ style: '{style}', showCVVHint: true }};");
                    let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_style(sheet).with_brands("VISA MASTER IDEAL");
                    browser.goto(stage.site.add_page(page)).await?;
                    let form = CardForm::wait_until_ready(&browser).await?;
                    browser.query(By::Css(".wpwl-button-brand-IDEAL")).first().await?;
                    browser.save_screenshot(&format!("hostile-{}", place.replace([' ', ',', '\''], "-"))).await?;
                    assert_eq!(browser.evaluate(WRONG).await?, serde_json::json!([]), "{place}");
                    form.find_element(".wpwl-control-expiry").await?.click().await?;
                    let ring = "(it => parseFloat(it.outlineWidth) > 0 && it.outlineStyle !== 'none' || it.boxShadow !== 'none')(getComputedStyle(document.activeElement))";
                    assert_eq!(browser.evaluate(ring).await?, true, "{place}: where the caret is");
                    form.fill_fields().await?;
                    form.press_pay_button().await?;
                    browser.query(By::Id("result")).first().await?;
                    assert_eq!(stage.read_result_code().await?, APPROVED, "{place}");
                }
            }
        }
        Ok(())
    })
    .await
}

/// Script that returns visible hidden elements, and fields that are too small to be clicked. Everything else is styled
/// by the page.
const LEFT_OPEN: &str = "(() => {
    const wrong = [];
    const area = it => { const box = it.getBoundingClientRect(); return Math.min(box.width, box.height); };
    const fields = [...document.querySelectorAll('.wpwl-form .wpwl-control, .wpwl-form .wpwl-button')].filter(it => !it.closest('[hidden]'));
    if (fields.length < 6) wrong.push('only ' + fields.length + ' fields');
    for (const it of fields) if (area(it) < 10) wrong.push(it.className + ' is lost');
    for (const it of document.querySelectorAll('[hidden], .wpwl-live')) if (area(it) > 1) wrong.push('seen: ' + it.outerHTML.slice(0, 90));
    return wrong;
})()";

#[tokio::test]
async fn without_a_style_of_ours_nothing_hidden_is_shown_by_merchants_sheets() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for (name, sheet) in SHEETS {
            let stage = CheckoutFixture::new().await?;
            browser.resize_page(1000, 1200).await?;
            let script = "var wpwlOptions = { style: 'none', showLabels: false, showCVVHint: true };";
            let page = MerchantPage::for_checkout(&stage.checkout)
                .with_script(script)
                .with_style(sheet)
                .with_brands("VISA MASTER IDEAL");
            browser.goto(stage.site.add_page(page)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            browser.query(By::Css(".wpwl-button-brand-IDEAL")).first().await?;
            browser.save_screenshot(&format!("hostile-none-{}", name.replace([' ', '\''], "-"))).await?;
            assert_eq!(browser.evaluate(LEFT_OPEN).await?, serde_json::json!([]), "{name}");
            form.fill_fields().await?;
            // The page may cover the button, so the form is submitted by keyboard.
            form.find_element(".wpwl-control-cardHolder").await?.send_keys(Key::Enter + "").await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!(stage.read_result_code().await?, APPROVED, "{name}");
        }
        Ok(())
    })
    .await
}
