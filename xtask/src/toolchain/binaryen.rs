//! Binaryen, which writes wasm as JavaScript: what is on the path, else Debian's package, else npm's.

use std::process::Command;

use anyhow::{Result, bail};

use super::{debian, runs, say};

/// Makes sure that `wasm-opt` and `wasm2js` can be called.
///
/// # Errors
/// When they are not there and nothing can install them; the text says what to do.
pub fn ensure() -> Result<()> {
    let there = || ["wasm-opt", "wasm2js"].into_iter().all(|program| runs(program, &["--version"]));
    if there() {
        return Ok(());
    }
    if debian::is_debian() {
        debian::install(&["binaryen"])?;
    } else if runs("npm", &["--version"]) {
        say("Installing binaryen");
        super::quiet(Command::new("npm").args(["install", "--global", "--no-audit", "--no-fund", "binaryen@132.0.0"]))?;
    }
    if there() {
        return Ok(());
    }
    bail!("the form needs binaryen (wasm-opt and wasm2js on the path); please install your system's package of it")
}
