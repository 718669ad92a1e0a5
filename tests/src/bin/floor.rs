//! The baselines of `cargo xtask bench`: the best that this machine can do for a request that reads a form and makes
//! rows durable, or for a request that is only answered.
//!
//! They use axum and the gateway's own store (its writer with group commit), so that parsing, HTTP and disk are
//! comparable. They have no authentication, no business rules and no log.
//!
//! - `POST /rows`: reads the pairs of a form body and makes `--row BYTES` (one or several) durable, then answers.
//! - `POST /authorized-rows`: the same, in two commits with one authorization at an acquirer host between them
//!   (`--host ADDR`, `--host-key FILE`): the minimum cost of a payment whose connector calls another process.
//! - `POST /line-rows`: the same, with a round trip to a bare TCP host between the commits (`--line ADDR`).
//! - `GET /echo/{text}`: returns the text, repeated to about `--answer BYTES`.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use tillgate_engine::params;
// Brings the allocator of the gateway.
use tillgate as _;
use tillgate_connector::http::protocol::{
    AccountData, AuthorizationRequest, BillingAddress, CardData, CardEntry, HostOperation, MerchantData, PaymentData,
    SecretText,
};
use tillgate_connector::http::{CallResult, Deadlines, HostAddress, HostClient, SharedKey};
use tillgate_domain::id::PaymentId;
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_os::clock::SystemClock;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{Sources, Store, bench};
use tillgate_tests::bench::floor::{FormReader, make_documents, serve_floor};
use tillgate_tests::bench::line_client::LineClient;

/// State of the server, shared by all requests.
struct BaselineServer {
    store: Store,
    /// Size in bytes of each row that a request writes.
    rows: Vec<usize>,
    /// Size in bytes of an echo response.
    answer: usize,
    /// The client of the acquirer's host, if there is one.
    host: Option<HostClient>,
    /// The client of the bare TCP host, if there is one.
    line: Option<LineClient>,
    forms: FormReader,
}

/// Serves the routes on a free port until the process is killed. Prints `listening on …` when it is ready.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { folder, rows, answer, host, host_key, line } = parse_arguments()?;
    let store = open_store(&folder, rows.len()).await?;
    let host = host.map(|address| create_host_client(&address, &host_key)).transpose()?;
    let line = match line {
        Some(address) => Some(LineClient::connect(&address).await?),
        None => None,
    };
    let floor = Arc::new(BaselineServer { store, rows, answer, host, line, forms: FormReader::default() });
    let router = Router::new()
        .route("/rows", post(write_rows))
        .route("/authorized-rows", post(authorize_and_write))
        .route("/line-rows", post(exchange_and_write))
        .route("/echo/{text}", get(echo_text));
    let router = router.with_state(floor);
    serve_floor(router).await
}

/// Arguments of the program.
#[derive(Default)]
struct Arguments {
    folder: PathBuf,
    rows: Vec<usize>,
    answer: usize,
    host: Option<String>,
    host_key: PathBuf,
    line: Option<String>,
}

/// Parses `--data DIR --row BYTES [--row BYTES …] [--answer BYTES] [--host ADDR --host-key FILE] [--line ADDR]`. Fails
/// for other options, and without `--data` or `--row`.
fn parse_arguments() -> anyhow::Result<Arguments> {
    let mut parsed = Arguments::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--data" => parsed.folder = PathBuf::from(value),
            "--row" => parsed.rows.push(value.parse().context("--row takes a number of bytes")?),
            "--answer" => parsed.answer = value.parse().context("--answer takes a number of bytes")?,
            "--host" => parsed.host = Some(value),
            "--host-key" => parsed.host_key = PathBuf::from(value),
            "--line" => parsed.line = Some(value),
            _ => bail!("there is no option {name}"),
        }
    }
    ensure!(!parsed.rows.is_empty() && parsed.folder != FilePath::new(""), "--data and --row are needed");
    Ok(parsed)
}

