//! A page that gives every object any property that the form, its libraries or the browser could ask for, as a text, a
//! flag, a function, an object or an accessor: the form still pays. WebDriver's own scripts do not work in such a page,
//! so the tests use the DevTools protocol in a separate tab, and the properties are there from the page's first script
//! to its end.

use std::collections::BTreeSet;

use anyhow::Context as _;
use reqwest::Method;
use serde_json::{Value, json};
use tillgate_tests::{Browser, MerchantPage, Tab, poll_until, run_in_desktop_browser};

use crate::{APPROVED, CheckoutFixture};

/// The test's functions in such a page.
const HANDS: &str = include_str!("shadows.js");

/// The messages between the page module and the frames: their names are data of the page module, not of its glue.
const WIRE: [&str; 5] = [
    include_str!("../../../shared/src/frame_messages/answer.rs"),
    include_str!("../../../shared/src/frame_messages/config.rs"),
    include_str!("../../../shared/src/frame_messages/field.rs"),
    include_str!("../../../shared/src/frame_messages/json.rs"),
    include_str!("../../../shared/src/frame_messages/relay.rs"),
];

/// Members of the dictionaries that browsers read from the form's arguments, of property descriptors, iterators and
/// promises, and the first places of a list.
const MEMBERS: &str = "
    capture passive once signal bubbles cancelable composed detail view childList subtree attributes characterData
    attributeFilter attributeOldValue characterDataOldValue fatal ignoreBOM stream get set value writable enumerable
    configurable createHTML createScript createScriptURL priority delay preventScroll focusVisible box targetOrigin
    transfer includeUserActivation localeMatcher style type fallback languageDisplay usage numeric caseFirst sensitivity
    ignorePunctuation collation baseURL media disabled builtins importedStringConstants cause is customElementRegistry
    mode method body headers credentials cache redirect referrer referrerPolicy integrity keepalive duplex window next
    done return throw then catch finally raw index input groups indices lastIndex global toJSON module instance exports
    read written __yew_subtree_id __yew_subtree_cache_key __yew_listener_id _wbg_cb_unref tillgateSeen 0 1 2 3 4 5";

/// Values of the properties, each with members of a property descriptor.
const VALUES: [(&str, &str); 4] = [
    ("a text", "value: 'https://attacker.example/x', writable: true"),
    ("a flag", "value: true, writable: true"),
    ("a function", "value: function () { return 'https://attacker.example/x'; }, writable: true"),
    ("an object", "value: { url: 'https://attacker.example/x' }, writable: true"),
];

/// Properties that take no other value. The places of a list are left out: with such properties of their names, the
/// language's own `push` adds nothing to a list, or throws.
const FIXED_VALUES: [(&str, &str); 2] = [
    ("an accessor", "get() { return 'https://attacker.example/x'; }, set() {}"),
    ("a text that cannot be changed", "value: 'https://attacker.example/x', writable: false"),
];

/// Number of properties that are added at a time.
const FEW: usize = 8;

/// Adds every word of a source that can be the name of a property.
fn add_words(names: &mut BTreeSet<String>, source: &str) {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    names.extend(source.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).map(str::to_owned));
}

/// Returns the text of a script around the module's bytes, which are one long literal.
fn without_module(script: &str) -> String {
    let lines = script.split_once("asm\u{1}").map_or(script, |(before, _)| before);
    lines.trim_end_matches(['\0', '\'', '(']).to_owned()
}

/// A kind of page module: its file in a build, and a script that makes the form load it.
#[derive(Debug, Clone, Copy)]
struct ModuleKind {
    file: &'static str,
    script: &'static str,
}

/// The module in wasm.
const WASM: ModuleKind = ModuleKind { file: "js/static.min.js", script: "" };
/// The same in JavaScript, for browsers without wasm.
const JAVASCRIPT: ModuleKind = ModuleKind { file: "js/plain/static.min.js", script: "window.WebAssembly = undefined;" };

