//! A connection to a file of SQLite.

use std::ops::Deref;

use rusqlite::types::{ToSqlOutput, ValueRef as Stored};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::cursor::SqliteCursor;
use crate::{Error, ErrorKind, OwnedValue, ReadExtent, Result, Rows, Session, ValueRef};

/// A connection to a file of SQLite.
#[derive(Debug)]
pub struct SqliteSession(Connection);

impl SqliteSession {
    /// Takes over a connection.
    pub fn new(connection: Connection) -> Self {
        Self(connection)
    }

    /// Returns the connection, for what only SQLite has, such as functions of a program.
    pub fn connection(&self) -> &Connection {
        &self.0
    }
}

/// Gives the session the methods that all sessions have.
impl Deref for SqliteSession {
    type Target = dyn Session;

    fn deref(&self) -> &Self::Target {
        self
    }
}

impl Session for SqliteSession {
    fn execute_values(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<usize> {
        let mut statement = self.0.prepare_cached(statement)?;
        Ok(statement.execute(params_from_iter(values.iter().map(|value| SqlValue(*value))))?)
    }

    fn query_values(&self, statement: &str, values: &[ValueRef<'_>], _: ReadExtent) -> Result<Rows<'_>> {
        // SQLite reads a row when it is asked for, in any case.
        Ok(Rows::new(SqliteCursor::begin(self.0.prepare_cached(statement)?, values)?))
    }

    fn run_script(&self, script: &str) -> Result<()> {
        Ok(self.0.execute_batch(script)?)
    }

    fn call_function(&self, name: &str, values: &[ValueRef<'_>]) -> Result<Option<OwnedValue>> {
        let places: Vec<String> = (1..=values.len()).map(|number| format!("?{number}")).collect();
        let query = format!("SELECT {name}({})", places.join(", "));
        match self.query_values(&query, values, ReadExtent::Whole) {
            Ok(mut rows) => rows.next()?.map(|row| row.get(0)).transpose(),
            // The function is not registered.
            Err(error) if error.kind() == ErrorKind::InvalidStatement => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn begin_write(&self) -> Result<()> {
        // `IMMEDIATE` takes the write lock before the first read, so that no other process changes what a decision has
        // read.
        self.execute_values("BEGIN IMMEDIATE", &[]).map(drop)
    }

    fn next_number(&self, table: &str) -> Result<i64> {
        let session: &dyn Session = self;
        let query = format!("SELECT coalesce(max(number), 0) + 1 FROM {table}");
        session.query_one(&query, (), |row| row.get(0))
    }

    fn begin_read(&self) -> Result<()> {
        self.execute_values("BEGIN", &[]).map(drop)
    }

    fn set_savepoint(&self, name: &str) -> Result<()> {
        self.execute_values(&format!("SAVEPOINT {name}"), &[]).map(drop)
    }

    fn return_to_savepoint(&self, name: &str) -> Result<()> {
        self.execute_values(&format!("ROLLBACK TO {name}"), &[]).map(drop)
    }

    fn release_savepoint(&self, name: &str) -> Result<()> {
        self.execute_values(&format!("RELEASE {name}"), &[]).map(drop)
    }

    fn commit(&self) -> Result<()> {
        let committed = self.execute_values("COMMIT", &[]);
        if committed.is_err() {
            // Some failures end the transaction by themselves, and others leave it open.
            let _ = self.roll_back();
        }
        committed.map(drop).map_err(|error| match error.kind() {
            ErrorKind::DiskFailing => Error::new(ErrorKind::DoubtfulCommit, error.to_string()),
            _ => error,
        })
    }

    fn roll_back(&self) -> Result<()> {
        if self.is_in_transaction() {
            self.run_script("ROLLBACK")?;
        }
        Ok(())
    }

    fn is_in_transaction(&self) -> bool {
        !self.0.is_autocommit()
    }
}

/// A value as SQLite's library takes it.
pub(super) struct SqlValue<'a>(pub(super) ValueRef<'a>);

impl<'a> From<Stored<'a>> for ValueRef<'a> {
    fn from(value: Stored<'a>) -> Self {
        match value {
            Stored::Null => Self::Null,
            Stored::Integer(number) => Self::Integer(number),
            Stored::Real(number) => Self::Real(number),
            Stored::Text(text) => Self::Text(text),
            Stored::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            ValueRef::Null => Stored::Null,
            ValueRef::Integer(number) => Stored::Integer(number),
            ValueRef::Real(number) => Stored::Real(number),
            ValueRef::Text(text) => Stored::Text(text),
            ValueRef::Blob(bytes) => Stored::Blob(bytes),
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{ErrorKind, params};

    /// Opens an empty table of numbers with names.
    fn open_table() -> SqliteSession {
        let session = SqliteSession::open_in_memory().unwrap();
        session.run_script("CREATE TABLE number (n INTEGER PRIMARY KEY, name TEXT, data BLOB)").unwrap();
        session
    }

    fn insert(session: &dyn Session, number: i64, name: Option<&str>) -> Result<usize> {
        session.execute("INSERT INTO number (n, name, data) VALUES (?1, ?2, ?3)", params![number, name, [1_u8, 2]])
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        let session: &dyn Session = &open_table();
        assert_eq!(insert(session, 7, Some("seven")).unwrap(), 1);
        insert(session, 8, None).unwrap();
        let rows: Vec<(i64, Option<String>, [u8; 2])> =
            session.query_all("SELECT n, name, data FROM number ORDER BY n", (), |row| row.read()).unwrap();
        assert_eq!(rows, [(7, Some("seven".to_owned()), [1, 2]), (8, None, [1, 2])]);
        let none = session.query_optional("SELECT n FROM number WHERE n = ?1", [9_i64], |row| row.get::<i64>(0));
        assert_eq!(none.unwrap(), None);
        assert!(session.has_row("SELECT 1 FROM number WHERE n = ?1", [8]).unwrap());
        assert!(!session.has_row("SELECT 1 FROM number WHERE n = ?1", [9]).unwrap());
        let error = session.query_one("SELECT n FROM number WHERE n = 9", (), |row| row.get::<i64>(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoRow);
        let error = session.query_one("SELECT n FROM number", (), |row| row.get::<i64>(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Other);
    }

    #[test]
    fn a_statement_with_an_unknown_name_is_told_from_other_failures() {
        let session = SqliteSession::open_in_memory().unwrap();
        let error = session.query_one("SELECT unknown()", (), |row| row.get::<i64>(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidStatement);
    }

    #[test]
    fn several_queries_are_read_side_by_side_also_of_the_same_statement() {
        let session: &dyn Session = &open_table();
        for number in 1..=4 {
            insert(session, number, None).unwrap();
        }
        let query = "SELECT n FROM number WHERE n % 2 = ?1 ORDER BY n";
        let (mut odd, mut even) = (session.query(query, [1]).unwrap(), session.query(query, [0]).unwrap());
        let mut numbers: Vec<i64> = Vec::new();
        assert!(odd.current().is_none());
        while let (Some(odd), Some(even)) = (odd.next().unwrap(), even.next().unwrap()) {
            numbers.extend([odd.get::<i64>(0).unwrap(), even.get::<i64>(0).unwrap()]);
        }
        assert_eq!(numbers, [1, 2, 3, 4]);
    }

    #[test]
    fn a_snapshot_reads_nothing_that_is_written_after_its_first_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("numbers.db");
        let (writer, reader) = (SqliteSession::open(&file).unwrap(), SqliteSession::open(&file).unwrap());
        writer.run_script("PRAGMA journal_mode = WAL; CREATE TABLE number (n INTEGER)").unwrap();
        let count = || reader.query_one("SELECT count(*) FROM number", (), |row| row.get::<i64>(0)).unwrap();
        let snapshot = reader.begin_snapshot().unwrap();
        assert_eq!(count(), 0);
        writer.execute("INSERT INTO number (n) VALUES (1)", ()).unwrap();
        assert_eq!(count(), 0);
        drop(snapshot);
        assert_eq!(count(), 1);
    }

    #[test]
    fn a_transaction_that_is_dropped_leaves_nothing() {
        let session: &dyn Session = &open_table();
        let transaction = session.begin().unwrap();
        insert(&*transaction, 1, None).unwrap();
        drop(transaction);
        assert!(!session.is_in_transaction());
        let transaction = session.begin().unwrap();
        insert(&*transaction, 2, None).unwrap();
        assert_eq!(insert(&*transaction, 2, None).unwrap_err().kind(), ErrorKind::Constraint);
        transaction.commit().unwrap();
        let numbers: Vec<i64> = session.query_all("SELECT n FROM number", (), |row| row.get(0)).unwrap();
        assert_eq!(numbers, [2]);
    }
}
