//! One part of the form: cargo makes wasm of the widget crate with one feature, wasm-bindgen makes the
//! final wasm and its JavaScript glue.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

use super::glue::{self, Source};
use super::snip::snip;
use super::twin::{self, Twin};
use crate::toolchain::{TARGET, Toolchain, output};

/// A compiled part, in wasm and in plain JavaScript.
pub struct Part {
    /// JavaScript that declares [`glue::NAME`].
    pub glue: String,
    /// The module.
    pub wasm: Vec<u8>,
    /// JavaScript that declares [`glue::NAME`] for the twin.
    pub twin_glue: String,
    /// The module's twin.
    pub twin: Twin,
}

/// Leave to keep references to objects in the module and to return several values, which JavaScript cannot do so. The
/// form is smaller without the first and has no use for the second.
const NOT_IN_JAVASCRIPT: [&str; 2] = ["reference-types", "multivalue"];

/// Which standard library goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Std {
    /// As it was shipped with the toolchain.
    Stock,
    /// Built along, without the text of panics and of `Debug`: some 25 % less on the wire.
    Small,
}

impl Std {
    /// The small one where the library's source is at hand or rustup can fetch it.
    pub fn for_toolchain(toolchain: &Toolchain) -> Self {
        if has_source(toolchain) {
            return Self::Small;
        }
        let added = *toolchain == Toolchain::Active
            && output(std::process::Command::new("rustup").args(["component", "add", "rust-src"])).is_ok();
        if added && has_source(toolchain) { Self::Small } else { Self::Stock }
    }
}

impl fmt::Display for Std {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stock => "stock standard library",
            Self::Small => "small standard library built along",
        })
    }
}

fn has_source(toolchain: &Toolchain) -> bool {
    output(toolchain.command("rustc").args(["--print", "sysroot"]))
        .is_ok_and(|sysroot| Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.lock").exists())
}

/// Compiles the widget with the feature `part`, whose module comes as `source`.
pub fn part(toolchain: &Toolchain, std: Std, root: &Path, work: &Path, part: &str, source: Source) -> Result<Part> {
    let mut cargo = toolchain.command("cargo");
    cargo
        .current_dir(root)
        .args(["build", "--package", "tillgate-widget", "--lib"])
        .args(["--profile", "form", "--target", TARGET])
        .args(["--no-default-features", "--features", part])
        .arg("--target-dir")
        .arg(work);
    // Names as every compiler writes them, for `snip`.
    let mut flags = String::from("-Ctarget-feature=-reference-types -Csymbol-mangling-version=v0");
    if std == Std::Small {
        flags.push_str(" -Zlocation-detail=none -Zfmt-debug=none -Zunstable-options -Cpanic=immediate-abort");
        cargo
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["-Zbuild-std=std,panic_abort"])
            .arg("-Zbuild-std-features=optimize_for_size");
    }
    output(cargo.env("RUSTFLAGS", flags))?;
    let built = work.join(TARGET).join("form/tillgate_widget.wasm");
    let mut bytes = fs::read(&built).with_context(|| format!("reading {}", built.display()))?;
    for feature in NOT_IN_JAVASCRIPT {
        switch_off(&mut bytes, feature);
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
    let mut made = bindgen.generate_output().context("wasm-bindgen")?;
    let shortened = glue::shorten(&mut made)?;
    snip(made.wasm_mut());
    let (wasm, twin) = twin::make(&made.wasm_mut().emit_wasm(), work)?;
    Ok(Part {
        glue: glue::starting(&shortened, source)?,
        wasm,
        twin_glue: glue::starting(&shortened, Source::Function)?,
        twin,
    })
}

/// Says in a module's list of features that this one is not used: the standard library's objects say that it may be.
fn switch_off(module: &mut [u8], feature: &str) {
    // As the list has it: a sign, the length, the name.
    let name = [&[b'+', feature.len() as u8], feature.as_bytes()].concat();
    let at = module.windows(name.len()).rposition(|window| window == name);
    if let Some(sign) = at.and_then(|at| module.get_mut(at)) {
        *sign = b'-';
    }
}
