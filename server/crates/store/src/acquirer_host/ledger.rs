//! Ledger of an acquirer host: a separate SQLite file, independent of the gateway's store.
//!
//! Requests are decided one after the other on the writer's thread, and are answered after their commit. Used amounts
//! are columns with a CHECK constraint, so that no faulty decision can use more than the entry's amount.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use tillgate_engine::sqlite::{self, Migration, SqliteSession};
use tillgate_engine::{Error, ErrorKind as Failure, Row, Session, params};

use crate::StoreError;
use crate::acquirer_host::entry::{EntryKind, HostPage, LedgerEntry, NewEntry};
use crate::error::Cause;
use crate::place::store_file;
use crate::write::group_commit::CommitQueue;
use crate::write::job_queue::Lane;

/// Name of the file in the data folder.
const FILE: &str = "acquirer.db";
/// Maximum number of waiting requests. Further ones are refused.
const QUEUE: usize = 1024;
/// Maximum time to wait for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The migrations, oldest first: numbered SQL files. Existing ones are never changed.
const MIGRATIONS: [&str; 6] = [
    include_str!("migrations/0001_entries.sql"),
    include_str!("migrations/0002_three_ds.sql"),
    include_str!("migrations/0003_pages.sql"),
    include_str!("migrations/0004_scheme_data.sql"),
    include_str!("migrations/0005_partial_approvals.sql"),
    include_str!("migrations/0006_increments.sql"),
];

/// Columns of an entry, in the order in which [`read_entry`] reads them.
const COLUMNS: &str = "number, key, fingerprint, kind, merchant, payment, original, amount, currency, used + used_above, \
     approved, reversed, undecided, code, avs, cvv, account, created, three_ds, awaits_shopper, page, return_url, \
     scheme_data, requested, raised, finished";

/// The ledger. Its queue serialises access from all threads.
pub struct AcquirerLedger {
    queue: CommitQueue,
}

impl AcquirerLedger {
    /// Opens the ledger in a data folder. Creates both if absent.
    ///
    /// # Errors
    /// If the folder or the file cannot be created, opened or migrated.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { queue: CommitQueue::start("acquirer-ledger", Box::new(open_ledger_file(folder)?), QUEUE, ())? })
    }

    /// Runs a decision on the writer's thread. Returns after the commit. Nothing of a decision that fails is written.
    /// The decision runs again if another one of the same commit fails.
    ///
    /// # Errors
    /// [`StoreErrorKind::Overloaded`](crate::StoreErrorKind::Overloaded) if too many requests wait. Otherwise the
    /// error of the decision or of the commit.
    pub async fn run_decision<T: Send + 'static>(
        &self,
        mut decide: impl FnMut(&LedgerTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let write = move |session: &dyn Session| decide(&LedgerTransaction { session });
        self.queue.commit_write(Lane::Everything, write, |_| ()).await
    }

    /// Loads the entries with a higher number in ascending order, at most `limit`. Waits in the queue like a decision.
    ///
    /// # Errors
    /// Same as [`AcquirerLedger::run_decision`].
    pub async fn load_entries_after(&self, number: i64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        // The ledger has only the session of the writer, so reads wait in the same queue.
        let select = move |session: &dyn Session| {
            let query = format!("SELECT {COLUMNS} FROM entry WHERE number > ?1 ORDER BY number LIMIT ?2");
            Ok(session.query_all(&query, params![number, limit], read_entry)?)
        };
        self.queue.commit_write(Lane::Everything, select, |_| ()).await
    }
}

/// The ledger inside a transaction.
pub struct LedgerTransaction<'a> {
    session: &'a dyn Session,
}

