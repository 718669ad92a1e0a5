//! The floors that `cargo xtask bench` measures the gateway against: what the same machine does at best for a request
//! that reads a form and makes rows durable, or that is answered and no more.
//!
//! They use axum and the gateway's own store (its writer with group commit), so that parsing, HTTP and disk are the
//! same kind, and nothing else: no authentication, no rules, no log.
//!
//! - `POST /rows`: reads the pairs of a form body and makes `--row BYTES` (one or several) durable, then answers.
//! - `POST /asked`: the same, in two commits with one authorisation at an acquirer's host between them (`--host ADDR`,
//!   `--host-key FILE`): the least that a payment costs whose connector leaves the process.
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
use tillgate::clock::SystemClock;
use tillgate::connector::http::wire::{
    AccountData, AuthorizationRequest, BillingAddress, CardData, CardEntry, HostOperation, MerchantData, SecretText,
};
use tillgate::connector::http::{CallResult, Deadlines, HostAddress, HostClient, SharedKey};
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
    /// The client of the acquirer's host, if there is one.
    host: Option<HostClient>,
    /// Pairs read so far. Something has to be done with them, or the compiler would not read them.
    pairs: AtomicUsize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { folder, rows, answer, host, host_key } = arguments()?;
    let store = open(&folder, rows.len()).await?;
    let host = host.map(|address| client(&address, &host_key)).transpose()?;
    let floor = Arc::new(Floor { store, rows, answer, host, pairs: AtomicUsize::new(0) });
    let router = Router::new().route("/rows", post(write)).route("/asked", post(ask)).route("/echo/{text}", get(echo));
    let router = router.with_state(floor);
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
    host: Option<String>,
    host_key: PathBuf,
}

/// `--data DIR --row BYTES [--row BYTES …] [--answer BYTES] [--host ADDR --host-key FILE]`
fn arguments() -> anyhow::Result<Arguments> {
    let mut read = Arguments::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--data" => read.folder = PathBuf::from(value),
            "--row" => read.rows.push(value.parse().context("--row takes a number of bytes")?),
            "--answer" => read.answer = value.parse().context("--answer takes a number of bytes")?,
            "--host" => read.host = Some(value),
            "--host-key" => read.host_key = PathBuf::from(value),
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

fn client(address: &str, key: &FilePath) -> anyhow::Result<HostClient> {
    let address = HostAddress::parse(&format!("http://{address}"))?;
    Ok(HostClient::new(address, SharedKey::read(key)?, Deadlines::default(), Arc::new(SystemClock))?)
}

async fn write(State(floor): State<Arc<Floor>>, body: Bytes) -> Result<String, StatusCode> {
    let id = floor.id(&body)?;
    floor.commit("INSERT", &id, &body).await?;
    Ok(id.to_string())
}

async fn ask(State(floor): State<Arc<Floor>>, body: Bytes) -> Result<String, StatusCode> {
    let host = floor.host.as_ref().ok_or(StatusCode::NOT_FOUND)?;
    let id = floor.id(&body)?;
    floor.commit("INSERT", &id, &body).await?;
    let request = authorization(id.as_str());
    let asked = host.authorize(HostOperation::Authorize, id.as_str(), &request).await;
    if !matches!(asked, CallResult::Answered(_)) {
        return Err(StatusCode::BAD_GATEWAY);
    }
    floor.commit("REPLACE", &id, &body).await?;
    Ok(id.to_string())
}

/// A payment of 92.00 EUR on a test card.
fn authorization(id: &str) -> AuthorizationRequest {
    AuthorizationRequest {
        merchant_id: "floor".to_owned(),
        payment_id: id.to_owned(),
        amount: 9200,
        currency: "EUR".to_owned(),
        capture: true,
        brand: "VISA".to_owned(),
        account: AccountData::Card(CardData {
            number: SecretText::new("4200000000000000"),
            expiry_month: "05".to_owned(),
            expiry_year: "2034".to_owned(),
            holder: Some("Jane Jones".to_owned()),
            security_code: Some(SecretText::new("123")),
            entry: CardEntry::Keyed,
            cryptogram: None,
            cryptogram_eci: None,
        }),
        billing: BillingAddress::default(),
        shopper_present: true,
        descriptor: None,
        merchant: MerchantData::default(),
        transaction_category: None,
        standing_instruction: None,
        three_ds: None,
    }
}

impl Floor {
    /// Reads the pairs of a body, and makes an id.
    fn id(&self, body: &Bytes) -> Result<PaymentId, StatusCode> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
        self.pairs.fetch_add(pairs.len(), Ordering::Relaxed);
        let random = random().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        Ok(PaymentId::new(Timestamp::now(), random))
    }

    /// Makes the rows of a request durable, by `INSERT` or `REPLACE`.
    async fn commit(&self, verb: &'static str, id: &PaymentId, body: &Bytes) -> Result<(), StatusCode> {
        let key = id.clone();
        let documents: Vec<Vec<u8>> =
            self.rows.iter().map(|bytes| body.iter().copied().cycle().take(*bytes).collect()).collect();
        let written = bench::write(&self.store, move |connection| {
            for (table, document) in documents.iter().enumerate() {
                connection
                    .prepare_cached(&format!("{verb} INTO floor_{table} (id, document) VALUES (?1, ?2)"))?
                    .execute(params![key.as_str(), document])?;
            }
            Ok(())
        });
        written.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
    }
}

async fn echo(State(floor): State<Arc<Floor>>, Path(text): Path<String>, RawQuery(query): RawQuery) -> String {
    let asked = format!("{text}?{}", query.unwrap_or_default());
    asked.repeat((floor.answer / asked.len()).max(1))
}
