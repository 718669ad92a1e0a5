//! Compiles one module of the form: cargo compiles the widget crate with one feature, and wasm-bindgen makes the final
//! wasm and its JavaScript glue.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

use super::glue::{self, ModuleSource};
use super::plain_js::{self, PlainJs};
use crate::toolchain::{TARGET, Toolchain, run_command};

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

/// Standard library of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardLibrary {
    /// The library that was shipped with the toolchain.
    Stock,
    /// A library that is compiled with the form, without the texts of panics and of `Debug`: about 25 % less on the
    /// wire.
    Small,
}

impl StandardLibrary {
    /// Selects the small library if its source is there, or if rustup can download it for the active toolchain, which
    /// is tried.
    pub fn for_toolchain(toolchain: &Toolchain) -> Self {
        if has_source(toolchain) {
            return Self::Small;
        }
        let added = *toolchain == Toolchain::Active
            && run_command(std::process::Command::new("rustup").args(["component", "add", "rust-src"])).is_ok();
        if added && has_source(toolchain) { Self::Small } else { Self::Stock }
    }
}

impl fmt::Display for StandardLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stock => "stock standard library",
            Self::Small => "small standard library built along",
        })
    }
}

/// Returns true if the toolchain has the source of the standard library.
fn has_source(toolchain: &Toolchain) -> bool {
    run_command(toolchain.command("rustc").args(["--print", "sysroot"]))
        .is_ok_and(|sysroot| Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock").exists())
}

/// Compiles the widget with the feature `part` in the folder `work`. `source` says in which form the glue of the wasm
/// module receives it; the plain JavaScript has a glue of its own.
pub fn compile_module(
    toolchain: &Toolchain,
    std: StandardLibrary,
    root: &Path,
    work: &Path,
    part: &str,
    source: ModuleSource,
) -> Result<CompiledModule> {
    let mut cargo = toolchain.command("cargo");
    cargo
        .current_dir(root)
        .args(["build", "--package", "tillgate-widget", "--lib"])
        .args(["--profile", "form", "--target", TARGET])
        .args(["--no-default-features", "--features", part])
        .arg("--target-dir")
        .arg(work);
    let mut flags = String::from("-Ctarget-feature=-reference-types");
    if std == StandardLibrary::Small {
        flags.push_str(" -Zlocation-detail=none -Zfmt-debug=none -Zunstable-options -Cpanic=immediate-abort");
        cargo
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Zbuild-std=std,panic_abort"])
            .arg("-Zbuild-std-features=optimize_for_size");
    }
    run_command(cargo.env("RUSTFLAGS", flags))?;
    let built = work.join(TARGET).join("form/tillgate_widget.wasm");
    let mut bytes = fs::read(&built).with_context(|| format!("reading {}", built.display()))?;
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
        .remove_name_section(true)
        .remove_producers_section(true);
    let mut output = bindgen.generate_output().context("wasm-bindgen")?;
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
