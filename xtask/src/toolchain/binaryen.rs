//! Binaryen, which translates wasm to JavaScript: from the path, otherwise Debian's package, otherwise npm's.

use std::process::Command;

use anyhow::{Result, bail};

use super::{can_run, debian, print_step};

/// Makes sure that `wasm-opt` and `wasm2js` can be called: installs Debian's package, or npm's on other systems, if
/// they cannot.
///
/// # Errors
/// If they are missing and cannot be installed. The message says what to do.
pub fn ensure_binaryen() -> Result<()> {
    let is_installed = || ["wasm-opt", "wasm2js"].into_iter().all(|program| can_run(program, &["--version"]));
    if is_installed() {
        return Ok(());
    }
    if debian::is_debian() {
        debian::install_packages(&["binaryen"])?;
    } else if can_run("npm", &["--version"]) {
        print_step("Installing binaryen");
        super::run_quietly(Command::new("npm").args([
            "install",
            "--global",
            "--no-audit",
            "--no-fund",
            "binaryen@132.0.0",
        ]))?;
    }
    if is_installed() {
        return Ok(());
    }
    bail!("the form needs binaryen (wasm-opt and wasm2js on the path); please install your system's package of it")
}
