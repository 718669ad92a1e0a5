//! Pages that insert, remove and replace scripts of checkouts in every way: the checkout whose script came last has the
//! form, and what an earlier one has left behind is gone.

use anyhow::Context as _;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::CardForm;
use tillgate_tests::{Browser, MerchantPage, run_in_browser};

use crate::forms::click_element;
use crate::mounting::count_page_objects;
use crate::{APPROVED, CheckoutFixture, PENDING};

/// Functions for the pages: `makeForm()` makes a placeholder, `makeScript(number)` the script of a checkout,
/// `ran(script)` resolves once that has run, and `shows(number)` once its form is complete.
const FUNCTIONS: &str = r#"
    const [gateway, checkouts] = arguments;
    const [done] = [...arguments].slice(-1);
    const main = document.querySelector("main"), { body, head } = document;
    const makeForm = () => {
        const form = document.createElement("form");
        Object.assign(form, { className: "paymentWidgets", action: "/result?own=2", textContent: "VISA MASTER" });
        return form;
    };
    const address = (number) => `${gateway}v1/paymentWidgets.js?checkoutId=${checkouts[number]}`;
    const makeScript = (number) => Object.assign(document.createElement("script"), { src: address(number) });
    const ran = (script) => new Promise((done) => script.addEventListener("load", done));
    const until = async (check) => { while (!check()) await new Promise((done) => setTimeout(done, 10)); };
    // Waits until the loader has read a page that has changed.
    const turns = () => new Promise((done) => setTimeout(() => setTimeout(() => setTimeout(done))));
    const isReady = () => document.querySelector(".wpwl-container:not([aria-busy]) .wpwl-live");
    const shows = (number) =>
        until(() => window.wpwl && wpwl.checkout && wpwl.checkout.id === checkouts[number] && isReady());
    const open = async (number) => {
        const script = makeScript(number);
        main.append(makeForm());
        body.append(script);
        await shows(number);
        return script;
    };
"#;

/// Deeds of pages: name, script, and the checkout that has the form afterwards.
const DEEDS: [(&str, &str, Option<usize>); 18] = [
    (
        "strict mode: two checkouts, and the first script is taken away before it runs",
        "main.append(makeForm()); const first = makeScript(0), second = makeScript(1);
         body.append(first); first.remove(); body.append(second); await Promise.all([ran(first), ran(second)])",
        Some(1),
    ),
    (
        "strict mode: the same checkout twice",
        "main.append(makeForm()); const first = makeScript(0); body.append(first); first.remove();
         body.append(makeScript(0)); await ran(first)",
        Some(0),
    ),
    (
        "strict mode: both scripts stay",
        "main.append(makeForm()); const [first, second] = [makeScript(0), makeScript(1)];
         body.append(first, second); await Promise.all([ran(first), ran(second)])",
        Some(1),
    ),
    (
        "the placeholder stays, and the script is another",
        "(await open(0)).remove(); body.append(makeScript(1))",
        Some(1),
    ),
    ("the placeholder stays, and both scripts", "await open(0); body.append(makeScript(1))", Some(1)),
    (
        "scripts that leave as soon as they have run",
        "for (const number of [0, 1]) {
            main.replaceChildren(makeForm()); const script = makeScript(number);
            script.onload = () => script.remove(); body.append(script); await shows(number);
         }",
        Some(1),
    ),
    (
        "scripts that leave at once",
        "main.append(makeForm());
         for (const number of [0, 1]) {
            const script = makeScript(number); body.append(script); script.remove(); await shows(number);
         }",
        Some(1),
    ),
    (
        "unload() while the placeholder stays",
        "(await open(0)).remove(); wpwl.unload(); body.append(makeScript(1))",
        Some(1),
    ),
    (
        "unload(), and another placeholder beside the first",
        "await open(0); wpwl.unload(); main.append(makeForm()); body.append(makeScript(1))",
        Some(1),
    ),
    (
        "an unload() that comes late",
        "await open(0); const { unload } = wpwl; body.append(makeScript(1)); await shows(1); unload()",
        Some(1),
    ),
    (
        "a script that gets its address later",
        "await open(0); const script = document.createElement('script'); body.append(script); script.src = address(1)",
        Some(1),
    ),
    ("a script whose address changes, so that it never runs", "(await open(0)).src = address(1)", None),
    (
        "a script that does not come, and one that does",
        "await open(0); const lost = makeScript(1); lost.src = lost.src.replace(/:\\d+/, ':1'); body.append(lost);
         await new Promise((done) => { lost.onerror = done; });
         if (document.querySelector('.wpwl-container')) throw new Error('the first form is there');
         body.append(makeScript(1))",
        Some(1),
    ),
    (
        "scripts that are put before others",
        "const first = await open(0); first.before(makeScript(1)); await shows(1); head.prepend(makeScript(0))",
        Some(0),
    ),
    (
        "a placeholder that is taken away alone",
        "const form = makeForm(); main.append(form); body.append(makeScript(0)); await shows(0); form.remove()",
        None,
    ),
    (
        "a copy of the page, as caches keep it",
        "await open(0); const copy = main.cloneNode(true); main.replaceChildren(); await open(1);
         main.replaceWith(copy); body.append(makeScript(0))",
        Some(0),
    ),
    (
        "a page that is kept and shown again",
        "const script = await open(0); const kept = [...main.childNodes]; main.replaceChildren(); script.remove();
         await open(1); main.replaceChildren(...kept); body.append(makeScript(0))",
        Some(0),
    ),
    (
        "a placeholder that comes after a script that was taken away",
        "const script = makeScript(0); body.append(script); script.remove(); await ran(script); await turns();
         main.append(makeForm()); await turns()",
        None,
    ),
];

