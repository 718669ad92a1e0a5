//! Programs and packages that the tests need: found, or installed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::toolchain::{debian, on_path, output, step};

/// From the npm registry, each with the file that tells that it is there. A new version may find more, so they change by
/// decision only; this TypeScript is the last one written in JavaScript, which runs wherever node does, and this React the
/// last one that a page can load by itself.
const PACKAGES: [(&str, &str); 6] = [
    ("axe-core@4.14.1", AXE),
    ("jquery@3.7.1", "jquery/dist/jquery.min.js"),
    ("react@18.3.1", "react/umd/react.development.js"),
    ("react-dom@18.3.1", "react-dom/umd/react-dom.development.js"),
    ("typescript@5.9.3", COMPILER),
    ("vue@3.5.13", "vue/dist/vue.runtime.global.prod.js"),
];
const AXE: &str = "axe-core/axe.min.js";
const COMPILER: &str = "typescript/lib/tsc.js";

/// Environment of the test programs that names what is not on the path.
pub type Environment = Vec<(&'static str, OsString)>;

/// Sets up what the tests need besides the gateway: the packages of the npm registry, and the browsers where they matter.
///
/// # Errors
/// When something is missing and cannot be installed.
pub fn set_up(browsers: bool) -> Result<Environment> {
    let mut missing = Vec::new();
    if browsers {
        missing.extend(missing_chromium());
        // Firefox needs no driver.
        missing.extend((!["firefox", "firefox-esr"].into_iter().any(on_path)).then_some("firefox-esr"));
    }
    if !on_path("node") || (!have_packages() && !on_path("npm")) {
        missing.push("npm");
    }
    // In one go: most of the time is spent on what apt does once.
    install("the tests", &missing)?;
    let packages = packages()?;
    Ok(vec![("TILLGATE_AXE", packages.join(AXE).into()), ("TILLGATE_TSC", packages.join(COMPILER).into())])
}

/// Chromium and chromedriver of the same version: what is installed, else Debian's packages.
pub fn chromium() -> Result<()> {
    install("a test in a browser", &missing_chromium())
}

fn missing_chromium() -> Vec<&'static str> {
    let browser = ["chromium", "google-chrome", "chromium-browser"].into_iter().any(on_path);
    if browser && on_path("chromedriver") { Vec::new() } else { vec!["chromium", "chromium-driver"] }
}

/// Installs Debian's packages, or says what to install where there are none.
///
/// # Errors
/// When the system is not Debian, or apt-get fails.
pub fn install(what: &str, packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    ensure!(debian::is_debian(), "{what} needs {}, as Debian names it; please install it", packages.join(" and "));
    debian::install(packages)
}

fn folder() -> PathBuf {
    crate::root().join("target/tools")
}

fn have_packages() -> bool {
    let packages = folder().join("node_modules");
    PACKAGES.iter().all(|(_, file)| packages.join(file).exists())
}

/// The packages of the npm registry, in `target/tools`: their folder.
fn packages() -> Result<PathBuf> {
    if !have_packages() {
        let names = PACKAGES.map(|(name, _)| name);
        std::fs::create_dir_all(folder())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        npm.arg(folder()).args(names);
        step(&format!("npm install {}", names.join(" ")), || output(&mut npm))?;
        ensure!(have_packages(), "npm did not install {}", names.join(" and "));
    }
    Ok(folder().join("node_modules"))
}
