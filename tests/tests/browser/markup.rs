//! Markup that shadows names of the document, its forms and the window: the form pays all the same, and its frames stay the
//! gateway's. WebDriver's own scripts do not work in such a page, so the browser's tools drive it in a tab of its own.

use anyhow::Context as _;
use serde_json::json;
use tillgate_tests::{Browser, Page, Tab, browse, until};

use crate::{APPROVED, Stage};

/// The test's hands in such a page.
const HANDS: &str = include_str!("shadows.js");

/// Names of the prototypes behind the document, a form and the window, of the window itself, and of the form's globals, as this
/// browser has them.
const NAMES: &str = "(() => {
    const names = (node) => {
        const found = [];
        for (let at = Object.getPrototypeOf(node); at; at = Object.getPrototypeOf(at)) found.push(...Object.getOwnPropertyNames(at));
        return found.filter(name => /^[a-z_$][\\w$]*$/i.test(name));
    };
    const ours = ['wpwl', 'wpwlOptions', '__tillgate', 'tillgate', 'jQuery', '$', 'own', 'state'];
    const form = names(document.createElement('form'));
    const page = names(document);
    const all = [...page, ...form, ...names(window), ...Object.getOwnPropertyNames(window).filter(name => /^[a-z_$]/.test(name)), ...ours];
    return [[...new Set(all)], [...new Set(page)], [...new Set(form)]];
})()";

/// A kind of hostile markup: a name becomes an element.
struct Kind {
    name: &'static str,
    element: fn(&str) -> String,
    /// Frames cost a browser much; they take the document's names alone.
    is_frame: bool,
}

