//! The common part of the baselines of the bench: they read a form, make rows of its bytes, and serve on a free port.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::serve::ListenerExt as _;
use jiff::Timestamp;
use tillgate_domain::id::PaymentId;
use tillgate_gateway::random_bytes;

/// Reads the forms of requests.
#[derive(Debug, Default)]
pub struct FormReader {
    /// Number of pairs read so far. The pairs must be used, or the compiler would remove the parsing.
    pairs: AtomicUsize,
}

impl FormReader {
    /// Parses and counts the pairs of a body, and creates an id.
    ///
    /// # Errors
    /// 500 if the system provides no random bytes.
    pub fn parse_and_create_id(&self, body: &[u8]) -> Result<PaymentId, StatusCode> {
        let pairs: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
        self.pairs.fetch_add(pairs.len(), Ordering::Relaxed);
        let random = random_bytes().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        Ok(PaymentId::new(Timestamp::now(), random))
    }
}

/// Makes the rows of a request: each is the body, repeated or cut to its size in bytes.
pub fn make_documents(sizes: &[usize], body: &[u8]) -> Vec<Vec<u8>> {
    sizes.iter().map(|bytes| body.iter().copied().cycle().take(*bytes).collect()).collect()
}

/// Serves routes on a free port until the process is killed. Prints `listening on …` when it is ready.
///
/// # Errors
/// If there is no free port.
pub async fn serve_floor(router: Router) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}
