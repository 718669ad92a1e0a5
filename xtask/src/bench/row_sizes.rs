//! Sizes of the rows that a payment writes, from the sizes of all tables before and after many payments. A floor writes
//! equal rows.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

/// Rows of a table, and the bytes of all their values.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableSize {
    /// Number of rows.
    pub rows: i64,
    /// Bytes of all values of all rows.
    pub bytes: i64,
}

/// The size of each table, by its name.
pub type TableSizes = BTreeMap<String, TableSize>;

/// Returns the mean size in bytes of each row that one of `payments` payments has written, and prints them. Tables with
/// less than one new row for each payment are left out.
///
/// # Errors
/// If no table has as many new rows.
pub fn find_row_sizes(before: &TableSizes, after: &TableSizes, payments: i64) -> Result<Vec<usize>> {
    let mut sizes = Vec::new();
    for (table, size) in after {
        let old = before.get(table).copied().unwrap_or_default();
        let (rows, bytes) = (size.rows - old.rows, size.bytes - old.bytes);
        for _ in 0..rows / payments {
            sizes.push(usize::try_from(bytes / rows)?);
        }
    }
    ensure!(!sizes.is_empty(), "a payment writes nothing");
    eprintln!("  a payment writes rows of {sizes:?} bytes");
    Ok(sizes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_table_counts_once_for_each_row_of_a_payment() {
        let sizes = |tables: &[(&str, i64, i64)]| -> TableSizes {
            tables
                .iter()
                .map(|(name, rows, bytes)| ((*name).to_owned(), TableSize { rows: *rows, bytes: *bytes }))
                .collect()
        };
        let before = sizes(&[("entity", 1, 70), ("ledger", 4, 400)]);
        let after = sizes(&[("entity", 2, 140), ("ledger", 24, 2400), ("payment", 10, 5000)]);
        assert_eq!(find_row_sizes(&before, &after, 10).unwrap(), [100, 100, 500]);
        assert!(find_row_sizes(&before, &before, 10).is_err());
    }
}
