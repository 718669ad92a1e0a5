//! A query on SQLite, read row by row.

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{CachedStatement, params_from_iter};
use self_cell::{MutBorrow, self_cell};

use super::session::SqlValue;
use crate::{Columns, Cursor, Error, ErrorKind, Result, Row, ValueRef};

type Stepping<'a> = rusqlite::Rows<'a>;

self_cell!(
    /// A compiled statement and its rows, which borrow it.
    struct OwningRows<'a> {
        owner: MutBorrow<CachedStatement<'a>>,
        #[covariant]
        dependent: Stepping,
    }
);

/// Rows of a statement. When it is dropped, the statement goes back to those that are kept.
pub(super) struct SqliteCursor<'a>(OwningRows<'a>);

impl<'a> SqliteCursor<'a> {
    /// Begins a query.
    pub(super) fn begin(statement: CachedStatement<'a>, values: &[ValueRef<'_>]) -> Result<Self> {
        let rows = OwningRows::try_new(MutBorrow::new(statement), |statement| {
            statement.borrow_mut().query(params_from_iter(values.iter().map(|value| SqlValue(*value))))
        });
        Ok(Self(rows?))
    }
}

impl Cursor for SqliteCursor<'_> {
    fn advance(&mut self) -> Result<Option<Row<'_>>> {
        self.0.with_dependent_mut(|_, rows| rows.advance())?;
        Ok(self.current())
    }

    fn current(&self) -> Option<Row<'_>> {
        self.0.borrow_dependent().get().map(|row| Row::new(row))
    }
}

impl Columns for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        self.get_ref(column).map(ValueRef::from).map_err(|_| no_column(column))
    }

    fn count(&self) -> usize {
        self.as_ref().column_count()
    }
}

fn no_column(column: usize) -> Error {
    Error::new(ErrorKind::Other, format!("the query has no column {column}"))
}
