//! Programs and packages that the tests need: found, or installed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::toolchain::say;

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
pub const AXE: &str = "axe-core/axe.min.js";
pub const COMPILER: &str = "typescript/lib/tsc.js";
/// Speaks with every Firefox of the last years.
const GECKODRIVER: &str = "0.37.1";

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

/// Firefox: what is installed, else Debian's package.
pub fn firefox() -> Result<()> {
    if ["firefox", "firefox-esr"].into_iter().any(on_path) {
        return Ok(());
    }
    install("Firefox", "the browser tests need Firefox; please install it", &["firefox-esr"])
}

/// Firefox's driver: what is installed, else from crates.io, kept in `target/tools`.
pub fn geckodriver() -> Result<PathBuf> {
    let folder = crate::root().join("target/tools");
    let program = folder.join("bin/geckodriver");
    if program.exists() {
        return Ok(program);
    }
    if on_path("geckodriver") {
        return Ok(PathBuf::from("geckodriver"));
    }
    say("Building geckodriver, which takes a few minutes and is kept");
    // Its own speed is no matter, and an unoptimised build without names takes a third of the time. Its lock file may name
    // versions that have been withdrawn.
    let build = |locked: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "--quiet", "--debug", "--version", GECKODRIVER, "geckodriver", "--root"]).arg(&folder);
        cargo.args(locked).env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS").env("CARGO_PROFILE_DEV_DEBUG", "0");
        cargo.status().context("running cargo install")
    };
    let done = build(&["--locked"])?.success() || build(&[])?.success();
    ensure!(done && program.exists(), "geckodriver could not be built");
    Ok(program)
}

/// The packages of the npm registry, in `target/tools`: their folder.
pub fn packages() -> Result<PathBuf> {
    let folder = crate::root().join("target/tools");
    let packages = folder.join("node_modules");
    let complete = || PACKAGES.iter().all(|(_, file)| packages.join(file).exists());
    if complete() {
        return Ok(packages);
    }
    let names = PACKAGES.map(|(name, _)| name);
    if !on_path("npm") {
        let otherwise = format!("the tests need {}, which come with npm; please install npm", names.join(" and "));
        install("npm", &otherwise, &["npm"])?;
    }
    say(&format!("Installing {}", names.join(" and ")));
    std::fs::create_dir_all(&folder)?;
    let npm = Command::new("npm")
        .args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder)
        .args(names)
        .status()
        .context("running npm")?;
    ensure!(npm.success() && complete(), "npm did not install {}", names.join(" and "));
    Ok(packages)
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
