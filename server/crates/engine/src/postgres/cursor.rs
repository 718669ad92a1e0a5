//! A query on PostgreSQL, read row by row.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;

use crate::{Cursor, Result, Row};

use super::session::PostgresSession;

/// Number of rows that a query fetches at once. Lists read little more than they show.
const BATCH: usize = 64;

/// Rows of a query.
pub(super) struct PostgresCursor<'a> {
    /// Rows that are fetched and not read.
    fetched: VecDeque<tokio_postgres::Row>,
    current: Option<tokio_postgres::Row>,
    /// The cursor of the database that has more rows. `None` if all are fetched.
    more: Option<OpenCursor<'a>>,
}

impl<'a> PostgresCursor<'a> {
    /// Reads rows that are all there.
    pub(super) fn of_rows(rows: Vec<tokio_postgres::Row>) -> Self {
        Self { fetched: rows.into(), current: None, more: None }
    }

    /// Reads the rows of an open cursor.
    pub(super) fn of_cursor(cursor: OpenCursor<'a>) -> Self {
        Self { fetched: VecDeque::new(), current: None, more: Some(cursor) }
    }
}

impl Cursor for PostgresCursor<'_> {
    fn advance(&mut self) -> Result<Option<Row<'_>>> {
        if self.fetched.is_empty()
            && let Some(cursor) = &self.more
        {
            self.fetched = cursor.fetch()?.into();
            if self.fetched.len() < BATCH {
                self.more = None;
            }
        }
        self.current = self.fetched.pop_front();
        Ok(self.current())
    }

    fn current(&self) -> Option<Row<'_>> {
        self.current.as_ref().map(|row| Row::new(row))
    }
}

/// A cursor of the database, which lasts as long as its transaction. Closed when it is dropped.
pub(super) struct OpenCursor<'a> {
    session: &'a PostgresSession,
    name: CursorName,
}

impl<'a> OpenCursor<'a> {
    /// Takes over the cursor that was declared under a name.
    pub(super) fn new(session: &'a PostgresSession, name: CursorName) -> Self {
        Self { session, name }
    }

    fn fetch(&self) -> Result<Vec<tokio_postgres::Row>> {
        self.session.fetch_rows(&format!("FETCH {BATCH} FROM {}", self.name), &[])
    }
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        self.session.close_cursor(self.name);
    }
}

/// The name of a cursor: the number of its query, and its own among the cursors of that query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CursorName(usize, usize);

impl fmt::Display for CursorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "q{}_{}", self.0, self.1)
    }
}

/// The names of a session's cursors. Names are used again, so that the compiled statements about them are few. Two
/// queries never share one, because such a statement is compiled for the columns of one query.
#[derive(Default)]
pub(super) struct CursorNames {
    queries: HashMap<String, usize>,
    /// The names of the cursors that are declared.
    pub(super) open: HashSet<CursorName>,
}

impl CursorNames {
    /// Returns a name that no declared cursor has.
    pub(super) fn choose_name(&mut self, query: &str) -> CursorName {
        let next = self.queries.len();
        let number = *self.queries.entry(query.to_owned()).or_insert(next);
        let free = (0..).map(|own| CursorName(number, own)).find(|name| !self.open.contains(name));
        free.unwrap_or(CursorName(number, 0))
    }
}