/// Returns the names of all properties that the form's scripts in the page, their messages, the merchant's options and
/// the dictionaries of browsers have. The language's own are left out: no page works without them.
async fn list_names(
    browser: &Browser,
    fixture: &CheckoutFixture,
    kind: ModuleKind,
) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let get = async |path: &str| fixture.merchant.bare_request(Method::GET, path).send().await;
    let loader = get("v1/paymentWidgets.js").await?.text().await?;
    let config = get("v1/pciIframe.html").await?.text().await?;
    let build = config.split_once(r#""build":""#).and_then(|(_, rest)| rest.split('"').next()).context("the build")?;
    let module = get(&format!("v1/static/{build}/{}", kind.file)).await?.bytes().await?;
    let module = without_module(&String::from_utf8_lossy(&module));
    let options = get("v1/wpwl.d.ts").await?.text().await?;
    for source in [loader.as_str(), &module, &options, MEMBERS].into_iter().chain(WIRE) {
        add_words(&mut names, source);
    }
    let own = browser.evaluate("Object.getOwnPropertyNames(Object.prototype)").await?;
    for name in own.as_array().into_iter().flatten().filter_map(Value::as_str) {
        names.remove(name);
    }
    anyhow::ensure!(names.len() > 1000 && names.contains("querySelector"), "only {} names", names.len());
    Ok(names)
}

/// Pays with a card in a page whose every object has these properties. An error contains those of the page and the
/// form's messages.
async fn pay_amid(
    browser: &Browser,
    kind: ModuleKind,
    names: &[&String],
    (case, value): (&str, &str),
) -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    let script = format!(
        "window.problems = '';
        addEventListener('error', (event) => {{ problems += `${{event.message}}; `; }});
        var wpwlOptions = {{ onError(error) {{ problems += `${{error.name}} ${{error.message}}; `; }} }};
        {{
            const define = Reflect.defineProperty, every = Object.prototype, keys = {};
            const descriptor = {{ __proto__: null, {value}, configurable: true }};
            for (let at = 0; at < keys.length; at++) define(every, keys[at], descriptor);
        }}",
        json!(names)
    );
    let page = MerchantPage::for_checkout(&stage.checkout).with_script(&format!("{} {HANDS} {script}", kind.script));
    let mut tab = Tab::open(browser, &stage.site.add_page(page)).await?;
    let outcome = fill_and_pay(&mut tab, &stage).await;
    let messages = tab.evaluate("problems + hands.said()").await.unwrap_or_default();
    tab.close().await?;
    outcome.with_context(|| format!("{case}: {} submits, the form says {messages}", stage.submit_count()))
}

async fn fill_and_pay(tab: &mut Tab, stage: &CheckoutFixture) -> anyhow::Result<()> {
    tab.wait_until("hands.ready()").await?;
    tab.type_into_frame("field=card.number", "4200000000000000").await?;
    tab.type_into_frame("field=card.cvv", "123").await?;
    tab.evaluate("void hands.fill()").await?;
    tab.evaluate("void hands.press()").await?;
    let id = stage.checkout.id();
    poll_until("the payment", async || Ok((stage.read_result_code().await? == APPROVED).then_some(()))).await?;
    let is_result = |request: &String| request.starts_with("GET /result") && request.contains(id);
    poll_until("the result page", async || Ok(stage.site.received_requests().iter().any(is_result).then_some(())))
        .await?;
    anyhow::ensure!(stage.submit_count() == 1, "{} submits", stage.submit_count());
    Ok(())
}

/// Pays amid all properties at once, with each value.
async fn pay_amid_all(browser: &Browser, kind: ModuleKind) -> anyhow::Result<()> {
    let names = list_names(browser, &CheckoutFixture::new().await?, kind).await?;
    let names: Vec<&String> = names.iter().collect();
    for value in FIXED_VALUES {
        let names: Vec<&String> = names.iter().copied().filter(|name| name.parse::<u32>().is_err()).collect();
        pay_amid(browser, kind, &names, value).await?;
    }
    for value in VALUES {
        pay_amid(browser, kind, &names, value).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_card_is_paid_with_amid_all_properties_of_every_object() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move { pay_amid_all(&browser, WASM).await }).await
}

#[tokio::test]
async fn a_card_is_paid_with_amid_all_properties_of_every_object_without_wasm() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move { pay_amid_all(&browser, JAVASCRIPT).await }).await
}

/// One property may hide the effect of another, so this test adds few at a time. It takes a quarter of an hour.
#[tokio::test]
#[ignore = "takes a quarter of an hour"]
async fn a_card_is_paid_with_amid_a_few_properties_of_every_object() -> anyhow::Result<()> {
    run_in_desktop_browser(move |browser| async move {
        let names = list_names(&browser, &CheckoutFixture::new().await?, WASM).await?;
        let names: Vec<&String> = names.iter().collect();
        for group in names.chunks(FEW) {
            for value in VALUES {
                let first = group.first().context("a group without a name")?;
                pay_amid(&browser, WASM, group, value)
                    .await
                    .with_context(|| format!("{first} and {FEW} names from there"))?;
            }
        }
        Ok(())
    })
    .await
}
