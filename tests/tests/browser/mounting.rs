//! The form in single-page applications, several on a page, in the hands of merchants' scripts.

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER, PAY};
use tillgate_tests::{Browser, Page, browse, until};

use crate::{APPROVED, PENDING, Stage};

/// What a page holds, after everything that nobody needs is thrown away.
async fn held(browser: &Browser) -> anyhow::Result<Value> {
    for _ in 0..3 {
        browser.cdp().send_raw("HeapProfiler.collectGarbage", json!({})).await?;
    }
    let counters = browser.cdp().send_raw("Memory.getDOMCounters", json!({})).await?;
    let page = browser
        .value(
            "({ nodes: document.querySelectorAll('*').length, frames: window.length,
                globals: Object.keys(window).filter(it => it !== 'witness').sort(),
                sheets: document.adoptedStyleSheets.length + document.styleSheets.length })",
        )
        .await?;
    let modules = browser.value("modules.filter(it => it.deref()).length").await?;
    Ok(json!({ "dom": counters, "page": page, "modules": modules }))
}

#[tokio::test]
async fn ten_times_mounted_and_unloaded_nothing_is_left_behind() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(format!("{}result", stage.site.public)).await?;
        // Every module that is made is watched: the memory of one that is not let go stays.
        let watch = "window.modules = []; const make = WebAssembly.instantiate;
            WebAssembly.instantiate = async (...given) => { const made = await make(...given); modules.push(new WeakRef(made.instance || made)); return made; };
            document.body.append(document.createElement('main'));";
        browser.execute(watch, vec![]).await?;
        browser.cdp().send_raw("HeapProfiler.enable", json!({})).await?;
        let mut after = Vec::new();
        for round in 0..10 {
            stage.add_form(&browser, stage.checkout.id(), "VISA, MASTER", "/result?own=2").await?;
            // No element is asked of the driver: it would hold what it found.
            browser.until("window.wpwl && document.querySelector('.wpwl-container:not([aria-busy]) .wpwl-button-pay')").await?;
            browser.execute("document.querySelector('.wpwl-button-pay').click()", vec![]).await?;
            browser.until("document.querySelector('.wpwl-hint-cardNumberError')").await?;
            assert_eq!(browser.value("document.querySelectorAll('.wpwl-form').length").await?, 1, "round {round}");
            let unmount = "wpwl.unload();
                document.querySelectorAll('script[src*=\"paymentWidgets.js\"], script[src*=\"static.min.js\"]').forEach(it => it.remove());
                document.querySelector('main').replaceChildren();";
            browser.execute(unmount, vec![]).await?;
            after.push(held(&browser).await?);
        }
        let (early, last) = (&after[1], &after[9]);
        assert_eq!(early["page"], last["page"], "{after:#?}");
        // A browser that still compiles a module in the background holds it.
        until("all modules but one are let go", async || {
            Ok((held(&browser).await?["modules"].as_u64() <= Some(1)).then_some(()))
        })
        .await?;
        for counter in ["documents", "nodes", "jsEventListeners"] {
            // Of a handful the browser itself lets go later; of a form there would be dozens a round.
            let grown = last["dom"][counter].as_i64().unwrap() - early["dom"][counter].as_i64().unwrap();
            assert!(grown < 24, "{counter} grew by {grown} in eight rounds: {after:#?}");
        }
        assert_eq!(browser.seen_of("error").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn several_forms_have_numbers_and_each_pays_by_itself() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        let script = "var wpwlOptions = { onReady: function (all) { witness.note('ready', all.length + ' ' + all[1].ccMethods.join()); },
            onBeforeSubmitCard: function (event) { witness.note('asked', this.$form[0].parentNode.className); } };";
        let second = r#"<form class="paymentWidgets" action="/result?own=second">
            MASTER
            AMEX</form>"#;
        // The script stands in the head in many shops: both forms come after it.
        let page = Page::of(&stage.checkout).script(script).after(second);
        browser.goto(stage.site.add(page)).await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(browser.until_seen("ready").await?, "2 MASTER,AMEX");
        let keys = "[...document.querySelectorAll('.wpwl-container')].map(it => [...it.classList].find(name => /-card-\\d/.test(name)) || '').join()";
        assert_eq!(browser.value(keys).await?, ",wpwl-container-card-2");
        browser.execute("wpwl.executePayment('wpwl-container.wpwl-container-card-2')", vec![]).await?;
        let hint = ".wpwl-container-card-2 .wpwl-hint-cardNumberError";
        browser.query(By::Css(hint)).and_displayed().first().await?;
        assert_eq!(browser.value("document.querySelectorAll('.wpwl-hint').length === document.querySelectorAll('.wpwl-container-card-2 .wpwl-hint').length").await?, true);
        let missing = "(() => { try { wpwl.executePayment('wpwl-container-none') } catch (error) { return error.message } })()";
        assert_eq!(browser.value(missing).await?, "wpwl.executePayment: there is no .wpwl-container-none");

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
        browser.until(&format!("!document.querySelector('.wpwl-container-card-2 {PAY}').disabled")).await?;
        form.code_is_known().await?;
        browser.execute("wpwl.executePayment('wpwl-container-card-2')", vec![]).await?;
        browser.until("location.search.startsWith('?own=second')").await?;
        let status = stage.merchant.status(stage.checkout.id()).await?;
        assert_eq!((status.code(), status.json["paymentBrand"].as_str()), (APPROVED, Some("MASTER")));
        assert!(browser.until_seen("asked").await?.contains("wpwl-container-card-2"));
        Ok(())
    })
    .await
}

