//! Changes of stored times, so that a test does not have to wait for half an hour.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::Database;

/// Sets the sandbox clock of an entity back to the machine's time, in the store of a stopped gateway. The entity then
/// has ids and times from the future, as if the machine's clock had gone back.
///
/// # Errors
/// If there is no such entity in this data folder.
pub fn reset_sandbox_clock(data: &Path, entity: &str) -> anyhow::Result<()> {
    let database = Database::open(data)?;
    let changed = database.execute("UPDATE entity SET ahead = 0 WHERE id = ?1", [entity])?;
    anyhow::ensure!(changed == 1, "no entity {entity}");
    Ok(())
}

/// Makes a stored checkout older by this number of seconds, in the store of a stopped gateway.
///
/// # Errors
/// If there is no such checkout in this data folder.
pub fn backdate_checkout(data: &Path, checkout: &str, seconds: i64) -> anyhow::Result<()> {
    let database = Database::open(data)?;
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
