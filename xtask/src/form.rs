//! Builds the hosted form: both wasm modules, the loader, the frame document, styles and languages, into `target/form`.
//! Nothing is rebuilt while no source has changed.

mod bundle;
mod compile;
mod draft;
mod es5;
mod fields;
mod glue;
mod inputs;
mod locale;
mod modules;
mod plain_js;
mod script;
#[cfg(test)]
mod script_tests;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use self::draft::{build_draft, draft_folder, read_draft_id};

use self::bundle::{Compression, PageScripts};
use self::glue::ModuleSource;
use crate::toolchain::{self, Toolchain, run_step};

/// Text of `cargo xtask form --help`.
pub const HELP: &str = "\
Builds the hosted payment form into target/form: the loader, the frame document, the page module and
the frame module (wasm), styles and languages, each with its .br and .gz. Prints what a card page
loads. Without changes to the sources it returns at once.

  --stock   use the toolchain's own standard library, although its source is there to build a
            smaller one
  --force   build although nothing has changed
  --draft   build a draft into target/form-draft in a few seconds, for `trunk serve`, which brings the
            page module: keeps that of the last build and compresses nothing. Waits until the
            gateway of `cargo xtask demo --reload` serves it
  --record  write what a card page loads into widget/sizes.toml; otherwise it fails when that has grown
            by more than 3 %. Over 145,000 bytes (with the stock library 160,000) it fails in any case

Example: cargo xtask form";

/// Options of a build.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuildOptions {
    /// Use the standard library that was shipped with the toolchain.
    pub stock: bool,
    /// Build even if nothing has changed.
    pub force: bool,
}

/// Permission to build the form. Only one build runs at a time, and `server/build.rs`, which embeds the form, waits for
/// its end.
#[derive(Debug)]
pub struct BuildLock(#[expect(dead_code, reason = "the lock goes with the file")] fs::File);

/// Waits for other builds of the form, and returns the permission to build. It lasts until it is dropped.
///
/// # Errors
/// If the lock's file, `target/form.lock`, cannot be made.
pub fn lock_build() -> Result<BuildLock> {
    let target = crate::workspace_root().join("target");
    fs::create_dir_all(&target)?;
    let file = fs::File::create(target.join("form.lock")).context("making target/form.lock")?;
    file.lock().context("waiting for another build of the form")?;
    Ok(BuildLock(file))
}

/// Builds the form, prints its sizes, records them with `--record`, and fails if they exceed the limits. Other
/// arguments than its options are ignored.
pub fn build_and_report(arguments: &[String]) -> Result<()> {
    let has = |name: &str| arguments.iter().any(|a| a == name);
    if has("--draft") {
        return draft::build_and_wait();
    }
    let options = BuildOptions { stock: has("--stock"), force: has("--force") };
    let folder = build_form(options)?;
    println!("The form is in {}", folder.display());
    sizes::print_sizes(&folder)?;
    if has("--record") {
        sizes::record_sizes(&folder, crate::workspace_root())?;
    }
    check_size(&folder)
}

/// Makes sure that `target/form` contains the form of the current sources. Returns that folder.
///
/// # Errors
/// If no toolchain builds for wasm, or the sources do not compile.
pub fn build_form(options: BuildOptions) -> Result<PathBuf> {
    build_with_lock(&lock_build()?, options)
}

/// Same as [`build_form`], for a caller that already has the permission.
///
/// # Errors
/// The same.
pub fn build_with_lock(_: &BuildLock, options: BuildOptions) -> Result<PathBuf> {
    let root = crate::workspace_root();
    let out = root.join("target/form");
    let work = root.join("target/form-build");
    let stamp_file = work.join("stamp");
    // The compiler is not part of the hash: a new version alone does not make the form build again.
    let sources = inputs::hash_inputs(root, options.stock)?;
    let known = fs::read_to_string(&stamp_file).unwrap_or_default();
    if !options.force && known == sources && out.join("manifest.json").exists() {
        return Ok(out);
    }
    eprintln!("Building the hosted form:");
    let toolchain = toolchain::ensure_toolchain()?;
    let std = if options.stock {
        compile::StandardLibrary::Stock
    } else {
        compile::StandardLibrary::for_toolchain(&toolchain)
    };
    let made_by = describe_compiler(&toolchain, std)?;
    fs::create_dir_all(&work)?;
    let page = run_step(&format!("the page module ({std})"), || {
        compile::compile_module(&toolchain, std, root, &work, "page", ModuleSource::Bytes)
    })?;
    let frame = run_step("the frame module", || {
        compile::compile_module(&toolchain, std, root, &work, "frame", ModuleSource::Response)
    })?;
    run_step("packing", || {
        let fresh = work.join("bundle");
        let _ = fs::remove_dir_all(&fresh);
        bundle::write_bundle(root, &fresh, PageScripts::join(&page)?, &frame, &made_by, Compression::Best)?;
        replace_folder(&fresh, &out)
    })?;
    fs::write(&stamp_file, sources)?;
    Ok(out)
}

/// Returns the compiler's version and the standard library of a build, as its manifest names them.
fn describe_compiler(toolchain: &Toolchain, std: compile::StandardLibrary) -> Result<String> {
    let version = toolchain.version()?;
    Ok(format!("{}, {std}", version.split(" (").next().unwrap_or_default()))
}

/// Fails if the build exceeds the limits in `widget/sizes.toml`.
///
/// # Errors
/// If a card page loads over 3 % more than the number for the same compiler, or more than the absolute limit.
pub fn check_size(folder: &Path) -> Result<()> {
    sizes::check_sizes(folder, crate::workspace_root())
}

/// Returns true if [`build_form`] includes the smaller standard library on this machine. Sets up a toolchain if there
/// is none.
///
/// # Errors
/// If no toolchain builds for wasm.
pub fn uses_small_library() -> Result<bool> {
    Ok(compile::StandardLibrary::for_toolchain(&toolchain::ensure_toolchain()?) == compile::StandardLibrary::Small)
}

/// Deletes the old folder if it exists, and moves the finished one to its place.
fn replace_folder(fresh: &Path, out: &Path) -> Result<()> {
    if out.exists() {
        fs::remove_dir_all(out).context("removing the old bundle")?;
    }
    fs::rename(fresh, out).context("putting the new bundle in place")
}
