//! Marks of brands: every brand has one under a strict policy, and a page loads only marks that it shows.

use serde_json::json;
use thirtyfour::prelude::*;
use tillgate_shared::brand::Brand;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::run_in_browser;

use crate::CheckoutFixture;
use crate::network::block_requests;

/// True once the sheet with all marks is loaded.
const SHEET: &str = "!!document.querySelector('link[href$=\"/css/marks.css\"]')?.sheet";
/// Number of elements that load the sheet.
const SHEETS: &str = "document.querySelectorAll('link[href$=\"/css/marks.css\"]').length";
/// The mark beside the list of a card form.
const CARD_MARK: &str = ".wpwl-brand-card";

/// Returns JavaScript that describes the tiles that match `css`: each code, followed by the tile's faults.
fn describe_tiles(css: &str) -> String {
    format!(
        "[...document.querySelectorAll('{css}')].map(it => {{
            const code = [...it.classList].pop().replace('inline', it.classList[1]).replace(/.*wpwl-brand-/, '');
            const tile = getComputedStyle(it), text = getComputedStyle(it, '::before'), size = it.getBoundingClientRect();
            const faults = [
                text.content.replace(/\\W/g, '').length < 2 && 'text',
                (Math.round(size.width) !== 48 || Math.round(size.height) !== 32) && size.width + 'x' + size.height,
                tile.backgroundColor === 'rgba(0, 0, 0, 0)' && 'ground', text.color === tile.backgroundColor && 'contrast',
                (it.scrollWidth > 50 || it.scrollHeight > 32) && 'overflow', !it.checkVisibility() && 'hidden',
            ];
            return code + ' ' + faults.filter(Boolean).join();
        }}).sort()"
    )
}

#[tokio::test]
async fn every_brand_has_a_mark_and_none_is_an_empty_box_although_the_page_forbids_images() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        // Both codes of SEPA have one form, so a page shows one of them.
        let (alone, codes): (Vec<_>, Vec<_>) = Brand::all().iter().map(|it| it.code).partition(|code| *code == "SEPA");
        for codes in [codes, alone] {
            stage.open_forms(&browser, &codes.join(" "), "style: 'logos', locale: 'ar'").await?;
            browser.wait_until(SHEET).await?;
            let tiles = browser.evaluate(&describe_tiles(".wpwl-logo > .wpwl-brand")).await?;
            let expected: Vec<String> = codes.iter().map(|code| format!("{code} ")).collect();
            assert_eq!(tiles, json!(expected));
            assert_eq!(browser.evaluate(SHEETS).await?, 1);
        }
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_card_page_loads_the_other_marks_only_once_it_shows_one() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER MADA", "brandList: true").await?;
        browser.wait_until("document.querySelector('.wpwl-brand-card').checkVisibility()").await?;
        assert_eq!(browser.evaluate(&describe_tiles(CARD_MARK)).await?, json!(["VISA "]));
        let form = CardForm::wait_until_ready(&browser).await?;
        let choose = |brand: &str| {
            format!(
                "const list = document.querySelector('.wpwl-control-brand');
                 list.value = '{brand}'; list.dispatchEvent(new Event('change', {{ bubbles: true }}));"
            )
        };
        browser.execute(choose("MASTER"), vec![]).await?;
        form.find_element(".wpwl-brand-card.wpwl-brand-MASTER").await?;
        assert_eq!(browser.evaluate(SHEETS).await?, 0);
        browser.execute(choose("MADA"), vec![]).await?;
        browser.wait_until(SHEET).await?;
        assert_eq!(browser.evaluate(&describe_tiles(CARD_MARK)).await?, json!(["MADA "]));
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn without_the_sheet_of_marks_names_stand_in_and_nothing_is_empty() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        block_requests(&browser, &["*://*:*/*marks.css"]).await?;
        stage.open_forms(&browser, "MADA KLARNA_INVOICE PAYPAL", "style: 'logos'").await?;
        let widths = "[...document.querySelectorAll('.wpwl-logo > .wpwl-brand')].map(it =>
            it.checkVisibility() && it.scrollWidth <= it.offsetWidth && it.offsetWidth > 47 && it.getAttribute('aria-label'))";
        assert_eq!(browser.evaluate(widths).await?, json!(["mada", "Klarna Invoice", "PayPal"]));
        let lengths = "[...document.querySelectorAll('.wpwl-logo > .wpwl-brand')].map(it => it.offsetWidth > 60)";
        assert_eq!(browser.evaluate(lengths).await?, json!([false, true, false]), "the name itself");
        // The marks beside texts leave no box.
        for css in [".wpwl-button-brand-PAYPAL > .wpwl-brand", CARD_MARK] {
            let pseudo = if css == CARD_MARK { "null" } else { "'::before'" };
            let display = format!("getComputedStyle(document.querySelector('{css}'), {pseudo}).display");
            assert_eq!(browser.evaluate(&display).await?, "none", "{css}");
        }
        block_requests(&browser, &[]).await
    })
    .await
}

#[tokio::test]
async fn a_brands_button_shows_its_mark_and_is_read_once() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for style in ["card", "plain"] {
            stage.open_forms(&browser, "PAYPAL IDEAL", &format!("style: '{style}'")).await?;
            browser.wait_until(SHEET).await?;
            let mark = |name: &str| {
                format!("getComputedStyle(document.querySelector('.wpwl-button-brand-IDEAL > .wpwl-brand'), '::before').{name}")
            };
            assert_eq!(browser.evaluate(&mark("display")).await?, "grid", "{style}");
            let text = browser.evaluate(&mark("content")).await?;
            assert!(text.as_str().unwrap_or_default().contains("iDEAL"), "{style}: {text}");
            let tree = browser.cdp().send_raw("Accessibility.getFullAXTree", json!({})).await?;
            let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
            let buttons = nodes.iter().filter(|node| node["role"]["value"] == "button");
            let names: Vec<_> = buttons.filter_map(|node| node["name"]["value"].as_str()).collect();
            assert_eq!(names, ["Pay with PayPal", "Pay with iDEAL"], "{style}");
            assert_eq!(browser.run_axe().await?, Vec::<String>::new(), "{style}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_brings_all_of_the_style_gets_no_marks_but_the_names() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "MADA PAYPAL", "style: 'none'").await?;
        assert_eq!(browser.evaluate(SHEETS).await?, 0);
        let button = browser.find(By::Css(".wpwl-button-brand-PAYPAL")).await?;
        assert_eq!(button.text().await?, "Pay with PayPal");
        Ok(())
    })
    .await
}
