//! Names that a page's markup takes away from the document, its forms and the window, and what its scripts add to
//! `Object.prototype`: the form pays all the same, and its frames stay the gateway's.

use serde_json::{Value, json};
use tillgate_tests::{Browser, CardForm, Page, browse};

use crate::Stage;

/// The test's hands in such a page.
const HANDS: &str = include_str!("shadows.js");

/// Every name that a document, a form or a window has by itself, as this browser knows them, and those of the form's.
const NAMES: &str = "(() => {
    const names = owner => Object.getOwnPropertyNames(owner);
    const up = node => { const found = []; for (let at = Object.getPrototypeOf(node); at; at = Object.getPrototypeOf(at)) found.push(...names(at)); return found; };
    const ours = ['wpwl', 'wpwlOptions', '__tillgate', 'jQuery', '$', 'scheduler', 'trustedTypes', 'requestIdleCallback', 'ResizeObserver', 'own', 'state'];
    const all = new Set([...up(document), ...up(document.createElement('form')), ...up(window), ...names(window), ...ours]);
    return [...all].filter(name => /^[a-z_$][\\w$]*$/i.test(name));
})()";

/// Every name that a form has by itself.
const FORM_NAMES: &str = "(() => {
    const found = new Set();
    for (let at = Object.getPrototypeOf(document.createElement('form')); at; at = Object.getPrototypeOf(at))
        for (const name of Object.getOwnPropertyNames(at)) if (/^[a-z_$][\\w$]*$/i.test(name)) found.add(name);
    return [...found];
})()";

/// Markup that takes names, by what it is made of.
type Hostile = (&'static str, fn(&str) -> String);

const MARKUP: [Hostile; 5] = [
    ("images", |name| {
        let src = if name == "currentScript" { r#" src="https://attacker.example/v1/paymentWidgets.js?""# } else { "" };
        format!(r#"<img class="hostile" name="{name}" id="{name}"{src} alt="">"#)
    }),
    ("embeds", |name| format!(r#"<embed class="hostile" name="{name}">"#)),
    ("objects", |name| format!(r#"<object class="hostile" id="{name}"></object>"#)),
    ("links", |name| {
        format!(
            r#"<a class="hostile" id="{name}" href="https://attacker.example/">x</a><a class="hostile" id="{name}" name="shopperResultUrl" href="https://attacker.example/">x</a>"#
        )
    }),
    ("forms", |name| {
        let inputs = [
            "unload",
            "checkoutId",
            "base",
            "framesBase",
            "look",
            "postTask",
            "createPolicy",
            "locale",
            "action",
            "style",
        ];
        let inputs: String = inputs.iter().map(|inner| format!(r#"<input name="{inner}" value="x">"#)).collect();
        format!(r#"<form class="hostile" name="{name}" id="{name}" hidden>{inputs}</form>"#)
    }),
];

async fn names(browser: &Browser, expression: &str) -> anyhow::Result<Vec<String>> {
    let names: Vec<String> = serde_json::from_value(browser.value(expression).await?)?;
    anyhow::ensure!(names.len() > 100, "this browser has names: {}", names.len());
    Ok(names)
}

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

#[tokio::test]
async fn markup_that_takes_every_name_of_the_page_leaves_the_payment_whole() -> anyhow::Result<()> {
    browse(move |browser| async move {
        let stage = Stage::new().await?;
        browser.goto(stage.page("")).await?;
        let (all, of_forms) = (names(&browser, NAMES).await?, names(&browser, FORM_NAMES).await?);
        for (kind, element) in MARKUP {
            let stage = Stage::new().await?;
            let markup: String = all.iter().map(|name| element(name)).collect();
            let inputs: String =
                of_forms.iter().map(|name| format!(r#"<input type="hidden" name="{name}">"#)).collect();
            let page = Page::of(&stage.checkout).script(HANDS).before(&markup).inside(&inputs).brands("VISA MASTER");
            browser.goto(stage.site.add(page)).await?;
            browser.until("hands.ready()").await?;
            if kind != "links" {
                for name in ["currentScript", "createElement", "querySelectorAll", "body", "head", "readyState"] {
                    assert_eq!(browser.value(&format!("hands.isTaken('{name}')")).await?, true, "{kind}: {name}");
                }
            }
            assert_eq!(browser.value("hands.hosts()").await?, json!(hosts(&stage)), "{kind}");
            browser.value("hands.lift()").await?;
            let form = CardForm::standing(&browser).await?;
            form.number("4200000000000000").await?;
            form.code("123").await?;
            browser.value("hands.restore()").await?;
            browser.value("hands.fill()").await?;
            assert_eq!(browser.value("hands.hosts()").await?, json!(hosts(&stage)), "{kind}");
            browser.value("hands.press()").await?;
            // WebDriver's own scripts work in the next page only.
            until_result(&browser, kind).await?;
            stage.paid(&browser).await.map_err(|error| error.context(kind))?;
            assert_eq!(stage.submits(), 1, "{kind}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn inputs_of_the_merchants_that_are_named_like_a_forms_properties_leave_the_payment_whole() -> anyhow::Result<()>
{
    browse(move |browser| async move {
        let stage = Stage::new().await?;
        browser.goto(stage.page(HANDS)).await?;
        let form = CardForm::ready(&browser).await?;
        let of_forms = names(&browser, FORM_NAMES).await?;
        form.number("4200000000000000").await?;
        form.code("123").await?;
        assert_eq!(browser.execute("return hands.inject(arguments[0])", vec![json!(of_forms)]).await?.json(), true);
        browser.value("hands.fill()").await?;
        browser.value("hands.press()").await?;
        until_result(&browser, "inputs").await?;
        stage.paid(&browser).await?;
        assert_eq!(stage.submits(), 1);
        Ok(())
    })
    .await
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
