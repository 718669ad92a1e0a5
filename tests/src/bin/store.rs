//! What `cargo xtask bench` does with store files directly:
//!
//! - `store rows DIR`: the rows and their bytes in every table, as JSON, beside a running gateway.
//! - `store fill DIR COUNT`: a store with so many payments, each with its sealed card number.
//! - `store log DIR MEBIBYTES`: writes payments without a checkpoint until the write-ahead log is that large, says
//!   `ready`, and waits to be killed: whoever ends in good order would tidy the log up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tillgate::store::{AdminStore, Changes, bench};
use tillgate_tests::bench::Sampler;

/// Payments of one transaction while a store is filled.
const GROUP: u64 = 50_000;
/// The filled store is kept between runs, and the gateway deletes card numbers when their time has come: these stay.
const YEARS_OF_CARDS: i64 = 24 * 365 * 20;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["rows", folder] => rows(Path::new(folder)),
        ["fill", folder, count] => fill(Path::new(folder), count.parse()?),
        ["log", folder, mebibytes] => log(Path::new(folder), mebibytes.parse::<u64>()? * 1024 * 1024),
        _ => bail!("usage: store rows DIR | fill DIR COUNT | log DIR MEBIBYTES"),
    }
}

/// Rows and bytes of a table.
#[derive(serde::Serialize)]
struct Size {
    rows: i64,
    bytes: i64,
}

fn rows(folder: &Path) -> anyhow::Result<()> {
    let connection = bench::connect(folder)?;
    let mut sizes = BTreeMap::new();
    for table in names(&connection, "SELECT name FROM sqlite_schema WHERE type = 'table'", [])? {
        let columns = names(&connection, "SELECT name FROM pragma_table_info(?1)", [&table])?;
        let lengths: Vec<String> =
            columns.iter().map(|column| format!("ifnull(length(CAST(\"{column}\" AS BLOB)), 0)")).collect();
        let query = format!("SELECT count(*), ifnull(sum({}), 0) FROM \"{table}\"", lengths.join(" + "));
        let size = connection.query_row(&query, [], |row| Ok(Size { rows: row.get(0)?, bytes: row.get(1)? }))?;
        sizes.insert(table, size);
    }
    println!("{}", serde_json::to_string(&sizes)?);
    Ok(())
}

fn names(connection: &Connection, query: &str, values: impl rusqlite::Params) -> rusqlite::Result<Vec<String>> {
    connection.prepare(query)?.query_map(values, |row| row.get(0))?.collect()
}

fn fill(folder: &Path, count: u64) -> anyhow::Result<()> {
    let sampler = Sampler::new()?;
    AdminStore::open(folder)?.add_entity(sampler.entity(), Timestamp::now())?;
    let mut connection = bench::connect(folder)?;
    // Nothing here is worth waiting for a disk: a store that was not filled to its end is filled again.
    connection.pragma_update(None, "synchronous", "OFF")?;
    // A payment every ten seconds, up to now.
    let first = Timestamp::now() - SignedDuration::from_secs(i64::try_from(count)? * 10);
    let mut written = 0;
    while written < count {
        let transaction = connection.transaction()?;
        let group = GROUP.min(count - written);
        for number in written..written + group {
            insert(&transaction, &sampler, number, first + SignedDuration::from_secs(i64::try_from(number)? * 10))?;
        }
        transaction.commit()?;
        written += group;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// One payment in the rows that the gateway would make of it.
fn insert(connection: &Connection, sampler: &Sampler, number: u64, created: Timestamp) -> anyhow::Result<()> {
    let payment = sampler.payment(number, created);
    let purge = created + SignedDuration::from_hours(YEARS_OF_CARDS);
    let changes = Changes::default().payment(&payment).card(&payment.id, sampler.sealed(&payment)?, purge);
    Ok(bench::apply(&changes, connection)?)
}

fn log(folder: &Path, length: u64) -> anyhow::Result<()> {
    let connection = bench::connect(folder)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    let sampler = Sampler::new()?;
    let file: PathBuf = folder.join("tillgate.db-wal");
    let mut number = 0;
    while std::fs::metadata(&file).with_context(|| format!("{}", file.display()))?.len() < length {
        // Groups as the gateway commits them under load.
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..32 {
            insert(&connection, &sampler, number, Timestamp::now())?;
            number += 1;
        }
        connection.execute_batch("COMMIT")?;
    }
    println!("ready");
    loop {
        std::thread::park();
    }
}
