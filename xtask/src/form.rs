//! Builds the hosted form: both wasm modules, the loader, the frame document, styles and languages, into `target/form`.
//! Nothing is rebuilt while no source has changed.

mod compile;
mod draft;
mod inputs;
mod sizes;
pub mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use self::draft::{build_draft, draft_folder, read_draft_id};

use self::tools::PendingTools;
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
            by more than 3 %. Over 135,000 bytes (with the stock library 152,000) it fails in any case

Example: cargo xtask form";

/// File with the hash of the sources of the last build.
const STAMP: &str = "target/form-build/stamp";

/// Options of a build.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuildOptions {
    /// Use the standard library that was shipped with the toolchain.
    pub stock: bool,
    /// Build even if nothing has changed.
    pub force: bool,
}

/// Permission to build the form. Only one build runs at a time.
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
    let lock = lock_build()?;
    if !options.force && is_current(options.stock)? {
        return Ok(form_folder());
    }
    tools::build_beside(|tools| build_with_lock(&lock, options, tools))
}

/// Returns the folder of the form.
fn form_folder() -> PathBuf {
    crate::workspace_root().join("target/form")
}

/// Returns true if the form is that of the current sources. The compiler is not considered: a new version alone does
/// not make the form build again.
fn is_current(stock: bool) -> Result<bool> {
    let root = crate::workspace_root();
    let known = fs::read_to_string(root.join(STAMP)).unwrap_or_default();
    Ok(form_folder().join("manifest.json").exists() && known == inputs::hash_inputs(root, stock)?)
}

/// Same as [`build_form`], for a caller that already has the permission, and compiles the tools itself, beside this.
///
/// # Errors
/// The same, or if the tools do not compile.
pub fn build_with_lock(_: &BuildLock, options: BuildOptions, tools: &PendingTools) -> Result<PathBuf> {
    let root = crate::workspace_root();
    let out = form_folder();
    if !options.force && is_current(options.stock)? {
        return Ok(out);
    }
    let work = root.join("target/form-build");
    let sources = inputs::hash_inputs(root, options.stock)?;
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
        compile::compile_module(&toolchain, std, root, &work, "page")
    })?;
    let frame = run_step("the frame module", || compile::compile_module(&toolchain, std, root, &work, "frame"))?;
    let program = tools.wait()?;
    run_step("packing", || {
        let fresh = work.join("bundle");
        tools::run_tools(program, "bundle", &[&fresh, &work, Path::new(&made_by), &frame, &page])?;
        replace_folder(&fresh, &out)
    })?;
    fs::write(root.join(STAMP), sources)?;
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

/// Moves the finished folder to its place, and deletes the old one if there is one. A gateway for development may start
/// at any moment and read it, so the old one is there until the new one is.
fn replace_folder(fresh: &Path, out: &Path) -> Result<()> {
    let old = fresh.with_extension("old");
    let _ = fs::remove_dir_all(&old);
    if out.exists() {
        fs::rename(out, &old).context("putting the old bundle aside")?;
    }
    fs::rename(fresh, out).context("putting the new bundle in place")?;
    let _ = fs::remove_dir_all(&old);
    Ok(())
}
