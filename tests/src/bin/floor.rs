//! The floors that `cargo xtask bench` measures the gateway against: what the same machine does at best for a request
//! that reads a form and makes rows durable, or that is answered and no more.
//!
//! They use axum and the gateway's own store (its writer with group commit), so that parsing, HTTP and disk are the
//! same kind, and nothing else: no authentication, no rules, no log.
//!
//! - `POST /rows`: reads the pairs of a form body and makes `--row BYTES` (one or several) durable, then answers.
//! - `GET /echo/{text}`: answers with what was asked, repeated to about `--answer BYTES`.

use std::net::SocketAddr;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, bail, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use jiff::Timestamp;
use rusqlite::params;
use tillgate::directory::Directory;
use tillgate::domain::id::PaymentId;
use tillgate::gateway::random;
use tillgate::store::{Store, bench};

struct Floor {
    store: Store,
    /// Bytes of each row that a request writes.
    rows: Vec<usize>,
    /// Bytes of an echo.
    answer: usize,
    /// Pairs read so far. Something has to be done with them, or the compiler would not read them.
    pairs: AtomicUsize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { folder, rows, answer } = arguments()?;
    let store = open(&folder, rows.len()).await?;
    let floor = Arc::new(Floor { store, rows, answer, pairs: AtomicUsize::new(0) });
    let router = Router::new().route("/rows", post(write)).route("/echo/{text}", get(echo)).with_state(floor);
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}

#[derive(Default)]
struct Arguments {
    folder: PathBuf,
    rows: Vec<usize>,
    answer: usize,
}

/// `--data DIR --row BYTES [--row BYTES …] [--answer BYTES]`
fn arguments() -> anyhow::Result<Arguments> {
    let mut read = Arguments::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--data" => read.folder = PathBuf::from(value),
            "--row" => read.rows.push(value.parse().context("--row takes a number of bytes")?),
            "--answer" => read.answer = value.parse().context("--answer takes a number of bytes")?,
            _ => bail!("there is no option {name}"),
        }
    }
    ensure!(!read.rows.is_empty() && read.folder != FilePath::new(""), "--data and --row are needed");
    Ok(read)
}

/// The gateway's store with one table for each row of a request, all of the gateway's own shape: an id that begins
/// with the time, and a document.
async fn open(folder: &FilePath, tables: usize) -> anyhow::Result<Store> {
    let store = Store::open(folder, Arc::new(Directory::default()))?;
    bench::write(&store, move |connection| {
        for table in 0..tables {
            connection.execute_batch(&format!(
                "CREATE TABLE floor_{table} (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID"
            ))?;
        }
        Ok(())
    })
    .await?;
    Ok(store)
}

async fn write(State(floor): State<Arc<Floor>>, body: Bytes) -> Result<String, StatusCode> {
    let pairs: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    floor.pairs.fetch_add(pairs.len(), Ordering::Relaxed);
    let random = random().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let id = PaymentId::new(Timestamp::now(), random);
    let key = id.clone();
    let documents: Vec<Vec<u8>> =
        floor.rows.iter().map(|bytes| body.iter().copied().cycle().take(*bytes).collect()).collect();
    let written = bench::write(&floor.store, move |connection| {
        for (table, document) in documents.iter().enumerate() {
            connection
                .prepare_cached(&format!("INSERT INTO floor_{table} (id, document) VALUES (?1, ?2)"))?
                .execute(params![key.as_str(), document])?;
        }
        Ok(())
    });
    written.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(id.to_string())
}

async fn echo(State(floor): State<Arc<Floor>>, Path(text): Path<String>, RawQuery(query): RawQuery) -> String {
    let asked = format!("{text}?{}", query.unwrap_or_default());
    asked.repeat((floor.answer / asked.len()).max(1))
}
