//! Measurements of the ledger and of settlements for `cargo xtask bench`. Each prints JSON.
//!
//! - `ledger cost DIR`: the time in microseconds that the ledger adds to a payment in a commit of 16.
//! - `ledger settle DIR ADDRESS ENTITY TOKEN`: waits until the gateway at the address, which serves the store in the
//!   folder, has settled everything that is due, and then downloads every reconciliation file.
//! - `ledger report ADDRESS ENTITY TOKEN`: downloads the report of every transaction as CSV.
//! - `ledger insert DIR FLOOR`: inserts the lines of the settled store in the first folder into an empty store in the
//!   second one, in commits of as many lines as those of a settlement, without anything else.
//! - `ledger scan DIR BYTES`: reads every payment of a store, and formats as many bytes of CSV, without anything else.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
// Brings the allocator of the gateway.
use tillgate as _;
use tillgate_domain::payment::Payment;
use tillgate_engine::OwnedValue;
use tillgate_store::{AdminStore, bench};
use tillgate_tests::MerchantClient;
use tillgate_tests::bench::Sampler;

/// Payments in a transaction, as in a group of the writer under load.
const PAYMENTS_PER_COMMIT: u64 = 16;
/// Transactions that are measured.
const COMMITS: u64 = 500;
/// Lines in a commit of a settlement.
const LINES_PER_COMMIT: usize = 250;
/// Interval of looks at the store.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Runs the command in the arguments, or fails with the usage.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["cost", folder] => measure_cost(Path::new(folder))?,
        ["settle", folder, address, entity, token] => {
            let base = format!("http://{address}/");
            let merchant = MerchantClient::new(base, entity.to_owned(), token.to_owned());
            measure_settlement(Path::new(folder), &merchant).await?
        }
        ["report", address, entity, token] => {
            let base = format!("http://{address}/");
            download_report(&MerchantClient::new(base, entity.to_owned(), token.to_owned())).await?
        }
        ["insert", folder, floor] => insert_lines(Path::new(folder), Path::new(floor))?,
        ["scan", folder, bytes] => scan_payments(Path::new(folder), bytes.parse()?)?,
        _ => bail!(
            "usage: ledger cost DIR | settle DIR ADDRESS ENTITY TOKEN | report ADDRESS ENTITY TOKEN
               | insert DIR FLOOR | scan DIR BYTES"
        ),
    };
    println!("{result}");
    Ok(())
}

/// Writes the entries and movements of payments in commits, and nothing else. The payments are not stored, so these
/// commits have the ledger's pages only.
fn measure_cost(folder: &Path) -> anyhow::Result<Value> {
    let sampler = Sampler::new()?;
    AdminStore::open(folder)?.add_entity(sampler.entity(), Timestamp::now())?;
    let session = bench::open_store_file(folder)?;
    let mut number = 0;
    let mut write_commit = || -> anyhow::Result<Duration> {
        let payments: Vec<Payment> = (number..number + PAYMENTS_PER_COMMIT)
            .map(|number| sampler.generate_payment(number, Timestamp::now()))
            .collect();
        number += PAYMENTS_PER_COMMIT;
        let started = Instant::now();
        let transaction = session.begin()?;
        for payment in &payments {
            bench::record_payment(payment, &*transaction)?;
        }
        let took = started.elapsed();
        transaction.commit()?;
        Ok(took)
    };
    // The wait for the disk is that of the payment's commit, and is not counted.
    let mut times: Vec<Duration> = (0..COMMITS).map(|_| write_commit()).collect::<Result<_, _>>()?;
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok(json!({ "microseconds": median.as_secs_f64() * 1e6 / PAYMENTS_PER_COMMIT as f64 }))
}