impl LedgerTransaction<'_> {
    /// Loads an entry of any merchant by its idempotency key.
    pub fn load_by_key(&self, key: &str) -> Result<Option<LedgerEntry>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM entry WHERE key = ?1");
        Ok(self.session.query_optional(&query, [key], read_entry)?)
    }

    /// Loads an entry by its number.
    pub fn load_by_number(&self, number: i64) -> Result<Option<LedgerEntry>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM entry WHERE number = ?1");
        Ok(self.session.query_optional(&query, [number], read_entry)?)
    }

    /// Loads the first 1000 entries of a merchant with the gateway's id of a payment, in ascending order.
    pub fn load_by_payment(&self, merchant: &str, payment: &str) -> Result<Vec<LedgerEntry>, StoreError> {
        // Without a limit, a merchant with one id for all its payments would make each decision slower.
        let query =
            format!("SELECT {COLUMNS} FROM entry WHERE payment = ?1 AND merchant = ?2 ORDER BY number LIMIT 1000");
        Ok(self.session.query_all(&query, params![payment, merchant], read_entry)?)
    }

    /// Adds an entry, of which nothing is used, and returns it with its new number.
    ///
    /// # Errors
    /// If the ledger cannot be written, or already has an entry with this key.
    pub fn insert_entry(&self, entry: NewEntry) -> Result<LedgerEntry, StoreError> {
        let query =
            "INSERT INTO entry (key, fingerprint, kind, merchant, payment, original, amount, currency, approved, \
             reversed, undecided, code, avs, cvv, account, created, three_ds, awaits_shopper, page, return_url, scheme_data, requested)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
             RETURNING number";
        let number = self.session.query_one(
            query,
            params![
                entry.key,
                entry.fingerprint,
                entry.kind.as_str(),
                entry.merchant_id,
                entry.payment_id,
                entry.original,
                amount_to_column(entry.amount)?,
                entry.currency,
                entry.approved,
                entry.reversed,
                entry.undecided,
                entry.code,
                entry.avs.map(String::from),
                entry.cvv.map(String::from),
                entry.account,
                entry.created,
                entry.three_ds.as_ref().and_then(|data| serde_json::to_string(data).ok()),
                entry.awaits_shopper,
                entry.page.as_ref().map(|page| &page.id),
                entry.page.as_ref().map(|page| &page.return_url),
                // Data for the schemes do not affect the outcome, so they must not make a decision fail.
                serde_json::to_string(&entry.scheme_data).ok(),
                entry.requested.map(amount_to_column).transpose()?,
            ],
            |row| row.get(0),
        )?;
        Ok(LedgerEntry { number, used: 0, raised: 0, finished: false, entry })
    }

    /// Sets the used amount of an entry in minor units: the captured amount of an authorization, the refunded amount of
    /// any other entry. It replaces the earlier amount. An unknown number changes nothing.
    ///
    /// # Errors
    /// If the ledger cannot be written, or the amount exceeds the entry's amount with its increments by more than a
    /// fifth.
    pub fn set_used(&self, number: i64, used: u64) -> Result<(), StoreError> {
        let query = "UPDATE entry SET used = min(?2, amount), used_above = max(?2 - amount, 0) WHERE number = ?1";
        self.session.execute(query, params![number, amount_to_column(used)?])?;
        Ok(())
    }

    /// Releases what is left of an authorization after its last capture.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub fn set_finished(&self, number: i64, finished: bool) -> Result<(), StoreError> {
        self.session.execute("UPDATE entry SET finished = ?2 WHERE number = ?1", params![number, finished])?;
        Ok(())
    }

    /// Sets the sum of the increments of an authorization in minor units. It replaces the earlier sum.
    ///
    /// # Errors
    /// If the ledger cannot be written, or more of the sum is captured.
    pub fn set_raised(&self, number: i64, raised: u64) -> Result<(), StoreError> {
        let query = "UPDATE entry SET raised = ?2 WHERE number = ?1";
        self.session.execute(query, params![number, amount_to_column(raised)?])?;
        Ok(())
    }

    /// Marks an entry as reversed, and the increments of an authorization with it. If it waits for its shopper, it
    /// stops waiting and gets the response code 21.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub fn set_reversed(&self, number: i64) -> Result<(), StoreError> {
        let query = "UPDATE entry SET reversed = 1, code = iif(awaits_shopper, '21', code), awaits_shopper = 0 \
             WHERE number = ?1 OR (original = ?1 AND kind = 'increment')";
        self.session.execute(query, [number])?;
        Ok(())
    }

    /// Loads an entry by the id of the page on which its shopper decides.
    pub fn load_by_page(&self, page: &str) -> Result<Option<LedgerEntry>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM entry WHERE page = ?1");
        Ok(self.session.query_optional(&query, [page], read_entry)?)
    }

    /// Stores the decision of a shopper: approved or not, and the response code. Does nothing if the entry does not
    /// wait for it.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub fn record_shopper_decision(&self, number: i64, approved: bool, code: &str) -> Result<(), StoreError> {
        let query =
            "UPDATE entry SET approved = ?2, code = ?3, awaits_shopper = 0 WHERE number = ?1 AND awaits_shopper";
        self.session.execute(query, params![number, approved, code])?;
        Ok(())
    }
}

/// Converts an amount in minor units to the value of a column. Fails if it exceeds `i64::MAX`.
fn amount_to_column(amount: u64) -> tillgate_engine::Result<i64> {
    // SQLite's integers are signed. A larger amount would be stored as a negative one.
    i64::try_from(amount).map_err(|_| Error::new(Failure::Unreadable, "an amount out of the range of a column"))
}

/// Reads the amount in minor units from a column. A negative one is an error.
fn read_amount(row: &Row<'_>, column: usize) -> tillgate_engine::Result<u64> {
    row.get(column)
}

