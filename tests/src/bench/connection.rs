//! A keep-alive HTTP/1.1 connection with minimal overhead. The generator shares the machine with the server that it
//! measures, so its own work must be small and the same for every server.

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An open connection, and the bytes of the current response that were read so far.
pub(super) struct KeepAliveConnection {
    stream: TcpStream,
    read: Vec<u8>,
}

/// The parts of a response that the benchmark uses.
pub(super) struct BenchResponse<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

impl KeepAliveConnection {
    /// Connects to a host and port. Small requests are sent at once.
    pub(super) async fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(8192) })
    }

    /// Sends a complete request and reads the complete response, whatever its status. Fails if the server closes the
    /// connection before, or sends no `Content-Length`.
    pub(super) async fn send_request(&mut self, request: &[u8]) -> anyhow::Result<BenchResponse<'_>> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let (head, length) = loop {
            ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the server closed the connection");
            if let Some(end) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break (end + 4, content_length(&self.read[..end])?);
            }
        };
        while self.read.len() < head + length {
            ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the server broke off its answer");
        }
        let status = self.read.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
        Ok(BenchResponse {
            status: status.and_then(|digits| digits.parse().ok()).context("no status line")?,
            body: &self.read[head..head + length],
        })
    }
}

/// Returns the `Content-Length` of a response head, or an error if there is none. The servers under test send no
/// chunked responses here.
fn content_length(head: &[u8]) -> anyhow::Result<usize> {
    const NAME: &[u8] = b"content-length:";
    for line in head.split(|byte| *byte == b'\n') {
        if line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            return Ok(std::str::from_utf8(&line[NAME.len()..])?.trim().parse()?);
        }
    }
    bail!("an answer without a length")
}
