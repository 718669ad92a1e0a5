//! The ground of the forms (`theme`), and the contrast of every kind of form on it.

use serde_json::json;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::one_click::fixture_with_stored_accounts;

/// All kinds of forms: stored accounts, cards, a button, a direct debit, an invoice with fields, a voucher.
const BRANDS: &str = "VISA MASTER IDEAL DIRECTDEBIT_SEPA KLARNA_INVOICE BOLETO";
const DARK_PAGE: &str = "document.documentElement.style.cssText = 'background: #101418; color: #f2f4f8';";
const COLORS: &str =
    "(it => it.color + ' on ' + it.backgroundColor)(getComputedStyle(document.querySelector('.wpwl-container')))";

async fn expect_no_findings(browser: &Browser, place: &str) -> anyhow::Result<()> {
    let found = browser.run_axe().await?;
    assert!(found.is_empty(), "{place}:\n{}", found.join("\n"));
    Ok(())
}

#[tokio::test]
async fn axe_finds_nothing_in_any_kind_of_form_on_any_ground_with_and_without_labels() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[]).await?;
    run_in_browser(move |browser| async move {
        for (options, page) in [
            ("theme: 'dark'", ""),
            ("theme: 'light', showLabels: false", DARK_PAGE),
            ("showBirthDate: true, showTaxNumberField: true", DARK_PAGE),
            ("style: 'plain', showLabels: false", DARK_PAGE),
            ("style: 'none', showLabels: false, billingAddress: {}", ""),
        ] {
            let script = format!("{page} var wpwlOptions = {{ onReady() {{ window.isReady = true; }}, {options} }};");
            let page = MerchantPage::for_checkout(&stage.checkout).with_brands(BRANDS).with_script(&script);
            browser.goto(stage.site.add_page(page)).await?;
            browser.wait_until("window.isReady && !document.querySelector('.wpwl-loading')").await?;
            expect_no_findings(&browser, options).await?;
            browser.execute("document.querySelectorAll('.wpwl-form-card .wpwl-button-pay, .wpwl-form-directDebit .wpwl-button-pay').forEach(it => it.click())", vec![]).await?;
            browser.wait_until("document.querySelectorAll('.wpwl-has-error').length > 4").await?;
            expect_no_findings(&browser, &format!("{options}, with errors")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_has_its_own_ground_on_any_page_and_the_pages_rules_win() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let (light, dark) = ("rgb(29, 36, 51) on rgb(255, 255, 255)", "rgb(236, 239, 246) on rgb(23, 26, 33)");
        let own = "const own = new CSSStyleSheet(); own.replaceSync('.wpwl-container { background: #222 }');
            document.adoptedStyleSheets = [own];";
        for (page, theme, colors) in [
            ("", "dark", dark),
            (DARK_PAGE, "light", light),
            (DARK_PAGE, "auto", "rgb(242, 244, 248) on rgba(0, 0, 0, 0)"),
            ("", "sepia", "rgb(0, 0, 0) on rgba(0, 0, 0, 0)"),
            (own, "dark", "rgb(236, 239, 246) on rgb(34, 34, 34)"),
        ] {
            stage
                .open_forms(&browser, "VISA MASTER", &format!("theme: (() => {{ {page} return '{theme}'; }})()"))
                .await?;
            browser.wait_until(&format!("({COLORS}) === '{colors}'")).await?;
            // The texts in the frames have the colour of the form.
            let is_dark = "document.querySelector('.wpwl-container').classList.contains('wpwl-dark')";
            let is_light_text = colors.starts_with("rgb(2") && !colors.starts_with("rgb(29,");
            assert_eq!(browser.evaluate(is_dark).await?, json!(is_light_text), "{theme}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_that_forbids_inline_styles_gets_its_ground_and_unload_takes_it_back() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        stage.open_forms(&browser, "VISA MASTER", "theme: 'dark'").await?;
        let sheets = "document.adoptedStyleSheets.length";
        assert_eq!(browser.evaluate(sheets).await?, 1);
        browser.execute("wpwl.unload()", vec![]).await?;
        assert_eq!(browser.evaluate(sheets).await?, 0);
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}
