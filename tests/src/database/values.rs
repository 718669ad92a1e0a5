//! The parameters of statements, in the forms that SQLite's library takes.

use rusqlite::types::{ToSql, ToSqlOutput, Value};

use super::failure;

/// Parameters of a statement.
pub trait Values {
    /// Converts them.
    ///
    /// # Errors
    /// If a value fits into no column.
    fn into_values(self) -> rusqlite::Result<Vec<Value>>;
}

fn convert(values: &[&dyn ToSql]) -> rusqlite::Result<Vec<Value>> {
    let convert = |value: &&dyn ToSql| match value.to_sql()? {
        ToSqlOutput::Borrowed(value) => Value::try_from(value).map_err(|error| failure(&error.to_string())),
        ToSqlOutput::Owned(value) => Ok(value),
        _ => Err(failure("a parameter is no plain value")),
    };
    values.iter().map(convert).collect()
}

impl Values for [&(dyn ToSql + Send + Sync); 0] {
    fn into_values(self) -> rusqlite::Result<Vec<Value>> {
        Ok(Vec::new())
    }
}

impl Values for &[&dyn ToSql] {
    fn into_values(self) -> rusqlite::Result<Vec<Value>> {
        convert(self)
    }
}

macro_rules! array_values {
    ($($length:literal)*) => {
        $(impl<T: ToSql> Values for [T; $length] {
            fn into_values(self) -> rusqlite::Result<Vec<Value>> {
                convert(&self.each_ref().map(|value| value as &dyn ToSql))
            }
        }
        impl<T: ToSql> Values for &[T; $length] {
            fn into_values(self) -> rusqlite::Result<Vec<Value>> {
                convert(&self.each_ref().map(|value| value as &dyn ToSql))
            }
        })*
    };
}
array_values!(1 2 3 4);

macro_rules! tuple_values {
    ($($name:ident)+) => {
        impl<$($name: ToSql),+> Values for ($($name,)+) {
            fn into_values(self) -> rusqlite::Result<Vec<Value>> {
                #[allow(non_snake_case)]
                let ($($name,)+) = &self;
                convert(&[$($name as &dyn ToSql),+])
            }
        }
    };
}
tuple_values!(A B);
tuple_values!(A B C);
