//! The page that runs the page module's own tests. It does the same as wasm-bindgen's test runner, which would need a
//! server and a driver's client.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use walrus::Module;
use wasm_bindgen_cli_support::Bindgen;

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

/// Writes the page for the test program `tests` into the new folder `out`.
///
/// # Errors
/// If the program has no tests, or is none of wasm-bindgen's.
pub fn write_page(out: &Path, tests: &Path) -> Result<()> {
    let mut module = Module::from_file(tests).with_context(|| format!("reading {}", tests.display()))?;
    let _ = module.customs.remove_raw(PLACE);
    let exports = module.exports.iter().map(|export| export.name.clone());
    let names: Vec<_> = exports.filter(|name| name.starts_with(EXPORT)).collect();
    ensure!(!names.is_empty(), "{} has no tests", tests.display());
    let mut bindgen = Bindgen::new();
    bindgen.debug(true).export_wasm(true).emit_start(false).web(true)?.input_module("tests", module);
    bindgen.generate(out).context("wasm-bindgen")?;
    fs::write(out.join("index.html"), PAGE.replace("TESTS", &serde_json::to_string(&names)?))?;
    Ok(())
}
