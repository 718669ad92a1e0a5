//! A server that records the bytes of each request, and can break the rules of HTTP in its answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::wait::PATIENCE;

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRequest {
    /// The request line and the headers, with the empty line after them.
    pub head: String,
    /// All bytes after the head, until the answer was complete.
    pub body: String,
}

/// Reaction to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawReaction {
    /// `100 Continue`, and this status after the body.
    Continue(u16),
    /// No permission; this status after the body.
    Status(u16),
    /// These bytes right after the head. Then everything is read until the client closes.
    Early(Vec<u8>),
    /// No answer.
    Silence,
    /// Status 200 after the body, and bytes without end.
    Endless,
}

/// A server on a free port of this machine, with one request for each connection. It stops with the test's runtime.
#[derive(Debug)]
pub struct RawReceiver {
    address: SocketAddr,
    /// Requests that no test has read yet. Locked because several tasks of a test may read.
    received: Mutex<UnboundedReceiver<RawRequest>>,
}

type ReactionFunction = Arc<dyn Fn(usize) -> RawReaction + Send + Sync>;

impl RawReceiver {
    /// Starts a server. `react` gets the number of the request; the first is 0.
    pub async fn start(react: impl Fn(usize) -> RawReaction + Send + Sync + 'static) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (sender, received) = unbounded_channel();
        let react: ReactionFunction = Arc::new(react);
        tokio::spawn(async move {
            let count = Arc::new(AtomicUsize::new(0));
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, react, count) = (sender.clone(), Arc::clone(&react), Arc::clone(&count));
                tokio::spawn(async move {
                    let _ = serve_request(stream, &sender, &react, &count).await;
                });
            }
        });
        Ok(Self { address, received: Mutex::new(received) })
    }

    /// Returns host and port.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Returns the next request, in order of arrival. Waits for it if necessary.
    ///
    /// # Errors
    /// If none arrives within two minutes.
    pub async fn next_request(&self) -> anyhow::Result<RawRequest> {
        let mut received = self.received.lock().await;
        let next = tokio::time::timeout(PATIENCE, received.recv()).await.context("nothing was received")?;
        next.context("the receiver has stopped")
    }

    /// Returns the number of requests that have arrived and were not yet returned. They are lost.
    pub async fn count_unread(&self) -> usize {
        let mut received = self.received.lock().await;
        std::iter::from_fn(|| received.try_recv().ok()).count()
    }
}

/// Reads a request, reacts to it and records it. A request that is not answered is recorded before.
async fn serve_request(
    mut stream: TcpStream,
    sender: &UnboundedSender<RawRequest>,
    react: &ReactionFunction,
    count: &AtomicUsize,
) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        anyhow::ensure!(stream.read_buf(&mut bytes).await? > 0, "the head ended early");
    };
    let head = String::from_utf8(bytes.drain(..end).collect())?;
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let length: usize = length.context("no Content-Length")?.parse()?;
    let reaction = react(count.fetch_add(1, Ordering::SeqCst));
    match &reaction {
        RawReaction::Continue(_) => stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?,
        // The client may close before it has read everything.
        RawReaction::Early(answer) => _ = stream.write_all(answer).await,
        _ => {}
    }
    let reads_all = matches!(reaction, RawReaction::Early(_));
    while reads_all || bytes.len() < length {
        match stream.read_buf(&mut bytes).await {
            Ok(read) if read > 0 => {}
            _ => break,
        }
    }
    let _ = sender.send(RawRequest { head, body: String::from_utf8(bytes)? });
    match reaction {
        RawReaction::Continue(status) | RawReaction::Status(status) => {
            stream.write_all(format!("HTTP/1.1 {status} Test\r\nContent-Length: 0\r\n\r\n").as_bytes()).await?;
        }
        RawReaction::Silence => std::future::pending().await,
        RawReaction::Early(_) => {}
        RawReaction::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        }
    }
    Ok(())
}