/// Reads an entry from a row with [`COLUMNS`]. Unreadable data of 3-D Secure or for the schemes counts as
/// none; an unknown kind is an error.
fn read_entry(row: &Row<'_>) -> tillgate_engine::Result<LedgerEntry> {
    let letter = |text: Option<String>| text.and_then(|text| text.chars().next());
    let kind: String = row.get(3)?;
    Ok(LedgerEntry {
        number: row.get(0)?,
        used: read_amount(row, 9)?,
        raised: read_amount(row, 24)?,
        finished: row.get(25)?,
        entry: NewEntry {
            key: row.get(1)?,
            fingerprint: row.get(2)?,
            kind: EntryKind::parse(&kind).ok_or_else(|| Error::unreadable(3, "kind of an entry"))?,
            merchant_id: row.get(4)?,
            payment_id: row.get(5)?,
            original: row.get(6)?,
            amount: read_amount(row, 7)?,
            currency: row.get(8)?,
            approved: row.get(10)?,
            reversed: row.get(11)?,
            undecided: row.get(12)?,
            code: row.get(13)?,
            avs: letter(row.get(14)?),
            cvv: letter(row.get(15)?),
            account: row.get(16)?,
            created: row.get(17)?,
            three_ds: row.get::<Option<String>>(18)?.and_then(|text| serde_json::from_str(&text).ok()),
            awaits_shopper: row.get(19)?,
            page: match (row.get(20)?, row.get(21)?) {
                (Some(id), Some(return_url)) => Some(HostPage { id, return_url }),
                _ => None,
            },
            scheme_data: row
                .get::<Option<String>>(22)?
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
            requested: row.get(23)?,
        },
    })
}

/// Opens the ledger's file, readable only by its owner, and migrates it. Creates folder and file if absent.
fn open_ledger_file(folder: &Path) -> Result<SqliteSession, StoreError> {
    store_file::make_folder(folder)?;
    let path = folder.join(FILE);
    // The file is accessible only to its owner. SQLite gives its companion files the same mode.
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Cause::File(path, error).into()),
        _ => {}
    }
    let session = SqliteSession::open(&path)?;
    session.set_lock_timeout(BUSY_TIMEOUT)?;
    session.run_script("PRAGMA journal_mode = WAL")?;
    // A decision is answered after its commit, so the commit has to survive a power failure.
    session.run_script("PRAGMA synchronous = FULL")?;
    session.run_script("PRAGMA foreign_keys = true")?;
    session.run_script("PRAGMA temp_store = MEMORY")?;
    let migrations = MIGRATIONS.map(|script| Migration::<StoreError> { script, finish: None });
    sqlite::migrate(&session, &migrations, None).map_err(|error| Cause::Migration(Box::new(error)))?;
    Ok(session)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_connector::http::protocol::ThreeDsData;

    use super::*;
    use crate::acquirer_host::entry::SchemeData;

    /// Returns an approved authorization of 9200 minor units that waits for its shopper. `key` is its key and part of
    /// its page id.
    fn sample_entry(key: &str) -> NewEntry {
        NewEntry {
            key: key.to_owned(),
            fingerprint: Some([1; 32]),
            kind: EntryKind::Authorization,
            merchant_id: "m".to_owned(),
            payment_id: "p".to_owned(),
            original: None,
            amount: 9200,
            requested: Some(10_000),
            currency: "EUR".to_owned(),
            approved: true,
            reversed: false,
            undecided: false,
            code: "00".to_owned(),
            avs: Some('F'),
            cvv: None,
            account: None,
            awaits_shopper: true,
            page: Some(HostPage { id: format!("page-{key}"), return_url: "https://pay.example/".to_owned() }),
            three_ds: Some(ThreeDsData { eci: Some("05".to_owned()), ..ThreeDsData::default() }),
            scheme_data: SchemeData {
                descriptor: Some("Kiln & Tide".to_owned()),
                transaction_category: Some("EC".to_owned()),
                ..SchemeData::default()
            },
            created: 1,
        }
    }

    #[tokio::test]
    async fn an_entry_is_read_as_it_was_written_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = AcquirerLedger::open(folder.path()).unwrap();
        let written = ledger.run_decision(|transaction| transaction.insert_entry(sample_entry("one"))).await.unwrap();
        drop(ledger);
        let ledger = AcquirerLedger::open(folder.path()).unwrap();
        let read = ledger.run_decision(|transaction| transaction.load_by_key("one")).await.unwrap();
        assert_eq!(read, Some(written.clone()));
        assert_eq!(ledger.load_entries_after(0, 10).await.unwrap(), [written]);
    }

    #[tokio::test]
    async fn a_decision_that_takes_too_much_leaves_nothing_and_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = AcquirerLedger::open(folder.path()).unwrap();
        let (good, bad, next) = tokio::join!(
            ledger.run_decision(|transaction| transaction.insert_entry(sample_entry("good"))),
            ledger.run_decision(|transaction| {
                let entry = transaction.insert_entry(sample_entry("bad"))?;
                // A fifth more than the authorized 9200 is the most.
                transaction.set_used(entry.number, 11_041)
            }),
            ledger.run_decision(|transaction| transaction.insert_entry(sample_entry("next"))),
        );
        assert!(good.is_ok() && bad.is_err() && next.is_ok());
        let keys: Vec<String> =
            ledger.load_entries_after(0, 10).await.unwrap().into_iter().map(|entry| entry.entry.key).collect();
        assert_eq!(keys, ["good", "next"]);
    }
}
