//! A query on PostgreSQL, read row by row.

use std::collections::VecDeque;

use crate::{Cursor, Result, Row};

use super::session::PostgresSession;

/// Number of rows that a query fetches at once. Lists read little more than they show.
const BATCH: usize = 64;

/// Rows of a query.
pub(super) struct PostgresCursor<'a> {
    /// Rows that are fetched and not read.
    fetched: VecDeque<postgres::Row>,
    current: Option<postgres::Row>,
    /// The cursor of the database that has more rows. `None` if all are fetched.
    more: Option<OpenCursor<'a>>,
}

impl<'a> PostgresCursor<'a> {
    /// Reads rows that are all there.
    pub(super) fn of_rows(rows: Vec<postgres::Row>) -> Self {
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
    /// Its place among the open cursors of the session, which is its name. Places are used again, so that the
    /// statements about a cursor are few enough to be kept.
    place: usize,
}

impl<'a> OpenCursor<'a> {
    /// Takes over the cursor that was declared for a place.
    pub(super) fn new(session: &'a PostgresSession, place: usize) -> Self {
        Self { session, place }
    }

    fn fetch(&self) -> Result<Vec<postgres::Row>> {
        self.session.fetch_rows(&format!("FETCH {BATCH} FROM c{}", self.place), &[])
    }
}

impl Drop for OpenCursor<'_> {
    fn drop(&mut self) {
        self.session.close_cursor(self.place);
    }
}
