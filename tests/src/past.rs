//! What has happened earlier than it has: a test does not wait for half an hour.

use std::path::Path;

use anyhow::Context as _;
use rusqlite::Connection;
use serde_json::Value;

/// Takes the sandbox clock of an entity back to the machine's time, in the file of a gateway that does not run. The entity has
/// ids and times from the future then, as if the machine's clock had gone back.
///
/// # Errors
/// When there is no such entity in this data folder.
pub fn take_clock_back(data: &Path, entity: &str) -> anyhow::Result<()> {
    let database = Connection::open(data.join("tillgate.db"))?;
    let changed = database.execute("UPDATE entity SET ahead = 0 WHERE id = ?1", [entity])?;
    anyhow::ensure!(changed == 1, "no entity {entity}");
    Ok(())
}

/// Makes a stored checkout older than it is, in the file of a gateway that does not run.
///
/// # Errors
/// When there is no such checkout in this data folder.
pub fn set_back(data: &Path, checkout: &str, seconds: i64) -> anyhow::Result<()> {
    let database = Connection::open(data.join("tillgate.db"))?;
    let document: Vec<u8> =
        database.query_row("SELECT document FROM checkout WHERE id = ?1", [checkout], |row| row.get(0))?;
    let mut document: Value = serde_json::from_slice(&document)?;
    let created: jiff::Timestamp = match &document["created"] {
        Value::String(text) => text.parse()?,
        number => jiff::Timestamp::from_millisecond(number.as_i64().context("no time in the document")?)?,
    };
    let earlier = created - jiff::SignedDuration::from_secs(seconds);
    document["created"] = match &document["created"] {
        Value::String(_) => earlier.to_string().into(),
        _ => earlier.as_millisecond().into(),
    };
    let changed = database.execute(
        "UPDATE checkout SET document = ?2 WHERE id = ?1",
        rusqlite::params![checkout, serde_json::to_vec(&document)?],
    )?;
    anyhow::ensure!(changed == 1, "no checkout {checkout}");
    Ok(())
}