/// What merchants' scripts do to the form in `onReady`, and whether it can still be paid with.
const DEEDS: [(&str, &str, bool); 13] = [
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
    browse(move |browser| async move {
        for (deed, code, pays) in DEEDS {
            let stage = Stage::new().await?;
            let script = format!(
                "var wpwlOptions = {{ onReady() {{
                    const main = document.querySelector('main'), form = document.querySelector('.wpwl-form'), group = name => document.querySelector('.wpwl-group-' + name);
                    {code};
                    witness.note('done', '');
                 }}, onError(error) {{ witness.note('failed', error.name); }} }};"
            );
            browser.goto(stage.page(&script)).await?;
            browser.until("witness.all().slice(witness.all().findLastIndex(it => it.kind === 'loaded')).some(it => it.kind === 'done')").await?;
            // The copy of a form is no form of ours: what we type goes into the first.
            let form = CardForm::standing(&browser).await?;
            if pays {
                form.fill().await?;
                browser.until(&format!("!document.querySelector('{PAY}').disabled")).await?;
                form.pay().await?;
                until(deed, async || Ok((stage.code().await? == APPROVED).then_some(()))).await?;
                browser.query(By::Id("result")).first().await?;
            } else {
                browser.execute(format!("document.querySelector('{PAY}').click()"), vec![]).await?;
                let message = browser.query(By::Css(".wpwl-message.wpwl-has-error")).and_displayed().first().await?;
                assert!(!message.text().await?.is_empty(), "{deed}");
                browser.until("witness.all().some(it => it.kind === 'failed')").await?;
                assert_eq!((stage.submits(), stage.code().await?.as_str()), (0, PENDING), "{deed}");
                assert!(browser.current_url().await?.path().starts_with("/pages/"), "{deed}: nothing was sent natively");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_copy_of_the_form_sends_nothing_and_says_so() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser
            .goto(stage.page("var wpwlOptions = { onError(error) { witness.note('failed', error.message); } };"))
            .await?;
        CardForm::ready(&browser).await?;
        let copy = "const it = document.querySelector('.wpwl-container').cloneNode(true); it.id = 'copy';
            document.querySelector('main').append(it); it.querySelector('.wpwl-button-pay').click()";
        browser.execute(copy, vec![]).await?;
        browser.query(By::Css("#copy .wpwl-message")).and_displayed().first().await?;
        assert_eq!(browser.until_seen("failed").await?, "the page has put a copy in the place of the form");
        assert_eq!(stage.submits(), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_form_inside_another_form_is_told_apart_by_how_it_came_there() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        // In markup: browsers leave the inner form out, so there is nothing to take the place of.
        let script = "var wpwlOptions = { onError(error) { witness.note('failed', error.message); } };
            addEventListener('DOMContentLoaded', () => document.querySelectorAll('.paymentWidgets').forEach(it => it.remove()));";
        browser.goto(stage.site.add(Page::of(&stage.checkout).script(script).brands("VISA"))).await?;
        // By script: the inner form is a form of its own, and what is typed there is not the outer form's.
        browser.goto(format!("{}result", stage.site.public)).await?;
        let nest = format!(
            "document.body.innerHTML = '<form id=outer action=/outer><input name=own value=1></form>';
             const form = document.createElement('form');
             form.className = 'paymentWidgets'; form.action = '/result?own=2'; form.textContent = 'VISA';
             document.querySelector('#outer').append(form);
             const script = document.createElement('script'); script.src = '{}v1/paymentWidgets.js?checkoutId={}';
             document.head.append(script);",
            stage.gateway.public(),
            stage.checkout.id()
        );
        browser.execute(nest, vec![]).await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(browser.value("[...new FormData(document.querySelector('#outer')).keys()].join()").await?, "own");
        form.fill().await?;
        form.pay().await?;
        browser.until("location.search.startsWith('?own=2')").await?;
        assert_eq!(stage.code().await?, APPROVED);

        // And a page without a form is told what may be the reason.
        browser.goto(format!("{}result", stage.site.public)).await?;
        let none = format!(
            "document.body.innerHTML = '<form id=outer><form class=paymentWidgets>VISA</form></form>';
             window.wpwlOptions = {{ onError(error) {{ witness.note('failed', error.message); }} }};
             const script = document.createElement('script'); script.src = '{}v1/paymentWidgets.js?checkoutId={}';
             document.head.append(script);",
            stage.gateway.public(),
            stage.checkout.id()
        );
        browser.execute(none, vec![]).await?;
        assert!(browser.until_seen("failed").await?.starts_with("there is no form.paymentWidgets"));
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
        let stage = Stage::new().await?;
        browse(move |browser| async move {
            let page = Page::of(&stage.checkout).after(r#"<script src="/jquery.js"></script>"#);
            browser.goto(stage.site.add(page)).await?;
            let form = CardForm::ready(&browser).await?;
            form.fill().await?;
            form.code_is_known().await?;
            browser.execute(submit, vec![]).await?;
            browser.query(By::Id("result")).first().await?;
            assert_eq!((stage.submits(), stage.code().await?.as_str()), (1, APPROVED), "{submit}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_sheet_of_brand_marks_is_a_picture_under_both_addresses() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        let form = CardForm::ready(&browser).await?;
        let version = browser.value("wpwl.cacheVersion").await?;
        let version = version.as_str().unwrap_or_default().to_owned();
        let mark =
            browser.value("getComputedStyle(document.querySelector('.wpwl-brand-VISA'), '::before').content").await?;
        assert!(mark.as_str().unwrap_or_default().contains("VISA"), "{mark}");
        let _ = form.find(NUMBER).await?;
        for path in [format!("v1/static/{version}/img/brand.png"), "v1/paymentWidgets/img/brand.png".to_owned()] {
            browser.goto(format!("{}{path}", stage.gateway.public())).await?;
            let root = browser
                .value(
                    "document.documentElement.nodeName + ' ' + document.documentElement.textContent.includes('Visa')",
                )
                .await?;
            assert_eq!(root, "svg true", "{path}");
        }
        Ok(())
    })
    .await
}
