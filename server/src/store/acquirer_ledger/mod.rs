//! The ledger of an acquirer's host: one SQLite file of its own, which has nothing to do with the gateway's store.
//!
//! Requests are decided one after the other on the writer's thread, and are answered after their commit. Amounts that are used
//! up are columns with a check, so that no mistake of a decision can take more than there is.

mod writer;

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use rusqlite_migration::{M, Migrations};

use super::{StoreError, schema};
use crate::acquirer_host::entry::{EntryKind, LedgerEntry, NewEntry};

use writer::LedgerWriter;

/// The file's name in the data folder.
const FILE: &str = "acquirer.db";
/// Time that a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);

const MIGRATIONS: &[M<'_>] = &[M::up(
    "CREATE TABLE entry (
         number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, fingerprint BLOB, kind TEXT NOT NULL,
         merchant TEXT NOT NULL, payment TEXT NOT NULL, original INTEGER REFERENCES entry (number),
         amount INTEGER NOT NULL CHECK (amount >= 0), currency TEXT NOT NULL,
         used INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND amount),
         approved INTEGER NOT NULL, reversed INTEGER NOT NULL, undecided INTEGER NOT NULL, code TEXT NOT NULL,
         avs TEXT, cvv TEXT, account TEXT, created INTEGER NOT NULL
     ) STRICT;
     CREATE INDEX entry_payment ON entry (payment);",
)];

const COLUMNS: &str = "number, key, fingerprint, kind, merchant, payment, original, amount, currency, used, approved, reversed, \
     undecided, code, avs, cvv, account, created";

/// The ledger.
pub struct AcquirerLedger {
    writer: LedgerWriter,
}

impl AcquirerLedger {
    /// Opens the ledger in a data folder, and makes both when they are absent.
    ///
    /// # Errors
    /// If the folder or the file cannot be made, opened or migrated.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { writer: LedgerWriter::start(open(folder)?)? })
    }

    /// Runs a decision in a transaction of its own savepoint. Returns after the commit.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] if too many requests wait; otherwise what the decision says, or if the commit fails.
    pub async fn write<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&LedgerTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.run(move |connection| decide(&LedgerTransaction { connection })).await
    }

    /// Entries after a number, in their order; at most `limit`.
    ///
    /// # Errors
    /// Same as [`AcquirerLedger::write`].
    pub async fn entries_after(&self, number: i64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        self.writer
            .run(move |connection| {
                let query = format!("SELECT {COLUMNS} FROM entry WHERE number > ?1 ORDER BY number LIMIT ?2");
                let mut statement = connection.prepare_cached(&query)?;
                let entries = statement.query_map(params![number, limit], read)?;
                Ok(entries.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// The ledger inside a transaction.
pub struct LedgerTransaction<'a> {
    connection: &'a Connection,
}

impl LedgerTransaction<'_> {
    /// Loads an entry by its idempotency key.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub fn by_key(&self, key: &str) -> Result<Option<LedgerEntry>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM entry WHERE key = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([key], read).optional()?)
    }

    /// Loads an entry by its number.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    pub fn by_number(&self, number: i64) -> Result<Option<LedgerEntry>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM entry WHERE number = ?1");
        Ok(self.connection.prepare_cached(&query)?.query_row([number], read).optional()?)
    }

    /// Adds an entry, and returns it with its number.
    ///
    /// # Errors
    /// If the ledger cannot be written, or has an entry of this key.
    pub fn insert(&self, entry: NewEntry) -> Result<LedgerEntry, StoreError> {
        let query =
            "INSERT INTO entry (key, fingerprint, kind, merchant, payment, original, amount, currency, approved, \
             reversed, undecided, code, avs, cvv, account, created)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
        self.connection.prepare_cached(query)?.execute(params![
            entry.key,
            entry.fingerprint,
            entry.kind.as_str(),
            entry.merchant_id,
            entry.payment_id,
            entry.original,
            stored(entry.amount)?,
            entry.currency,
            entry.approved,
            entry.reversed,
            entry.undecided,
            entry.code,
            entry.avs.map(String::from),
            entry.cvv.map(String::from),
            entry.account,
            entry.created,
        ])?;
        Ok(LedgerEntry { number: self.connection.last_insert_rowid(), used: 0, entry })
    }

    /// Sets how much of an entry is used up: captured of an authorisation, refunded of anything else.
    ///
    /// # Errors
    /// If the ledger cannot be written, or the amount is more than the entry's.
    pub fn set_used(&self, number: i64, used: u64) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("UPDATE entry SET used = ?2 WHERE number = ?1")?
            .execute(params![number, stored(used)?])?;
        Ok(())
    }

    /// Marks an entry as reversed.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub fn set_reversed(&self, number: i64) -> Result<(), StoreError> {
        self.connection.prepare_cached("UPDATE entry SET reversed = 1 WHERE number = ?1")?.execute([number])?;
        Ok(())
    }
}

