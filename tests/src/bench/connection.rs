//! One kept-alive HTTP/1.1 connection that does as little as a client can: the generator shares the machine with what
//! it measures, so its own work must be small and the same for every server.

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An open connection and what was read of the answer at hand.
pub(super) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

/// The parts of an answer that matter here.
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

impl Connection {
    pub(super) async fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(8192) })
    }

    /// Sends a whole request and reads its whole answer.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
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
        Ok(Answer {
            status: status.and_then(|digits| digits.parse().ok()).context("no status line")?,
            body: &self.read[head..head + length],
        })
    }
}

/// The length that the head announces. Servers under test send no chunked answers here.
fn content_length(head: &[u8]) -> anyhow::Result<usize> {
    const NAME: &[u8] = b"content-length:";
    for line in head.split(|byte| *byte == b'\n') {
        if line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            return Ok(std::str::from_utf8(&line[NAME.len()..])?.trim().parse()?);
        }
    }
    bail!("an answer without a length")
}
