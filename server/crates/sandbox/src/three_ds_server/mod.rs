//! A 3DS server for tests and sandboxes, with a directory server and simulated issuers behind it
//! (`docs/three-ds-server.md`). It knows the cards of `test_data/three_ds.rs` and no others, and speaks the messages of
//! [`tillgate_connector::three_ds::message`]. Its pages are those of issuers, at an origin of their own.

mod directory;
mod pages;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::post;
use tillgate_connector::http::{HostAddress, SharedKey};
use tillgate_connector::three_ds::message::{MESSAGE_LIMIT, RReq};
use tillgate_connector::three_ds::server::{AUTHENTICATION_ROUTE, CARD_RANGES_ROUTE, MessageClient, RESULT_ROUTE};
use tillgate_os::clock::SystemClock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Maximum number of transactions in memory. Older ones are forgotten.
const MAX_TRANSACTIONS: usize = 10_000;

/// Settings of a 3DS server.
pub struct ThreeDsServerOptions {
    /// The address to listen on. Port 0 selects a free one.
    pub listen: SocketAddr,
    /// The address under which browsers reach the issuers' pages. `None` if it is the address that the server listens
    /// on.
    pub public_url: Option<String>,
    /// The key shared with the gateway.
    pub key: SharedKey,
}

/// A running 3DS server. It stops when dropped; [`SimulatedThreeDsServer::stop`] also waits for its end.
pub struct SimulatedThreeDsServer {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    server_task: JoinHandle<()>,
}

/// A transaction whose cardholder is challenged.
#[derive(Debug, Clone)]
struct ChallengedTransaction {
    /// The result that the challenge will have, without its status.
    draft: RReq,
    brand: &'static str,
    /// Address to which the result is sent.
    result_url: String,
    /// Address to which the browser returns.
    notification_url: String,
    /// Merchant, amount and masked card, for the page.
    summary: [String; 3],
    /// The result. `None` before the cardholder has answered.
    result: Option<RReq>,
}

/// State of a server.
struct ServerState {
    /// Address of the issuers' pages, without a trailing slash.
    public_url: String,
    /// Verifies requests, and sends results.
    client: MessageClient,
    /// The open transactions, by the id of the access control server.
    transactions: Mutex<HashMap<String, ChallengedTransaction>>,
}

impl ServerState {
    fn lock_transactions(&self) -> MutexGuard<'_, HashMap<String, ChallengedTransaction>> {
        self.transactions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_transaction(&self, acs_transaction: &str, transaction: ChallengedTransaction) {
        let mut transactions = self.lock_transactions();
        if transactions.len() >= MAX_TRANSACTIONS {
            transactions.clear();
        }
        transactions.insert(acs_transaction.to_owned(), transaction);
    }
}

impl SimulatedThreeDsServer {
    /// Serves requests in a task of this process. Returns when the server listens.
    ///
    /// # Errors
    /// If the address is in use.
    pub async fn start(options: ThreeDsServerOptions) -> anyhow::Result<Self> {
        let listening = || format!("listening on {}", options.listen);
        let listener = TcpListener::bind(options.listen).await.with_context(listening)?;
        let address = listener.local_addr()?;
        let public_url = options.public_url.unwrap_or_else(|| format!("http://{address}"));
        // The client sends to the addresses that requests name, so its own address is not used.
        let own = HostAddress::parse("http://127.0.0.1")?;
        let state = Arc::new(ServerState {
            public_url: public_url.trim_end_matches('/').to_owned(),
            client: MessageClient::new(own, options.key, Arc::new(SystemClock))?,
            transactions: Mutex::default(),
        });
        let router = Router::new()
            .route(AUTHENTICATION_ROUTE, post(directory::authenticate))
            .route(CARD_RANGES_ROUTE, post(directory::send_card_ranges))
            .route(RESULT_ROUTE, post(directory::send_result_again))
            .route("/acs/method", post(pages::run_method))
            .route("/acs/challenge", post(pages::show_challenge))
            .route("/acs/answer", post(pages::take_answer))
            .layer(DefaultBodyLimit::max(MESSAGE_LIMIT))
            .with_state(state);
        let (stop, mut stopping) = watch::channel(false);
        let stopped = async move {
            let _ = stopping.wait_for(|stopping| *stopping).await;
        };
        let server_task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped).await {
                tracing::error!(%error, "the 3DS server failed to serve");
            }
        });
        Ok(Self { address, stop, server_task })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Completes the requests in flight, and stops.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.server_task.await;
    }
}
