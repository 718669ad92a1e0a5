//! The form in single-page applications, several forms on a page, and forms that merchants' scripts modify.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME, PAY_BUTTON};
use tillgate_tests::{Browser, MerchantPage, poll_until, run_in_browser};

use crate::{APPROVED, CheckoutFixture, PENDING};

/// Returns the counters of a page's objects after garbage collection: DOM, elements, globals and page modules that are
/// still in memory.
pub(crate) async fn count_page_objects(browser: &Browser) -> anyhow::Result<Value> {
    for _ in 0..3 {
        browser.cdp().send_raw("HeapProfiler.collectGarbage", json!({})).await?;
    }
    let counters = browser.cdp().send_raw("Memory.getDOMCounters", json!({})).await?;
    let page = browser
        .evaluate(
            "({ nodes: document.querySelectorAll('*').length, frames: window.length,
                globals: Object.keys(window).filter(it => it !== 'witness').sort(),
                sheets: document.adoptedStyleSheets.length + document.styleSheets.length })",
        )
        .await?;
    let modules = browser.evaluate("modules.filter(it => it.deref()).length").await?;
    Ok(json!({ "dom": counters, "page": page, "modules": modules }))
}

#[tokio::test]
async fn ten_times_mounted_and_unloaded_nothing_is_left_behind() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(format!("{}result", stage.site.public)).await?;
        // Tracks every wasm instance, because the memory of an instance that is not released remains.
        let watch = "window.modules = []; const make = WebAssembly.instantiate;
            WebAssembly.instantiate = async (...given) => { const made = await make(...given); modules.push(new WeakRef(made.instance || made)); return made; };
            document.body.append(document.createElement('main'));";
        browser.execute(watch, vec![]).await?;
        browser.cdp().send_raw("HeapProfiler.enable", json!({})).await?;
        let mut after = Vec::new();
        for round in 0..10 {
            stage.add_form(&browser, stage.checkout.id(), "VISA, MASTER", "/result?own=2").await?;
            // No element is queried by WebDriver, which would keep it alive.
            browser.wait_until("window.wpwl && document.querySelector('.wpwl-container:not([aria-busy]) .wpwl-button-pay')").await?;
            browser.execute("document.querySelector('.wpwl-button-pay').click()", vec![]).await?;
            browser.wait_until("document.querySelector('.wpwl-hint-cardNumberError')").await?;
            assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-form').length").await?, 1, "round {round}");
            let unmount = "wpwl.unload();
                document.querySelectorAll('script[src*=\"paymentWidgets.js\"], script[src*=\"static.min.js\"]').forEach(it => it.remove());
                document.querySelector('main').replaceChildren();";
            browser.execute(unmount, vec![]).await?;
            after.push(count_page_objects(&browser).await?);
        }
        let (early, last) = (&after[1], &after[9]);
        assert_eq!(early["page"], last["page"], "{after:#?}");
        // While the browser compiles a module in the background, it holds the module, and objects with it. A leaked
        // form would add dozens per round for good.
        poll_until("all modules but one are let go, and all forms", async || {
            let now = count_page_objects(&browser).await?;
            let grown = |counter: &str| Some(now["dom"][counter].as_i64()? - early["dom"][counter].as_i64()?);
            let is_small = ["documents", "nodes", "jsEventListeners"].into_iter().all(|counter| grown(counter).is_some_and(|grown| grown < 24));
            Ok((now["modules"].as_u64() <= Some(1) && is_small).then_some(()))
        })
        .await?;
        assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn several_forms_have_numbers_and_each_pays_by_itself() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = { onReady: function (all) { witness.note('ready', all.length + ' ' + all[1].ccMethods.join()); },
            onBeforeSubmitCard: function (event) { witness.note('asked', this.$form[0].parentNode.className); } };";
        let second = r#"<form class="paymentWidgets" action="/result?own=second">
            MASTER
            AMEX</form>"#;
        // In many shops, the script is in the head, before both forms.
        let page = MerchantPage::for_checkout(&stage.checkout).with_script(script).with_markup_after(second);
        browser.goto(stage.site.add_page(page)).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.wait_for_observation("ready").await?, "2 MASTER,AMEX");
        let keys = "[...document.querySelectorAll('.wpwl-container')].map(it => [...it.classList].find(name => /-card-\\d/.test(name)) || '').join()";
        assert_eq!(browser.evaluate(keys).await?, ",wpwl-container-card-2");
        browser.execute("wpwl.executePayment('wpwl-container.wpwl-container-card-2')", vec![]).await?;
        let hint = ".wpwl-container-card-2 .wpwl-hint-cardNumberError";
        browser.query(By::Css(hint)).and_displayed().first().await?;
        assert_eq!(browser.evaluate("document.querySelectorAll('.wpwl-hint').length === document.querySelectorAll('.wpwl-container-card-2 .wpwl-hint').length").await?, true);
        let missing = "(() => { try { wpwl.executePayment('wpwl-container-none') } catch (error) { return error.message } })()";
        assert_eq!(browser.evaluate(missing).await?, "wpwl.executePayment: there is no .wpwl-container-none");

        let type_into = async |css: &str, text: &str| -> anyhow::Result<()> {
            let field = browser.query(By::Css(format!(".wpwl-container-card-2 {css}"))).first().await?;
            if css == "input.wpwl-control-expiry" {
                field.send_keys(text).await?;
            } else {
                field.enter_frame().await?;
                browser.query(By::Css("input")).first().await?.send_keys(text).await?;
                browser.enter_default_frame().await?;
            }
            Ok(())
        };
        type_into("iframe.wpwl-control-cardNumber", "5454545454545454").await?;
        type_into("input.wpwl-control-expiry", "05 / 34").await?;
        type_into("iframe.wpwl-control-cvv", "123").await?;
        browser.wait_until(&format!("!document.querySelector('.wpwl-container-card-2 {PAY_BUTTON}').disabled")).await?;
        browser.execute("wpwl.executePayment('wpwl-container-card-2')", vec![]).await?;
        browser.wait_until("location.search.startsWith('?own=second')").await?;
        let status = stage.merchant.read_status(stage.checkout.id()).await?;
        assert_eq!((status.result_code(), status.json["paymentBrand"].as_str()), (APPROVED, Some("MASTER")));
        assert!(browser.wait_for_observation("asked").await?.contains("wpwl-container-card-2"));
        Ok(())
    })
    .await
}

