//! Markup that shadows names of the document, its forms and the window (DOM clobbering): the form still pays, and its
//! frames are still the gateway's. WebDriver's own scripts do not work in such a page, so the tests use the DevTools
//! protocol in a separate tab.

use anyhow::Context as _;
use serde_json::json;
use tillgate_tests::{Browser, MerchantPage, Tab, poll_until, run_in_desktop_browser};

use crate::{APPROVED, CheckoutFixture};

/// The test's functions in such a page.
const HANDS: &str = include_str!("shadows.js");

/// Script that returns the property names of the document, of a form and of the window in this browser, and of the
/// form's globals.
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

/// A kind of hostile markup, which turns a name into an element.
struct MarkupKind {
    name: &'static str,
    element: fn(&str) -> String,
    /// Frames are expensive, so they shadow only the document's names.
    is_frame: bool,
}

const KINDS: [MarkupKind; 6] = [
    MarkupKind { name: "images", element: image_markup, is_frame: false },
    MarkupKind { name: "embeds", element: |name| format!(r#"<embed name="{name}">"#), is_frame: false },
    MarkupKind { name: "objects", element: |name| format!(r#"<object id="{name}"></object>"#), is_frame: false },
    MarkupKind { name: "links", element: link_markup, is_frame: false },
    MarkupKind { name: "forms", element: form_markup, is_frame: false },
    MarkupKind { name: "frames", element: |name| format!(r#"<iframe name="{name}" hidden></iframe>"#), is_frame: true },
];

/// Returns an image. `currentScript` gets the address of a loader on another host.
fn image_markup(name: &str) -> String {
    let src = if name == "currentScript" { r#" src="https://attacker.example/v1/paymentWidgets.js?""# } else { "" };
    format!(r#"<img name="{name}" id="{name}"{src} alt="">"#)
}

/// Returns two links with the same id, which form a collection. The name of the second is a property of this
/// collection.
fn link_markup(name: &str) -> String {
    format!(
        r#"<a id="{name}" href="https://attacker.example/">x</a><a id="{name}" name="shopperResultUrl" href="https://attacker.example/">x</a>"#
    )
}

/// Returns a form whose inputs shadow its properties.
fn form_markup(name: &str) -> String {
    let inputs = ["unload", "checkoutId", "base", "framesBase", "look", "postTask", "createPolicy", "locale", "action"];
    let inputs: String = inputs.iter().map(|inner| format!(r#"<input name="{inner}" value="x">"#)).collect();
    format!(r#"<form name="{name}" id="{name}" hidden>{inputs}</form>"#)
}

fn hidden_inputs(names: &[String]) -> String {
    names.iter().map(|name| format!(r#"<input type="hidden" name="{name}" value="hostile">"#)).collect()
}

/// Returns the property names in a clean page of the merchant: all, the document's, and a form's. Fails if there are
/// few.
async fn read_property_names(browser: &Browser, fixture: &CheckoutFixture) -> anyhow::Result<[Vec<String>; 3]> {
    browser.goto(format!("{}result", fixture.site.public)).await?;
    let names: [Vec<String>; 3] = serde_json::from_value(browser.evaluate(NAMES).await?)?;
    anyhow::ensure!(names.iter().all(|names| names.len() > 100), "this browser has names");
    Ok(names)
}

/// Asserts that the page has loaded from exactly the hosts of the gateway and the merchant.
async fn check_hosts(tab: &mut Tab, fixture: &CheckoutFixture, case: &str) -> anyhow::Result<()> {
    let host = |url: &str| url.trim_end_matches('/').trim_start_matches("http://").to_owned();
    let mut hosts = vec![host(&fixture.gateway.public_url()), host(&fixture.site.public)];
    hosts.sort();
    assert_eq!(tab.evaluate("hands.hosts()").await?, json!(hosts), "{case}");
    Ok(())
}

/// Waits until the checkout is paid and the result page was requested, and asserts that it was submitted once. An error
/// contains the form's messages.
async fn wait_until_paid(tab: &mut Tab, fixture: &CheckoutFixture, case: &str) -> anyhow::Result<()> {
    let id = fixture.checkout.id();
    let paid =
        poll_until("the payment", async || Ok((fixture.read_result_code().await? == APPROVED).then_some(()))).await;
    if let Err(error) = paid {
        let messages = tab.evaluate("hands.said()").await.unwrap_or_default();
        return Err(error.context(format!("{case}: {} submits, the form says {messages}", fixture.submit_count())));
    }
    let is_result = |request: &String| request.starts_with("GET /result") && request.contains(id);
    poll_until("the result page", async || Ok(fixture.site.received_requests().iter().any(is_result).then_some(())))
        .await?;
    assert_eq!(fixture.submit_count(), 1, "{case}");
    Ok(())
}

/// Opens the page, waits until `ready` is true, and inserts inputs with the names of a form's properties into the form
/// that matches `css`. Asserts that all names are shadowed, and the hosts that the page loads from.
async fn open_hostile_page(
    browser: &Browser,
    fixture: &CheckoutFixture,
    hostile: HostilePage<'_>,
    ready: &str,
    css: &str,
) -> anyhow::Result<Tab> {
    let HostilePage { page, case, form_names } = hostile;
    let mut tab = Tab::open(browser, &fixture.site.add_page(page)).await?;
    tab.wait_until(ready).await.with_context(|| case.to_owned())?;
    assert_eq!(tab.evaluate("hands.isShadowed()").await?, true, "{case}");
    let inject = format!("hands.inject('{css}', {})", json!(form_names));
    assert_eq!(tab.evaluate(&inject).await?, form_names.len(), "{case}: every name of the form is shadowed");
    check_hosts(&mut tab, fixture, case).await?;
    Ok(tab)
}

/// A hostile page with one kind of markup, and a script before the form.
struct HostilePage<'a> {
    page: MerchantPage,
    case: &'static str,
    form_names: &'a [String],
}

impl<'a> HostilePage<'a> {
    /// Creates a page that shadows all names, or only the document's with frames. `names` are those of
    /// [`read_property_names`].
    fn new(
        fixture: &CheckoutFixture,
        kind: &MarkupKind,
        [all, of_document, of_forms]: &'a [Vec<String>; 3],
        script: &str,
    ) -> Self {
        let shadowed = if kind.is_frame { of_document } else { all };
        let markup: String = shadowed.iter().map(|name| (kind.element)(name)).collect();
        let page = MerchantPage::for_checkout(&fixture.checkout).with_script(&format!("{HANDS} {script}"));
        let page = page.with_markup_before(&markup).with_markup_inside(&hidden_inputs(of_forms));
        Self { page, case: kind.name, form_names: of_forms }
    }
}

#[tokio::test]
async fn a_card_is_paid_with_amid_markup_that_takes_every_name() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let names = read_property_names(&browser, &CheckoutFixture::new().await?).await?;
        for kind in &KINDS {
            let stage = CheckoutFixture::new().await?;
            let hostile = HostilePage::new(&stage, kind, &names, "");
            let mut tab = open_hostile_page(&browser, &stage, hostile, "hands.ready()", "form.wpwl-form-card").await?;
            tab.type_into_frame("field=card.number", "4200000000000000").await?;
            tab.type_into_frame("field=card.cvv", "123").await?;
            tab.evaluate("hands.fill()").await?;
            check_hosts(&mut tab, &stage, kind.name).await?;
            tab.evaluate("hands.press()").await?;
            wait_until_paid(&mut tab, &stage, kind.name).await?;
            tab.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_brand_with_a_page_of_its_own_is_paid_with_amid_such_markup() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let names = read_property_names(&browser, &CheckoutFixture::new().await?).await?;
        for kind in &KINDS {
            let stage = CheckoutFixture::new().await?;
            let mut hostile = HostilePage::new(&stage, kind, &names, "");
            hostile.page = hostile.page.with_brands("IDEAL");
            let (ready, css) = ("hands.has('button.wpwl-button-pay, button.wpwl-button-brand')", "form.wpwl-form");
            let mut tab = open_hostile_page(&browser, &stage, hostile, ready, css).await?;
            tab.evaluate("hands.click('button.wpwl-button-pay, button.wpwl-button-brand')").await?;
            tab.wait_until("location.pathname.startsWith('/v1/simulator/')").await.context(kind.name)?;
            tab.wait_until("document.querySelector('button[value=success]')").await?;
            tab.evaluate("document.querySelector('button[value=success]').click()").await?;
            wait_until_paid(&mut tab, &stage, kind.name).await?;
            tab.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stored_card_is_paid_with_amid_such_markup() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let mut stage = CheckoutFixture::new().await?;
        let names = read_property_names(&browser, &stage).await?;
        let card = [
            ("paymentBrand", "VISA"),
            ("card.number", "4200000000000000"),
            ("card.expiryMonth", "05"),
            ("card.expiryYear", "2034"),
        ];
        let stored = stage.merchant.post("v1/registrations", &card).await?;
        for kind in &KINDS {
            stage.checkout = stage.merchant.create_checkout(&[("registrations[0].id", stored.id())]).await?;
            let options = "var wpwlOptions = { registrations: { requireCvv: true } };";
            let hostile = HostilePage::new(&stage, kind, &names, options);
            let css = "form.wpwl-form-registrations";
            let mut tab =
                open_hostile_page(&browser, &stage, hostile, &format!("hands.has('{css} iframe')"), css).await?;
            tab.type_into_frame("form=registration_", "123").await?;
            tab.evaluate(&format!("hands.click('{css} .wpwl-button-pay')")).await?;
            wait_until_paid(&mut tab, &stage, kind.name).await?;
            tab.close().await?;
        }
        Ok(())
    })
    .await
}
