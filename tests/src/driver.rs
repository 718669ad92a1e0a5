//! chromedriver, started once per test binary. It starts a Chromium with a fresh profile, or opens a session with a
//! running one. This module starts Firefox too, which needs no driver, and WebKit, which has one of its own.

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use thirtyfour::common::capabilities::chrome::ChromeCapabilities;
use thirtyfour::common::capabilities::chromium::ChromiumLikeCapabilities;
use thirtyfour::extensions::query::ElementPollerWithTimeout;
use thirtyfour::{Capabilities, LoggingPrefsLogLevel, WebDriver, WebDriverBuilder};

use crate::firefox::Firefox;
use crate::process::Process;
use crate::wait::PATIENCE;
use crate::webkit::WebKit;

/// Polling interval of tests that wait for an element.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Arguments of every Chromium. The disabled features are the browser's own pages for its address bar: each window
/// would start two more processes, which take more than half of the processor time of opening it.
pub const CHROMIUM_ARGUMENTS: [&str; 16] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess,MediaRouter,Translate,OptimizationHints,PaintHolding",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-default-apps",
    "--metrics-recording-only",
    "--lang=en-US",
    "--window-size=1280,960",
];
/// Width and height of a window. They match the arguments.
pub const WINDOW: (u32, u32) = (1280, 960);

/// Starts a new Chromium with the additional arguments. It ends with the session.
///
/// # Errors
/// If Chromium does not start.
pub async fn start_chromium(more: &[&str]) -> anyhow::Result<WebDriver> {
    let mut capabilities = ChromeCapabilities::new();
    for argument in CHROMIUM_ARGUMENTS.iter().chain(more) {
        capabilities.add_arg(argument)?;
    }
    capabilities.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    open_session(WebDriver::builder(chromedriver_address(), capabilities)).await
}

/// Opens a session with the running Chromium whose DevTools listen at this address, such as `127.0.0.1:40001`. The
/// browser outlives the session.
pub async fn attach_to_chromium(debugger: &str) -> anyhow::Result<WebDriver> {
    let mut capabilities = ChromeCapabilities::new();
    capabilities.set_debugger_address(debugger)?;
    capabilities.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    open_session(WebDriver::builder(chromedriver_address(), capabilities)).await
}

/// Starts a new Firefox and opens a session with it, without geckodriver: [`crate::firefox`] translates the requests.
/// The browser ends when the returned [`Firefox`] is dropped.
///
/// # Errors
/// If Firefox does not start.
pub async fn start_firefox() -> anyhow::Result<(WebDriver, Firefox)> {
    let (firefox, marionette) = tokio::task::spawn_blocking(Firefox::start).await??;
    // The library requires an address, but nothing is sent to it.
    let builder = WebDriver::builder("http://firefox.invalid", Capabilities::new()).client(marionette);
    Ok((open_session(builder).await?, firefox))
}

/// Starts a new browser with WebKit and opens a session with it. The browser ends with the session, and its driver when
/// the returned [`WebKit`] is dropped.
///
/// # Errors
/// If it does not start.
pub async fn start_webkit() -> anyhow::Result<(WebDriver, WebKit)> {
    let webkit = WebKit::start().await?;
    let builder = WebDriver::builder(webkit.driver.as_str(), Capabilities::new());
    Ok((open_session(builder).await?, webkit))
}

/// Opens a session. Queries for elements and scripts wait for up to [`PATIENCE`], requests for twice as long.
async fn open_session(builder: WebDriverBuilder) -> anyhow::Result<WebDriver> {
    let poller = Arc::new(ElementPollerWithTimeout::new(PATIENCE, POLL_INTERVAL));
    let driver = builder.poller(poller).request_timeout(PATIENCE * 2).await?;
    driver.set_script_timeout(PATIENCE).await?;
    Ok(driver)
}

/// Returns the address of chromedriver. The first call starts it, and it ends with the test process.
///
/// # Panics
/// If it does not start.
fn chromedriver_address() -> String {
    static DRIVER: OnceLock<(Process, String)> = OnceLock::new();
    let (_, address) = DRIVER.get_or_init(|| {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| OsString::from("chromedriver"));
        let ready = |line: &str| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(format!("http://127.0.0.1:{}", port.trim().trim_end_matches('.')))
        };
        match Process::start(&program, &[OsStr::new("--port=0")], &[], ready) {
            Ok(started) => started,
            Err(error) => panic!("no chromedriver (Debian: chromium-driver; or name one in CHROMEDRIVER): {error:#}"),
        }
    });
    address.clone()
}
