//! Screenshots for documentation and review, made on request and not in an ordinary run: the form in every language on
//! one sheet, the themes and marks of docs/theme.md, and the ways to pay of docs/methods.md.

use std::path::{Path, PathBuf};

use thirtyfour::prelude::*;
use tillgate_shared::brand::Brand;
use tillgate_shared::language::LANGUAGES;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::CheckoutFixture;
use crate::forms::{click_element, enter_text};
use crate::one_click::fixture_with_stored_accounts;

fn workspace_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Adds a page with only the form, and returns its address. Its style sheet is added by script, as the policy permits.
fn add_bare_page(fixture: &CheckoutFixture, sheet: &str, options: &str) -> String {
    fixture.add_page(&bare_script(sheet, options))
}

/// Same as [`add_bare_page`], with several ways to pay.
fn add_choice_page(fixture: &CheckoutFixture, sheet: &str, options: &str) -> String {
    let page = MerchantPage::for_checkout(&fixture.checkout).with_brands("VISA MASTER IDEAL DIRECTDEBIT_SEPA");
    fixture.site.add_page(page.with_script(&bare_script(sheet, options)))
}

/// Returns the script of a page with only the form.
pub fn bare_script(sheet: &str, options: &str) -> String {
    let bare = "body { margin: 0 } h1 { display: none } main { padding: 20px; font: 16px system-ui, sans-serif }";
    format!(
        "const sheet = new CSSStyleSheet(); sheet.replaceSync({:?});
         document.adoptedStyleSheets = [sheet];
         var wpwlOptions = {options};",
        format!("{bare} {}", sheet.replace('\n', " "))
    )
}

/// Returns a screenshot of the form as PNG.
async fn take_screenshot(browser: &Browser) -> anyhow::Result<Vec<u8>> {
    Ok(browser.find(By::Css("main")).await?.screenshot_as_png().await?)
}

#[tokio::test]
#[ignore = "makes target/contact-sheet/sheet.png: cargo xtask test -- --ignored contact_sheet"]
async fn contact_sheet_of_every_language() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let folder = workspace_folder().join("target/contact-sheet");
        std::fs::create_dir_all(&folder)?;
        browser.resize_page(400, 640).await?;
        let mut sheet = String::from(
            "<!doctype html><meta charset=utf-8><title>The form in every language</title><style>
             body { margin: 0; display: grid; grid-template-columns: repeat(5, 400px); font: 16px sans-serif; overflow: hidden }
             figure { margin: 0; border: 1px solid #ccc } img { display: block; width: 398px } figcaption { padding: 4px 12px; background: #eee }
             </style>",
        );
        for locale in LANGUAGES.iter().map(|language| language.name) {
            browser.goto(add_bare_page(&stage, "", &format!("{{ locale: '{locale}' }}"))).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.enter_number("4200000000000001").await?;
            form.enter_expiry("01 / 20").await?;
            form.enter_security_code("1").await?;
            form.press_pay_button().await?;
            for kind in ["cardNumberError", "expiryYearError", "cvvError"] {
                form.wait_for_hint(kind).await?;
            }
            std::fs::write(folder.join(format!("{locale}.png")), take_screenshot(&browser).await?)?;
            sheet += &format!("<figure><figcaption>{locale}</figcaption><img src='{locale}.png' alt=''></figure>\n");
        }
        std::fs::write(folder.join("index.html"), sheet)?;
        browser.goto(format!("file://{}", folder.join("index.html").canonicalize()?.display())).await?;
        let height = browser.evaluate("document.documentElement.scrollHeight").await?;
        browser.resize_page(2000, u32::try_from(height.as_u64().unwrap_or(4000))?).await?;
        browser.screenshot(&folder.join("sheet.png")).await?;
        Ok(())
    })
    .await
}

/// Returns the themes in the document: name in lower case, and style sheet. Skips chapters without one.
fn parse_themes(document: &str) -> Vec<(String, String)> {
    let chapters = document.split("\n### ").skip(1);
    let theme = |chapter: &str| {
        let name = chapter.lines().next()?.to_lowercase();
        let sheet = chapter.split_once("```css\n")?.1.split_once("```")?.0;
        Some((name, sheet.to_owned()))
    };
    chapters.filter_map(theme).collect()
}

