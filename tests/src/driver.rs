//! chromedriver, once per test binary, and how a Chromium is asked of it: one a test, with a fresh profile. Firefox
//! likewise, from a geckodriver of its own.

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use thirtyfour::common::capabilities::chrome::ChromeCapabilities;
use thirtyfour::common::capabilities::chromium::ChromiumLikeCapabilities;
use thirtyfour::common::capabilities::firefox::{FirefoxCapabilities, FirefoxPreferences};
use thirtyfour::extensions::query::ElementPollerWithTimeout;
use thirtyfour::{Capabilities, LoggingPrefsLogLevel, WebDriver};

use crate::process::Process;

/// How long a test waits for something to appear before it fails, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(30);
const GLANCE: Duration = Duration::from_millis(20);

/// A new Chromium with `more` arguments.
///
/// # Errors
/// When Chromium does not start.
pub async fn chromium(more: &[&str]) -> anyhow::Result<WebDriver> {
    let mut wanted = ChromeCapabilities::new();
    let usual = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--lang=en-US",
        "--window-size=1280,960",
    ];
    for argument in usual.iter().chain(more) {
        wanted.add_arg(argument)?;
    }
    wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    session(&address(), wanted).await
}

/// A new Firefox, and its driver, which knows one browser at a time and ends with the answer's second half.
///
/// # Errors
/// When Firefox does not start.
pub async fn firefox() -> anyhow::Result<(WebDriver, Process)> {
    let program = std::env::var_os("GECKODRIVER").unwrap_or_else(|| OsString::from("geckodriver"));
    let ready = |line: &str| Some(format!("http://{}", line.split_once("Listening on ")?.1.trim()));
    let (process, address) = Process::start(&program, &[OsStr::new("--port=0")], &[], ready)
        .map_err(|error| error.context("no geckodriver; `cargo xtask test` brings it, or name one in GECKODRIVER"))?;
    let mut wanted = FirefoxCapabilities::new();
    wanted.add_arg("-headless")?;
    wanted.add_arg("--width=1280")?;
    wanted.add_arg("--height=960")?;
    let mut preferences = FirefoxPreferences::new();
    preferences.set("intl.accept_languages", "en-US")?;
    wanted.set_preferences(preferences)?;
    Ok((session(&address, wanted).await?, process))
}

async fn session(address: &str, wanted: impl Into<Capabilities>) -> anyhow::Result<WebDriver> {
    let poller = Arc::new(ElementPollerWithTimeout::new(PATIENCE, GLANCE));
    let driver = WebDriver::builder(address, wanted).poller(poller).request_timeout(Duration::from_secs(60)).await?;
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
