//! Builds the hosted form: both wasm parts, the loader, the frame document, styles and languages, into
//! `target/form`. Nothing is rebuilt while no source has changed.

mod bundle;
mod compile;
mod es5;
mod fields;
mod glue;
mod inputs;
mod locale;
mod script;
mod sizes;
mod snip;
mod twin;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use self::glue::Source;
use crate::toolchain::{self, step};

/// Text of `cargo xtask form --help`.
pub const HELP: &str = "\
Builds the hosted payment form into target/form: the loader, the frame document, the page part and
the frame part (wasm), styles and languages, each with its .br and .gz. Prints what a card page
loads. Without changes to the sources it returns at once.

  --stock   use the toolchain's own standard library, although its source is there to build a
            smaller one
  --force   build although nothing has changed
  --record  write what a card page loads into widget/sizes.toml; otherwise it fails when that has grown
            by more than 3 %. Over 80,000 bytes (with the stock library 95,000) it fails in any case

Example: cargo xtask form";

/// How to build.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Use the standard library as it was shipped.
    pub stock: bool,
    /// Build although nothing has changed.
    pub force: bool,
}

/// The right to build the form. One build runs at a time, and who puts the form into the gateway (`server/build.rs`) waits for
/// its end.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "the lock goes with the file")] fs::File);

/// Waits for other builds of the form.
///
/// # Errors
/// When the lock's file, `target/form.lock`, cannot be made.
pub fn turn() -> Result<Turn> {
    let target = crate::root().join("target");
    fs::create_dir_all(&target)?;
    let file = fs::File::create(target.join("form.lock")).context("making target/form.lock")?;
    file.lock().context("waiting for another build of the form")?;
    Ok(Turn(file))
}

/// Builds the form and prints its sizes.
pub fn run(arguments: &[String]) -> Result<()> {
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let options = Options { stock: has("--stock"), force: has("--force") };
    let folder = build(options)?;
    println!("The form is in {}", folder.display());
    sizes::print(&folder)?;
    if has("--record") {
        sizes::record(&folder, crate::root())?;
    }
    check_size(&folder)
}

/// Makes sure that `target/form` holds the form of these sources, and gives back that folder.
///
/// # Errors
/// When no toolchain builds for wasm, or the sources do not compile.
pub fn build(options: Options) -> Result<PathBuf> {
    build_in(&turn()?, options)
}

/// Like [`build`], where it is this one's turn already.
///
/// # Errors
/// The same.
pub fn build_in(_: &Turn, options: Options) -> Result<PathBuf> {
    let root = crate::root();
    let out = root.join("target/form");
    let work = root.join("target/form-build");
    let stamp_file = work.join("stamp");
    // A compiler change is noticed by its version; a toolchain that is gone, by the build.
    let sources = inputs::hash(root, options.stock)?;
    let known = fs::read_to_string(&stamp_file).unwrap_or_default();
    if !options.force && known == sources && out.join("manifest.json").exists() {
        return Ok(out);
    }
    eprintln!("Building the hosted form:");
    let toolchain = toolchain::ensure()?;
    let std = if options.stock { compile::Std::Stock } else { compile::Std::for_toolchain(&toolchain) };
    let version = toolchain.version()?;
    let made_by = format!("{}, {std}", version.split(" (").next().unwrap_or_default());
    fs::create_dir_all(&work)?;
    let page =
        step(&format!("the page part ({std})"), || compile::part(&toolchain, std, root, &work, "page", Source::Bytes))?;
    let frame = step("the frame part", || compile::part(&toolchain, std, root, &work, "frame", Source::Response))?;
    step("packing", || {
        let fresh = work.join("bundle");
        let _ = fs::remove_dir_all(&fresh);
        bundle::write(root, &fresh, &page, &frame, &made_by)?;
        replace(&fresh, &out)
    })?;
    fs::write(&stamp_file, sources)?;
    Ok(out)
}

/// Holds a build against the numbers in `widget/sizes.toml`.
///
/// # Errors
/// When a card page loads more than 3 % over the number for the same compiler, or more than the bound.
pub fn check_size(folder: &Path) -> Result<()> {
    sizes::check(folder, crate::root())
}

/// Whether the form that [`build`] makes here has the smaller standard library inside it.
///
/// # Errors
/// When no toolchain builds for wasm.
pub fn is_small() -> Result<bool> {
    Ok(compile::Std::for_toolchain(&toolchain::ensure()?) == compile::Std::Small)
}

/// Puts the finished folder in the place of the old one.
fn replace(fresh: &Path, out: &Path) -> Result<()> {
    if out.exists() {
        fs::remove_dir_all(out).context("removing the old bundle")?;
    }
    fs::rename(fresh, out).context("putting the new bundle in place")
}