const KINDS: [Kind; 6] = [
    Kind { name: "images", element: image, is_frame: false },
    Kind { name: "embeds", element: |name| format!(r#"<embed name="{name}">"#), is_frame: false },
    Kind { name: "objects", element: |name| format!(r#"<object id="{name}"></object>"#), is_frame: false },
    Kind { name: "links", element: link, is_frame: false },
    Kind { name: "forms", element: form, is_frame: false },
    Kind { name: "frames", element: |name| format!(r#"<iframe name="{name}" hidden></iframe>"#), is_frame: true },
];

fn image(name: &str) -> String {
    let src = if name == "currentScript" { r#" src="https://attacker.example/v1/paymentWidgets.js?""# } else { "" };
    format!(r#"<img name="{name}" id="{name}"{src} alt="">"#)
}

/// Two of the same id are a collection, whose second has a name in it.
fn link(name: &str) -> String {
    format!(
        r#"<a id="{name}" href="https://attacker.example/">x</a><a id="{name}" name="shopperResultUrl" href="https://attacker.example/">x</a>"#
    )
}

/// A form's inputs stand for the properties of what it shadows.
fn form(name: &str) -> String {
    let inputs = ["unload", "checkoutId", "base", "framesBase", "look", "postTask", "createPolicy", "locale", "action"];
    let inputs: String = inputs.iter().map(|inner| format!(r#"<input name="{inner}" value="x">"#)).collect();
    format!(r#"<form name="{name}" id="{name}" hidden>{inputs}</form>"#)
}

fn hidden_inputs(names: &[String]) -> String {
    names.iter().map(|name| format!(r#"<input type="hidden" name="{name}" value="hostile">"#)).collect()
}

/// The names of a clean page of the merchant's: all, the document's, a form's.
async fn names(browser: &Browser, stage: &Stage) -> anyhow::Result<[Vec<String>; 3]> {
    browser.goto(format!("{}result", stage.site.public)).await?;
    let names: [Vec<String>; 3] = serde_json::from_value(browser.value(NAMES).await?)?;
    anyhow::ensure!(names.iter().all(|names| names.len() > 100), "this browser has names");
    Ok(names)
}

/// Hosts of the gateway and the merchant: nothing of the page comes from elsewhere.
async fn check_hosts(tab: &mut Tab, stage: &Stage, case: &str) -> anyhow::Result<()> {
    let host = |url: &str| url.trim_end_matches('/').trim_start_matches("http://").to_owned();
    let mut hosts = vec![host(&stage.gateway.public()), host(&stage.site.public)];
    hosts.sort();
    assert_eq!(tab.value("hands.hosts()").await?, json!(hosts), "{case}");
    Ok(())
}

/// Waits until the checkout is paid, by one submit, and the shopper is back on the merchant's site.
async fn until_paid(tab: &mut Tab, stage: &Stage, case: &str) -> anyhow::Result<()> {
    let id = stage.checkout.id();
    let paid = until("the payment", async || Ok((stage.code().await? == APPROVED).then_some(()))).await;
    if let Err(error) = paid {
        let said = tab.value("hands.said()").await.unwrap_or_default();
        return Err(error.context(format!("{case}: {} submits, the form says {said}", stage.submits())));
    }
    let is_result = |request: &String| request.starts_with("GET /result") && request.contains(id);
    until("the result page", async || Ok(stage.site.heard().iter().any(is_result).then_some(()))).await?;
    assert_eq!(stage.submits(), 1, "{case}");
    Ok(())
}

/// Opens the page, waits for what `ready` finds, and puts inputs named like a form's properties into the form that `css` finds.
async fn open(browser: &Browser, stage: &Stage, hostile: Hostile<'_>, ready: &str, css: &str) -> anyhow::Result<Tab> {
    let Hostile { page, case, form_names } = hostile;
    let mut tab = Tab::open(browser, &stage.site.add(page)).await?;
    tab.until(ready).await.with_context(|| case.to_owned())?;
    assert_eq!(tab.value("hands.isShadowed()").await?, true, "{case}");
    let inject = format!("hands.inject('{css}', {})", json!(form_names));
    assert_eq!(tab.value(&inject).await?, form_names.len(), "{case}: every name of the form is shadowed");
    check_hosts(&mut tab, stage, case).await?;
    Ok(tab)
}

/// A hostile page of a kind of markup, with a script before the form.
struct Hostile<'a> {
    page: Page,
    case: &'static str,
    form_names: &'a [String],
}

impl<'a> Hostile<'a> {
    fn new(stage: &Stage, kind: &Kind, [all, of_document, of_forms]: &'a [Vec<String>; 3], script: &str) -> Self {
        let taken = if kind.is_frame { of_document } else { all };
        let markup: String = taken.iter().map(|name| (kind.element)(name)).collect();
        let page = Page::of(&stage.checkout).script(&format!("{HANDS} {script}"));
        let page = page.before(&markup).inside(&hidden_inputs(of_forms));
        Self { page, case: kind.name, form_names: of_forms }
    }
}

#[tokio::test]
async fn a_card_is_paid_with_amid_markup_that_takes_every_name() -> anyhow::Result<()> {
    browse(move |browser| async move {
        let names = names(&browser, &Stage::new().await?).await?;
        for kind in &KINDS {
            let stage = Stage::new().await?;
            let hostile = Hostile::new(&stage, kind, &names, "");
            let mut tab = open(&browser, &stage, hostile, "hands.ready()", "form.wpwl-form-card").await?;
            tab.type_into_frame("field=card.number", "4200000000000000").await?;
            tab.type_into_frame("field=card.cvv", "123").await?;
            tab.value("hands.fill()").await?;
            check_hosts(&mut tab, &stage, kind.name).await?;
            tab.value("hands.press()").await?;
            until_paid(&mut tab, &stage, kind.name).await?;
            tab.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_brand_with_a_page_of_its_own_is_paid_with_amid_such_markup() -> anyhow::Result<()> {
    browse(move |browser| async move {
        let names = names(&browser, &Stage::new().await?).await?;
        for kind in &KINDS {
            let stage = Stage::new().await?;
            let mut hostile = Hostile::new(&stage, kind, &names, "");
            hostile.page = hostile.page.brands("IDEAL");
            let (ready, css) = ("hands.has('button.wpwl-button-pay, button.wpwl-button-brand')", "form.wpwl-form");
            let mut tab = open(&browser, &stage, hostile, ready, css).await?;
            tab.value("hands.click('button.wpwl-button-pay, button.wpwl-button-brand')").await?;
            tab.until("location.pathname.startsWith('/v1/simulator/')").await.context(kind.name)?;
            tab.until("document.querySelector('button[value=success]')").await?;
            tab.value("document.querySelector('button[value=success]').click()").await?;
            until_paid(&mut tab, &stage, kind.name).await?;
            tab.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_is_paid_with_amid_such_markup() -> anyhow::Result<()> {
    browse(move |browser| async move {
        let mut stage = Stage::new().await?;
        let names = names(&browser, &stage).await?;
        let card = [
            ("paymentBrand", "VISA"),
            ("card.number", "4200000000000000"),
            ("card.expiryMonth", "05"),
            ("card.expiryYear", "2034"),
        ];
        let stored = stage.merchant.post("v1/registrations", &card).await?;
        for kind in &KINDS {
            stage.checkout = stage.merchant.checkout(&[("registrations[0].id", stored.id())]).await?;
            let options = "var wpwlOptions = { registrations: { requireCvv: true } };";
            let hostile = Hostile::new(&stage, kind, &names, options);
            let css = "form.wpwl-form-registrations";
            let mut tab = open(&browser, &stage, hostile, &format!("hands.has('{css} iframe')"), css).await?;
            tab.type_into_frame("form=registration_", "123").await?;
            tab.value(&format!("hands.click('{css} .wpwl-button-pay')")).await?;
            until_paid(&mut tab, &stage, kind.name).await?;
            tab.close().await?;
        }
        Ok(())
    })
    .await
}
