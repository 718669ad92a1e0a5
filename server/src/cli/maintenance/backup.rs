//! `tillgate backup`: a consistent copy of the store.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use crate::cli::CommonOptions;

/// The way to copy a database.
const DUMP: &str = "copy the database with its own tools, such as `pg_dump --format=custom --file=tillgate.dump DATABASE` \
                    or pgbackrest, which do it while servers use it. Keep the vault's key in a different place";

/// Copy the whole store to a new file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate backup --data ./tillgate-data --to /backups/tillgate-monday.db\n\n\
    The copy does not contain the vault's key. Keep the key in a different place: without it, no card number in the \
    copy can be decrypted.")]
pub(in crate::cli) struct Backup {
    #[command(flatten)]
    common: CommonOptions,
    /// File to write, which must not exist.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Serialize)]
struct BackupOutput {
    file: PathBuf,
    bytes: u64,
}

impl Backup {
    /// Copies the store to a new file that only its owner can read, and prints path and size. Never changes an existing
    /// file, and removes an incomplete copy.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        self.common.place.refuse_database(DUMP)?;
        let store = self.common.place.open_existing()?;
        let writing = || format!("writing {}", self.to.display());
        // Creates an empty file that only its owner can read, and then fills it. An existing file is never changed.
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.to).with_context(writing)?;
        // A store that can still be read but not written is what backups are for.
        if let Err(error) = store.record_backup(&self.to.display().to_string()) {
            eprintln!("tillgate: the backup is not in the audit log: {error}");
        }
        if let Err(error) = store.backup(&self.to) {
            let _ = fs::remove_file(&self.to);
            return Err(error).with_context(writing);
        }
        let bytes = std::fs::metadata(&self.to)?.len();
        self.common.print_output(&BackupOutput { file: self.to.clone(), bytes }, |copied| {
            format!("{} ({} bytes)", copied.file.display(), copied.bytes)
        })
    }
}
