//! A browser under test: pages, a witness script in every page, window sizes and color schemes, screenshots.

use std::future::Future;
use std::ops::Deref;
use std::panic::resume_unwind;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tokio::task::LocalSet;

use crate::driver::{start_chromium, start_firefox, start_webkit};
use crate::pool::{Chromium, ChromiumKind};
use crate::wait::poll_until;

/// A running Chromium or Firefox with a fresh profile or context. It dereferences to [`WebDriver`].
#[derive(Clone, Debug)]
pub struct Browser {
    driver: WebDriver,
}

/// An observation of the witness script in the page.
#[derive(Clone, Debug, Deserialize)]
pub struct Observation {
    /// `violation`, `error`, `message`, `posted`, `sent`, `loaded`, or a kind that the page itself recorded.
    pub kind: String,
    /// Details as text.
    pub detail: String,
}

impl Deref for Browser {
    type Target = WebDriver;

    fn deref(&self) -> &WebDriver {
        &self.driver
    }
}

/// Runs `test` in a page of a shared Chromium. The browser context belongs to the test alone and is empty. This
/// Chromium has no user interface, and all sites of a page share a process, as on most phones. If the test fails, a
/// screenshot and the browser's log are saved, and the browser is ended.
pub async fn run_in_browser<Fut>(test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    run_in_shared_browser(ChromiumKind::Shell, test).await
}

/// Runs `test` like [`run_in_browser`], in a Chromium with its user interface and with a process for every site, as on
/// desktops. It takes twice the processor time. It is meant for tests of the main flow, of attacks, and of features
/// that the headless shell lacks (autofill, back/forward cache).
pub async fn run_in_desktop_browser<Fut>(test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    run_in_shared_browser(ChromiumKind::Desktop, test).await
}

/// Runs `test` in an idle or new browser of this kind. Returns the browser to the pool if the test passes; otherwise
/// ends it. A browser that cannot be returned is ended with a message, and the test passes.
async fn run_in_shared_browser<Fut>(kind: ChromiumKind, test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let (chromium, driver) = Chromium::take_from_pool(kind).await?;
    let browser = Browser { driver };
    browser.add_witness().await?;
    run_and_quit(browser, test).await?;
    if let Err(error) = chromium.return_to_pool().await {
        eprintln!("a browser is given up: {error:#}");
    }
    Ok(())
}

/// Runs `test` like [`run_in_browser`], in a Chromium with user interface that is started for this test with a fresh
/// profile and additional arguments.
pub async fn run_in_new_browser<Fut>(arguments: &[&str], test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let browser = Browser { driver: start_chromium(arguments).await? };
    browser.add_witness().await?;
    run_and_quit(browser, test).await
}

/// Runs `test` like [`run_in_browser`], in Firefox. There is no witness script; functions that need Chromium's protocol
/// ([`Browser::resize_page`], [`Browser::set_color_scheme`]) do not work.
///
/// # Errors
/// If the test fails, or if Firefox cannot be started.
pub async fn run_in_firefox<Fut>(test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let (driver, _process) = start_firefox().await?;
    run_and_quit(Browser { driver }, test).await
}

/// Runs `test` like [`run_in_firefox`], in WebKit. Its driver types into no element of a frame: click it, and send
/// keys.
///
/// # Errors
/// If the test fails, or if WebKit cannot be started.
pub async fn run_in_webkit<Fut>(test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let (driver, _webkit) = start_webkit().await?;
    run_and_quit(Browser { driver }, test).await
}

/// Runs `test`, saves diagnostics if it fails or panics, and ends the session. Then resumes the test's panic or returns
/// its error. A failure to end the session hides both.
async fn run_and_quit<Fut>(browser: Browser, test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    // A separate task, so that a failed assertion does not skip the clean-up.
    let tasks = LocalSet::new();
    let outcome = tasks.run_until(tasks.spawn_local(test(browser.clone()))).await;
    if !matches!(outcome, Ok(Ok(()))) {
        browser.save_diagnostics().await;
    }
    browser.driver.quit().await?;
    outcome.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => Err(error.into()),
    })
}

