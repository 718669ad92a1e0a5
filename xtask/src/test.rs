//! `cargo xtask test`: every test, with all that they need.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::say;
use crate::{form, server};

/// Text of `cargo xtask test --help`.
pub const HELP: &str = "\
Sets up what is missing (the wasm toolchain, Chromium with its driver, axe-core), builds the form and
the gateway, and runs all tests: units and properties, HTTP against the real binary, and the form in a
real browser. Arguments go to `cargo test`, for example the name of a test.

Example: cargo xtask test
         cargo xtask test -- --nocapture double_click";

/// axe-core as the tests use it; a new version may find more, so it changes by decision only.
const AXE: &str = "axe-core@4.14.1";
/// jQuery as merchants have it in their pages.
const JQUERY: &str = "jquery@3.7.1";

/// Builds everything and runs the tests.
pub fn run(arguments: &[String]) -> Result<()> {
    form::check_size(&form::build(form::Options::default())?)?;
    let binary = server::build(server::Profile::Development)?;
    chromium()?;
    let axe = axe()?;
    let status = Command::new("cargo")
        .current_dir(crate::root())
        .args(["test", "--workspace"])
        .args(arguments)
        .env("TILLGATE_BIN", binary)
        .env("TILLGATE_AXE", axe)
        .status()
        .context("running cargo test")?;
    ensure!(status.success(), "a test failed");
    Ok(())
}

/// Chromium and chromedriver of the same version: what is installed, else Debian's packages.
pub fn chromium() -> Result<()> {
    let browser = ["chromium", "google-chrome", "chromium-browser"].into_iter().any(on_path);
    if browser && on_path("chromedriver") {
        return Ok(());
    }
    install(
        "Chromium and its driver",
        "the browser tests need Chromium and chromedriver; please install both",
        &["chromium", "chromium-driver"],
    )
}

/// The accessibility checker, and beside it jQuery, from the npm registry, in `target/tools`.
fn axe() -> Result<PathBuf> {
    let folder = crate::root().join("target/tools");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if script.exists() && folder.join("node_modules/jquery").exists() {
        return Ok(script);
    }
    if !on_path("npm") {
        install("npm", "the accessibility tests need axe-core, which comes with npm; please install npm", &["npm"])?;
    }
    say("Installing axe-core and jQuery");
    std::fs::create_dir_all(&folder)?;
    let npm = Command::new("npm")
        .args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder)
        .args([AXE, JQUERY])
        .status()
        .context("running npm")?;
    ensure!(npm.success() && script.exists(), "npm did not install axe-core");
    Ok(script)
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Installs Debian's packages, or says `otherwise` what to do where there are none.
pub fn install(what: &str, otherwise: &str, packages: &[&str]) -> Result<()> {
    ensure!(on_path("apt-get"), "{otherwise}");
    say(&format!("Installing {what}"));
    apt(&["update", "-qq"])?;
    apt(&[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat())
}

fn apt(arguments: &[&str]) -> Result<()> {
    let status = Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status()?;
    if !status.success() {
        bail!("apt-get {} failed; it needs the rights of an administrator", arguments.join(" "));
    }
    Ok(())
}
