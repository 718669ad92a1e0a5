//! One part of the form: cargo makes wasm of the widget crate with one feature, wasm-bindgen makes the
//! final wasm and its JavaScript glue.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use super::glue::{self, Source};
use crate::toolchain::{TARGET, Toolchain, output};

/// A compiled part.
pub struct Part {
    /// JavaScript that declares [`glue::NAME`].
    pub glue: String,
    /// The module.
    pub wasm: Vec<u8>,
}

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
    if std == Std::Small {
        cargo
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", "-Zlocation-detail=none -Zfmt-debug=none -Zunstable-options -Cpanic=immediate-abort")
            .args(["-Zbuild-std=std,panic_abort"])
            .arg("-Zbuild-std-features=optimize_for_size");
    }
    output(&mut cargo)?;
    let built = work.join(TARGET).join("form/tillgate_widget.wasm");
    let bytes = fs::read(&built).with_context(|| format!("reading {}", built.display()))?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_bytes(part, bytes)
        .no_modules(true)?
        .no_modules_global(glue::NAME)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true);
    let mut made = bindgen.generate_output().context("wasm-bindgen")?;
    let glue = glue::shorten(&mut made, source)?;
    Ok(Part { glue, wasm: made.wasm_mut().emit_wasm() })
}
