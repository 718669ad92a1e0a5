//! The programs of a bench, all built for distribution: the gateway, and the floors and tools of `tests/src/bin`.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::{cargo, form, server};

/// Paths of the programs.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The gateway with the form inside it.
    pub gateway: PathBuf,
    /// The server that does the minimum.
    pub floor: PathBuf,
    /// The TCP host that does the minimum.
    pub line_host: PathBuf,
    /// The server that does the minimum on a cluster of PostgreSQL.
    pub postgres_floor: PathBuf,
    /// The load generator.
    pub load: PathBuf,
    /// The program that fills stores.
    pub store: PathBuf,
    /// The program that counts payments for risk rules.
    pub risk: PathBuf,
    /// The program that measures the ledger and settlements.
    pub ledger: PathBuf,
    /// The program that visits the form in a browser.
    pub page: PathBuf,
}

impl Programs {
    /// Builds the form, and then all programs for distribution. Returns their paths.
    pub fn build_all() -> Result<Self> {
        form::build_form(form::BuildOptions::default())?;
        let folder = server::program_folder(server::Profile::Distribution);
        // One call of cargo, so that the floors use exactly the same crates as the gateway.
        let status = cargo::command()
            .args(["build", "--profile", "dist", "--bins", "--package", "tillgate", "--package", "tillgate-tests"])
            .status()
            .context("running cargo")?;
        ensure!(status.success(), "the gateway or the bench's programs do not compile");
        let program = |name: &str| folder.join(name);
        Ok(Self {
            gateway: program("tillgate"),
            floor: program("floor"),
            line_host: program("line-host"),
            postgres_floor: program("postgres-floor"),
            load: program("load"),
            store: program("store"),
            risk: program("risk"),
            ledger: program("ledger"),
            page: program("page"),
        })
    }
}
