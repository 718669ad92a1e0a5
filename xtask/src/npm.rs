//! `cargo xtask npm`: packs `widget/npm` for the npm registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, Result, ensure};

use crate::toolchain::{run_command, run_step};

/// Text of `cargo xtask npm --help`.
pub const HELP: &str = "\
Packs the npm package of the payment form (widget/npm) with the declarations of its options
(shared/wpwl.d.ts) into target/npm, with the version of this workspace. Prints the path of the
tarball. Needs npm.

Example: cargo xtask npm && npm publish --access public target/npm/*.tgz";

/// Name of the package in the registry.
pub const NAME: &str = "@tillgate/payment-widgets";

/// Folder of the sources, in the workspace.
const SOURCES: &str = "widget/npm";
/// File with the declarations of the options, generated from their table. The package has a copy, and git has not.
const DECLARATIONS: &str = "shared/wpwl.d.ts";
/// Line of `package.json` whose version is replaced.
const VERSION_LINE: &str = "\"version\": \"0.0.0\"";

/// Packs the package and prints the path of the tarball. Arguments are ignored.
///
/// # Errors
/// If npm is missing or fails.
pub fn pack_and_report(_: &[String]) -> Result<()> {
    let tarball = ensure_packed()?;
    println!("The package is {}", tarball.display());
    Ok(())
}

/// Makes sure that `target/npm` contains the tarball of the current sources. Returns its path.
///
/// # Errors
/// If npm is missing or fails.
pub fn ensure_packed() -> Result<PathBuf> {
    let root = crate::workspace_root();
    let out = root.join("target/npm");
    let tarball = out.join(format!("tillgate-payment-widgets-{}.tgz", env!("CARGO_PKG_VERSION")));
    let packed = tarball.metadata().and_then(|file| file.modified()).ok();
    if packed.is_some_and(|packed| latest_change(root).is_ok_and(|changed| changed < packed)) {
        return Ok(tarball);
    }
    // Also the tarballs of other versions, so that a publisher finds one.
    let _ = fs::remove_dir_all(&out);
    let folder = out.join("package");
    stage_files(root, &folder)?;
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--ignore-scripts", "--pack-destination"]).arg(&out).current_dir(&folder);
    run_step("npm pack", || run_command(&mut npm))?;
    ensure!(tarball.exists(), "npm did not make {}", tarball.display());
    Ok(tarball)
}

/// Unpacks the tarball into a folder of npm packages, as npm does. Returns the path of the tarball.
///
/// # Errors
/// If the package cannot be packed, or tar fails.
pub fn install_into(packages: &Path) -> Result<PathBuf> {
    let tarball = ensure_packed()?;
    let folder = packages.join(NAME);
    // Files that the package no longer has would still be found.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&tarball).arg("--strip-components=1").arg("-C").arg(&folder);
    run_command(&mut tar)?;
    Ok(tarball)
}

/// Returns the time at which a file of the package changed last.
fn latest_change(root: &Path) -> Result<SystemTime> {
    let mut latest = root.join(DECLARATIONS).metadata()?.modified()?;
    // The time of the folder changes with the names in it.
    for path in list_sources(root)?.into_iter().chain([root.join(SOURCES)]) {
        latest = latest.max(path.metadata()?.modified()?);
    }
    Ok(latest)
}

/// Lists the files of the package in the workspace, except the declarations.
fn list_sources(root: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(root.join(SOURCES))?.map(|entry| Ok(entry?.path())).collect()
}

/// Copies everything that belongs to the package into a folder, and writes the version.
fn stage_files(root: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for path in list_sources(root)?.into_iter().chain([root.join(DECLARATIONS)]) {
        let name = path.file_name().context("a source without a name")?;
        fs::copy(&path, folder.join(name)).with_context(|| format!("copying {}", path.display()))?;
    }
    let description = folder.join("package.json");
    let text = fs::read_to_string(&description)?;
    ensure!(text.contains(VERSION_LINE), "{SOURCES}/package.json needs {VERSION_LINE}");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(description, text.replace(VERSION_LINE, &version))?;
    Ok(())
}
