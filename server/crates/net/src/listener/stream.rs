//! The TCP stream below hyper. It reports reads and writes to the connection's state, erases the bytes of earlier
//! requests, and closes without the loss of a response.
//!
//! A response may be sent before its request is complete, for example because the body is too large. If the connection
//! were closed then, the system would reject what the client goes on sending, and the client's system would discard
//! the response before the client reads it. So the rest of the request is read and discarded for a short time.
//!
//! hyper keeps one read buffer for a connection. A body with a card number would stay in it as long as the connection
//! is idle. hyper moves to the start of its buffer before it reads the next request, so overwriting the free part of
//! the buffer then erases the last request. That works as long as the buffer has its initial size: reads are one byte
//! shorter, because hyper enlarges the buffer after a read that fills it. A head that arrives in several pieces can
//! enlarge the buffer nevertheless; such a connection is closed after a request with a body (see `connection.rs`).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use zeroize::Zeroizing;

use super::deadline::ConnectionState;

/// Initial size of hyper's read buffer, in bytes.
const READ_BUFFER: usize = 8 * 1024;

/// Maximum number of bytes that are read and discarded after a response that was sent early.
const DISCARD_LIMIT: usize = 16 * 1024 * 1024;

/// The TCP stream of a connection.
#[derive(Debug)]
pub(super) struct TrackedStream {
    stream: TcpStream,
    state: Arc<ConnectionState>,
    /// Number of bytes that may still be discarded. `None` until the server closes its side of the connection.
    discardable: Option<usize>,
}

impl AsyncRead for TrackedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() > READ_BUFFER {
            self.state.buffer_grown.store(true, Relaxed);
        }
        // If there is nothing to read, nothing has to be erased.
        ready!(self.stream.poll_read_ready(cx))?;
        // Initialized bytes may be of an earlier request and are erased here; the rest is zeroed when it is
        // initialized.
        let initialized = buffer.initialized().len() - buffer.filled().len();
        let free = buffer.initialize_unfilled();
        free[..initialized].fill(0);
        // One byte less than hyper's buffer, because hyper enlarges the buffer after a read that fills it.
        let length = free.len().min(READ_BUFFER - 1);
        let mut part = ReadBuf::new(&mut free[..length]);
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut part);
        let count = part.filled().len();
        if count > 0 {
            self.state.record_received();
        }
        buffer.advance(count);
        polled
    }
}

impl TrackedStream {
    /// Wraps the stream of a connection that was just accepted.
    pub(super) fn new(stream: TcpStream, state: Arc<ConnectionState>) -> Self {
        Self { stream, state, discardable: None }
    }

    /// Reads and discards what the client still sends, until it closes its side or the limit is reached. Errors count
    /// as the end.
    fn poll_discard(&mut self, cx: &mut Context<'_>, mut discardable: usize) -> Poll<()> {
        // The rest of a body may contain a card number, so the bytes are zeroed after use.
        let mut bytes = Zeroizing::new([0; READ_BUFFER]);
        while discardable > 0 {
            // Stored before each read, because a read may be pending and the limit has to count across calls.
            self.discardable = Some(discardable);
            let mut buffer = ReadBuf::new(bytes.as_mut_slice());
            let Ok(()) = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) else { break };
            if buffer.filled().is_empty() {
                break;
            }
            discardable = discardable.saturating_sub(buffer.filled().len());
        }
        // A further call of `poll_shutdown` must not wait for the client again.
        self.discardable = Some(0);
        Poll::Ready(())
    }

    /// Reports the result of a write to the connection's state, and returns it unchanged. Errors are not reported.
    fn track_write(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &polled {
            Poll::Pending => self.state.record_blocked(),
            Poll::Ready(Ok(count)) => self.state.record_sent(*count),
            // hyper ends the connection after an error, so there is no timeout to keep.
            Poll::Ready(Err(_)) => {}
        }
        polled
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.track_write(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.track_write(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Flushes the stream. hyper flushes when its write buffer is empty.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(cx);
        if polled.is_ready() {
            self.state.record_flushed();
        }
        polled
    }

    /// Closes the server's side of the connection, and then waits for the client's side if it may still be sending.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let discardable = match self.discardable {
            Some(discardable) => discardable,
            None => {
                ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
                if self.state.begin_closing() { DISCARD_LIMIT } else { 0 }
            }
        };
        self.poll_discard(cx, discardable).map(Ok)
    }
}
