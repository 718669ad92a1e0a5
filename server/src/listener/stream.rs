//! The TCP stream below hyper. It reports reads and writes to the connection's state, and erases the bytes of earlier
//! requests.
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

use super::state::ConnectionState;

/// Initial size of hyper's read buffer, in bytes.
const READ_BUFFER: usize = 8 * 1024;

/// The TCP stream of a connection.
#[derive(Debug)]
pub(super) struct TrackedStream {
    pub(super) stream: TcpStream,
    pub(super) state: Arc<ConnectionState>,
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
    /// Reports the result of a write to the connection's state, and returns it unchanged. Errors are not reported.
    fn track_write(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &polled {
            Poll::Pending => self.state.record_blocked(),
            Poll::Ready(Ok(count)) => self.state.record_sent(*count),
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

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
