//! `tillgate restore`: replaces the store with a backup.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use jiff::Timestamp;
use tillgate_gateway::settlement::verification::Verification;
use tillgate_store::place::restore::{Restored, has_current_version, restore_backup};
use tillgate_store::read::snapshot::StoreSnapshot;
use tillgate_vault::Vault;

use crate::cli::CommonOptions;
use crate::cli::keys::vault_key::find_vault;

/// The way to restore a database.
const LOAD_DUMP: &str = "restore the copy into an empty database with the tool that has made it, such as \
                         `createdb --template=template0 --encoding=UTF8 --locale=C RESTORED` and \
                         `pg_restore --dbname=RESTORED tillgate.dump`. Then check it with \
                         `tillgate verify --database postgres://HOST/RESTORED`, before a server uses it";

/// Replace the store with a backup, after verifying it. The server must not be running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate restore --data ./tillgate-data --from /backups/tillgate-monday.db\n\n\
    The previous files stay in the data folder, with `.damaged-` and the time appended to their names. Changes after the\n\
    backup are only in these files, and are undone in the store: tokens that were revoked later are valid again.")]
pub(in crate::cli) struct Restore {
    #[command(flatten)]
    common: CommonOptions,
    /// File that `tillgate backup` has written.
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Restore the backup even if `tillgate verify` reports faults, or if it is of an earlier version and can be
    /// verified only afterwards. The audit log records this.
    #[arg(long)]
    force: bool,
}

impl Restore {
    /// Checks the backup, puts it in the place of the store, records that in its audit log, and prints its path, its
    /// size, the previous files, which are kept, and what was taken back.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let place = &self.common.place;
        place.refuse_database(LOAD_DUMP)?;
        let restored = restore_backup(place.folder(), &self.from, Timestamp::now(), |copy| match self.force {
            true => Ok(()),
            false => verify_copy(copy, find_vault(place).as_ref()),
        })?;
        let store = place.open_store()?;
        let from = self.from.display().to_string();
        store.record_restore(&from, &restored.taken_back, self.force).context("the store is restored, but")?;
        self.common.print_output(&restored, format_restored)
    }
}

/// Verifies the copy of a backup. Returns what speaks against it.
fn verify_copy(copy: &Path, vault: Option<&Vault>) -> Result<(), String> {
    let unsound = |reason: String| Err(format!("{reason}; `--force` restores it all the same"));
    if !has_current_version(copy).map_err(|error| error.to_string())? {
        return unsound("it is of an earlier version, and can be verified only after it is restored".to_owned());
    }
    let snapshot = StoreSnapshot::open_file(copy, vault).map_err(|error| error.to_string())?;
    if snapshot.is_sealed().map_err(|error| error.to_string())? && snapshot.audit_key().is_none() {
        return unsound("it is sealed, and verifying it needs the vault's key (--key-file)".to_owned());
    }
    let verified = Verification::verify_ledger(&snapshot, None).map_err(|error| error.to_string())?;
    match verified.faults.first() {
        Some(fault) => unsound(format!("it is not sound: {fault} ({} faults)", verified.fault_count)),
        None => Ok(()),
    }
}

/// Formats the outcome as text.
fn format_restored(restored: &Restored) -> String {
    let mut lines = vec![format!("{} ({} bytes)", restored.file.display(), restored.bytes)];
    lines.extend(restored.kept.iter().map(|file| format!("kept  {}", file.display())));
    let taken = &restored.taken_back;
    if taken.payments + taken.entries > 0 {
        lines.push(format!("taken back: {} payments, {} entries of the audit log", taken.payments, taken.entries));
    }
    lines.extend(taken.valid_again.iter().map(|user| format!("the revoked token {user} is valid again")));
    lines.extend(taken.head.iter().map(|head| format!("the audit log ended with {head}")));
    lines.join("\n")
}