/// Opens the gateway's store with one table for each row of a request. The tables have the shape of the gateway's own:
/// an id that begins with the time, and a document.
async fn open_store(folder: &FilePath, tables: usize) -> anyhow::Result<Store> {
    let store = Store::open(folder, Arc::new(Directory::new(compile_stored_rules)), Sources::system())?;
    bench::run_write(&store, move |session| {
        for table in 0..tables {
            session.run_script(&format!(
                "CREATE TABLE floor_{table} (id TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID"
            ))?;
        }
        Ok(())
    })
    .await?;
    Ok(store)
}

/// Creates a client of the acquirer host at this host and port, with the key in a file.
fn create_host_client(address: &str, key: &FilePath) -> anyhow::Result<HostClient> {
    let address = HostAddress::parse(&format!("http://{address}"))?;
    Ok(HostClient::new(address, SharedKey::read_from_file(key)?, Deadlines::default(), Arc::new(SystemClock))?)
}

/// Makes the rows of a request durable and returns their new id. 503 if the store fails.
async fn write_rows(State(floor): State<Arc<BaselineServer>>, body: Bytes) -> Result<String, StatusCode> {
    let id = floor.forms.parse_and_create_id(&body)?;
    floor.commit_rows("INSERT", &id, &body).await?;
    Ok(id.to_string())
}

/// Writes rows, asks the acquirer host for an authorization, and writes the rows again. Any response of the host is
/// accepted; 404 without a host, 502 if it does not respond.
async fn authorize_and_write(State(floor): State<Arc<BaselineServer>>, body: Bytes) -> Result<String, StatusCode> {
    let host = floor.host.as_ref().ok_or(StatusCode::NOT_FOUND)?;
    let id = floor.forms.parse_and_create_id(&body)?;
    floor.commit_rows("INSERT", &id, &body).await?;
    let request = authorization_request(id.as_str());
    let result = host.authorize(HostOperation::Authorize, id.as_str(), &request).await;
    if !matches!(result, CallResult::Responded(_)) {
        return Err(StatusCode::BAD_GATEWAY);
    }
    floor.commit_rows("REPLACE", &id, &body).await?;
    Ok(id.to_string())
}

/// Writes rows, sends the body to the bare host, waits for its answer, and writes the rows again. 404 without a host,
/// 502 if it does not answer.
async fn exchange_and_write(State(floor): State<Arc<BaselineServer>>, body: Bytes) -> Result<String, StatusCode> {
    let line = floor.line.as_ref().ok_or(StatusCode::NOT_FOUND)?;
    let id = floor.forms.parse_and_create_id(&body)?;
    floor.commit_rows("INSERT", &id, &body).await?;
    line.exchange(&body).await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    floor.commit_rows("REPLACE", &id, &body).await?;
    Ok(id.to_string())
}

/// Returns an authorization request for 92.00 EUR on a test card.
fn authorization_request(id: &str) -> AuthorizationRequest {
    AuthorizationRequest {
        payment: PaymentData {
            merchant_id: "floor".to_owned(),
            payment_id: id.to_owned(),
            amount: 9200,
            currency: "EUR".to_owned(),
        },
        capture: true,
        partial_approval: false,
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
        return_url: None,
    }
}

impl BaselineServer {
    /// Makes the rows of a request durable with `INSERT` or `REPLACE`. Each row is the body, repeated or cut to its
    /// size. 503 if the store fails.
    async fn commit_rows(&self, verb: &'static str, id: &PaymentId, body: &Bytes) -> Result<(), StatusCode> {
        let key = id.clone();
        let documents = make_documents(&self.rows, body);
        let written = bench::run_write(&self.store, move |session| {
            for (table, document) in documents.iter().enumerate() {
                session.execute(
                    &format!("{verb} INTO floor_{table} (id, document) VALUES (?1, ?2)"),
                    params![key.as_str(), document],
                )?;
            }
            Ok(())
        });
        written.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Returns the path's text with the query, repeated to at most the configured size, but at least once.
async fn echo_text(
    State(floor): State<Arc<BaselineServer>>,
    Path(text): Path<String>,
    RawQuery(query): RawQuery,
) -> String {
    let piece = format!("{text}?{}", query.unwrap_or_default());
    piece.repeat((floor.answer / piece.len()).max(1))
}