/// Opens an empty page of the merchant, and runs a script there that uses [`FUNCTIONS`].
async fn run_in_page(fixture: &CheckoutFixture, browser: &Browser, ids: &[&str], script: &str) -> anyhow::Result<()> {
    browser.goto(format!("{}result", fixture.site.public)).await?;
    browser.execute("document.body.append(document.createElement('main'))", vec![]).await?;
    let code =
        format!("{FUNCTIONS} (async () => {{ {script} }})().then(() => done(null), (error) => done(String(error)))");
    let arguments = vec![json!(fixture.gateway.public_url()), json!(ids)];
    let failure = browser.execute_async(code, arguments).await?;
    assert_eq!(failure.json(), &Value::Null, "{script}");
    Ok(())
}

#[tokio::test]
async fn whatever_pages_do_to_scripts_the_last_one_has_the_form() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    let second = fixture.merchant.create_checkout(&[("amount", "17.00")]).await?;
    run_in_browser(move |browser| async move {
        let ids = [fixture.checkout.id(), second.id()];
        let mut errors = 0;
        for (deed, script, expected) in DEEDS {
            run_in_page(&fixture, &browser, &ids, script).await?;
            let frames = "[...new Set([...document.querySelectorAll('iframe')].map(it => /checkoutId=([^&]*)/.exec(it.src)).filter(Boolean).map(it => it[1]))].join()";
            let shown = expected.map_or("", |number| ids[number]);
            browser.wait_until(&format!("{frames} === '{shown}'")).await.context(deed)?;
            let count = format!("document.querySelectorAll('.wpwl-container').length === {}", usize::from(expected.is_some()));
            browser.wait_until(&count).await.context(deed)?;
            if expected.is_some() {
                browser.wait_until(&format!("window.wpwl.checkout.id === '{shown}'")).await?;
                CardForm::wait_until_ready(&browser).await?;
                let placeholders = "[...document.querySelectorAll('form:not(.wpwl-form)')].every(it => !it.checkVisibility())";
                assert_eq!(browser.evaluate(placeholders).await?, true, "{deed}");
            }
            assert_eq!(browser.evaluate(frames).await?, shown, "{deed}");
            // Observations survive the page, and a page that notes one while they are deleted keeps them all.
            errors += usize::from(deed.contains("does not come"));
            assert_eq!(browser.observed_details("error").await?.len(), errors, "{deed}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn of_two_scripts_in_one_document_the_second_has_the_form() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    let second = fixture.merchant.create_checkout(&[("amount", "17.00")]).await?;
    run_in_browser(move |browser| async move {
        let address = format!("{}v1/paymentWidgets.js?checkoutId={}", fixture.gateway.public_url(), second.id());
        let page = MerchantPage::for_checkout(&fixture.checkout)
            .with_brands("VISA")
            .with_markup_after(&format!("<script src=\"{address}\"></script>"));
        browser.goto(fixture.site.add_page(page)).await?;
        browser.wait_until(&format!("window.wpwl && wpwl.checkout && wpwl.checkout.id === '{}'", second.id())).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-container').length").await?, 1);
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.query(By::Id("result")).first().await?;
        assert_eq!(fixture.merchant.read_status(second.id()).await?.result_code(), APPROVED);
        assert_eq!((fixture.submit_count(), fixture.read_result_code().await?.as_str()), (0, PENDING));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn twenty_checkouts_one_after_the_other_leave_nothing_behind() -> anyhow::Result<()> {
    let fixture = CheckoutFixture::new().await?;
    let second = fixture.merchant.create_checkout(&[("amount", "17.00")]).await?;
    run_in_browser(move |browser| async move {
        let ids = [fixture.checkout.id(), second.id()];
        let watch = "window.modules = []; const make = WebAssembly.instantiate;
            WebAssembly.instantiate = async (...given) => { const made = await make(...given); modules.push(new WeakRef(made.instance || made)); return made; };";
        run_in_page(&fixture, &browser, &ids, watch).await?;
        browser.cdp().send_raw("HeapProfiler.enable", json!({})).await?;
        let mut after = Vec::new();
        for round in 0..20 {
            // By turns the script leaves with the form, and the form alone makes place for the next one.
            let script = format!(
                "{FUNCTIONS} (async () => {{
                    main.replaceChildren();
                    if ({round} % 4 < 2) document.querySelectorAll('script[src*=paymentWidgets]').forEach((it) => it.remove());
                    await open({round} % 2);
                }})().then(() => done(null), (error) => done(String(error)))"
            );
            let failure = browser.execute_async(script, vec![json!(fixture.gateway.public_url()), json!(ids)]).await?;
            assert_eq!(failure.json(), &Value::Null, "round {round}");
            after.push(browser.evaluate("({ frames: window.length, nodes: document.querySelectorAll(':not(script)').length, sheets: document.adoptedStyleSheets.length + document.styleSheets.length })").await?);
        }
        assert_eq!(after[3], after[19], "{after:#?}");
        browser.execute("document.querySelectorAll('main *, script').forEach((it) => it.remove())", vec![]).await?;
        browser.wait_until("!window.__tillgate && window.length === 0").await?;
        let left = count_page_objects(&browser).await?;
        assert!(left["dom"]["jsEventListeners"].as_i64() < Some(60), "{left:#?}");
        assert!(left["dom"]["documents"].as_i64() < Some(12), "{left:#?}");
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn forms_of_all_kinds_are_mounted_again_for_the_same_checkout() -> anyhow::Result<()> {
    let mut fixture = CheckoutFixture::new().await?;
    let card = [("card.number", "4200000000000000"), ("card.expiryMonth", "05"), ("card.expiryYear", "2034")];
    let stored = fixture.merchant.post("v1/registrations", &[&[("paymentBrand", "VISA")], &card[..]].concat()).await?;
    fixture.checkout = fixture.merchant.create_checkout(&[("registrations[0].id", stored.id())]).await?;
    run_in_browser(move |browser| async move {
        // The script stays, comes again, or comes while forms that are mounted and removed at once still load.
        let mounts = "
            window.told = [];
            window.wpwlOptions = { onReady(list) { told.push(list.map((it) => it.containerKey).sort().join()); } };
            const mount = () => main.replaceChildren(Object.assign(makeForm(), { textContent: 'VISA IDEAL SEPA' }));
            mount(); body.append(makeScript(0)); await until(() => told.length === 1);
            mount(); await until(() => told.length === 2);
            mount(); body.append(makeScript(0)); await until(() => told.length === 3);
            mount(); await turns(); mount(); body.append(makeScript(0)); await turns(); mount();
            const whole = () => document.querySelectorAll('.wpwl-container:not([aria-busy])').length === 4;
            await until(() => told.length > 3 && whole())";
        run_in_page(&fixture, &browser, &[fixture.checkout.id()], mounts).await?;
        let all = "card,directDebit,onlineTransfer,registration";
        // Forms that are removed at once are told only if they were whole by then, which a slow page allows.
        let told = browser.evaluate("told").await?.as_array().cloned().unwrap_or_default();
        assert!((4..=6).contains(&told.len()) && told.iter().all(|list| list == all), "{told:?}");
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-container').length").await?, 4);
        assert_eq!(
            browser.evaluate("document.querySelectorAll('iframe[hidden][src*=internalRequest]').length").await?,
            1
        );
        click_element(&browser, ".wpwl-button-brand-IDEAL").await?;
        browser.wait_until("location.pathname.startsWith('/v1/simulator/')").await
    })
    .await
}
