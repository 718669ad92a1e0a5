//! `tillgate restore`: a backup in the place of the store.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use super::Common;
use crate::store::restore::restore;

/// Put a backup in the place of the store, after checking it. The server must not be running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate restore --data ./tillgate-data --from /backups/tillgate-monday.db\n\n\
    The files of before stay in the data folder, with `.damaged-` and the time at their ends. What was written after\n\
    the backup was made is in these alone.")]
pub(super) struct Restore {
    #[command(flatten)]
    common: Common,
    /// The file that `tillgate backup` wrote.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let restored = restore(&self.common.data, &self.from, Timestamp::now())?;
        self.common.print(&restored, |restored| {
            let kept = restored.kept.iter().map(|file| format!("\nkept  {}", file.display()));
            format!("{} ({} bytes){}", restored.file.display(), restored.bytes, kept.collect::<String>())
        })
    }
}
