//! Properties that a page's scripts add to `Object.prototype` (prototype pollution), and invalid addresses: the form
//! still pays, its frames are still the gateway's, and the shopper is redirected only to addresses of http and https.

use serde_json::{Value, json};
use tillgate_tests::{Browser, CardForm, MerchantPage, run_in_browser};

use crate::CheckoutFixture;

/// The test's functions in such a page.
const HANDS: &str = include_str!("shadows.js");

/// Waits for the result page. An error contains the form's messages.
async fn wait_for_result(browser: &Browser, case: &str) -> anyhow::Result<()> {
    if let Err(error) = browser.wait_until("location.pathname === '/result'").await {
        return Err(error.context(format!("{case}: {}", browser.evaluate("hands.said()").await?)));
    }
    Ok(())
}

/// Returns the hosts that a page may load from: the merchant's and the gateway's.
fn allowed_hosts(fixture: &CheckoutFixture) -> Vec<String> {
    let host = |url: &str| url.trim_end_matches('/').trim_start_matches("http://").to_owned();
    let mut hosts = vec![host(&fixture.gateway.public_url()), host(&fixture.site.public)];
    hosts.sort();
    hosts
}

/// Properties that are most useful to an attacker if every object has them.
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
    run_in_browser(move |browser| async move {
        for value in ["'https://attacker.example/x'", "{ url: 'https://attacker.example/x' }", "true"] {
            let stage = CheckoutFixture::new().await?;
            let script = format!("for (const name of {}) Object.prototype[name] = {value};", json!(ADDED));
            let page = MerchantPage::for_checkout(&stage.checkout)
                .with_script(&format!("{HANDS} window.pollute = () => {{ {script} }}; pollute();"));
            let clean = format!("for (const name of {}) delete Object.prototype[name]", json!(ADDED));
            browser.goto(stage.site.add_page(page)).await?;
            browser.wait_until("hands.ready()").await?;
            assert_eq!(browser.evaluate("hands.hosts()").await?, json!(allowed_hosts(&stage)), "{value}");
            // WebDriver's own scripts do not work with these properties.
            browser.execute(clean, vec![]).await?;
            let form = CardForm::wait_until_usable(&browser).await?;
            form.enter_number("4200000000000000").await?;
            form.enter_security_code("123").await?;
            browser.execute("pollute()", vec![]).await?;
            browser.evaluate("hands.fill()").await?;
            browser.evaluate("hands.press()").await?;
            // WebDriver's own scripts work again in the next page.
            wait_for_result(&browser, value).await?;
            stage.wait_until_paid(&browser).await.map_err(|error| error.context(value))?;
            assert_eq!(stage.submit_count(), 1, "{value}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_shopper_is_sent_to_addresses_of_http_and_https_only() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        let bad = ["javascript:witness.note('ran', 'script')", " java\tscript:witness.note('ran', 'script')", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:x", "//"];
        for address in bad {
            let stage = CheckoutFixture::new().await?;
            let options = json!({ "shopperResultUrl": address });
            let script = format!("var wpwlOptions = Object.assign({options}, {{ onError: error => witness.note('told', error.message) }});");
            // The option takes precedence over the placeholder's address, which is valid.
            let page = MerchantPage::for_checkout(&stage.checkout).with_script(&script);
            browser.goto(stage.site.add_page(page)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            form.press_pay_button().await?;
            browser.wait_until("witness.all().some(it => it.kind === 'told' && it.detail.includes('shopperResultUrl'))").await?;
            assert_eq!(browser.evaluate("witness.all().filter(it => it.kind === 'ran').length").await?, Value::from(0));
            browser.execute("sessionStorage.clear()", vec![]).await?;
        }
        Ok(())
    })
    .await
}
