//! Comparison of a store's schema with the one of this version: a dropped trigger lets rows in that break the rules,
//! and a foreign one writes rows of its own.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rusqlite::Connection;

use super::{StoreError, migrations};

/// Tables, indexes and triggers by type and name, with their definitions.
type Schema = BTreeMap<(String, String), String>;

/// Loads the schema of a store. Blanks and quotes, which migrations may write in another way, do not matter.
fn load_schema(connection: &Connection) -> Result<Schema, StoreError> {
    let query = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| {
        let definition: String = row.get(2)?;
        let plain = definition.chars().filter(|letter| !letter.is_whitespace() && *letter != '"').collect();
        Ok(((row.get(0)?, row.get(1)?), plain))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the schema of this version.
fn current_schema() -> Result<&'static Schema, StoreError> {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    if let Some(schema) = SCHEMA.get() {
        return Ok(schema);
    }
    let mut connection = Connection::open_in_memory()?;
    migrations::migrate(&mut connection)?;
    Ok(SCHEMA.get_or_init(|| load_schema(&connection).unwrap_or_default()))
}

/// Describes how the schema of a store differs from the one of this version.
pub(super) fn find_differences(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let (expected, mut found) = (current_schema()?, load_schema(connection)?);
    let mut faults = Vec::new();
    for (key @ (kind, name), definition) in expected {
        match found.remove(key) {
            None => faults.push(format!("the {kind} {name} of the store is missing")),
            Some(other) if other != *definition => faults.push(format!("the {kind} {name} of the store was changed")),
            Some(_) => {}
        }
    }
    faults.extend(found.keys().map(|(kind, name)| format!("the store has a foreign {kind}: {name}")));
    Ok(faults)
}