#[tokio::test]
#[ignore = "makes docs/images/theme-*.png: cargo xtask test -- --ignored theme_pictures"]
async fn theme_pictures() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let document = std::fs::read_to_string(workspace_folder().join("docs/theme.md"))?;
        let mut themes = parse_themes(&document);
        assert!(themes.len() >= 3, "{themes:?}");
        themes.insert(0, ("default".to_owned(), String::new()));
        browser.resize_page(480, 480).await?;
        for (name, sheet) in themes {
            browser.goto(add_bare_page(&stage, &sheet, "{ brandDetection: true }")).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.enter_number("4200000000000000").await?;
            form.enter_expiry("01 / 20").await?;
            // An invalid field, a focused field, and a pressed button.
            form.enter_holder("Jane Jones").await?;
            form.wait_for_hint("expiryYearError").await?;
            let file = workspace_folder().join(format!("docs/images/theme-{name}.png"));
            std::fs::create_dir_all(workspace_folder().join("docs/images"))?;
            std::fs::write(file, take_screenshot(&browser).await?)?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
#[ignore = "makes target/choice/*.png: cargo xtask test -- --ignored choice_pictures"]
async fn choice_pictures() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[("registrationsDeletable", "true")]).await?;
    run_in_browser(move |browser| async move {
        let folder = workspace_folder().join("target/choice");
        std::fs::create_dir_all(&folder)?;
        browser.resize_page(360, 1000).await?;
        let dark = "body { background: #16181d; color: #eee }";
        for (name, sheet, locale) in [("light", "", "en"), ("dark", dark, "de"), ("rtl", "", "ar")] {
            for layout in ["accordion", "tabs"] {
                let options = format!("{{ methodLayout: '{layout}', locale: '{locale}' }}");
                browser.goto(add_choice_page(&stage, sheet, &options)).await?;
                browser.wait_until("document.querySelector('.wpwl-methods[aria-owns], .wpwl-tabs')").await?;
                for chosen in ["stored", "card", "IDEAL"] {
                    let choose = format!(
                        "[...document.querySelectorAll('.wpwl-method input')].find(it => it.value === '{chosen}')?.click();
                         if ('{chosen}' === 'stored') document.querySelector('[name=registrationId]').click();
                         [...document.querySelectorAll('.wpwl-tab')][['stored', 'card', 'IDEAL'].indexOf('{chosen}')]?.click()"
                    );
                    browser.execute(choose, vec![]).await?;
                    std::fs::write(folder.join(format!("{layout}-{name}-{chosen}.png")), take_screenshot(&browser).await?)?;
                }
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
#[ignore = "makes docs/images/marks-*.png: cargo xtask test -- --ignored marks_pictures"]
async fn marks_pictures() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let codes: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
        stage.open_forms(&browser, &codes.join(" "), "style: 'logos'").await?;
        browser.wait_until("document.querySelector('link[href$=\"/css/marks.css\"]')?.sheet").await?;
        browser.resize_page(920, 640).await?;
        for (name, colours) in [("light", "#1b2230; background: #fff"), ("dark", "#e8ecf3; background: #10151f")] {
            // The mark is the subject, not the button around it.
            let script = format!(
                "const sheet = new CSSStyleSheet();
                 sheet.replaceSync('.wpwl-logos {{ color: {colours}; max-width: none; margin: 0; padding: 16px; gap: 8px }}' +
                     '.wpwl-logo {{ min-height: 0; padding: 0; border: 0 }}');
                 document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];"
            );
            browser.execute(script, vec![]).await?;
            let row = browser.find(By::Css(".wpwl-logos")).await?;
            let file = workspace_folder().join(format!("docs/images/marks-{name}.png"));
            std::fs::write(file, row.screenshot_as_png().await?)?;
        }
        Ok(())
    })
    .await
}

/// Pictures of docs/methods.md: name, brands, options, and CSS of what is clicked first.
const METHODS: [(&str, &str, &str, &str); 6] = [
    ("card", "VISA MASTER AMEX", "{ showAmount: true, showOneClickWidget: false }", ""),
    ("two-brands", "VISA CARTEBANCAIRE", "{ locale: 'fr', showAmount: true, showOneClickWidget: false }", ""),
    ("stored", "VISA MASTER", "{ registrations: { hideInitialPaymentForms: true } }", ""),
    ("debit", "DIRECTDEBIT_SEPA", "{ showAmount: true, showOneClickWidget: false }", ""),
    ("accordion", "VISA MASTER IDEAL PAYPAL DIRECTDEBIT_SEPA", "{ methodLayout: 'accordion', showAmount: true }", ""),
    (
        "tabs",
        "VISA MASTER IDEAL DIRECTDEBIT_SEPA",
        "{ methodLayout: 'tabs', locale: 'de', showOneClickWidget: false }",
        ".wpwl-tab:nth-of-type(2)",
    ),
];

/// A dark page.
const DARK: &str = "body { background: #171a21; color: #eceff6 }";

#[tokio::test]
#[ignore = "makes docs/images/methods-*.png: cargo xtask test -- --ignored method_pictures"]
async fn method_pictures() -> anyhow::Result<()> {
    let (stage, _) = fixture_with_stored_accounts(&[("registrationsDeletable", "true")]).await?;
    run_in_browser(move |browser| async move {
        browser.resize_page(440, 900).await?;
        for (name, brands, options, click) in METHODS {
            let page = MerchantPage::for_checkout(&stage.checkout).with_brands(brands);
            browser
                .goto(
                    stage
                        .site
                        .add_page(page.with_script(&bare_script(if name == "tabs" { DARK } else { "" }, options))),
                )
                .await?;
            browser
                .wait_until("!document.querySelector('.wpwl-loading') && document.querySelector('.wpwl-button')")
                .await?;
            if options.contains("methodLayout") {
                browser.wait_until("document.querySelector('.wpwl-methods[aria-owns], .wpwl-tabs')").await?;
            }
            match name {
                "card" | "two-brands" => {
                    let form = CardForm::wait_until_ready(&browser).await?;
                    form.enter_number(if name == "card" { "5454545454545454" } else { "4975000000000003" }).await?;
                    form.enter_expiry("01 / 34").await?;
                    form.enter_holder("Jane Jones").await?;
                }
                "debit" => {
                    enter_text(&browser, ".wpwl-control-accountHolder", "Jane Jones").await?;
                    enter_text(&browser, ".wpwl-control-accountNumber", "DE23100000001234567890").await?;
                }
                _ if !click.is_empty() => click_element(&browser, click).await?,
                _ => {}
            }
            let file = workspace_folder().join(format!("docs/images/methods-{name}.png"));
            std::fs::write(file, take_screenshot(&browser).await?)?;
        }
        Ok(())
    })
    .await
}
