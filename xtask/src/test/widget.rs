//! The page module's own tests: compiles them for wasm and prepares a page, which a browser test opens
//! (`tests/tests/browser/widget.rs`). The page does the same as wasm-bindgen's test runner, which would need a server
//! and a driver's client.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use walrus::Module;
use wasm_bindgen_cli_support::Bindgen;

use crate::toolchain::{self, TARGET};

/// Path of the browser test that opens the page.
pub const TEST: &str = "widget::the_page_part_passes_its_own_tests";
/// Prefix of the names of tests among the module's exports.
const EXPORT: &str = "__wbgt_";
/// Section in which tests say where they run. All of these run in a page.
const PLACE: &str = "__wasm_bindgen_test_unstable";

/// The page. It shows the results in `#output`, which ends with `test result: …`.
const PAGE: &str = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The widget's tests</title>
<pre id="output"></pre>
<script>
  for (const method of ["debug", "log", "info", "warn", "error"]) {
    const print = console[method];
    console[method] = (...all) => { print.apply(console, all); window["on_console_" + method]?.(all); };
  }
  window.__wbg_test_invoke = (test) => test();
</script>
<script type="module">
  import * as bindings from "./tests.js";
  const wasm = await bindings.default("./tests_bg.wasm");
  const context = new bindings.WasmBindgenTestContext(false);
  for (const method of ["debug", "log", "info", "warn", "error"])
    window["on_console_" + method] = bindings["__wbgtest_console_" + method];
  context.include_ignored(false);
  context.filtered_count(0);
  await context.run(TESTS.map((name) => wasm[name]));
</script>
"#;

/// Compiles the widget's tests, and also the frame module if a linter checks the code. Replaces `target/widget-tests`
/// with the page that runs them, and returns that folder.
///
/// # Errors
/// If something does not compile, or there are no tests.
pub fn build_page() -> Result<PathBuf> {
    let toolchain = toolchain::ensure_toolchain()?;
    let cargo = |arguments: &[&str]| {
        let mut cargo = toolchain.linting_cargo();
        cargo.current_dir(crate::workspace_root()).args(["build", "--package", "tillgate-widget", "--target", TARGET]);
        cargo.args(["--message-format", "json-render-diagnostics"]).args(arguments);
        super::run_cargo(&mut cargo)
    };
    if toolchain.linter().is_some() {
        cargo(&["--lib", "--no-default-features", "--features", "frame"])?;
    }
    let messages = cargo(&["--lib", "--tests"])?;
    let file = messages.lines().find_map(parse_executable).context("the widget has no tests")?;
    let mut module = Module::from_file(&file).with_context(|| format!("reading {}", file.display()))?;
    let _ = module.customs.remove_raw(PLACE);
    let exports = module.exports.iter().map(|export| export.name.clone());
    let tests: Vec<_> = exports.filter(|name| name.starts_with(EXPORT)).collect();
    ensure!(!tests.is_empty(), "{} has no tests", file.display());
    let folder = crate::workspace_root().join("target/widget-tests");
    let _ = fs::remove_dir_all(&folder);
    let mut bindgen = Bindgen::new();
    bindgen.debug(true).export_wasm(true).emit_start(false).web(true)?.input_module("tests", module);
    bindgen.generate(&folder).context("wasm-bindgen")?;
    fs::write(folder.join("index.html"), PAGE.replace("TESTS", &serde_json::to_string(&tests)?))?;
    Ok(folder)
}

/// Returns the path of the test program `web` from a message of cargo, or `None` if the message is about something
/// else.
fn parse_executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let name = message.pointer("/target/name")?.as_str()?;
    Some(PathBuf::from(message.get("executable").filter(|_| name == "web")?.as_str()?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_program_with_the_tests_is_found() {
        let message = |name: &str| format!(r#"{{"target":{{"name":"{name}"}},"executable":"/target/{name}.wasm"}}"#);
        assert_eq!(parse_executable(&message("web")).unwrap(), PathBuf::from("/target/web.wasm"));
        assert!(parse_executable(&message("tillgate_widget")).is_none());
        assert!(parse_executable(r#"{"target":{"name":"web"},"executable":null}"#).is_none());
    }
}
