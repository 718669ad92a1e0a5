//! chromedriver, once per test binary: it starts a Chromium with a fresh profile, or opens a session with a running one.
//! Firefox likewise, which needs no driver.

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

/// How often a test looks for something that is to appear.
const GLANCE: Duration = Duration::from_millis(50);

/// Arguments of every Chromium. The features are pages of the browser's own, for its address bar: every window would start
/// two more processes, which take more than half of the processor time of opening it.
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
/// Width and height of a window, as in the arguments.
pub const WINDOW: (u32, u32) = (1280, 960);

/// A new Chromium with `more` arguments. It ends with the session.
///
/// # Errors
/// When Chromium does not start.
pub async fn chromium(more: &[&str]) -> anyhow::Result<WebDriver> {
    let mut wanted = ChromeCapabilities::new();
    for argument in CHROMIUM_ARGUMENTS.iter().chain(more) {
        wanted.add_arg(argument)?;
    }
    wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    session(WebDriver::builder(address(), wanted)).await
}

/// A session with the running Chromium whose DevTools listen at this address, `127.0.0.1:40001`. The browser outlives it.
///
/// # Errors
/// When the browser does not answer.
pub async fn attach(debugger: &str) -> anyhow::Result<WebDriver> {
    let mut wanted = ChromeCapabilities::new();
    wanted.set_debugger_address(debugger)?;
    wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    session(WebDriver::builder(address(), wanted)).await
}

/// A new Firefox. It ends with the answer's second half.
///
/// # Errors
/// When Firefox does not start.
pub async fn firefox() -> anyhow::Result<(WebDriver, Firefox)> {
    let (firefox, marionette) = tokio::task::spawn_blocking(Firefox::start).await??;
    let builder = WebDriver::builder("http://firefox.invalid", Capabilities::new()).client(marionette);
    Ok((session(builder).await?, firefox))
}

async fn session(builder: WebDriverBuilder) -> anyhow::Result<WebDriver> {
    let poller = Arc::new(ElementPollerWithTimeout::new(PATIENCE, GLANCE));
    let driver = builder.poller(poller).request_timeout(PATIENCE * 2).await?;
    driver.set_script_timeout(PATIENCE).await?;
    Ok(driver)
}

/// Where chromedriver listens. It is started at the first call and ends with the test process.
fn address() -> String {
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
