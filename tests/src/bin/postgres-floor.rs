//! The baseline of `cargo xtask bench --only postgres`: the best that this machine and its cluster of PostgreSQL can do
//! for a request that reads a form and makes rows durable.
//!
//! It uses axum and the gateway's sessions with the database, so that parsing, HTTP and database are comparable. Its
//! threads commit groups of at most as many requests as the gateway. It has no authentication, no business rules and
//! no log.
//!
//! `POST /rows` reads the pairs of a form body and makes `--row BYTES` (one or several) durable, then answers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, bail, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
// Brings the allocator of the gateway.
use tillgate as _;
use tillgate_domain::id::PaymentId;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession, SessionLimits};
use tillgate_engine::{Session, WriteScope, params};
use tillgate_tests::bench::floor::{FormReader, make_documents, serve_floor};
use tokio::sync::oneshot;

/// Maximum number of requests in one commit, the same as in the gateway.
const MAX_GROUP: usize = 256;

/// Arguments of the program.
#[derive(Default)]
struct Arguments {
    database: String,
    writers: usize,
    rows: Vec<usize>,
}

/// The rows of a request that wait for their commit.
struct QueuedRows {
    id: PaymentId,
    /// The content of the row of each table.
    documents: Vec<Vec<u8>>,
    /// Receives a value after the commit, and nothing if it fails.
    committed: oneshot::Sender<()>,
}

/// The requests that wait for a thread.
#[derive(Default)]
struct RowQueue {
    waiting: Mutex<VecDeque<QueuedRows>>,
    added: Condvar,
}

/// State of the server, shared by all requests.
struct BaselineServer {
    queue: Arc<RowQueue>,
    /// Size in bytes of each row that a request writes.
    rows: Vec<usize>,
    forms: FormReader,
}

/// Serves the route on a free port until the process is killed. Prints `listening on …` when it is ready.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { database, writers, rows } = parse_arguments()?;
    let address = PostgresAddress::parse(&database, "floor", SessionLimits::default())?;
    let queue = Arc::new(RowQueue::default());
    create_tables(&address, rows.len())?;
    for _ in 0..writers {
        let (session, queue, tables) = (PostgresSession::connect(&address)?, Arc::clone(&queue), rows.len());
        std::thread::spawn(move || commit_groups(&session, &queue, tables));
    }
    let floor = Arc::new(BaselineServer { queue, rows, forms: FormReader::default() });
    let router = Router::new().route("/rows", post(write_rows)).with_state(floor);
    serve_floor(router).await
}

/// Parses `--database ADDRESS --writers COUNT --row BYTES [--row BYTES …]`. Fails for other options, and if one of them
/// is missing.
fn parse_arguments() -> anyhow::Result<Arguments> {
    let mut parsed = Arguments::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--database" => parsed.database = value,
            "--writers" => parsed.writers = value.parse().context("--writers takes a number of connections")?,
            "--row" => parsed.rows.push(value.parse().context("--row takes a number of bytes")?),
            _ => bail!("there is no option {name}"),
        }
    }
    let is_complete = !parsed.database.is_empty() && parsed.writers > 0 && !parsed.rows.is_empty();
    ensure!(is_complete, "--database, --writers and --row are needed");
    Ok(parsed)
}

/// Creates one table for each row of a request. The tables have the shape of the gateway's own: an id that begins with
/// the time, and a document.
fn create_tables(address: &PostgresAddress, tables: usize) -> anyhow::Result<()> {
    let session = PostgresSession::connect(address)?;
    for table in 0..tables {
        session
            .run_script(&format!("CREATE TABLE floor_{table} (id TEXT PRIMARY KEY, document BYTEA NOT NULL)"))
            .with_context(|| format!("creating the table floor_{table}"))?;
    }
    Ok(())
}

/// Commits queued requests until the process is killed. A group that fails is not answered, so its requests get a 503.
fn commit_groups(session: &PostgresSession, queue: &RowQueue, tables: usize) {
    let inserts: Vec<String> =
        (0..tables).map(|table| format!("INSERT INTO floor_{table} (id, document) VALUES (?1, ?2)")).collect();
    loop {
        if let Err(error) = commit_group(session, queue, &inserts) {
            eprintln!("committing a group of requests failed: {error}");
            let _ = session.roll_back();
        }
    }
}

/// Waits for a request, and commits it with those that wait until its rows are written, at most [`MAX_GROUP`], as the
/// gateway does.
fn commit_group(session: &PostgresSession, queue: &RowQueue, inserts: &[String]) -> tillgate_engine::Result<()> {
    let mut next = Some(queue.wait_for_rows());
    session.begin_write_within(WriteScope::Nothing)?;
    let mut group = Vec::new();
    while let Some(rows) = next {
        let session: &dyn Session = session;
        for (insert, document) in inserts.iter().zip(&rows.documents) {
            session.execute(insert, params![rows.id.as_str(), document])?;
        }
        group.push(rows.committed);
        next = if group.len() < MAX_GROUP { queue.lock().pop_front() } else { None };
    }
    session.commit()?;
    for committed in group {
        // The client may have gone.
        let _ = committed.send(());
    }
    Ok(())
}

impl RowQueue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<QueuedRows>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, rows: QueuedRows) {
        self.lock().push_back(rows);
        self.added.notify_one();
    }

    fn wait_for_rows(&self) -> QueuedRows {
        let mut waiting = self.lock();
        loop {
            if let Some(rows) = waiting.pop_front() {
                return rows;
            }
            waiting = self.added.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Makes the rows of a request durable and returns their new id. Each row is the body, repeated or cut to its size. 503
/// if the database fails.
async fn write_rows(State(floor): State<Arc<BaselineServer>>, body: Bytes) -> Result<String, StatusCode> {
    let id = floor.forms.parse_and_create_id(&body)?;
    let documents = make_documents(&floor.rows, &body);
    let (committed, outcome) = oneshot::channel();
    floor.queue.add(QueuedRows { id: id.clone(), documents, committed });
    outcome.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(id.to_string())
}
