//! `tillgate backup`: a consistent copy of the store.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use super::Common;
use crate::store::{admin, open_connection};

/// Copy the whole store to a new file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate backup --data ./tillgate-data --to /backups/tillgate-monday.db\n\n\
    The vault's key is not in the copy: keep it apart, a copy without it opens no card number.")]
pub(super) struct Backup {
    #[command(flatten)]
    common: Common,
    /// The file to write; it must not exist.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Serialize)]
struct Copied {
    file: PathBuf,
    bytes: u64,
}

impl Backup {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.to.exists() {
            bail!("{} exists already", self.to.display());
        }
        let connection = open_connection(&self.common.data)?;
        admin::backup(&connection, &self.to).with_context(|| format!("writing {}", self.to.display()))?;
        let bytes = std::fs::metadata(&self.to)?.len();
        self.common.print(&Copied { file: self.to.clone(), bytes }, |copied| {
            format!("{} ({} bytes)", copied.file.display(), copied.bytes)
        })
    }
}
