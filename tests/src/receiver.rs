//! A merchant's server that the gateway talks to: it keeps what it receives, and answers as badly as a test wants.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::wait::PATIENCE;

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// `GET` or `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Names of the headers in the spelling in which they came.
    pub spelled: Vec<String>,
    /// The body.
    pub body: String,
}

impl Received {
    /// A header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The parameters of the query, decoded, in order.
    pub fn query(&self) -> Vec<(String, String)> {
        let query = self.target.split_once('?').map(|(_, query)| query).unwrap_or_default();
        form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }
}

/// What is done with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// This status, and headers.
    Status(u16, Vec<(&'static str, String)>),
    /// The connection is closed without a word.
    Close,
    /// Nothing is ever said.
    Silence,
    /// A status 200 with a body that never ends.
    Endless,
    /// A status 200 whose body ends before it should.
    Half,
}

impl Reply {
    /// A status alone.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new())
    }
}

/// A server on a free port of this machine. It stops with the test's runtime.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    received: Mutex<UnboundedReceiver<Received>>,
}

type Answers = Arc<dyn Fn(&Received) -> Reply + Send + Sync>;

impl Receiver {
    /// A server that takes everything.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start() -> anyhow::Result<Self> {
        Self::answering(|_| Reply::status(200)).await
    }

    /// A server that answers so.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn answering(answer: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (sender, received) = unbounded_channel();
        let answers: Answers = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, answers) = (sender.clone(), Arc::clone(&answers));
                tokio::spawn(async move {
                    let _ = talk(stream, &sender, &answers).await;
                });
            }
        });
        Ok(Self { address, received: Mutex::new(received) })
    }

    /// An address of this server: `http://127.0.0.1:40001/` and the path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// The next request that comes, in the order in which they come.
    ///
    /// # Errors
    /// When none comes within two minutes.
    pub async fn next(&self) -> anyhow::Result<Received> {
        let mut received = self.received.lock().await;
        let next = tokio::time::timeout(PATIENCE, received.recv()).await.context("nothing was received")?;
        next.context("the receiver has stopped")
    }

    /// What has come so far and was not looked at.
    pub async fn rest(&self) -> Vec<Received> {
        let mut received = self.received.lock().await;
        std::iter::from_fn(|| received.try_recv().ok()).collect()
    }
}

/// One connection, with as many requests as it carries.
async fn talk(mut stream: TcpStream, sender: &UnboundedSender<Received>, answers: &Answers) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let Some(request) = read(&mut stream, &mut bytes).await? else { return Ok(()) };
        let reply = answers(&request);
        let _ = sender.send(request);
        match reply {
            Reply::Status(status, headers) => {
                let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let head = format!("HTTP/1.1 {status} Test\r\nContent-Length: 0\r\n{headers}\r\n");
                stream.write_all(head.as_bytes()).await?;
            }
            Reply::Close => return Ok(()),
            Reply::Silence => std::future::pending().await,
            Reply::Half => {
                return Ok(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf").await?);
            }
            Reply::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
                let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
                loop {
                    stream.write_all(chunk.as_bytes()).await?;
                }
            }
        }
    }
}

/// Reads a request; none where the other side has nothing more to say.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> anyhow::Result<Option<Received>> {
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
    let spelled = lines.iter().map(|(name, _)| (*name).to_owned()).collect();
    let headers: BTreeMap<String, String> =
        lines.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let length: usize = headers.get("content-length").map_or(Ok(0), |length| length.parse())?;
    while bytes.len() < length {
        anyhow::ensure!(stream.read_buf(bytes).await? > 0, "the body ended early");
    }
    let body = String::from_utf8(bytes.drain(..length).collect())?;
    Ok(Some(Received { method, target, headers, spelled, body }))
}
