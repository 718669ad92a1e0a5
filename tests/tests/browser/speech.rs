//! What assistive technology is given: Chromium's accessibility tree, in the order in which it is read, and axe-core
//! in every style, direction and state.

use serde_json::{Value, json};
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, Page, browse, browse_with};

use crate::Stage;

/// Roles and names of what a screen reader meets in the form, in reading order, frames included.
async fn read_aloud(browser: &Browser) -> anyhow::Result<Vec<String>> {
    browser.cdp().send_raw("Accessibility.enable", json!({})).await?;
    let frames = browser.cdp().send_raw("Page.getFrameTree", json!({})).await?;
    let mut lines = Vec::new();
    let mut queue = vec![frames["frameTree"].clone()];
    while let Some(tree) = queue.pop() {
        let asked = json!({ "frameId": tree["frame"]["id"] });
        let nodes = browser.cdp().send_raw("Accessibility.getFullAXTree", asked).await?;
        for node in nodes["nodes"].as_array().into_iter().flatten() {
            let text = |of: &Value| of["value"].as_str().unwrap_or_default().to_owned();
            let role = text(&node["role"]);
            if node["ignored"] == true
                || !matches!(
                    role.as_str(),
                    "combobox" | "textbox" | "button" | "Iframe" | "status" | "alert" | "group" | "tooltip"
                )
            {
                continue;
            }
            let properties: Vec<String> = node["properties"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|it| matches!(it["name"].as_str(), Some("invalid" | "pressed")))
                .map(|it| {
                    format!(
                        " {}={}",
                        it["name"].as_str().unwrap_or_default(),
                        it["value"]["value"].as_str().map_or_else(|| it["value"]["value"].to_string(), str::to_owned)
                    )
                })
                .filter(|it| it != " invalid=false")
                .collect();
            let description = text(&node["description"]);
            let description = if description.is_empty() { String::new() } else { format!(" ({description})") };
            lines.push(format!("{role} {}{}{description}", text(&node["name"]), properties.concat()));
        }
        queue.extend(tree["childFrames"].as_array().into_iter().flatten().rev().cloned());
    }
    Ok(lines)
}

#[tokio::test]
async fn a_screen_reader_meets_the_fields_in_their_order_with_names_and_errors() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    // One process for page and frames, so that one tree can be asked for all of them.
    let together = ["--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process"];
    browse_with(&together, move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let fields = |lines: &[String]| -> Vec<String> {
            lines
                .iter()
                .filter(|line| {
                    line.starts_with("combobox")
                        || line.starts_with("textbox")
                        || line.starts_with("button")
                        || line.starts_with("Iframe")
                })
                .cloned()
                .collect()
        };
        let lines = read_aloud(&browser).await?;
        assert_eq!(
            fields(&lines),
            [
                "combobox Brand",
                "Iframe Card Number",
                "textbox Expiry Date",
                "textbox Card holder",
                "Iframe CVV",
                "button Pay now",
                "textbox Card Number",
                "textbox CVV"
            ],
            "{lines:#?}"
        );
        assert_eq!(lines.iter().filter(|line| line.starts_with("status")).count(), 1, "{lines:#?}");
        assert!(
            lines.iter().all(|line| !line.trim_start_matches("Iframe").to_lowercase().contains("frame")),
            "{lines:#?}"
        );

        form.pay().await?;
        form.hint("cvvError").await?;
        let aloud =
            async |line: &str| -> anyhow::Result<bool> { Ok(read_aloud(&browser).await?.iter().any(|it| it == line)) };
        for line in [
            "textbox Expiry Date invalid=true (Please enter month and year.)",
            "textbox Card Number invalid=true (Please enter the card number.)",
            "textbox CVV invalid=true (Please check the code.)",
        ] {
            tillgate_tests::until(line, async || Ok(aloud(line).await?.then_some(()))).await?;
        }
        Ok(())
    })
    .await
}

/// A style, a direction and a page: what axe-core looks at, empty and with every error.
const LOOKS: [(&str, &str, bool); 8] = [
    ("card", "en", false),
    ("card", "en", true),
    ("card", "ar", false),
    ("card", "ar", true),
    ("plain", "en", false),
    ("plain", "ar", true),
    ("none", "en", false),
    ("none", "ar", false),
];

#[tokio::test]
async fn axe_finds_nothing_in_any_style_direction_and_state() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        for (style, locale, dark) in LOOKS {
            let script = format!(
                "var wpwlOptions = {{ style: '{style}', locale: '{locale}', brandDetection: true, showCVVHint: true }};
                 document.documentElement.lang = '{locale}'; document.documentElement.dir = '{locale}' === 'ar' ? 'rtl' : 'ltr';
                 if ({dark}) {{ document.documentElement.style.background = '#101418'; document.documentElement.style.color = '#f2f4f8'; }}"
            );
            let page = Page::of(&stage.checkout).script(&script).brands("VISA CARTEBANCAIRE MASTER");
            browser.goto(stage.site.add(page)).await?;
            let form = CardForm::ready(&browser).await?;
            let place = format!("{style} {locale}{}", if dark { " dark" } else { "" });
            let found = browser.axe().await?;
            assert!(found.is_empty(), "{place}:\n{}", found.join("\n"));
            form.pay().await?;
            form.hint("cvvError").await?;
            // A choice of brands, and the code's hint in the open.
            form.number("4200000000000000").await?;
            browser.until("document.querySelector('.wpwl-brand-option')").await?;
            form.find(tillgate_tests::card_form::CODE).await?.click().await?;
            browser.until("document.querySelector('.wpwl-cvv-hint').checkVisibility()").await?;
            let found = browser.axe().await?;
            assert!(found.is_empty(), "{place}, with errors:\n{}", found.join("\n"));
            browser.picture(&format!("axe-{style}-{locale}{}", if dark { "-dark" } else { "" })).await?;
        }
        Ok(())
    })
    .await
}
