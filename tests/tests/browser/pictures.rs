//! Pictures for people, made on request and left out of an ordinary run: the form in every language on one sheet, and the
//! themes of docs/theme.md.

use std::path::{Path, PathBuf};

use thirtyfour::prelude::*;
use tillgate_shared::language::LANGUAGES;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, browse};

use crate::Stage;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A page with nothing but the form, under a style sheet of its own, as the policy permits it.
fn bare(stage: &Stage, sheet: &str, options: &str) -> String {
    let bare = "body { margin: 0 } h1 { display: none } main { padding: 20px; font: 16px system-ui, sans-serif }";
    let script = format!(
        "const sheet = new CSSStyleSheet(); sheet.replaceSync({:?});
         document.adoptedStyleSheets = [sheet];
         var wpwlOptions = {options};",
        format!("{bare} {}", sheet.replace('\n', " "))
    );
    stage.page(&script)
}

/// The form in the page, as a picture.
async fn photograph(browser: &Browser) -> anyhow::Result<Vec<u8>> {
    Ok(browser.find(By::Css("main")).await?.screenshot_as_png().await?)
}

#[tokio::test]
#[ignore = "makes target/contact-sheet/sheet.png: cargo xtask test -- --ignored contact_sheet"]
async fn contact_sheet_of_every_language() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let folder = root().join("target/contact-sheet");
        std::fs::create_dir_all(&folder)?;
        browser.resize(400, 640).await?;
        let mut sheet = String::from(
            "<!doctype html><meta charset=utf-8><title>The form in 25 languages</title><style>
             body { margin: 0; display: grid; grid-template-columns: repeat(5, 400px); font: 16px sans-serif; overflow: hidden }
             figure { margin: 0; border: 1px solid #ccc } img { display: block; width: 398px } figcaption { padding: 4px 12px; background: #eee }
             </style>",
        );
        for locale in LANGUAGES.iter().map(|language| language.name) {
            browser.goto(bare(&stage, "", &format!("{{ locale: '{locale}' }}"))).await?;
            let form = CardForm::ready(&browser).await?;
            form.number("4200000000000001").await?;
            form.expiry("01 / 20").await?;
            form.code("1").await?;
            form.pay().await?;
            for kind in ["cardNumberError", "expiryYearError", "cvvError"] {
                form.hint(kind).await?;
            }
            std::fs::write(folder.join(format!("{locale}.png")), photograph(&browser).await?)?;
            sheet += &format!("<figure><figcaption>{locale}</figcaption><img src='{locale}.png' alt=''></figure>\n");
        }
        std::fs::write(folder.join("index.html"), sheet)?;
        browser.goto(format!("file://{}", folder.join("index.html").canonicalize()?.display())).await?;
        let height = browser.value("document.documentElement.scrollHeight").await?;
        browser.resize(2000, u32::try_from(height.as_u64().unwrap_or(4000))?).await?;
        browser.screenshot(&folder.join("sheet.png")).await?;
        Ok(())
    })
    .await
}

/// The themes of the document: name and style sheet.
fn themes(document: &str) -> Vec<(String, String)> {
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
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let document = std::fs::read_to_string(root().join("docs/theme.md"))?;
        let mut themes = themes(&document);
        assert!(themes.len() >= 3, "{themes:?}");
        themes.insert(0, ("default".to_owned(), String::new()));
        browser.resize(480, 480).await?;
        for (name, sheet) in themes {
            browser.goto(bare(&stage, &sheet, "{ brandDetection: true }")).await?;
            let form = CardForm::ready(&browser).await?;
            form.number("4200000000000000").await?;
            form.expiry("01 / 20").await?;
            // A field that is wrong, one that is in use, and the button as it is pressed.
            form.holder("Jane Jones").await?;
            form.hint("expiryYearError").await?;
            let file = root().join(format!("docs/images/theme-{name}.png"));
            std::fs::create_dir_all(root().join("docs/images"))?;
            std::fs::write(file, photograph(&browser).await?)?;
        }
        Ok(())
    })
    .await
}
