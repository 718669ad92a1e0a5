//! chromedriver, once per test binary, and how a Chromium is asked of it: one a test, with a fresh profile.

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use thirtyfour::common::capabilities::chrome::ChromeCapabilities;
use thirtyfour::common::capabilities::chromium::ChromiumLikeCapabilities;
use thirtyfour::extensions::query::ElementPollerWithTimeout;
use thirtyfour::{LoggingPrefsLogLevel, WebDriver};

use crate::process::Process;

/// How long a test waits for something to appear before it fails, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(10);
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
    let poller = Arc::new(ElementPollerWithTimeout::new(PATIENCE, GLANCE));
    let driver = WebDriver::builder(address(), wanted).poller(poller).request_timeout(Duration::from_secs(60)).await?;
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
