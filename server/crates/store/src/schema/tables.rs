//! The tables that a store has, whatever its version.

use tillgate_engine::Session;

use crate::StoreError;

/// Returns true if a store has a table. A database of PostgreSQL needs the functions of a store's schema for this.
pub(crate) fn has_table(session: &dyn Session, table: &str) -> Result<bool, StoreError> {
    let query = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1))";
    Ok(session.query_one(query, [table], |row| row.get(0))?)
}
