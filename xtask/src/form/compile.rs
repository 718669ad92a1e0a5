//! Compiles one module of the form: the widget crate with one feature.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::toolchain::{TARGET, Toolchain, run_command};

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

/// Compiles the widget with the feature `part` in the folder `work`. Returns the path of the module.
///
/// # Errors
/// If it does not compile.
pub fn compile_module(
    toolchain: &Toolchain,
    std: StandardLibrary,
    root: &Path,
    work: &Path,
    part: &str,
) -> Result<PathBuf> {
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
    // The next part has the same file.
    let module = work.join(format!("{part}.wasm"));
    fs::copy(&built, &module).with_context(|| format!("reading {}", built.display()))?;
    Ok(module)
}
