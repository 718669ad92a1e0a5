//! The store of a gateway under test, as another program sees it: the file in the data folder, or a database of
//! PostgreSQL if `TILLGATE_TEST_DATABASE` is `postgres`. The address of a database is in a file beside the data folder.

mod place;
mod values;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use rusqlite::types::{FromSql, Value};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use tillgate_engine::postgres::{PostgresAddress, PostgresSession, SessionLimits};
use tillgate_engine::{ReadExtent, Session as _, ValueRef};

pub(crate) use self::place::{create_database, wrap_program};
pub use self::place::{find_database, is_on_postgres};
pub use self::values::Values;
use crate::wait::PATIENCE;

/// Functions of SQLite that the tests' own statements use, in a schema that the gateway does not see.
const FUNCTIONS: &str = include_str!("database.sql");

/// A connection to the store beside its gateway.
pub enum Database {
    /// To the file.
    File(Connection),
    /// To a database of PostgreSQL.
    Server(Box<SharedSession>),
}

/// A session of PostgreSQL. `None` only while it is being dropped.
pub struct SharedSession(Mutex<Option<PostgresSession>>);

/// Number of a column. A trait, so that a row is read with the same words as one of SQLite's library.
pub trait ColumnNumber {
    /// Returns the number.
    fn number(self) -> usize;
}

impl ColumnNumber for usize {
    fn number(self) -> usize {
        self
    }
}

/// A row of a query.
pub struct Row(Vec<Value>);

impl Row {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// If there is no such column, or its value is of another type.
    pub fn get<N: ColumnNumber, T: FromSql>(&self, column: N) -> rusqlite::Result<T> {
        let column = column.number();
        let value = self.0.get(column).ok_or(rusqlite::Error::InvalidColumnIndex(column))?;
        T::column_result(value.into())
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, value.data_type(), Box::new(error)))
    }
}

/// A statement that is run later.
pub struct Statement<'a> {
    database: &'a Database,
    text: String,
}

impl Statement<'_> {
    /// Runs the statement, and converts its first row.
    ///
    /// # Errors
    /// If the database refuses it, or there is no row.
    pub fn query_row<T>(
        &mut self,
        values: impl Values,
        convert: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.database.query_row(&self.text, values, convert)
    }

    /// Runs the statement, and returns the number of rows that it has changed.
    ///
    /// # Errors
    /// If the database refuses it.
    pub fn execute(&mut self, values: impl Values) -> rusqlite::Result<usize> {
        self.database.execute(&self.text, values)
    }

    /// Runs the statement, and converts each row.
    ///
    /// # Errors
    /// If the database refuses it.
    pub fn query_map<T>(
        &mut self,
        values: impl Values,
        convert: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<impl Iterator<Item = rusqlite::Result<T>>> {
        let rows = self.database.read_rows(&self.text, values.into_values()?)?;
        Ok(rows.iter().map(convert).collect::<Vec<_>>().into_iter())
    }
}

