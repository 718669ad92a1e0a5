//! The control connection: lines of the client, and replies.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::ftp::command::MAX_LINE;

/// Maximum time of a TLS handshake, and for a client to receive a reply.
pub(super) const REPLY_TIMEOUT: Duration = Duration::from_secs(15);

/// The control connection, plain or with TLS.
pub(super) trait ControlStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ControlStream for S {}

pub(super) type Control = BufReader<Box<dyn ControlStream>>;

/// A reply: its code and its text, which may have several lines.
pub(super) struct Reply(pub(super) u16, Cow<'static, str>);

impl Reply {
    pub(super) fn new(code: u16, text: impl Into<Cow<'static, str>>) -> Self {
        Self(code, text.into())
    }
}

/// Reads a line without its end. Returns `None` at the end of the connection, or if the line is too long. Bytes that
/// are no UTF-8 become replacement characters.
pub(super) async fn read_line(control: &mut Control) -> io::Result<Option<Zeroizing<String>>> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_LINE));
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    control.take(limit).read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        line.pop();
    }
    Ok(Some(Zeroizing::new(String::from_utf8_lossy(&line).into_owned())))
}

/// Sends a reply. A text of several lines begins with a hyphen after the code, and its last line ends it.
pub(super) async fn send_reply(control: &mut Control, Reply(code, text): &Reply) -> io::Result<()> {
    let formatted = match text.rsplit_once('\n') {
        None => format!("{code} {text}\r\n"),
        Some((before, last)) => format!("{code}-{}\r\n{code} {last}\r\n", before.replace('\n', "\r\n")),
    };
    let sent = async {
        control.write_all(formatted.as_bytes()).await?;
        control.flush().await
    };
    timeout(REPLY_TIMEOUT, sent).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