/// Changes that merchants' scripts make to the form in `onReady`. The last value is true if the form can still pay.
const PAGE_CHANGES: [(&str, &str, bool); 13] = [
    ("a group moved within the form", "form.append(group('cardHolder'))", true),
    ("a group moved out of the form", "main.append(group('expiry'))", true),
    ("the list of brands taken away", "group('brand').remove()", true),
    ("the frames' groups moved", "form.prepend(group('cvv')); form.prepend(group('cardNumber'))", true),
    ("the form moved out of its container", "main.append(form)", true),
    (
        "foreign nodes between the groups",
        "form.querySelectorAll('.wpwl-group').forEach(it => it.before(document.createElement('hr')))",
        true,
    ),
    (
        "a control in a wrapper of the merchant's",
        "const it = form.querySelector('.wpwl-control-expiry'); const box = document.createElement('div'); it.replaceWith(box); box.append(it)",
        true,
    ),
    (
        "the holder's group replaced by a copy",
        "group('cardHolder').replaceWith(group('cardHolder').cloneNode(true))",
        true,
    ),
    ("innerHTML on the expiry's wrapper", "form.querySelector('.wpwl-wrapper-expiry').innerHTML += '<i>x</i>'", true),
    (
        "a copy of the whole form beside it",
        "const it = document.querySelector('.wpwl-container').cloneNode(true); it.id = 'copy'; main.append(it)",
        true,
    ),
    (
        "taken out and put back",
        "const it = document.querySelector('.wpwl-container'); it.remove(); main.append(it)",
        true,
    ),
    ("innerHTML on the form", "form.innerHTML += '<i>x</i>'", false),
    ("innerHTML on the container", "form.parentNode.innerHTML += '<i>x</i>'", false),
];

