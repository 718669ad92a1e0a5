//! Comparison of a store's schema with the one of this version: a dropped trigger lets rows in that break the rules,
//! and a foreign one writes rows of its own.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use crate::StoreError;
use crate::schema::migrations;

/// Tables, indexes and triggers by type and name, with their definitions.
type Schema = BTreeMap<(String, String), String>;

/// Loads the schema of a store. Blanks and quotes, which migrations may write in another way, do not matter.
fn load_schema(session: &dyn Session) -> Result<Schema, StoreError> {
    let query = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    session.query_all(query, (), |row| {
        let definition: String = row.get(2)?;
        let plain = definition.chars().filter(|letter| !letter.is_whitespace() && *letter != '"').collect();
        Ok(((row.get(0)?, row.get(1)?), plain))
    })
}

/// Returns the schema of this version.
fn current_schema() -> Result<&'static Schema, StoreError> {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    // Built once, because it runs all migrations on an empty database.
    if let Some(schema) = SCHEMA.get() {
        return Ok(schema);
    }
    let session = SqliteSession::open_in_memory()?;
    migrations::migrate(&session)?;
    // A schema that cannot be read is not kept, because every trigger would count as foreign until the next start.
    let schema = load_schema(&session)?;
    Ok(SCHEMA.get_or_init(|| schema))
}

/// A difference between the schema of a store and the one of this version.
struct Difference {
    /// Its description.
    text: String,
    /// True if a write of this program may do something else because of it.
    is_write_hazard: bool,
}

/// Describes how the schema of a store differs from the one of this version.
pub(crate) fn find_differences(session: &dyn Session) -> Result<Vec<String>, StoreError> {
    Ok(compare_schema(session)?.into_iter().map(|difference| difference.text).collect())
}

/// Describes the differences because of which a write of this program may do something else: foreign, changed and
/// missing triggers and unique indexes, and changed tables. An index or a table that an operator has added is none.
pub(crate) fn find_write_hazards(session: &dyn Session) -> Result<Vec<String>, StoreError> {
    let differences = compare_schema(session)?.into_iter().filter(|difference| difference.is_write_hazard);
    Ok(differences.map(|difference| difference.text).collect())
}

/// Compares the schema of a store with the one of this version.
fn compare_schema(session: &dyn Session) -> Result<Vec<Difference>, StoreError> {
    let (expected, mut found) = (current_schema()?, load_schema(session)?);
    let mut differences = Vec::new();
    for (key @ (kind, name), definition) in expected {
        let fault = match found.remove(key) {
            None => "is missing",
            Some(other) if other != *definition => "was changed",
            Some(_) => continue,
        };
        let text = format!("the {kind} {name} of the store {fault}");
        differences.push(Difference { text, is_write_hazard: !has_prefix(definition, &["createindex"]) });
    }
    for ((kind, name), definition) in found {
        let text = format!("the store has a foreign {kind}: {name}");
        let is_harmless = has_prefix(&definition, &["createindex", "createtable", "createview"]);
        differences.push(Difference { text, is_write_hazard: !is_harmless });
    }
    Ok(differences)
}

/// Returns true if a definition begins with one of the prefixes, in letters of any case.
fn has_prefix(definition: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| definition.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix)))
}
