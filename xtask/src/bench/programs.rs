//! The programs of a bench, all built for release: the gateway, and the floors and tools of `tests/src/bin`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{form, server};

/// Where each program is.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The gateway with the form inside it.
    pub gateway: PathBuf,
    /// A server that does the least.
    pub floor: PathBuf,
    /// The load generator.
    pub load: PathBuf,
    /// What fills stores.
    pub store: PathBuf,
    /// What visits the form in a browser.
    pub page: PathBuf,
}

impl Programs {
    /// Builds everything.
    ///
    /// # Errors
    /// When something does not compile.
    pub fn build() -> Result<Self> {
        form::build(form::Options::default())?;
        // One call of Cargo, so that the floors are built of exactly the same crates as the gateway.
        let status = Command::new("cargo")
            .current_dir(crate::root())
            .args(["build", "--release", "--bins", "--package", "tillgate", "--package", "tillgate-tests"])
            .status()
            .context("running cargo")?;
        ensure!(status.success(), "the gateway or the bench's programs do not compile");
        let folder = server::folder(server::Profile::Release);
        let program = |name: &str| folder.join(name);
        Ok(Self {
            gateway: program("tillgate"),
            floor: program("floor"),
            load: program("load"),
            store: program("store"),
            page: program("page"),
        })
    }
}