#[tokio::test]
async fn whatever_merchants_do_to_the_nodes_the_form_pays_or_says_what_is_wrong() -> anyhow::Result<()> {
    run_in_browser(move |browser| async move {
        for (deed, code, pays) in PAGE_CHANGES {
            let stage = CheckoutFixture::new().await?;
            let script = format!(
                "var wpwlOptions = {{ onReady() {{
                    const main = document.querySelector('main'), form = document.querySelector('.wpwl-form'), group = name => document.querySelector('.wpwl-group-' + name);
                    {code};
                    witness.note('done', '');
                 }}, onError(error) {{ witness.note('failed', error.name); }} }};"
            );
            browser.goto(stage.add_page(&script)).await?;
            browser.wait_until("witness.all().slice(witness.all().findLastIndex(it => it.kind === 'loaded')).some(it => it.kind === 'done')").await?;
            // The copy of a form is not active. The text is typed into the first form.
            let form = CardForm::wait_until_usable(&browser).await?;
            if pays {
                form.fill_fields().await?;
                browser.wait_until(&format!("!document.querySelector('{PAY_BUTTON}').disabled")).await?;
                form.press_pay_button().await?;
                poll_until(deed, async || Ok((stage.read_result_code().await? == APPROVED).then_some(()))).await?;
                browser.query(By::Id("result")).first().await?;
            } else {
                browser.execute(format!("document.querySelector('{PAY_BUTTON}').click()"), vec![]).await?;
                let message = browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
                assert!(!message.text().await?.is_empty(), "{deed}");
                browser.wait_until("witness.all().some(it => it.kind === 'failed')").await?;
                assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (0, PENDING), "{deed}");
                assert!(browser.current_url().await?.path().starts_with("/pages/"), "{deed}: nothing was sent natively");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_copy_of_the_form_sends_nothing_and_says_so() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser
            .goto(stage.add_page("var wpwlOptions = { onError(error) { witness.note('failed', error.message); } };"))
            .await?;
        CardForm::wait_until_ready(&browser).await?;
        let copy = "const it = document.querySelector('.wpwl-container').cloneNode(true); it.id = 'copy';
            document.querySelector('main').append(it); it.querySelector('.wpwl-button-pay').click()";
        browser.execute(copy, vec![]).await?;
        browser.query(By::Css("#copy .wpwl-message")).and_displayed().first().await?;
        assert_eq!(browser.wait_for_observation("failed").await?, "the page has put a copy in the place of the form");
        assert_eq!(stage.submit_count(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_inside_another_form_is_told_apart_by_how_it_came_there() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        // In markup, browsers drop a nested form, so the loader finds no placeholder.
        let script = "var wpwlOptions = { onError(error) { witness.note('failed', error.message); } };
            addEventListener('DOMContentLoaded', () => document.querySelectorAll('.paymentWidgets').forEach(it => it.remove()));";
        browser.goto(stage.site.add_page(MerchantPage::for_checkout(&stage.checkout).with_script(script).with_brands("VISA"))).await?;
        // If a script nests the forms, the inner form is independent, and its fields are not part of the outer form.
        browser.goto(format!("{}result", stage.site.public)).await?;
        let nest = format!(
            "document.body.innerHTML = '<form id=outer action=/outer><input name=own value=1></form>';
             const form = document.createElement('form');
             form.className = 'paymentWidgets'; form.action = '/result?own=2'; form.textContent = 'VISA';
             document.querySelector('#outer').append(form);
             const script = document.createElement('script'); script.src = '{}v1/paymentWidgets.js?checkoutId={}';
             document.head.append(script);",
            stage.gateway.public_url(),
            stage.checkout.id()
        );
        browser.execute(nest, vec![]).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.evaluate("[...new FormData(document.querySelector('#outer')).keys()].join()").await?, "own");
        form.fill_fields().await?;
        form.press_pay_button().await?;
        browser.wait_until("location.search.startsWith('?own=2')").await?;
        assert_eq!(stage.read_result_code().await?, APPROVED);

        // On a page without a form, the error message names the possible reason.
        browser.goto(format!("{}result", stage.site.public)).await?;
        let none = format!(
            "document.body.innerHTML = '<form id=outer><form class=paymentWidgets>VISA</form></form>';
             window.wpwlOptions = {{ onError(error) {{ witness.note('failed', error.message); }} }};
             const script = document.createElement('script'); script.src = '{}v1/paymentWidgets.js?checkoutId={}';
             document.head.append(script);",
            stage.gateway.public_url(),
            stage.checkout.id()
        );
        browser.execute(none, vec![]).await?;
        assert!(browser.wait_for_observation("failed").await?.starts_with("there is no form.paymentWidgets"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn jquery_submits_as_merchants_scripts_have_it() -> anyhow::Result<()> {
    for submit in [
        "jQuery('.wpwl-form').submit()",
        "jQuery('.wpwl-form-card').trigger('submit')",
        "jQuery('.wpwl-button-pay').click()",
    ] {
        let stage = CheckoutFixture::new().await?;
        run_in_browser(move |browser| async move {
            let page =
                MerchantPage::for_checkout(&stage.checkout).with_markup_after(r#"<script src="/jquery.js"></script>"#);
            browser.goto(stage.site.add_page(page)).await?;
            let form = CardForm::wait_until_ready(&browser).await?;
            form.fill_fields().await?;
            browser.execute(submit, vec![]).await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!((stage.submit_count(), stage.read_result_code().await?.as_str()), (1, APPROVED), "{submit}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_sheet_of_brand_marks_is_a_picture_under_both_addresses() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        let version = browser.evaluate("wpwl.cacheVersion").await?;
        let version = version.as_str().unwrap_or_default().to_owned();
        let mark = browser
            .evaluate("getComputedStyle(document.querySelector('.wpwl-brand-VISA'), '::before').content")
            .await?;
        assert!(mark.as_str().unwrap_or_default().contains("VISA"), "{mark}");
        let _ = form.find_element(NUMBER_FRAME).await?;
        for path in [format!("v1/static/{version}/img/brand.png"), "v1/paymentWidgets/img/brand.png".to_owned()] {
            browser.goto(format!("{}{path}", stage.gateway.public_url())).await?;
            let root = browser
                .evaluate(
                    "document.documentElement.nodeName + ' ' + document.documentElement.textContent.includes('Visa')",
                )
                .await?;
            assert_eq!(root, "svg true", "{path}");
        }
        Ok(())
    })
    .await
}
