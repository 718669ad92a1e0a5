//! Rows of a table between two keys: their sum, their values, their deletion.

use std::cmp::Ordering;

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::{OwnedValue, Row, Session, ToValue as _};

use super::table_shape::TableShape;
use crate::StoreError;
use crate::keys::table_seal::RowSum;
use crate::keys::table_seal::copied::hash_row;
use crate::value_encoding::encode_value;

/// The values of a primary key.
pub(super) type RowKey = Vec<OwnedValue>;

/// Compares two keys of a table in the order of both databases.
pub(super) fn compare_keys(one: &RowKey, other: &RowKey) -> Ordering {
    let compare = |one: &OwnedValue, other: &OwnedValue| match (one, other) {
        (OwnedValue::Integer(one), OwnedValue::Integer(other)) => one.cmp(other),
        (OwnedValue::Text(one), OwnedValue::Text(other)) => one.as_bytes().cmp(other.as_bytes()),
        (OwnedValue::Blob(one), OwnedValue::Blob(other)) => one.cmp(other),
        // The columns of a key have one type each, and no empty or real values.
        _ => Ordering::Equal,
    };
    one.iter().zip(other).map(|(one, other)| compare(one, other)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The keys after one key, up to and including another one. Both databases order them in the same way: texts and bytes
/// by their bytes, integers by their value.
#[derive(Clone, Copy)]
pub(super) struct KeyInterval<'a> {
    /// `None` for the beginning of the table.
    pub(super) after: Option<&'a RowKey>,
    /// `None` for the end of the table.
    pub(super) until: Option<&'a RowKey>,
}

/// A row that is copied.
pub(super) struct CopiedRow {
    /// The encoding of its primary key, which is equal for equal keys of both databases.
    pub(super) key: Vec<u8>,
    /// Its values in the order of the columns.
    pub(super) values: Vec<OwnedValue>,
}

/// The sum of the hashes of rows, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowsDigest {
    pub(super) sum: RowSum,
    pub(super) rows: u64,
}

impl RowsDigest {
    /// Adds other rows.
    pub(super) fn add(self, other: Self) -> Self {
        Self { sum: self.sum.add(other.sum), rows: self.rows + other.rows }
    }

    /// Removes rows that were added.
    pub(super) fn subtract(self, other: Self) -> Self {
        Self { sum: self.sum.subtract(other.sum), rows: self.rows.saturating_sub(other.rows) }
    }

    /// Computes the digest of rows that were read.
    pub(super) fn of_rows(shape: &TableShape, key: &AuditKey, rows: &[CopiedRow]) -> Result<Self, StoreError> {
        rows.iter().try_fold(Self::default(), |digest, row| {
            let values = row.values.iter().map(OwnedValue::to_value).collect::<Result<Vec<_>, _>>()?;
            Ok(digest.add(Self { sum: hash_row(key, &shape.name, values.into_iter()), rows: 1 }))
        })
    }
}

impl KeyInterval<'_> {
    /// Returns the end of a statement that finds the rows, and its parameters.
    fn condition(self, shape: &TableShape) -> (String, Vec<OwnedValue>) {
        let key = shape.quoted_key().join(", ");
        let mut parameters: Vec<OwnedValue> = Vec::new();
        let mut conditions = Vec::new();
        for (bound, compare) in [(self.after, ">"), (self.until, "<=")] {
            let Some(values) = bound else { continue };
            let places: Vec<String> =
                (0..values.len()).map(|place| format!("?{}", parameters.len() + place + 1)).collect();
            parameters.extend(values.iter().cloned());
            conditions.push(format!("({key}) {compare} ({})", places.join(", ")));
        }
        let condition =
            if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        (condition, parameters)
    }

    /// Computes the digest of the rows as they are stored.
    pub(super) fn compute_digest(
        self,
        session: &dyn Session,
        shape: &TableShape,
        key: &AuditKey,
    ) -> Result<RowsDigest, StoreError> {
        let (condition, parameters) = self.condition(shape);
        let query = format!("SELECT {} FROM {}{condition}", shape.quoted_columns(), shape.quoted_name());
        let mut digest = RowsDigest::default();
        session.query_all::<(), StoreError, ()>(&query, parameters, |row| {
            let values = (0..row.column_count()).map(|column| row.value(column)).collect::<Result<Vec<_>, _>>()?;
            digest = digest.add(RowsDigest { sum: hash_row(key, &shape.name, values.into_iter()), rows: 1 });
            Ok(())
        })?;
        Ok(digest)
    }

    /// Reads the rows in the order of their keys, at most `limit`.
    pub(super) fn read_rows(
        self,
        session: &dyn Session,
        shape: &TableShape,
        limit: Option<usize>,
    ) -> Result<Vec<CopiedRow>, StoreError> {
        let (condition, parameters) = self.condition(shape);
        let (columns, table, order) = (shape.quoted_columns(), shape.quoted_name(), shape.quoted_key().join(", "));
        let limit = limit.map(|limit| format!(" LIMIT {limit}")).unwrap_or_default();
        let query = format!("SELECT {columns} FROM {table}{condition} ORDER BY {order}{limit}");
        session.query_all(&query, parameters, |row| read_row(row, shape))
    }

    /// Deletes the rows.
    pub(super) fn delete_rows(self, session: &dyn Session, shape: &TableShape) -> Result<(), StoreError> {
        let (condition, parameters) = self.condition(shape);
        session.execute(&format!("DELETE FROM {}{condition}", shape.quoted_name()), parameters)?;
        Ok(())
    }
}

fn read_row(row: &Row<'_>, shape: &TableShape) -> Result<CopiedRow, StoreError> {
    let values = (0..row.column_count()).map(|column| row.get(column)).collect::<Result<Vec<OwnedValue>, _>>()?;
    let mut key = Vec::new();
    for place in &shape.key {
        encode_value(row.value(*place)?, |bytes| key.extend_from_slice(bytes));
    }
    Ok(CopiedRow { key, values })
}

impl CopiedRow {
    /// Returns the values of the primary key.
    pub(super) fn key_values(&self, shape: &TableShape) -> RowKey {
        shape.key.iter().filter_map(|place| self.values.get(*place)).cloned().collect()
    }

    /// Returns about the number of bytes of the values.
    pub(super) fn size(&self) -> usize {
        let size = |value: &OwnedValue| match value {
            OwnedValue::Text(text) => text.len(),
            OwnedValue::Blob(bytes) => bytes.len(),
            OwnedValue::Null | OwnedValue::Integer(_) | OwnedValue::Real(_) => 8,
        };
        self.values.iter().map(size).sum()
    }
}
