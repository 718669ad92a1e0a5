//! Builds the gateway, and the form beside it.

use std::path::PathBuf;
use std::thread;

use anyhow::{Context as _, Result};

use crate::form::{self, BuildOptions, tools};
use crate::{cargo, toolchain};

/// A profile of cargo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build; for the demo and the tests. The gateway reads the form from `target/form`.
    Development,
    /// Fast, and slow to build; for packages and benches. The form is inside the gateway.
    Distribution,
}

impl Profile {
    /// Returns the name of cargo's folder for programs of this profile.
    fn folder(self) -> &'static str {
        match self {
            Self::Development => "debug",
            Self::Distribution => "dist",
        }
    }
}

/// Builds `tillgate`, the demo shop that `tillgate demo` starts, and the form, all side by side. Returns the path of
/// `tillgate`. Cargo shows its own progress.
pub fn build_with_form() -> Result<PathBuf> {
    let lock = form::lock_build()?;
    let (build, tools) = tools::open_channel();
    thread::scope(|scope| {
        let form = scope.spawn(move || {
            toolchain::run_beside(|| form::build_with_lock(&lock, BuildOptions::default(), &tools)).context("the form")
        });
        // One call, so that no core waits for the end of another.
        let packages = [&tools::PACKAGE[..], &["--package", "tillgate", "--package", "tillgate-shop"]].concat();
        let compiled = cargo::build(&packages, move |message| build.read_message(message));
        let form = form.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        compiled.context("building the gateway and the tools of the form")?;
        form
    })?;
    Ok(program_folder(Profile::Development).join("tillgate"))
}

/// Returns cargo's folder for the programs of a profile, in `CARGO_TARGET_DIR` or `target`. It need not exist.
pub fn program_folder(profile: Profile) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| crate::workspace_root().join("target"), PathBuf::from)
        .join(profile.folder())
}