/// An amount as a column holds it.
fn stored(amount: u64) -> rusqlite::Result<i64> {
    i64::try_from(amount).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Reads the amount in a column.
fn amount(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let stored: i64 = row.get(column)?;
    u64::try_from(stored).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, stored))
}

fn read(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    let letter = |text: Option<String>| text.and_then(|text| text.chars().next());
    let kind: String = row.get(3)?;
    Ok(LedgerEntry {
        number: row.get(0)?,
        used: amount(row, 9)?,
        entry: NewEntry {
            key: row.get(1)?,
            fingerprint: row.get(2)?,
            kind: EntryKind::parse(&kind).ok_or(rusqlite::Error::InvalidQuery)?,
            merchant_id: row.get(4)?,
            payment_id: row.get(5)?,
            original: row.get(6)?,
            amount: amount(row, 7)?,
            currency: row.get(8)?,
            approved: row.get(10)?,
            reversed: row.get(11)?,
            undecided: row.get(12)?,
            code: row.get(13)?,
            avs: letter(row.get(14)?),
            cvv: letter(row.get(15)?),
            account: row.get(16)?,
            created: row.get(17)?,
        },
    })
}

fn open(folder: &Path) -> Result<Connection, StoreError> {
    schema::make_folder(folder)?;
    let path = folder.join(FILE);
    // Made for its owner alone; SQLite gives the files beside it the same mode.
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(StoreError::File(path, error)),
        _ => {}
    }
    let mut connection = Connection::open(&path)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Migrations::from_slice(MIGRATIONS).to_latest(&mut connection)?;
    Ok(connection)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn entry(key: &str) -> NewEntry {
        NewEntry {
            key: key.to_owned(),
            fingerprint: Some([1; 32]),
            kind: EntryKind::Authorization,
            merchant_id: "m".to_owned(),
            payment_id: "p".to_owned(),
            original: None,
            amount: 9200,
            currency: "EUR".to_owned(),
            approved: true,
            reversed: false,
            undecided: false,
            code: "00".to_owned(),
            avs: Some('F'),
            cvv: None,
            account: None,
            created: 1,
        }
    }

    #[tokio::test]
    async fn an_entry_is_read_as_it_was_written_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = AcquirerLedger::open(folder.path()).unwrap();
        let written = ledger.write(|books| books.insert(entry("one"))).await.unwrap();
        drop(ledger);
        let ledger = AcquirerLedger::open(folder.path()).unwrap();
        let read = ledger.write(|books| books.by_key("one")).await.unwrap();
        assert_eq!(read, Some(written.clone()));
        assert_eq!(ledger.entries_after(0, 10).await.unwrap(), [written]);
    }

    #[tokio::test]
    async fn a_decision_that_takes_too_much_leaves_nothing_and_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = AcquirerLedger::open(folder.path()).unwrap();
        let (good, bad, again) = tokio::join!(
            ledger.write(|books| books.insert(entry("good"))),
            ledger.write(|books| {
                let made = books.insert(entry("bad"))?;
                books.set_used(made.number, 9201)
            }),
            ledger.write(|books| books.insert(entry("again"))),
        );
        assert!(good.is_ok() && bad.is_err() && again.is_ok());
        let keys: Vec<String> =
            ledger.entries_after(0, 10).await.unwrap().into_iter().map(|entry| entry.entry.key).collect();
        assert_eq!(keys, ["good", "again"]);
    }
}
