//! Output for assistive technology: Chromium's accessibility tree in reading order, and axe-core in every style,
//! direction and state.

use serde_json::{Value, json};
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser, run_in_new_browser};

use crate::CheckoutFixture;

/// Returns controls, groups and messages of the page as a screen reader reads them, in reading order and including
/// frames: role, name, the states invalid and pressed, and the description.
async fn read_accessibility_tree(browser: &Browser) -> anyhow::Result<Vec<String>> {
    browser.cdp().send_raw("Accessibility.enable", json!({})).await?;
    let frames = browser.cdp().send_raw("Page.getFrameTree", json!({})).await?;
    let mut lines = Vec::new();
    let mut queue = vec![frames["frameTree"].clone()];
    while let Some(tree) = queue.pop() {
        let parameters = json!({ "frameId": tree["frame"]["id"] });
        let nodes = browser.cdp().send_raw("Accessibility.getFullAXTree", parameters).await?;
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
    let stage = CheckoutFixture::new().await?;
    // One process for page and frames, so that one tree contains all of them.
    let together = ["--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process"];
    run_in_new_browser(&together, move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
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
        let lines = read_accessibility_tree(&browser).await?;
        assert_eq!(
            fields(&lines),
            [
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

        form.press_pay_button().await?;
        form.wait_for_hint("cvvError").await?;
        let aloud = async |line: &str| -> anyhow::Result<bool> {
            Ok(read_accessibility_tree(&browser).await?.iter().any(|it| it == line))
        };
        for line in [
            "textbox Expiry Date invalid=true (Please enter month and year.)",
            "textbox Card Number invalid=true (Please enter the card number.)",
            "textbox CVV invalid=true (Please enter the code.)",
        ] {
            tillgate_tests::poll_until(line, async || Ok(aloud(line).await?.then_some(()))).await?;
        }
        Ok(())
    })
    .await
}

/// Style, language and kind of page that axe-core checks, empty and with every error.
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
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        for (style, locale, dark) in LOOKS {
            let script = format!(
                "var wpwlOptions = {{ style: '{style}', locale: '{locale}', brandDetection: true, showCVVHint: true }};
                 document.documentElement.lang = '{locale}'; document.documentElement.dir = '{locale}' === 'ar' ? 'rtl' : 'ltr';
                 if ({dark}) {{ document.documentElement.style.background = '#101418'; document.documentElement.style.color = '#f2f4f8'; }}"
            );
            let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script).with_brands("VISA CARTEBANCAIRE MASTER");
            browser.goto(stage.site.add_page(page)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            browser.sweep("card form, empty").await?;
            form.press_pay_button().await?;
            form.wait_for_hint("cvvError").await?;
            // The choice of brands and the hint of the code are visible.
            form.enter_number("4200000000000000").await?;
            browser.wait_until("document.querySelector('.wpwl-brand-option')").await?;
            browser.sweep("card form with errors, choice of brands and the hint of the code").await?;
            browser.save_screenshot(&format!("axe-{style}-{locale}{}", if dark { "-dark" } else { "" })).await?;
        }
        Ok(())
    })
    .await
}
