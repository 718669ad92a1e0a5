//! Pool of Chromium processes, at most as many as tests run concurrently. Every test gets its own browser context,
//! which is as isolated as a fresh profile: cookies, storage, cache and connections are empty at the start and deleted
//! at the end.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use serde_json::json;
use tempfile::TempDir;
use thirtyfour::WebDriver;

use crate::devtools::DevTools;
use crate::driver::{self, CHROMIUM_ARGUMENTS, WINDOW};
use crate::gateway::create_temporary_folder;
use crate::process::Process;
use crate::wait::poll_until;

/// Arguments that chromedriver passes to a browser that it starts itself, as far as they affect tests.
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

/// Preferences of the profile. A browser context is treated as a private window, which blocks third-party cookies in
/// frames unless the profile allows them. Shoppers' ordinary windows allow them.
const PREFERENCES: &str = r#"{
    "profile": { "cookie_controls_mode": 0, "block_third_party_cookies": false, "password_manager_enabled": false },
    "browser": { "check_default_browser": false },
    "autofill": { "enabled": false },
    "translate": { "enabled": false },
    "safebrowsing": { "enabled": false }
}"#;

/// Chromium's engine without a user interface, from Debian's package `chromium-headless-shell`. It takes half of the
/// processor time in tests. The program on the path is a script that does not `exec` the browser, so ending that script
/// would not end the browser.
const HEADLESS_SHELL: &str = "/usr/lib/chromium/chromium-headless-shell";

/// Browsers that no test uses at the moment.
static IDLE: Mutex<Vec<Chromium>> = Mutex::new(Vec::new());

/// A kind of Chromium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChromiumKind {
    /// The headless shell, if it is installed. All sites of a page share a process, as on most phones.
    Shell,
    /// The browser with its user interface. Every site has its own process, as on desktops.
    Desktop,
}

/// A running Chromium with one unused page.
#[derive(Debug)]
pub struct Chromium {
    kind: ChromiumKind,
    // Fields are dropped in this order: the process before its files.
    _process: Process,
    _profile: TempDir,
    /// Address of the browser's DevTools, `ws://127.0.0.1:40001/devtools/browser/…`.
    devtools_address: String,
    /// Id of the page, which is in its own browser context.
    page: String,
}

impl Chromium {
    /// Takes an idle browser of this kind or starts one, and opens a WebDriver session at its page. Idle browsers that
    /// have died are dropped. Dropping the browser ends it.
    ///
    /// # Errors
    /// If there is no Chromium, or a new one does not start.
    pub async fn take_from_pool(kind: ChromiumKind) -> anyhow::Result<(Self, WebDriver)> {
        loop {
            let idle = take_idle(kind);
            let is_new = idle.is_none();
            let browser = match idle {
                Some(browser) => browser,
                None => Self::start(kind).await?,
            };
            match browser.open_session().await {
                Ok(session) => return Ok((browser, session)),
                Err(error) if is_new => return Err(error),
                // An idle browser that has died is dropped, and the next one is tried.
                Err(error) => eprintln!("an idle browser is given up: {error:#}"),
            }
        }
    }

    /// Returns the browser to the pool, with a page in a new context. The old context is disposed of.
    ///
    /// # Errors
    /// If the browser does not renew its page. The browser is ended then.
    pub async fn return_to_pool(mut self) -> anyhow::Result<()> {
        self.page = renew_page(&mut DevTools::open(&self.devtools_address).await?).await?;
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        Ok(())
    }

    /// Starts a browser of this kind with a fresh profile, and gives it a page in its own context.
    async fn start(kind: ChromiumKind) -> anyhow::Result<Self> {
        let profile = create_temporary_folder()?;
        let settings = profile.path().join("Default");
        std::fs::create_dir(&settings)?;
        std::fs::write(settings.join("Preferences"), PREFERENCES)?;
        let mut arguments: Vec<OsString> =
            DRIVER_ARGUMENTS.iter().chain(&CHROMIUM_ARGUMENTS).map(OsString::from).collect();
        let mut folder = OsString::from("--user-data-dir=");
        folder.push(profile.path());
        arguments.extend([folder, OsString::from("about:blank")]);
        let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
        let program = find_program(kind).context("no Chromium (Debian: chromium; or name one in CHROMIUM)")?;
        let ready = |line: &str| line.strip_prefix("DevTools listening on ").map(|address| address.trim().to_owned());
        let (process, devtools_address) = Process::start(program.as_os_str(), &arguments, &[], ready)?;
        let page = renew_page(&mut DevTools::open(&devtools_address).await?).await?;
        Ok(Self { kind, _process: process, _profile: profile, devtools_address, page })
    }

    /// Opens a WebDriver session at the browser's page.
    async fn open_session(&self) -> anyhow::Result<WebDriver> {
        let address = self.devtools_address.strip_prefix("ws://").and_then(|rest| rest.split('/').next());
        let session = driver::attach_to_chromium(address.unwrap_or_default()).await?;
        session.switch_to_window(self.page.clone().into()).await?;
        Ok(session)
    }
}

/// Removes an idle browser of this kind from the pool. Returns `None` if there is none.
fn take_idle(kind: ChromiumKind) -> Option<Chromium> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = idle.iter().position(|browser| browser.kind == kind)?;
    Some(idle.swap_remove(found))
}

/// Opens a page in a new context, then closes all other pages and contexts, and returns the page's id. The order
/// matters because a browser without a page ends.
async fn renew_page(devtools: &mut DevTools) -> anyhow::Result<String> {
    let old = devtools.run_command(None, "Target.getBrowserContexts", json!({})).await?;
    let context =
        devtools.run_command(None, "Target.createBrowserContext", json!({})).await?["browserContextId"].clone();
    let (width, height) = WINDOW;
    let options = json!({
        "url": "about:blank", "browserContextId": context, "newWindow": true, "width": width, "height": height,
    });
    let target = devtools.run_command(None, "Target.createTarget", options).await?["targetId"].clone();
    for context in old["browserContextIds"].as_array().into_iter().flatten() {
        devtools.run_command(None, "Target.disposeBrowserContext", json!({ "browserContextId": context })).await?;
    }
    for page in devtools.find_targets("page", "").await?.into_iter().filter(|page| *page != target) {
        // The page may already be gone, as its context has just been disposed of.
        let _ = devtools.run_command(None, "Target.closeTarget", json!({ "targetId": page })).await;
    }
    poll_until("the browser closes its other pages", async || {
        let is_alone = devtools.find_targets("page", "").await? == [target.clone()];
        Ok(is_alone.then_some(()))
    })
    .await?;
    Ok(target.as_str().context("a page without an id")?.to_owned())
}

/// Returns the Chromium program: the one that `CHROMIUM` names, for the shell Debian's package, or a browser on the
/// path. Returns `None` if there is none.
fn find_program(kind: ChromiumKind) -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("CHROMIUM") {
        return Some(program.into());
    }
    if kind == ChromiumKind::Shell && Path::new(HEADLESS_SHELL).is_file() {
        return Some(HEADLESS_SHELL.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "google-chrome", "chromium-browser"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| Path::is_file(file))
}