/// Waits for the settlements, and downloads the files.
async fn measure_settlement(folder: &Path, merchant: &MerchantClient) -> anyhow::Result<Value> {
    let started = Instant::now();
    let session = bench::open_store_file(folder)?;
    let query = "SELECT count(*) FROM timer WHERE kind = 'settle' AND since <= ?1";
    while session.query_one(query, [Timestamp::now().as_millisecond()], |row| row.get::<i64>(0))? > 0 {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let settled = started.elapsed();
    let records: i64 = session.query_one("SELECT count(*) FROM reconciliation_record", (), |row| row.get(0))?;
    let days = "date.from=2000-01-01&date.to=2099-12-31";
    // A file is complete shortly after the last settlement of its day.
    let files = loop {
        let list = merchant.get(&format!("reconciliations/v1/files?{days}")).await?.json;
        let files = list["files"].as_array().cloned().unwrap_or_default();
        if files.iter().filter_map(|file| file["records"].as_i64()).sum::<i64>() == records {
            break files;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    let started = Instant::now();
    let mut bytes = 0;
    for file in &files {
        let name = file["name"].as_str().context("a file has a name")?;
        bytes += merchant.get(&format!("reconciliations/v1/files/{name}")).await?.text.len();
    }
    let downloaded = started.elapsed();
    Ok(json!({
        "records": records, "bytes": bytes, "settled": settled.as_secs_f64(), "downloaded": downloaded.as_secs_f64(),
    }))
}

/// Downloads the report of every transaction, and keeps nothing of it.
async fn download_report(merchant: &MerchantClient) -> anyhow::Result<Value> {
    let started = Instant::now();
    let path = format!(
        "reports/v1/transactions?entityId={}&date.from=2000-01-01&date.to=2099-12-31&format=csv",
        merchant.entity_id
    );
    let mut response =
        merchant.bare_request(Method::GET, &path).bearer_auth(&merchant.token).send().await?.error_for_status()?;
    let (mut bytes, mut rows) = (0, 0);
    while let Some(part) = response.chunk().await? {
        bytes += part.len();
        rows += part.iter().filter(|byte| **byte == b'\n').count();
    }
    // The first row has the names of the columns.
    let payments = rows.saturating_sub(1);
    Ok(json!({ "payments": payments, "bytes": bytes, "seconds": started.elapsed().as_secs_f64() }))
}

/// Inserts the lines of a settled store into another one, with the same indexes and as durably.
fn insert_lines(settled: &Path, floor: &Path) -> anyhow::Result<Value> {
    let source = bench::open_store_file(settled)?;
    let session = bench::open_store_file(floor)?;
    let query = "SELECT owner, day, id, account, merchant, document FROM reconciliation_record";
    let mut lines = source.query(query, ())?;
    let insert = "INSERT INTO reconciliation_record (owner, day, id, account, merchant, document)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (mut records, mut took) = (0, Duration::ZERO);
    loop {
        let mut part = Vec::new();
        while part.len() < LINES_PER_COMMIT {
            let Some(line) = lines.next()? else { break };
            let values: Vec<OwnedValue> = (0..6).map(|column| line.get(column)).collect::<Result<_, _>>()?;
            part.push(values);
        }
        if part.is_empty() {
            return Ok(json!({ "records": records, "seconds": took.as_secs_f64() }));
        }
        records += part.len();
        // Reading the lines is no part of the floor.
        let started = Instant::now();
        let transaction = session.begin()?;
        for values in part {
            transaction.execute(insert, values)?;
        }
        transaction.commit()?;
        took += started.elapsed();
    }
}

/// Reads the documents of all payments, and writes lines of CSV made of their bytes to nowhere.
fn scan_payments(folder: &Path, bytes: usize) -> anyhow::Result<Value> {
    let session = bench::open_store_file(folder)?;
    let payments: i64 = session.query_one("SELECT count(*) FROM payment", (), |row| row.get(0))?;
    let line = bytes / usize::try_from(payments)?.max(1);
    let started = Instant::now();
    let mut rows = session.query("SELECT document FROM payment", ())?;
    let mut output = std::io::BufWriter::new(std::io::sink());
    while let Some(row) = rows.next()? {
        let document = row.value(0)?.as_blob()?;
        // 36 columns, as a line of the file has.
        for cell in document.get(..line).unwrap_or(document).chunks(line.div_ceil(36).max(1)) {
            output.write_all(cell)?;
            output.write_all(b";")?;
        }
        output.write_all(b"\r\n")?;
    }
    Ok(json!({ "payments": payments, "seconds": started.elapsed().as_secs_f64() }))
}
