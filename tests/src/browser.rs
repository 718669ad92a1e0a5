//! A browser as a test sees it: pages, a witness in every page, sizes and colour schemes, screenshots.

use std::future::Future;
use std::ops::Deref;
use std::panic::resume_unwind;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use tokio::task::LocalSet;

use crate::driver::{chromium, firefox};
use crate::pool::Chromium;
use crate::wait::until;

/// A running browser with nothing kept from before: Chromium, or Firefox. Everything of [`WebDriver`] can be called on it.
#[derive(Clone, Debug)]
pub struct Browser {
    driver: WebDriver,
}

/// Something that the witness in the page has seen.
#[derive(Clone, Debug, Deserialize)]
pub struct Seen {
    /// `violation`, `error`, `message`, `posted`, `sent`, `loaded`, or what a page noted itself.
    pub kind: String,
    /// What exactly, as text.
    pub detail: String,
}

impl Deref for Browser {
    type Target = WebDriver;

    fn deref(&self) -> &WebDriver {
        &self.driver
    }
}

/// Runs `test` in a page of a Chromium that other tests have used before, or will; its browser context is the test's own, and
/// empty. A failure leaves a picture and the browser's log behind, and ends the browser.
///
/// # Errors
/// What the test fails with, or that there is no browser.
pub async fn browse<Fut>(test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let (chromium, driver) = Chromium::take().await?;
    let browser = Browser { driver };
    browser.add_witness().await?;
    run(browser, test).await?;
    if let Err(error) = chromium.give_back().await {
        eprintln!("a browser is given up: {error:#}");
    }
    Ok(())
}

/// Like [`browse`], in a Chromium that is started for this test with a fresh profile and more arguments.
///
/// # Errors
/// What the test fails with, or that there is no browser.
pub async fn browse_with<Fut>(arguments: &[&str], test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let browser = Browser { driver: chromium(arguments).await? };
    browser.add_witness().await?;
    run(browser, test).await
}

/// Like [`browse`], in Firefox. It has no witness, and what only Chromium's own protocol can do ([`Browser::resize`],
/// [`Browser::prefer`]) it cannot.
///
/// # Errors
/// What the test fails with, or that there is no Firefox.
pub async fn browse_in_firefox<Fut>(test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    let (driver, _process) = firefox().await?;
    run(Browser { driver }, test).await
}

async fn run<Fut>(browser: Browser, test: impl FnOnce(Browser) -> Fut) -> anyhow::Result<()>
where
    Fut: Future<Output = anyhow::Result<()>> + 'static,
{
    // As a task of its own, so that a failed assertion ends the test and not the clean-up.
    let tasks = LocalSet::new();
    let outcome = tasks.run_until(tasks.spawn_local(test(browser.clone()))).await;
    if !matches!(outcome, Ok(Ok(()))) {
        browser.leave_evidence().await;
    }
    browser.driver.quit().await?;
    outcome.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => Err(error.into()),
    })
}

impl Browser {
    /// Lets the witness into every page from now on.
    async fn add_witness(&self) -> anyhow::Result<()> {
        let witness = json!({ "source": include_str!("witness.js") });
        self.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", witness).await?;
        Ok(())
    }

    /// Everything the witness has seen on this site since the browser started, in order.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn seen(&self) -> anyhow::Result<Vec<Seen>> {
        Ok(self.execute("return window.witness.all()", vec![]).await?.convert()?)
    }

    /// What the witness has seen of one kind.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn seen_of(&self, kind: &str) -> anyhow::Result<Vec<String>> {
        let seen = self.seen().await?.into_iter().filter(|seen| seen.kind == kind);
        Ok(seen.map(|seen| seen.detail).collect())
    }

    /// Waits until the witness has seen something of `kind` since the browser started, and says what came first.
    ///
    /// # Errors
    /// When it does not happen in time.
    pub async fn until_seen(&self, kind: &str) -> anyhow::Result<String> {
        until(kind, async || {
            // A page that is going away does not answer; what was seen there is kept.
            let seen = self.seen_of(kind).await.unwrap_or_default();
            Ok(seen.into_iter().next())
        })
        .await
    }

    /// Waits until `condition`, an expression, holds in the page, or in the page that it makes way for.
    ///
    /// # Errors
    /// When it does not become true in time.
    pub async fn until(&self, condition: &str) -> anyhow::Result<()> {
        until(condition, async || {
            // A page that is going away does not answer.
            let value = self.value(&format!("!!({condition})")).await.unwrap_or_default();
            Ok((value == true).then_some(()))
        })
        .await
    }

    /// The value of `expression` in the page.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn value(&self, expression: &str) -> anyhow::Result<Value> {
        Ok(self.execute(format!("return {expression}"), vec![]).await?.json().clone())
    }

    /// What the browser itself wrote to its console since the last call: warnings and errors, policy violations too.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub async fn complaints(&self) -> anyhow::Result<Vec<String>> {
        let log = self.get_log("browser").await?;
        let loud = log.into_iter().filter(|entry| entry.level != "INFO" && entry.level != "DEBUG");
        Ok(loud.map(|entry| format!("{}: {}", entry.level, entry.message)).collect())
    }

    /// Makes the page `width` × `height` CSS pixels, as a phone when it is narrow.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn resize(&self, width: u32, height: u32) -> anyhow::Result<()> {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 0, "mobile": width < 600 });
        self.cdp().send_raw("Emulation.setDeviceMetricsOverride", metrics).await?;
        Ok(())
    }

    /// Lets pages see a device that prefers dark or light.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn prefer(&self, scheme: &str) -> anyhow::Result<()> {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.cdp().send_raw("Emulation.setEmulatedMedia", features).await?;
        Ok(())
    }

    /// Writes what is on the screen to `tests/screenshots/<name>.png`.
    ///
    /// # Errors
    /// When the picture cannot be taken or written.
    pub async fn picture(&self, name: &str) -> anyhow::Result<()> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("screenshots");
        std::fs::create_dir_all(&folder)?;
        self.screenshot(&folder.join(format!("{name}.png"))).await?;
        Ok(())
    }

    /// For whoever looks into a failed test: the picture, and the logs on standard error.
    async fn leave_evidence(&self) {
        let test = std::thread::current().name().unwrap_or("test").replace("::", "-");
        let _ = self.enter_default_frame().await;
        let _ = self.picture(&format!("failed-{test}")).await;
        for seen in self.seen().await.unwrap_or_default() {
            eprintln!("witness: {} {}", seen.kind, seen.detail);
        }
        for complaint in self.complaints().await.unwrap_or_default() {
            eprintln!("browser: {complaint}");
        }
    }
}
