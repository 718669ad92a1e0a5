//! Builds the gateway's binary with the form inside it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// A profile of cargo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build; for the demo and the tests.
    Development,
    /// Optimised; for operators and benches.
    Release,
}

/// Builds `tillgate` and returns the binary's path. Cargo shows its own progress.
///
/// # Errors
/// If it does not compile.
pub fn build_gateway(profile: Profile) -> Result<PathBuf> {
    build_packages(profile, &["--package", "tillgate"])
}

/// Same as [`build_gateway`], and also builds the demo shop, which `tillgate demo` starts.
///
/// # Errors
/// If they do not compile.
pub fn build_with_shop(profile: Profile) -> Result<PathBuf> {
    build_packages(profile, &["--package", "tillgate", "--package", "tillgate-shop"])
}

/// Builds packages with cargo, and returns the path of `tillgate`.
fn build_packages(profile: Profile, packages: &[&str]) -> Result<PathBuf> {
    let root = crate::workspace_root();
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).arg("build").args(packages);
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    ensure!(cargo.status().context("running cargo")?.success(), "the gateway does not compile");
    Ok(program_folder(profile).join("tillgate"))
}

/// Returns cargo's folder for the programs of a profile, in `CARGO_TARGET_DIR` or `target`. It need not exist.
pub fn program_folder(profile: Profile) -> PathBuf {
    let folder = match profile {
        Profile::Development => "debug",
        Profile::Release => "release",
    };
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| crate::workspace_root().join("target"), PathBuf::from)
        .join(folder)
}
