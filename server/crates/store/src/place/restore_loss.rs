//! Payments and acts that a restore takes back, because the backup lacks them.

use std::path::Path;

use tillgate_engine::sqlite::{SqliteSession, immutable_address};
use tillgate_shared::format::mask::mask_card_numbers;

use crate::access::audit_chain::load_ends;
use crate::admin::Act;
use crate::place::store_file::store_path;
use crate::{AdminStore, StoreError};

/// Acts and payments that are gone after a restore.
#[derive(Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenBack {
    /// The head of the audit log of before. `None` if the store of before was absent or could not be read.
    pub head: Option<String>,
    /// Number of payments that are not in the backup.
    pub payments: u64,
    /// Tokens that were revoked since the backup: they are valid again.
    pub valid_again: Vec<String>,
    /// Number of entries of the audit log that are not in the backup.
    pub entries: u64,
}

impl TakenBack {
    /// Compares the store of a data folder with a backup. Unreadable rows count as missing.
    pub(crate) fn compare(folder: &Path, backup: &Path) -> Self {
        if !store_path(folder).is_file() {
            return Self::default();
        }
        // A damaged store is the usual reason for a restore, so a failure here must not prevent it.
        Self::read_differences(folder, backup).unwrap_or_else(|error| {
            tracing::warn!(%error, "the store of before cannot be read");
            Self::default()
        })
    }

    fn read_differences(folder: &Path, backup: &Path) -> Result<Self, StoreError> {
        // Not opened as immutable, because SQLite would ignore the write-ahead log with the latest payments.
        let session = SqliteSession::open_read_only(&store_path(folder))?;
        session.execute("ATTACH ?1 AS backup", [immutable_address(backup)])?;
        let count = |query: &str| session.query_one(query, (), |row| row.get::<i64>(0)).map(i64::unsigned_abs);
        let payments = count("SELECT count(*) FROM main.payment WHERE id NOT IN (SELECT id FROM backup.payment)")?;
        let entries = count(
            "SELECT count(*) FROM main.audit_entry WHERE number > (SELECT coalesce(max(number), 0) FROM backup.audit_entry)",
        )?;
        let query = "SELECT user_id FROM main.token JOIN backup.token AS copy USING (user_id)
             WHERE token.revoked IS NOT NULL AND copy.revoked IS NULL ORDER BY user_id";
        let valid_again: Vec<String> = session.query_all(query, (), |row| row.get(0))?;
        // Tables without a name of their file are those of the folder.
        let ends = load_ends(&session).ok().filter(|ends| !ends.is_empty());
        let head = ends.map(|ends| ends.head().to_string());
        Ok(Self { head, payments, valid_again, entries })
    }

    /// Returns the details of the entry of the restore.
    fn describe(&self, is_forced: bool) -> Vec<(&'static str, String)> {
        let mut details = vec![("payments", self.payments.to_string()), ("entries", self.entries.to_string())];
        details.extend(self.head.clone().map(|head| ("headBefore", head)));
        if !self.valid_again.is_empty() {
            details.push(("tokensValidAgain", self.valid_again.join(",")));
        }
        if is_forced {
            details.push(("forced", "true".to_owned()));
        }
        details
    }
}

impl AdminStore {
    /// Writes the entry of a restore: the backup, and what the store had that the backup has not.
    pub fn record_restore(&self, from: &str, taken_back: &TakenBack, is_forced: bool) -> Result<(), StoreError> {
        let details = taken_back.describe(is_forced);
        let details: Vec<(&str, &str)> = details.iter().map(|(name, value)| (*name, value.as_str())).collect();
        // The audit log is kept for ever, so the path must not bring a card number into it.
        let act = Act { action: "restore", subject: &mask_card_numbers(from), entity: None, details: &details };
        self.record_act(&act, |_| Ok(()))
    }
}
