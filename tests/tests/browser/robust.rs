//! Pages and browsers that forbid or lack what the form would rather have: policies without wasm, browsers without
//! wasm, Trusted Types. And files that are not what they were when the form was built.

use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha384};
use thirtyfour::prelude::*;
use tillgate_tests::card_form::{CardForm, NUMBER};
use tillgate_tests::{Browser, Gateway, Page, Site, browse, browse_with};

use crate::Stage;

/// The least that a merchant's policy can allow. The shop's own script and its icon are the test's.
const LEAST: &str =
    "default-src 'none'; script-src 'self' {gateway}; style-src {gateway}; frame-src {gateway}; img-src data:";

/// Which page part the page has loaded.
async fn page_part(browser: &Browser) -> anyhow::Result<String> {
    let source = "document.querySelector('script[src*=\"static.min.js\"]').src.replace(/.*static\\/[0-9a-f]+\\//, '')";
    Ok(browser.value(source).await?.as_str().unwrap_or_default().to_owned())
}

/// Pays in the page that is open: first with a mistake, then without.
async fn pay(stage: &Stage, browser: &Browser) -> anyhow::Result<()> {
    let form = CardForm::ready(browser).await?;
    form.pay().await?;
    form.hint("cardNumberError").await?;
    form.fill().await?;
    form.no_hint("cardNumberError").await?;
    form.pay().await?;
    stage.paid(browser).await?;
    assert_eq!(browser.seen_of("error").await?, Vec::<String>::new());
    assert_eq!(browser.complaints().await?, Vec::<String>::new(), "the console");
    Ok(())
}

