//! The page module's own tests: compiles them for wasm and prepares a page, which a browser test opens
//! (`tests/tests/browser/widget.rs`).

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cargo;
use crate::form::tools;
use crate::toolchain::{self, TARGET};

/// Path of the browser test that opens the page.
pub const TEST: &str = "widget::the_page_part_passes_its_own_tests";

/// Compiles the widget's tests, and also the frame module if a linter checks the code. Replaces `target/widget-tests`
/// with the page that runs them, which the tools of the form write, and returns that folder.
///
/// # Errors
/// If something does not compile, or there are no tests.
pub fn build_page(program: &Path) -> Result<PathBuf> {
    let toolchain = toolchain::ensure_toolchain()?;
    let build = |arguments: &[&str], read: &mut dyn FnMut(&str)| {
        let mut cargo = toolchain.linting_cargo();
        cargo.current_dir(crate::workspace_root()).args(["build", "--package", "tillgate-widget", "--target", TARGET]);
        cargo::run(cargo.args(arguments), read).context("the widget's tests")
    };
    if toolchain.linter().is_some() {
        build(&["--lib", "--no-default-features", "--features", "frame"], &mut |_| ())?;
    }
    let mut built = None;
    build(&["--lib", "--tests"], &mut |message| built = built.take().or(cargo::parse_executable(message, "web")))?;
    let file = built.context("the widget has no tests")?;
    let folder = crate::workspace_root().join("target/widget-tests");
    tools::run_tools(program, "tests", &[&folder, &file])?;
    Ok(folder)
}
