//! Chromium processes that tests use one after another, as many as tests run at once. Every test gets a browser context
//! of its own, as private as a fresh profile: cookies, storage, cache and connections begin empty and end with the test.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use serde_json::json;
use tempfile::TempDir;
use thirtyfour::WebDriver;

use crate::devtools::DevTools;
use crate::driver::{self, CHROMIUM_ARGUMENTS, WINDOW};
use crate::gateway::fresh_folder;
use crate::process::Process;
use crate::wait::until;

/// Arguments that chromedriver gives a browser which it starts itself, as far as they concern a test.
const DRIVER_ARGUMENTS: [&str; 10] = [
    "--remote-debugging-port=0",
    "--enable-automation",
    "--test-type=webdriver",
    "--allow-pre-commit-input",
    "--disable-popup-blocking",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-client-side-phishing-detection",
    "--no-service-autorun",
    "--password-store=basic",
];

/// Settings of the profile. A browser context counts as a private window, which blocks cookies of other sites in frames
/// unless the profile allows them; shoppers' ordinary windows allow them.
const PREFERENCES: &str = r#"{
    "profile": { "cookie_controls_mode": 0, "block_third_party_cookies": false, "password_manager_enabled": false },
    "browser": { "check_default_browser": false },
    "autofill": { "enabled": false },
    "translate": { "enabled": false },
    "safebrowsing": { "enabled": false }
}"#;

/// Browsers that no test uses at the moment.
static IDLE: Mutex<Vec<Chromium>> = Mutex::new(Vec::new());

/// A running Chromium with one page, which nobody has used yet.
#[derive(Debug)]
pub struct Chromium {
    // Fields are dropped in this order: the process before its files.
    _process: Process,
    _profile: TempDir,
    /// Address of the browser's DevTools, `ws://127.0.0.1:40001/devtools/browser/…`.
    tools: String,
    /// Id of the page, which is in a browser context of its own.
    page: String,
}

impl Chromium {
    /// Takes an idle browser, or starts one, and opens a WebDriver session at its page. Dropping the browser ends it.
    ///
    /// # Errors
    /// When there is no Chromium, or a new one does not start.
    pub async fn take() -> anyhow::Result<(Self, WebDriver)> {
        loop {
            let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let is_new = idle.is_none();
            let browser = match idle {
                Some(browser) => browser,
                None => Self::start().await?,
            };
            match browser.open_session().await {
                Ok(session) => return Ok((browser, session)),
                Err(error) if is_new => return Err(error),
                // An idle browser that has died makes room for the next.
                Err(error) => eprintln!("an idle browser is given up: {error:#}"),
            }
        }
    }

    /// Leaves the browser to other tests, with a page in a new context. Nothing of the old one stays.
    ///
    /// # Errors
    /// When the browser does not do so; then it ends.
    pub async fn give_back(mut self) -> anyhow::Result<()> {
        self.page = renew_page(&mut DevTools::open(&self.tools).await?).await?;
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        Ok(())
    }

    async fn start() -> anyhow::Result<Self> {
        let profile = fresh_folder()?;
        let settings = profile.path().join("Default");
        std::fs::create_dir(&settings)?;
        std::fs::write(settings.join("Preferences"), PREFERENCES)?;
        let mut arguments: Vec<OsString> =
            DRIVER_ARGUMENTS.iter().chain(&CHROMIUM_ARGUMENTS).map(OsString::from).collect();
        let mut folder = OsString::from("--user-data-dir=");
        folder.push(profile.path());
        arguments.extend([folder, OsString::from("about:blank")]);
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let program = program().context("no Chromium (Debian: chromium; or name one in CHROMIUM)")?;
        let ready = |line: &str| line.strip_prefix("DevTools listening on ").map(|address| address.trim().to_owned());
        let (process, tools) = Process::start(program.as_os_str(), &arguments, &[], ready)?;
        let page = renew_page(&mut DevTools::open(&tools).await?).await?;
        Ok(Self { _process: process, _profile: profile, tools, page })
    }

    async fn open_session(&self) -> anyhow::Result<WebDriver> {
        let address = self.tools.strip_prefix("ws://").and_then(|rest| rest.split('/').next());
        let session = driver::attach(address.unwrap_or_default()).await?;
        session.switch_to_window(self.page.clone().into()).await?;
        Ok(session)
    }
}

/// Opens a page in a new context and closes everything else. In this order, as a browser without a page ends. Returns the
/// page's id.
async fn renew_page(tools: &mut DevTools) -> anyhow::Result<String> {
    let old = tools.call(None, "Target.getBrowserContexts", json!({})).await?;
    let context = tools.call(None, "Target.createBrowserContext", json!({})).await?["browserContextId"].clone();
    let (width, height) = WINDOW;
    let wanted = json!({
        "url": "about:blank", "browserContextId": context, "newWindow": true, "width": width, "height": height,
    });
    let target = tools.call(None, "Target.createTarget", wanted).await?["targetId"].clone();
    for context in old["browserContextIds"].as_array().into_iter().flatten() {
        tools.call(None, "Target.disposeBrowserContext", json!({ "browserContextId": context })).await?;
    }
    for page in tools.find_targets("page", "").await?.into_iter().filter(|page| *page != target) {
        // A page of a context that has just been disposed of may be gone already.
        let _ = tools.call(None, "Target.closeTarget", json!({ "targetId": page })).await;
    }
    until("the browser closes its other pages", async || {
        let is_alone = tools.find_targets("page", "").await? == [target.clone()];
        Ok(is_alone.then_some(()))
    })
    .await?;
    Ok(target.as_str().context("a page without an id")?.to_owned())
}

/// Finds Chromium's program: `CHROMIUM`, or one on the path.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "google-chrome", "chromium-browser"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| Path::is_file(file))
}
