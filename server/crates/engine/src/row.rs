//! The rows that a query finds.

use super::{FromValue, Result, ValueRef};

/// The values of one row.
pub trait Columns {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// If there is no such column.
    fn value(&self, column: usize) -> Result<ValueRef<'_>>;

    /// Returns the number of columns.
    fn count(&self) -> usize;
}

/// A query that is read row by row.
pub trait Cursor {
    /// Goes to the next row, and returns it. `None` at the end.
    ///
    /// # Errors
    /// If the database cannot read it.
    fn advance(&mut self) -> Result<Option<Row<'_>>>;

    /// Returns the current row. `None` before the first and after the last.
    fn current(&self) -> Option<Row<'_>>;
}

/// One row of a query.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    columns: &'a dyn Columns,
}

impl<'a> Row<'a> {
    /// Makes a row of its values.
    pub fn new(columns: &'a dyn Columns) -> Self {
        Self { columns }
    }

    /// Reads a column, counted from 0.
    ///
    /// # Errors
    /// If there is no such column, or it is not of this type.
    pub fn get<T: FromValue>(&self, column: usize) -> Result<T> {
        T::from_value(self.columns.value(column)?)
    }

    /// Reads the first columns as a tuple.
    ///
    /// # Errors
    /// If there are not as many columns, or one is not of its type.
    pub fn read<T: FromRow>(&self) -> Result<T> {
        T::from_row(self)
    }

    /// Returns the value of a column without a copy.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn value(&self, column: usize) -> Result<ValueRef<'a>> {
        self.columns.value(column)
    }

    /// Returns the number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.count()
    }
}

/// Several values that the first columns of a row can be read as.
pub trait FromRow: Sized {
    /// Reads the columns from the first one on.
    ///
    /// # Errors
    /// If there are not as many columns, or one is not of its type.
    fn from_row(row: &Row<'_>) -> Result<Self>;
}

/// Tuples of columns.
macro_rules! tuples {
    ($(($($kind:ident $column:literal),*)),*) => {$(
        impl<$($kind: FromValue),*> FromRow for ($($kind,)*) {
            fn from_row(row: &Row<'_>) -> Result<Self> {
                Ok(($(row.get::<$kind>($column)?,)*))
            }
        }
    )*};
}

tuples!(
    (A 0, B 1),
    (A 0, B 1, C 2),
    (A 0, B 1, C 2, D 3),
    (A 0, B 1, C 2, D 3, E 4),
    (A 0, B 1, C 2, D 3, E 4, F 5)
);

/// The rows of a query, read one after the other.
pub struct Rows<'a>(Box<dyn Cursor + 'a>);

impl<'a> Rows<'a> {
    /// Makes the rows that a cursor reads.
    pub fn new(cursor: impl Cursor + 'a) -> Self {
        Self(Box::new(cursor))
    }

    /// Goes to the next row, and returns it. `None` at the end.
    ///
    /// # Errors
    /// If the database cannot read it.
    #[expect(clippy::should_implement_trait, reason = "a row borrows the cursor, so this is no iterator")]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        self.0.advance()
    }

    /// Returns the current row. `None` before the first and after the last.
    pub fn current(&self) -> Option<Row<'_>> {
        self.0.current()
    }
}
