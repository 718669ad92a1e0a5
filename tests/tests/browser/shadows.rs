//! What a page's scripts add to `Object.prototype`, and addresses that are none: the form pays all the same, its frames stay
//! the gateway's, and the shopper is sent to addresses of http and https only.

use serde_json::{Value, json};
use tillgate_tests::{Browser, CardForm, Page, browse};

use crate::Stage;

/// The test's hands in such a page.
const HANDS: &str = include_str!("shadows.js");

/// Waits for the result page.
async fn until_result(browser: &Browser, case: &str) -> anyhow::Result<()> {
    if let Err(error) = browser.until("location.pathname === '/result'").await {
        return Err(error.context(format!("{case}: {}", browser.value("hands.said()").await?)));
    }
    Ok(())
}

/// The hosts that a page may load from: the merchant's and the gateway's.
fn hosts(stage: &Stage) -> Vec<String> {
    let host = |url: &str| url.trim_end_matches('/').trim_start_matches("http://").to_owned();
    let mut hosts = vec![host(&stage.gateway.public()), host(&stage.site.public)];
    hosts.sort();
    hosts
}

/// What scripts of a page may add to every object, by what it is worth to them.
const ADDED: &[&str] = &[
    "src",
    "href",
    "action",
    "url",
    "method",
    "target",
    "redirect",
    "flow",
    "parameters",
    "preconditions",
    "config",
    "type",
    "form",
    "field",
    "brands",
    "brand",
    "relay",
    "kind",
    "ended",
    "up",
    "style",
    "locale",
    "id",
    "name",
    "checkout",
    "error",
    "start",
    "stop",
    "stopMore",
    "unload",
    "base",
    "framesBase",
    "build",
    "once",
    "signal",
    "capture",
    "passive",
    "get",
    "set",
    "value",
    "writable",
    "priority",
    "delay",
    "createHTML",
    "integrity",
    "crossorigin",
    "onload",
    "srcdoc",
    "threeDSecure",
    "chosen",
    "container",
    "pay",
    "act",
    "spinner",
    "cards",
    "message",
    "stands",
    "createCheckout",
    "shopperResultUrl",
    "paymentTarget",
    "useSummaryPage",
    "dir",
    "language",
    "own",
    "hint",
    "tillgate",
];

#[tokio::test]
async fn what_a_page_adds_to_every_object_leaves_the_payment_whole() -> anyhow::Result<()> {
    browse(move |browser| async move {
        for value in ["'https://attacker.example/x'", "{ url: 'https://attacker.example/x' }", "true"] {
            let stage = Stage::new().await?;
            let script = format!("for (const name of {}) Object.prototype[name] = {value};", json!(ADDED));
            let page =
                Page::of(&stage.checkout).script(&format!("{HANDS} window.pollute = () => {{ {script} }}; pollute();"));
            let clean = format!("for (const name of {}) delete Object.prototype[name]", json!(ADDED));
            browser.goto(stage.site.add(page)).await?;
            browser.until("hands.ready()").await?;
            assert_eq!(browser.value("hands.hosts()").await?, json!(hosts(&stage)), "{value}");
            // WebDriver's own scripts do not work among these.
            browser.execute(clean, vec![]).await?;
            let form = CardForm::standing(&browser).await?;
            form.number("4200000000000000").await?;
            form.code("123").await?;
            browser.execute("pollute()", vec![]).await?;
            browser.value("hands.fill()").await?;
            browser.value("hands.press()").await?;
            // WebDriver's own scripts work in the next page only.
            until_result(&browser, value).await?;
            stage.paid(&browser).await.map_err(|error| error.context(value))?;
            assert_eq!(stage.submits(), 1, "{value}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_shopper_is_sent_to_addresses_of_http_and_https_only() -> anyhow::Result<()> {
    browse(move |browser| async move {
        let bad = ["javascript:witness.note('ran', 'script')", " java\tscript:witness.note('ran', 'script')", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:x", "//"];
        for address in bad {
            let stage = Stage::new().await?;
            let options = json!({ "shopperResultUrl": address });
            let script = format!("var wpwlOptions = Object.assign({options}, {{ onError: error => witness.note('told', error.message) }});");
            // The placeholder's own address is no better.
            let page = Page::of(&stage.checkout).script(&script);
            browser.goto(stage.site.add(page)).await?;
            let form = CardForm::ready(&browser).await?;
            form.fill().await?;
            form.pay().await?;
            browser.until("witness.all().some(it => it.kind === 'told' && it.detail.includes('shopperResultUrl'))").await?;
            assert_eq!(browser.value("witness.all().filter(it => it.kind === 'ran').length").await?, Value::from(0));
            browser.execute("sessionStorage.clear()", vec![]).await?;
        }
        Ok(())
    })
    .await
}
