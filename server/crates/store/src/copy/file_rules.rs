//! Rules of a file that a copy puts aside and brings back, and those that keep a file that has moved as it is.

use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use super::table_shape::TableShape;
use crate::StoreError;
use crate::schema::migrations;
use crate::schema::migrations::VERSION;

/// Returns true if a file has the schema of this version. `None` if it has none.
pub(super) fn has_current_schema(session: &dyn Session) -> Result<Option<bool>, StoreError> {
    let version: usize = session.query_one("PRAGMA user_version", (), |row| row.get(0))?;
    Ok((version > 0).then_some(version == VERSION))
}

/// Puts the triggers aside: what they compute is copied as well. References are not checked on the session of a copy.
pub(super) fn put_rules_aside(session: &dyn Session) -> Result<(), StoreError> {
    let query = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let names: Vec<String> = session.query_all(query, (), |row| row.get(0))?;
    Ok(session.run_script(&names.iter().map(|name| format!("DROP TRIGGER \"{name}\";")).collect::<String>())?)
}

/// Brings the triggers of this version back.
pub(super) fn bring_rules_back(session: &dyn Session) -> Result<(), StoreError> {
    let current = SqliteSession::open_in_memory()?;
    migrations::migrate(&current)?;
    let query = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid";
    let statements: Vec<String> = current.query_all(query, (), |row| row.get(0))?;
    Ok(session.run_script(&statements.iter().map(|statement| format!("{statement};")).collect::<String>())?)
}

/// Finds a table with a row that refers to a missing one. `None` if there is none.
pub(super) fn find_broken_reference(session: &dyn Session) -> Result<Option<String>, StoreError> {
    Ok(session.query_optional("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1", (), |row| row.get(0))?)
}

/// Refuses all writes to tables from now on, with a text. Sessions that are open notice that the schema has changed.
pub(super) fn refuse_writes(session: &dyn Session, tables: &[TableShape], text: &str) -> Result<(), StoreError> {
    let text = text.replace('\'', "''");
    let create = |(event, name): (&str, String)| {
        let table = &name;
        format!(
            "CREATE TRIGGER \"store_moved_{event}_{table}\" BEFORE {event} ON \"{table}\" BEGIN
                 SELECT RAISE(ABORT, '{text}');
             END;"
        )
    };
    Ok(session.run_script(&list_events(tables).map(create).collect::<String>())?)
}

/// Ends [`refuse_writes`].
pub(super) fn allow_writes(session: &dyn Session, tables: &[TableShape]) -> Result<(), StoreError> {
    let drop = |(event, table): (&str, String)| format!("DROP TRIGGER \"store_moved_{event}_{table}\";");
    Ok(session.run_script(&list_events(tables).map(drop).collect::<String>())?)
}

fn list_events(tables: &[TableShape]) -> impl Iterator<Item = (&'static str, String)> {
    tables.iter().flat_map(|shape| ["INSERT", "UPDATE", "DELETE"].map(|event| (event, shape.name.clone())))
}
