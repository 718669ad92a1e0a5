//! A host that does what a test says.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::LineAddress;
use super::within;

/// A listening host.
pub(super) struct PeerHost {
    listener: TcpListener,
}

/// A connection that a host has accepted.
pub(super) struct HostConnection<S = TcpStream> {
    pub(super) stream: S,
}

impl PeerHost {
    pub(super) async fn listen() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(super) fn address(&self) -> LineAddress {
        let address = self.listener.local_addr().unwrap();
        LineAddress { host: address.ip().to_string(), port: address.port() }
    }

    pub(super) async fn accept(&self) -> HostConnection {
        within(self.accept_next()).await
    }

    /// Accepts a connection, which may take any time.
    pub(super) async fn accept_next(&self) -> HostConnection {
        let (stream, _) = self.listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        HostConnection { stream }
    }

    /// Accepts connections for ever, and answers each request at once.
    pub(super) async fn answer_all(&self) {
        loop {
            let (stream, _) = self.listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut connection = HostConnection { stream };
                while let Some(message) = connection.try_read().await {
                    let (kind, key) = parse(&message);
                    let code = if kind == "C" { "00" } else { "approved" };
                    connection.write(&format!("A:{key}:{code}")).await;
                }
            });
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> HostConnection<S> {
    /// Reads a message. `None` at the end of the connection.
    pub(super) async fn try_read(&mut self) -> Option<String> {
        let length = self.stream.read_u32().await.ok()?;
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut bytes).await.ok()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    pub(super) async fn read(&mut self) -> String {
        within(self.try_read()).await.expect("the line has closed the connection")
    }

    /// Waits until the line has closed the connection, and returns the messages before.
    pub(super) async fn read_to_end(&mut self) -> Vec<String> {
        let mut messages = Vec::new();
        while let Some(message) = within(self.try_read()).await {
            messages.push(message);
        }
        messages
    }

    /// Reads a message of a kind, and returns its key.
    pub(super) async fn read_key(&mut self, kind: &str) -> String {
        let message = self.read().await;
        let (found, key) = parse(&message);
        assert_eq!(found, kind, "{message}");
        key
    }

    pub(super) async fn write(&mut self, message: &str) {
        self.write_bytes(&frame(message)).await;
    }

    pub(super) async fn write_bytes(&mut self, bytes: &[u8]) {
        // The line may be gone.
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
    }

    /// Answers the next request or control message.
    pub(super) async fn answer_next(&mut self, body: &str) -> String {
        let message = self.read().await;
        let (_, key) = parse(&message);
        self.write(&format!("A:{key}:{body}")).await;
        key
    }
}

/// Returns the frame of a message.
pub(super) fn frame(message: &str) -> Vec<u8> {
    let mut bytes = u32::try_from(message.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(message.as_bytes());
    bytes
}

/// Returns the kind and the key of a message.
pub(super) fn parse(message: &str) -> (String, String) {
    let mut parts = message.splitn(3, ':').map(str::to_owned);
    (parts.next().unwrap(), parts.next().unwrap_or_default())
}