impl Browser {
    /// Installs the witness script in every future page.
    async fn add_witness(&self) -> anyhow::Result<()> {
        let witness = json!({ "source": include_str!("witness.js") });
        self.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", witness).await?;
        Ok(())
    }

    /// Returns all observations of the witness script on this site since the browser started, in order.
    pub async fn observations(&self) -> anyhow::Result<Vec<Observation>> {
        Ok(self.execute("return window.witness.all()", vec![]).await?.convert()?)
    }

    /// Returns the details of all observations of one kind.
    pub async fn observed_details(&self, kind: &str) -> anyhow::Result<Vec<String>> {
        let observations = self.observations().await?.into_iter().filter(|observation| observation.kind == kind);
        Ok(observations.map(|observation| observation.detail).collect())
    }

    /// Waits until the witness script has made an observation of `kind` since the browser started, and returns the
    /// detail of the first.
    ///
    /// # Errors
    /// If it does not happen in time.
    pub async fn wait_for_observation(&self, kind: &str) -> anyhow::Result<String> {
        poll_until(kind, async || {
            // A page that is unloading does not answer. Its observations are kept.
            let details = self.observed_details(kind).await.unwrap_or_default();
            Ok(details.into_iter().next())
        })
        .await
    }

    /// Waits until the expression `condition` is true in the page, or in the page that replaces it.
    ///
    /// # Errors
    /// If it does not become true in time.
    pub async fn wait_until(&self, condition: &str) -> anyhow::Result<()> {
        poll_until(condition, async || {
            // A page that is unloading does not answer.
            let value = self.evaluate(&format!("!!({condition})")).await.unwrap_or_default();
            Ok((value == true).then_some(()))
        })
        .await
    }

    /// Returns the value of `expression` in the page.
    pub async fn evaluate(&self, expression: &str) -> anyhow::Result<Value> {
        Ok(self.execute(format!("return {expression}"), vec![]).await?.json().clone())
    }

    /// Returns the browser's console output since the last call, without informational lines: warnings and errors,
    /// including policy violations.
    ///
    /// # Errors
    /// If the driver does not answer.
    pub async fn console_warnings(&self) -> anyhow::Result<Vec<String>> {
        let log = self.get_log("browser").await?;
        let warnings = log.into_iter().filter(|entry| entry.level != "INFO" && entry.level != "DEBUG");
        Ok(warnings.map(|entry| format!("{}: {}", entry.level, entry.message)).collect())
    }

    /// Sets the page size to `width` × `height` CSS pixels. Pages of less than 600 are shown as on a phone.
    ///
    /// # Errors
    /// If the browser refuses.
    pub async fn resize_page(&self, width: u32, height: u32) -> anyhow::Result<()> {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 0, "mobile": width < 600 });
        self.cdp().send_raw("Emulation.setDeviceMetricsOverride", metrics).await?;
        Ok(())
    }

    /// Emulates a device with a dark or light color scheme, whose owner wants no motion: colours change at once, so
    /// that nothing sees those in between.
    ///
    /// # Errors
    /// If the browser refuses.
    pub async fn set_color_scheme(&self, scheme: &str) -> anyhow::Result<()> {
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ] });
        self.cdp().send_raw("Emulation.setEmulatedMedia", features).await?;
        Ok(())
    }

    /// Saves a screenshot to `tests/screenshots/<name>.png`.
    ///
    /// # Errors
    /// If the picture cannot be taken or written.
    pub async fn save_screenshot(&self, name: &str) -> anyhow::Result<()> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("screenshots");
        std::fs::create_dir_all(&folder)?;
        self.screenshot(&folder.join(format!("{name}.png"))).await?;
        Ok(())
    }

    /// Saves a screenshot as `failed-<test>` and prints observations and warnings to standard error. Ignores failures.
    async fn save_diagnostics(&self) {
        let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
        let _ = self.enter_default_frame().await;
        let _ = self.save_screenshot(&format!("failed-{test}")).await;
        for observation in self.observations().await.unwrap_or_default() {
            eprintln!("witness: {} {}", observation.kind, observation.detail);
        }
        for warning in self.console_warnings().await.unwrap_or_default() {
            eprintln!("browser: {warning}");
        }
    }
}
