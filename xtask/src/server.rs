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
    let root = crate::root();
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["build", "--package", "tillgate"]);
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    ensure!(cargo.status().context("running cargo")?.success(), "the gateway does not compile");
    let folder = match profile {
        Profile::Development => "debug",
        Profile::Release => "release",
    };
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(folder).join("tillgate"))
}
