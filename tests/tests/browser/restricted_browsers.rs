//! Restricted pages and browsers: policies without wasm, browsers without wasm, Trusted Types. Also files that were
//! changed after the build of the form.

use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha384};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER_FRAME};
use tillgate_tests::{Browser, MerchantPage, MerchantSite, TestGateway, run_in_browser, run_in_new_browser};

use crate::CheckoutFixture;

/// The minimum policy of a merchant. The shop's own script and its icon are needed by the test.
const LEAST: &str =
    "default-src 'none'; script-src 'self' {gateway}; style-src {gateway}; frame-src {gateway}; img-src data:";

/// Returns the path of the page module that was loaded, relative to its build.
async fn page_module_variant(browser: &Browser) -> anyhow::Result<String> {
    let source = "document.querySelector('script[src*=\"static.min.js\"]').src.replace(/.*static\\/[0-9a-f]+\\//, '')";
    Ok(browser.evaluate(source).await?.as_str().unwrap_or_default().to_owned())
}

/// Submits the form in the current page empty, then filled in, and waits until the checkout is paid. Asserts that the
/// browser reports no error.
async fn pay_after_error(fixture: &CheckoutFixture, browser: &Browser) -> anyhow::Result<()> {
    let form = CardForm::wait_until_ready(browser).await?;
    form.press_pay_button().await?;
    form.wait_for_hint("cardNumberError").await?;
    form.fill_fields().await?;
    form.wait_for_no_hint("cardNumberError").await?;
    form.press_pay_button().await?;
    fixture.wait_until_paid(browser).await?;
    assert_eq!(browser.observed_details("error").await?, Vec::<String>::new());
    assert_eq!(browser.console_warnings().await?, Vec::<String>::new(), "the console");
    Ok(())
}

