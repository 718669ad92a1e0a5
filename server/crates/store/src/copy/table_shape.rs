//! The tables that a copy has, with their columns and keys, as the schema of this version makes them.

use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use crate::StoreError;
use crate::keys::table_seal::copied::find_slot;
use crate::schema::migrations;

/// Tables that belong to a place of the store and not to the store, with the reason why no copy has their rows.
pub(crate) const NOT_COPIED: &[(&str, &str)] = &[
    ("commit_mark", "commits of the writers of one database"),
    ("health", "the last check of one disk"),
    ("lease", "leases of the nodes of one database, by its clock"),
    ("revision", "the number of changes that the nodes of one database have seen"),
    ("schema_version", "the version of the schema, which the migrations of the target write"),
    ("store_move", "the mark of a store that moves"),
    ("store_move_rule", "rules that a target of a copy has put aside"),
    ("store_seal", "the seal of one file, which the copy computes for its own file"),
];

/// A table as it is copied.
#[derive(Debug, Clone)]
pub(crate) struct TableShape {
    /// Its name.
    pub(crate) name: String,
    /// Its columns in their order, without generated ones.
    pub(crate) columns: Vec<String>,
    /// The places of the columns of its primary key, in the order of the key.
    pub(crate) key: Vec<usize>,
    /// Its place in the seal. `None` if the seal does not cover it.
    pub(crate) slot: Option<usize>,
}

impl TableShape {
    /// Returns the name for a statement.
    pub(crate) fn quoted_name(&self) -> String {
        quote(&self.name)
    }

    /// Returns the columns for a statement.
    pub(crate) fn quoted_columns(&self) -> String {
        self.columns.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the columns of the primary key for a statement.
    pub(crate) fn quoted_key(&self) -> Vec<String> {
        self.key.iter().filter_map(|place| self.columns.get(*place)).map(|column| quote(column)).collect()
    }
}

fn quote(name: &str) -> String {
    format!("\"{name}\"")
}

/// Lists the tables that a copy has.
pub(crate) fn list_tables() -> Result<Vec<TableShape>, StoreError> {
    // Both places have the same tables and columns, so the schema of one describes both.
    let session = SqliteSession::open_in_memory()?;
    migrations::migrate(&session)?;
    let query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let names: Vec<String> = session.query_all(query, (), |row| row.get(0))?;
    let is_copied = |name: &String| !NOT_COPIED.iter().any(|(other, _)| other == name);
    names.into_iter().filter(is_copied).map(|name| load_shape(&session, name)).collect()
}

fn load_shape(session: &dyn Session, name: String) -> Result<TableShape, StoreError> {
    // The hash of a row depends on the order of its columns, so the order is the seal's.
    let query = "SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid";
    let found: Vec<(String, usize)> = session.query_all(query, [&name], |row| row.read())?;
    let mut key: Vec<(usize, usize)> =
        found.iter().enumerate().filter(|(_, (_, pk))| *pk > 0).map(|(place, (_, pk))| (*pk, place)).collect();
    key.sort_unstable();
    Ok(TableShape {
        slot: find_slot(&name),
        name,
        columns: found.into_iter().map(|(column, _)| column).collect(),
        key: key.into_iter().map(|(_, place)| place).collect(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use tillgate_engine::postgres::PostgresSession;

    use super::*;
    use crate::AdminStore;
    use crate::cluster::tests::{CLUSTER, parse};

    /// Columns that only a database has, because its nodes share what a file's server has in memory.
    const ONLY_IN_DATABASES: [(&str, &str); 1] = [("velocity", "changed")];

    #[test]
    fn every_table_has_a_key_by_which_its_rows_are_compared() {
        for TableShape { name, key, columns, .. } in list_tables().unwrap() {
            assert!(!key.is_empty() && !columns.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_table_of_a_database_is_copied_or_belongs_to_the_place_for_a_reason() {
        let address = CLUSTER.create_database().unwrap();
        drop(AdminStore::open_cluster(&parse(&address), None).unwrap());
        let session = PostgresSession::connect(&parse(&address)).unwrap();
        let query = "SELECT table_name::text, column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND is_generated = 'NEVER'
                AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = current_schema())";
        let session: &dyn Session = &session;
        let found: Vec<(String, String)> = session.query_all(query, (), |row| row.read()).unwrap();
        let mut columns: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (table, column) in found {
            columns.entry(table).or_default().insert(column);
        }
        for shape in list_tables().unwrap() {
            let mut expected: BTreeSet<String> = shape.columns.iter().cloned().collect();
            let only = ONLY_IN_DATABASES.iter().filter(|(table, _)| *table == shape.name);
            expected.extend(only.map(|(_, column)| (*column).to_owned()));
            assert_eq!(columns.remove(&shape.name), Some(expected), "{}", shape.name);
        }
        for table in columns.keys() {
            assert!(NOT_COPIED.iter().any(|(name, _)| name == table), "{table} is neither copied nor in NOT_COPIED");
        }
    }
}