impl Database {
    /// Opens the store of a data folder for reading and writing.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(data: &Path) -> anyhow::Result<Self> {
        let Some(address) = find_database(data) else {
            let connection = Connection::open(data.join("tillgate.db"))?;
            // The gateway and its commands write meanwhile.
            connection.busy_timeout(PATIENCE)?;
            return Ok(Self::File(connection));
        };
        let address = PostgresAddress::parse(&address, "tests", SessionLimits::default())?;
        let session = on_thread(|| {
            let session = PostgresSession::connect(&address)?;
            session.run_script(FUNCTIONS)?;
            Ok::<_, tillgate_engine::Error>(session)
        })?;
        Ok(Self::Server(Box::new(SharedSession(Mutex::new(Some(session))))))
    }

    /// Opens the store of a data folder for reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_to_read(data: &Path) -> anyhow::Result<Self> {
        if find_database(data).is_some() {
            return Self::open(data);
        }
        let path = data.join("tillgate.db");
        let opened = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        Ok(Self::File(opened.with_context(|| path.display().to_string())?))
    }

    /// Keeps all other writers out until this connection ends.
    ///
    /// # Errors
    /// If another writer does not end in time.
    pub fn keep_writers_out(&self) -> rusqlite::Result<()> {
        match self {
            Self::File(connection) => connection.execute_batch("BEGIN IMMEDIATE"),
            Self::Server(session) => session.run(|session| {
                // The database ends the session of one that does nothing for long.
                session.run_script("SET idle_in_transaction_session_timeout = 0")?;
                session.begin_write()
            }),
        }
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// None: a statement that the database does not take fails later.
    pub fn prepare(&self, text: &str) -> rusqlite::Result<Statement<'_>> {
        Ok(Statement { database: self, text: text.to_owned() })
    }

    /// Runs a query, and converts its first row.
    ///
    /// # Errors
    /// If the database refuses it, or there is no row.
    pub fn query_row<T>(
        &self,
        query: &str,
        values: impl Values,
        convert: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let rows = self.read_rows(query, values.into_values()?)?;
        convert(rows.first().ok_or(rusqlite::Error::QueryReturnedNoRows)?)
    }

    /// Runs a statement, and returns the number of rows that it has changed.
    ///
    /// # Errors
    /// If the database refuses it.
    pub fn execute(&self, statement: &str, values: impl Values) -> rusqlite::Result<usize> {
        let values = values.into_values()?;
        match self {
            Self::File(connection) => connection.execute(statement, params_from_iter(values)),
            Self::Server(session) => session
                .run(|session| session.execute_values(statement, &values.iter().map(to_engine).collect::<Vec<_>>())),
        }
    }

    /// Runs a statement while a trigger of its table is off, and returns the number of rows that it has changed.
    ///
    /// # Errors
    /// If the database refuses it.
    pub fn execute_without_trigger(&self, table: &str, trigger: &str, statement: &str) -> rusqlite::Result<usize> {
        let (begin, end) = match self {
            Self::File(_) => {
                let query = "SELECT sql FROM sqlite_schema WHERE name = ?1";
                let definition: String = self.query_row(query, [trigger], |row| row.get(0))?;
                (format!("DROP TRIGGER {trigger}"), definition)
            }
            Self::Server(_) => {
                let alter = |change: &str| format!("ALTER TABLE {table} {change} TRIGGER {trigger}");
                (alter("DISABLE"), alter("ENABLE"))
            }
        };
        self.execute_batch(&begin)?;
        let changed = self.execute(statement, [])?;
        self.execute_batch(&end)?;
        Ok(changed)
    }

    /// Returns true if the pages of the file are intact. PostgreSQL repairs its own at its start.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn is_intact(&self) -> rusqlite::Result<bool> {
        match self {
            Self::File(_) => Ok(self.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))? == "ok"),
            Self::Server(_) => Ok(true),
        }
    }

    /// Runs several statements.
    ///
    /// # Errors
    /// If the database refuses one.
    pub fn execute_batch(&self, script: &str) -> rusqlite::Result<()> {
        match self {
            Self::File(connection) => connection.execute_batch(script),
            Self::Server(session) => session.run(|session| session.run_script(script)),
        }
    }

    /// Reads all that is stored: the bytes of the file and of its write-ahead log, or the values of all tables.
    pub(crate) fn read_bytes(&self, data: &Path) -> anyhow::Result<Vec<u8>> {
        if let Self::File(_) = self {
            let log = fs::read(data.join("tillgate.db-wal")).unwrap_or_default();
            return Ok([fs::read(data.join("tillgate.db"))?, log].concat());
        }
        let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
        let mut bytes = Vec::new();
        for table in self.read_rows(tables, Vec::new())? {
            let rows = self.read_rows(&format!("SELECT * FROM \"{}\"", table.get::<_, String>(0)?), Vec::new())?;
            for value in rows.into_iter().flat_map(|row| row.0) {
                match value {
                    Value::Text(text) => bytes.extend(text.into_bytes()),
                    Value::Blob(blob) => bytes.extend(blob),
                    Value::Null | Value::Integer(_) | Value::Real(_) => {}
                }
                // Neighbours are no common text.
                bytes.push(0);
            }
        }
        Ok(bytes)
    }

    /// Runs a query, and returns its rows.
    fn read_rows(&self, query: &str, values: Vec<Value>) -> rusqlite::Result<Vec<Row>> {
        match self {
            Self::File(connection) => {
                let mut statement = connection.prepare(query)?;
                let columns = statement.column_count();
                let read = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
                statement.query_map(params_from_iter(values), read)?.map(|row| row.map(Row)).collect()
            }
            Self::Server(session) => session.run(|session| {
                let values: Vec<ValueRef<'_>> = values.iter().map(to_engine).collect();
                let mut rows = session.query_values(query, &values, ReadExtent::Whole)?;
                let mut found = Vec::new();
                while let Some(row) = rows.next()? {
                    let columns = 0..row.column_count();
                    let read = columns.map(|column| Ok(from_engine(row.value(column)?)));
                    found.push(Row(read.collect::<tillgate_engine::Result<_>>()?));
                }
                Ok(found)
            }),
        }
    }
}

impl SharedSession {
    /// Runs work with the session, outside of the runtime of a test.
    fn run<T: Send>(
        &self,
        work: impl FnOnce(&PostgresSession) -> tillgate_engine::Result<T> + Send,
    ) -> rusqlite::Result<T> {
        let run = || {
            let session = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            session.as_ref().map(work)
        };
        let done = on_thread(run).ok_or_else(|| failure("the session has ended"))?;
        done.map_err(|error| failure(&error.to_string()))
    }
}

impl Drop for SharedSession {
    fn drop(&mut self) {
        // The session says goodbye to the database, and so waits for the network.
        let session = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        on_thread(|| drop(session));
    }
}

/// Runs work on a thread of its own, because a session waits for the network and most tests have one thread only.
pub(crate) fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

fn failure(text: &str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(text.into())
}

fn to_engine(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(number) => ValueRef::Integer(*number),
        Value::Real(number) => ValueRef::Real(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}

fn from_engine(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
