//! A merchant's server that receives requests from the gateway. It records them, and can answer with faults.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::wait::PATIENCE;

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Names of the headers with their original case.
    pub header_names: Vec<String>,
    /// The body.
    pub body: String,
}

impl ReceivedRequest {
    /// Returns a header, or an empty string.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the decoded parameters of the query, in order.
    pub fn query_parameters(&self) -> Vec<(String, String)> {
        let query = self.target.split_once('?').map(|(_, query)| query).unwrap_or_default();
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }
}

/// Reaction to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiverReply {
    /// A response with this status and these headers.
    Status(u16, Vec<(&'static str, String)>),
    /// The connection is closed without a response.
    Close,
    /// No response is sent, and the connection stays open.
    Silence,
    /// A response with status 200 and an endless body.
    Endless,
    /// A response with status 200 and a truncated body.
    Truncated,
}

impl ReceiverReply {
    /// Returns a response with this status and no headers.
    pub fn with_status(status: u16) -> Self {
        Self::Status(status, Vec::new())
    }
}

/// A server on a free port of this machine. It stops with the test's runtime.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    /// Requests that no test has read yet. Locked because several tasks of a test may read.
    received: Mutex<UnboundedReceiver<ReceivedRequest>>,
}

type ReplyFunction = Arc<dyn Fn(&ReceivedRequest) -> ReceiverReply + Send + Sync>;

impl Receiver {
    /// Starts a server that answers every request with 200.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(|_| ReceiverReply::with_status(200)).await
    }

    /// Starts a server that answers with the results of `reply`.
    pub async fn start_with(
        reply: impl Fn(&ReceivedRequest) -> ReceiverReply + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (sender, received) = unbounded_channel();
        let reply: ReplyFunction = Arc::new(reply);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, reply) = (sender.clone(), Arc::clone(&reply));
                tokio::spawn(async move {
                    let _ = serve_connection(stream, &sender, &reply).await;
                });
            }
        });
        Ok(Self { address, received: Mutex::new(received) })
    }

    /// Returns an address of this server: `http://127.0.0.1:40001/` and the path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Returns the next request, in order of arrival. Waits for it if necessary.
    ///
    /// # Errors
    /// If none arrives within two minutes.
    pub async fn next_request(&self) -> anyhow::Result<ReceivedRequest> {
        let mut received = self.received.lock().await;
        let next = tokio::time::timeout(PATIENCE, received.recv()).await.context("nothing was received")?;
        next.context("the receiver has stopped")
    }

    /// Returns all requests that have arrived and were not yet returned.
    pub async fn drain_requests(&self) -> Vec<ReceivedRequest> {
        let mut received = self.received.lock().await;
        std::iter::from_fn(|| received.try_recv().ok()).collect()
    }
}

/// Serves the requests of one connection, in order: passes each to `sender`, and sends its reply. Ends when the client
/// or a reply closes the connection.
async fn serve_connection(
    mut stream: TcpStream,
    sender: &UnboundedSender<ReceivedRequest>,
    reply: &ReplyFunction,
) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let Some(request) = read_request(&mut stream, &mut bytes).await? else { return Ok(()) };
        let reply = reply(&request);
        let _ = sender.send(request);
        match reply {
            ReceiverReply::Status(status, headers) => {
                let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let head = format!("HTTP/1.1 {status} Test\r\nContent-Length: 0\r\n{headers}\r\n");
                stream.write_all(head.as_bytes()).await?;
            }
            ReceiverReply::Close => return Ok(()),
            ReceiverReply::Silence => std::future::pending().await,
            ReceiverReply::Truncated => {
                return Ok(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf").await?);
            }
            ReceiverReply::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
                let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
                loop {
                    stream.write_all(chunk.as_bytes()).await?;
                }
            }
        }
    }
}

/// Reads a request with its body. Further bytes stay in `bytes`. Returns `None` if the client closes the connection
/// before the end of the head, an error if it does in the body.
async fn read_request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> anyhow::Result<Option<ReceivedRequest>> {
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8(bytes.drain(..end + 4).collect())?;
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let lines: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let header_names = lines.iter().map(|(name, _)| (*name).to_owned()).collect();
    let headers: BTreeMap<String, String> =
        lines.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let length: usize = headers.get("content-length").map_or(Ok(0), |length| length.parse())?;
    while bytes.len() < length {
        anyhow::ensure!(stream.read_buf(bytes).await? > 0, "the body ended early");
    }
    let body = String::from_utf8(bytes.drain(..length).collect())?;
    Ok(Some(ReceivedRequest { method, target, headers, header_names, body }))
}
