//! One module of the form with its JavaScript glue, which wasm-bindgen makes, in wasm and in plain JavaScript.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

use super::glue::{self, ModuleSource};
use super::plain_js::{self, PlainJs};
use super::unused;

/// A compiled module, in wasm and in plain JavaScript.
pub struct CompiledModule {
    /// JavaScript that declares [`glue::NAME`].
    pub glue: String,
    /// The wasm module.
    pub wasm: Vec<u8>,
    /// JavaScript that declares [`glue::NAME`] for the plain JavaScript.
    pub plain_glue: String,
    /// The module in plain JavaScript.
    pub plain_js: PlainJs,
}

/// Features of wasm that are switched off because JavaScript cannot express them: references to objects, and several
/// return values. The form is smaller without the first and does not use the second.
const NOT_IN_JAVASCRIPT: [&str; 2] = ["reference-types", "multivalue"];

/// Makes glue for the module `part` in the file `built`. `source` says in which form the glue of the wasm module
/// receives it; the plain JavaScript has a glue of its own. `work` is a folder for intermediate files.
///
/// # Errors
/// If the compiler, wasm-bindgen or binaryen wrote something unknown.
pub fn bind_module(part: &str, built: &Path, work: &Path, source: ModuleSource) -> Result<CompiledModule> {
    let mut bytes = fs::read(built).with_context(|| format!("reading {}", built.display()))?;
    for feature in NOT_IN_JAVASCRIPT {
        disable_feature(&mut bytes, feature);
    }
    let mut bindgen = Bindgen::new();
    bindgen
        .input_bytes(part, bytes)
        .encode_into(EncodeInto::Always)
        .no_modules(true)?
        .no_modules_global(glue::NAME)?
        .typescript(false)
        .omit_default_module_path(true)
        // Binaryen removes it.
        .remove_name_section(false)
        .remove_producers_section(true);
    let mut output = bindgen.generate_output().context("wasm-bindgen")?;
    if part == "page" {
        unused::remove_unused(output.wasm_mut())?;
    }
    let shortened = glue::shorten_names(&mut output)?;
    let (wasm, plain_js) = plain_js::shrink_and_translate(&output.wasm_mut().emit_wasm(), work)?;
    Ok(CompiledModule {
        glue: glue::wrap_in_function(&shortened, source)?,
        wasm,
        plain_glue: glue::wrap_in_function(&shortened, ModuleSource::Function)?,
        plain_js,
    })
}

/// Marks a feature as unused in a module's list of features, if the list has it. The standard library's objects mark it
/// as possibly used.
fn disable_feature(module: &mut [u8], feature: &str) {
    // An entry of the list has a sign, the length, and the name.
    let name = [&[b'+', feature.len() as u8], feature.as_bytes()].concat();
    let at = module.windows(name.len()).rposition(|window| window == name);
    if let Some(sign) = at.and_then(|at| module.get_mut(at)) {
        *sign = b'-';
    }
}
