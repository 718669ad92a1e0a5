//! Builds the gateway's binary with the form inside it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Which of Cargo's profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build; what the demo and the tests run.
    Development,
    /// What operators run and benches measure.
    Release,
}

/// Builds `tillgate` and gives back the binary's path. Cargo shows its own progress.
///
/// # Errors
/// When it does not compile.
pub fn build(profile: Profile) -> Result<PathBuf> {
    build_packages(profile, &["--package", "tillgate"])
}

/// As [`build`], and builds the program beside it that `tillgate demo` starts.
///
/// # Errors
/// When they do not compile.
pub fn build_with_shop(profile: Profile) -> Result<PathBuf> {
    build_packages(profile, &["--package", "tillgate", "--package", "tillgate-shop"])
}

fn build_packages(profile: Profile, packages: &[&str]) -> Result<PathBuf> {
    let root = crate::root();
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).arg("build").args(packages);
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    ensure!(cargo.status().context("running cargo")?.success(), "the gateway does not compile");
    Ok(folder(profile).join("tillgate"))
}

/// Where Cargo puts the programs of a profile.
pub fn folder(profile: Profile) -> PathBuf {
    let folder = match profile {
        Profile::Development => "debug",
        Profile::Release => "release",
    };
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from).join(folder)
}
