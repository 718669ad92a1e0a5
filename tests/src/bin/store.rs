//! Direct access of `cargo xtask bench` to store files:
//!
//! - `store rows DIR`: prints the rows and bytes of every table as JSON, while the gateway is running.
//! - `store fill DIR COUNT`: creates a store with this number of payments, each with its sealed card number.
//! - `store wait DIR TABLE COUNT`: waits until a table has this number of rows. Prints the time since it had the first
//!   row, as JSON.
//! - `store log DIR MEBIBYTES`: writes payments without a checkpoint until the write-ahead log has this size, prints
//!   `ready`, and waits to be killed. A clean shutdown would truncate the log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use tillgate_engine::{Params, Session};
// Brings the allocator of the gateway.
use tillgate as _;
use tillgate_store::{AdminStore, Changes, bench};
use tillgate_tests::bench::Sampler;

/// Payments per transaction while a store is filled.
const PAYMENTS_PER_TRANSACTION: u64 = 50_000;
/// Retention time of card numbers in hours. The filled store is kept between runs, and the gateway deletes card
/// numbers after their retention time; 20 years keep them.
const CARD_RETENTION_HOURS: i64 = 24 * 365 * 20;

/// Interval of looks at a table.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs the command in the arguments, or fails with the usage.
fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["rows", folder] => print_table_sizes(Path::new(folder)),
        ["fill", folder, count] => fill_store(Path::new(folder), count.parse()?),
        ["log", folder, mebibytes] => grow_wal(Path::new(folder), mebibytes.parse::<u64>()? * 1024 * 1024),
        ["wait", folder, table, count] => wait_for_rows(Path::new(folder), table, count.parse()?),
        _ => bail!("usage: store rows DIR | fill DIR COUNT | wait DIR TABLE COUNT | log DIR MEBIBYTES"),
    }
}

/// Number of rows and bytes of a table.
#[derive(serde::Serialize)]
struct TableSize {
    rows: i64,
    bytes: i64,
}

/// Prints the rows and bytes of every table as a JSON object. Bytes are the lengths of all values, 0 for null.
fn print_table_sizes(folder: &Path) -> anyhow::Result<()> {
    let session = bench::open_store_file(folder)?;
    let mut sizes = BTreeMap::new();
    for table in query_names(&session, "SELECT name FROM sqlite_schema WHERE type = 'table'", ())? {
        let columns = query_names(&session, "SELECT name FROM pragma_table_info(?1)", [&table])?;
        let lengths: Vec<String> =
            columns.iter().map(|column| format!("ifnull(length(CAST(\"{column}\" AS BLOB)), 0)")).collect();
        let query = format!("SELECT count(*), ifnull(sum({}), 0) FROM \"{table}\"", lengths.join(" + "));
        let (rows, bytes) = session.query_one(&query, (), |row| row.read())?;
        sizes.insert(table, TableSize { rows, bytes });
    }
    println!("{}", serde_json::to_string(&sizes)?);
    Ok(())
}

/// Returns the first column of a query's rows.
fn query_names(session: &dyn Session, query: &str, values: impl Params) -> tillgate_engine::Result<Vec<String>> {
    session.query_all(query, values, |row| row.get(0))
}

/// Waits until a table has a number of rows, and prints the time since it had the first one.
fn wait_for_rows(folder: &Path, table: &str, count: i64) -> anyhow::Result<()> {
    let session = bench::open_store_file(folder)?;
    let query = format!("SELECT count(*) FROM \"{table}\"");
    let mut started = Instant::now();
    let mut rows = 0;
    while rows < count {
        std::thread::sleep(POLL_INTERVAL);
        rows = session.query_one(&query, (), |row| row.get(0))?;
        if rows == 0 {
            started = Instant::now();
        }
    }
    println!("{}", serde_json::json!({ "seconds": started.elapsed().as_secs_f64() }));
    Ok(())
}

/// Creates a store with an entity and `count` payments, one for every ten seconds up to now, and empties the
/// write-ahead log.
fn fill_store(folder: &Path, count: u64) -> anyhow::Result<()> {
    let sampler = Sampler::new()?;
    AdminStore::open(folder)?.add_entity(sampler.entity(), Timestamp::now())?;
    let session = bench::open_store_file(folder)?;
    // No durability is needed: an incompletely filled store is filled again.
    session.run_script("PRAGMA synchronous = OFF")?;
    // One payment every ten seconds, up to now.
    let first = Timestamp::now() - SignedDuration::from_secs(i64::try_from(count)? * 10);
    let mut written = 0;
    while written < count {
        let transaction = session.begin()?;
        let group = PAYMENTS_PER_TRANSACTION.min(count - written);
        for number in written..written + group {
            insert_payment(
                &*transaction,
                &sampler,
                number,
                first + SignedDuration::from_secs(i64::try_from(number)? * 10),
            )?;
        }
        transaction.commit()?;
        written += group;
    }
    session.run_script("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// Inserts the same rows for a payment as the gateway does.
fn insert_payment(session: &dyn Session, sampler: &Sampler, number: u64, created: Timestamp) -> anyhow::Result<()> {
    let payment = sampler.generate_payment(number, created);
    let purge = created + SignedDuration::from_hours(CARD_RETENTION_HOURS);
    let sealed = sampler.seal_card_number(&payment)?;
    let changes = Changes::default().with_card(&payment.id, sealed, purge).with_payment(payment);
    Ok(bench::apply_changes(&changes, session)?)
}

/// Writes payments in groups of 32 without a checkpoint until the write-ahead log has `length` bytes, prints `ready`,
/// and never returns.
fn grow_wal(folder: &Path, length: u64) -> anyhow::Result<()> {
    let session = bench::open_store_file(folder)?;
    session.run_script("PRAGMA wal_autocheckpoint = 0")?;
    let sampler = Sampler::new()?;
    let file: PathBuf = folder.join("tillgate.db-wal");
    let mut number = 0;
    while std::fs::metadata(&file).with_context(|| format!("{}", file.display()))?.len() < length {
        // Groups of the size that the gateway commits under load.
        let transaction = session.begin()?;
        for _ in 0..32 {
            insert_payment(&*transaction, &sampler, number, Timestamp::now())?;
            number += 1;
        }
        transaction.commit()?;
    }
    println!("ready");
    loop {
        std::thread::park();
    }
}
