//! `tillgate restore`: replaces the store with a backup.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::CommonOptions;
use crate::store::restore::restore_backup;

/// Put a backup in the place of the store, after checking it. The server must not be running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate restore --data ./tillgate-data --from /backups/tillgate-monday.db\n\n\
    The files of before stay in the data folder, with `.damaged-` and the time at their ends. What was written after\n\
    the backup was made is in these alone.")]
pub(super) struct Restore {
    #[command(flatten)]
    common: CommonOptions,
    /// The file that `tillgate backup` wrote.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
}

impl Restore {
    /// Checks the backup, puts it in the place of the store, and prints its path, its size and the previous files,
    /// which are kept.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let restored = restore_backup(&self.common.data, &self.from, Timestamp::now())?;
        self.common.print_output(&restored, |restored| {
            let previous = restored.kept.iter().map(|file| format!("\nkept  {}", file.display()));
            format!("{} ({} bytes){}", restored.file.display(), restored.bytes, previous.collect::<String>())
        })
    }
}