#[tokio::test]
async fn a_policy_that_allows_scripts_styles_and_frames_of_the_gateway_is_enough() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.set_policy(LEAST);
    run_in_browser(move |browser| async move {
        let script = "var wpwlOptions = { locale: 'de', onReady() { witness.note('ready', 1); } };";
        browser.goto(stage.add_page(script)).await?;
        browser.wait_for_observation("ready").await?;
        assert_eq!(page_module_variant(&browser).await?, "js/plain/static.min.js");
        let labels = browser.evaluate("document.querySelector('.wpwl-label-cardNumber').textContent").await?;
        assert_eq!(labels, "Kartennummer");
        pay_after_error(&stage, &browser).await?;
        // The check for wasm creates a violation event, but no console message.
        let violations = browser.observed_details("violation").await?;
        assert!(violations.iter().all(|it| it.starts_with("script-src wasm-eval")), "{violations:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn with_leave_for_wasm_it_is_wasm() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    stage.site.set_policy(&LEAST.replace("'self'", "'self' 'wasm-unsafe-eval'"));
    run_in_browser(move |browser| async move {
        browser.goto(stage.add_page("")).await?;
        CardForm::wait_until_ready(&browser).await?;
        assert_eq!(page_module_variant(&browser).await?, "js/static.min.js");
        pay_after_error(&stage, &browser).await?;
        assert_eq!(browser.observed_details("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_page_in_a_sandbox_that_takes_its_origin_is_told_so_at_once() -> anyhow::Result<()> {
    let policy = LEAST.replace("'self'", "http:");
    for sandbox in ["allow-scripts allow-forms allow-same-origin", "allow-scripts allow-forms"] {
        let stage = CheckoutFixture::new().await?;
        stage.site.set_policy(&format!("{policy}; sandbox {sandbox}"));
        run_in_browser(move |browser| async move {
            let script = "var wpwlOptions = { onReady() { witness.note('ready', 1); },
                onError(error) { witness.note('failed', `${error.name}: ${error.message}`); } };";
            browser.goto(stage.add_page(script)).await?;
            if sandbox.contains("same-origin") {
                browser.wait_for_observation("ready").await?;
                return Ok(());
            }
            let error = browser.wait_for_observation("failed").await?;
            assert!(error.starts_with("PciIframeCommunicationError: this page has no origin"), "{error}");
            let message = browser.query(By::Css(".wpwl-message[role=alert]")).and_displayed().first().await?;
            assert!(message.text().await?.starts_with("The payment form could not be loaded."));
            assert_eq!(browser.evaluate("!!document.querySelector('.wpwl-button-retry, [aria-busy]')").await?, false);
            assert!(
                browser.console_warnings().await?.iter().any(|it| it.contains("Tillgate: this page has no origin"))
            );
            assert_eq!(browser.observed_details("failed").await?.len(), 1);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn pages_of_the_gateway_run_no_script_without_its_hash() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        let base = stage.gateway.public_url();
        let frame = format!("{base}v1/pciIframe.html?field=card.number&checkoutId={}", stage.checkout.id());
        for page in [frame, format!("{base}v1/threeDSecure/none")] {
            browser.goto(&page).await?;
            for hash in [false, true] {
                // The Content Security Policy allows this script, since it comes from the page's own origin.
                let script = format!(
                    "const done = arguments[0];
                     const script = document.createElement('script');
                     if ({hash}) Object.assign(script, {{ crossOrigin: '', integrity: '{}' }});
                     script.onload = () => done('runs');
                     script.onerror = () => done('refused');
                     script.src = '{base}v1/paymentWidgets.js?checkoutId={}';
                     document.head.append(script);",
                    stage.checkout.json["integrity"].as_str().unwrap_or_default(),
                    stage.checkout.id()
                );
                let outcome = browser.execute_async(script, vec![]).await?;
                assert_eq!(outcome.json(), if hash { "runs" } else { "refused" }, "{page}");
            }
        }
        Ok(())
    })
    .await
}

/// Removes newer features that the loader and the page module use if they exist.
const NEWEST: &str = "delete Uint8Array.fromBase64; delete window.scheduler; delete window.requestIdleCallback;";

#[tokio::test]
async fn a_browser_some_years_old_pays_with_wasm_all_the_same() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    run_in_browser(move |browser| async move {
        browser.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", json!({ "source": NEWEST })).await?;
        browser.goto(stage.add_page("")).await?;
        let gone =
            browser.evaluate("[Uint8Array.fromBase64, window.scheduler, window.requestIdleCallback].join()").await?;
        assert_eq!(gone, ",,");
        assert_eq!(page_module_variant(&browser).await?, "js/static.min.js");
        pay_after_error(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_browser_without_wasm_pays_in_page_and_frames() -> anyhow::Result<()> {
    let stage = CheckoutFixture::new().await?;
    // Disables wasm, as hardened browsers do.
    run_in_new_browser(&["--js-flags=--jitless"], move |browser| async move {
        browser.goto(stage.add_page("var wpwlOptions = { brandDetection: true };")).await?;
        let form = CardForm::wait_until_ready(&browser).await?;
        assert_eq!(browser.evaluate("typeof WebAssembly").await?, "undefined");
        assert_eq!(page_module_variant(&browser).await?, "js/plain/static.min.js");
        // The frame's validation works too: it detects the brand by the number.
        form.enter_number("5454").await?;
        browser.wait_until("document.querySelector('select.wpwl-control-brand').value === 'MASTER'").await?;
        form.clear_frame_field(tillgate_tests::card_form::NUMBER_FRAME).await?;
        pay_after_error(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_page_that_requires_trusted_types_lists_one_policy_of_ours() -> anyhow::Result<()> {
    for (wasm, list) in [("", "; trusted-types tillgate"), (" 'wasm-unsafe-eval'", "")] {
        let stage = CheckoutFixture::new().await?;
        let policy = LEAST.replace("'self' {gateway}", &format!("'self' {{gateway}}{wasm}"));
        stage.site.set_policy(&format!("{policy}; require-trusted-types-for 'script'{list}"));
        run_in_browser(move |browser| async move {
            browser
                .goto(stage.add_page("var wpwlOptions = { locale: 'ar', onReady() { witness.note('ready', 1); } };"))
                .await?;
            browser.wait_for_observation("ready").await?;
            assert_eq!(browser.evaluate("document.querySelector('.wpwl-form').dir").await?, "rtl");
            pay_after_error(&stage, &browser).await
        })
        .await?;
    }
    Ok(())
}

/// Copies a folder and those below it without compressed variants, so that the gateway serves the files themselves.
fn copy_without_compressed(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("{}: `cargo xtask form` makes it", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().context("a file without a name")?;
        if path.is_dir() {
            copy_without_compressed(&path, &to.join(name))?;
        } else if !path.extension().is_some_and(|it| it == "br" || it == "gz") {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Script that loads the frame's module and its script again, in the same way, and returns the results.
const FATE: &str = "
    const [done] = arguments;
    const told = (promise) => promise.then(() => 'runs', () => 'refused');
    const { src, integrity } = document.querySelector('script[src]');
    const script = new Promise((runs, refused) => {
        const element = Object.assign(document.createElement('script'), { crossOrigin: '', src, integrity, onload: runs, onerror: refused });
        document.head.append(element);
    });
    const module = async () => {
        const [integrity] = (await (await fetch(src)).text()).match(/sha256-[\\w+/=]+/);
        await fetch(src.replace('frame.js', 'frame.wasm'), { integrity });
    };
    Promise.all([told(script), told(module())])
        .then((all) => done([...all, document.documentElement.id, tillgate.isComplete()]));";

#[tokio::test]
async fn a_frame_runs_no_file_that_has_been_changed() -> anyhow::Result<()> {
    for (file, added, fate) in [
        ("frame.js", "document.documentElement.id = 'changed';", json!(["refused", "runs", "", false])),
        ("frame.wasm", "\0", json!(["runs", "refused", "", false])),
    ] {
        let folder = tempfile::tempdir()?;
        copy_without_compressed(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/form"), folder.path())?;
        let path = folder.path().join("static/frame").join(file);
        let changed = [&std::fs::read(&path)?, added.as_bytes()].concat();
        std::fs::write(&path, &changed)?;
        // An attacker who can change a file can also change the manifest, which the gateway checks at the start.
        let manifest = folder.path().join("manifest.json");
        let mut entries: serde_json::Value = serde_json::from_slice(&std::fs::read(&manifest)?)?;
        entries["files"][format!("frame/{file}")]["integrity"] =
            json!(format!("sha384-{}", STANDARD.encode(Sha384::digest(&changed))));
        std::fs::write(&manifest, entries.to_string())?;
        let gateway = TestGateway::start_with(&["--form", folder.path().to_str().context("a path in UTF-8")?])?;
        let merchant = gateway.create_merchant()?;
        let site = MerchantSite::start(&gateway).await?;
        let checkout = merchant.create_checkout(&[]).await?;
        run_in_browser(move |browser| async move {
            browser.goto(site.add_page(MerchantPage::for_checkout(&checkout))).await?;
            browser.query(By::Css(NUMBER_FRAME)).first().await?.enter_frame().await?;
            browser.wait_until("document.querySelector('script[src]')").await?;
            let found = browser.execute_async(FATE, vec![]).await?;
            assert_eq!(*found.json(), fate, "{file}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