#[tokio::test]
async fn a_policy_that_allows_scripts_styles_and_frames_of_the_gateway_is_enough() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    stage.site.set_policy(LEAST);
    browse(move |browser| async move {
        let script = "var wpwlOptions = { locale: 'de', onReady() { witness.note('ready', 1); } };";
        browser.goto(stage.page(script)).await?;
        browser.until_seen("ready").await?;
        assert_eq!(page_part(&browser).await?, "js/plain/static.min.js");
        let labels = browser.value("document.querySelector('.wpwl-label-cardNumber').textContent").await?;
        assert_eq!(labels, "Kartennummer");
        pay(&stage, &browser).await?;
        // Asking whether wasm may run is told to the policy's own reports, and to nobody else.
        let violations = browser.seen_of("violation").await?;
        assert!(violations.iter().all(|it| it.starts_with("script-src wasm-eval")), "{violations:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn with_leave_for_wasm_it_is_wasm() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    stage.site.set_policy(&LEAST.replace("'self'", "'self' 'wasm-unsafe-eval'"));
    browse(move |browser| async move {
        browser.goto(stage.page("")).await?;
        CardForm::ready(&browser).await?;
        assert_eq!(page_part(&browser).await?, "js/static.min.js");
        pay(&stage, &browser).await?;
        assert_eq!(browser.seen_of("violation").await?, Vec::<String>::new());
        Ok(())
    })
    .await
}

/// What the loader and the page part use where it is there.
const NEWEST: &str = "delete Uint8Array.fromBase64; delete window.scheduler; delete window.requestIdleCallback;";

#[tokio::test]
async fn a_browser_some_years_old_pays_with_wasm_all_the_same() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    browse(move |browser| async move {
        browser.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", json!({ "source": NEWEST })).await?;
        browser.goto(stage.page("")).await?;
        let gone =
            browser.value("[Uint8Array.fromBase64, window.scheduler, window.requestIdleCallback].join()").await?;
        assert_eq!(gone, ",,");
        assert_eq!(page_part(&browser).await?, "js/static.min.js");
        pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_browser_without_wasm_pays_in_page_and_frames() -> anyhow::Result<()> {
    let stage = Stage::new().await?;
    // As hardened browsers do.
    browse_with(&["--js-flags=--jitless"], move |browser| async move {
        browser.goto(stage.page("var wpwlOptions = { brandDetection: true };")).await?;
        let form = CardForm::ready(&browser).await?;
        assert_eq!(browser.value("typeof WebAssembly").await?, "undefined");
        assert_eq!(page_part(&browser).await?, "js/plain/static.min.js");
        // The frame's own checks work too: they know the brand from the number.
        form.number("5454").await?;
        browser.until("document.querySelector('select.wpwl-control-brand').value === 'MASTER'").await?;
        form.empty(tillgate_tests::card_form::NUMBER).await?;
        form.brand("VISA").await?;
        pay(&stage, &browser).await
    })
    .await
}

#[tokio::test]
async fn a_page_that_requires_trusted_types_lists_one_policy_of_ours() -> anyhow::Result<()> {
    for (wasm, list) in [("", "; trusted-types tillgate"), (" 'wasm-unsafe-eval'", "")] {
        let stage = Stage::new().await?;
        let policy = LEAST.replace("'self' {gateway}", &format!("'self' {{gateway}}{wasm}"));
        stage.site.set_policy(&format!("{policy}; require-trusted-types-for 'script'{list}"));
        browse(move |browser| async move {
            browser
                .goto(stage.page("var wpwlOptions = { locale: 'ar', onReady() { witness.note('ready', 1); } };"))
                .await?;
            browser.until_seen("ready").await?;
            assert_eq!(browser.value("document.querySelector('.wpwl-form').dir").await?, "rtl");
            pay(&stage, &browser).await
        })
        .await?;
    }
    Ok(())
}

/// Copies a folder, but for compressed twins: what is served then is the file itself.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("{}: `cargo xtask form` makes it", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().context("a file without a name")?;
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else if !path.extension().is_some_and(|it| it == "br" || it == "gz") {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Asks in a frame what becomes of the files that it loads: of the module, and of the script, once more and in the same way.
const FATE: &str = "
    const [done] = arguments;
    const told = (promise) => promise.then(() => 'runs', () => 'refused');
    const { src, integrity } = document.querySelector('script[src]');
    const script = new Promise((runs, refused) => {
        const element = Object.assign(document.createElement('script'), { src, integrity, onload: runs, onerror: refused });
        document.head.append(element);
    });
    const module = async () => {
        const [integrity] = (await (await fetch(src)).text()).match(/sha256-[\\w+/=]+/);
        await fetch(src.replace('frame.js', 'frame.wasm'), { integrity });
    };
    Promise.all([told(script), told(module())])
        .then((all) => done([...all, document.documentElement.id, !!tillgate.judge('4').known]));";

#[tokio::test]
async fn a_frame_runs_no_file_that_has_been_changed() -> anyhow::Result<()> {
    for (file, added, fate) in [
        ("frame.js", "document.documentElement.id = 'changed';", json!(["refused", "runs", "", false])),
        ("frame.wasm", "\0", json!(["runs", "refused", "", false])),
    ] {
        let folder = tempfile::tempdir()?;
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/form"), folder.path())?;
        let path = folder.path().join("static/frame").join(file);
        let changed = [&std::fs::read(&path)?, added.as_bytes()].concat();
        std::fs::write(&path, &changed)?;
        // Whoever changes a file can change the manifest too, by which the gateway checks its files at the start.
        let manifest = folder.path().join("manifest.json");
        let mut entries: serde_json::Value = serde_json::from_slice(&std::fs::read(&manifest)?)?;
        entries["files"][format!("frame/{file}")]["integrity"] =
            json!(format!("sha384-{}", STANDARD.encode(Sha384::digest(&changed))));
        std::fs::write(&manifest, entries.to_string())?;
        let gateway = Gateway::start_with(&["--form", folder.path().to_str().context("a path in UTF-8")?])?;
        let merchant = gateway.merchant()?;
        let site = Site::start(&gateway).await?;
        let checkout = merchant.checkout(&[]).await?;
        browse(move |browser| async move {
            browser.goto(site.add(Page::of(&checkout))).await?;
            browser.query(By::Css(NUMBER)).first().await?.enter_frame().await?;
            browser.until("document.querySelector('script[src]')").await?;
            let found = browser.execute_async(FATE, vec![]).await?;
            assert_eq!(*found.json(), fate, "{file}");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
