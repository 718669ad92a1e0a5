//! The outgoing half of a connection. It knows for each request if a byte of it was written.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, WriteHalf};
use tokio::time::{Instant, timeout};

use super::connect::HostStream;
use super::request_table::RequestFrame;
use super::shared::LineShared;

/// Maximum number of replies and control messages that wait. A host that asks and never reads ends its connection.
const MAX_WAITING_REPLIES: usize = 64;

/// The outgoing half of a connection.
pub(super) struct LineWriter {
    half: WriteHalf<Box<dyn HostStream>>,
    shared: Arc<LineShared>,
    is_encrypted: bool,
    /// Frames of replies and control messages, which are written before requests.
    replies: VecDeque<Vec<u8>>,
    current: Option<CurrentFrame>,
    is_flush_due: bool,
    /// Time of the latest progress, or of the end of the latest time without output.
    progress: Instant,
}

/// The frame that is being written.
struct CurrentFrame {
    content: FrameContent,
    written: usize,
}

enum FrameContent {
    Request(RequestFrame),
    Reply(Vec<u8>),
}

impl CurrentFrame {
    fn bytes(&self) -> &[u8] {
        match &self.content {
            FrameContent::Request(frame) => &frame.bytes,
            FrameContent::Reply(bytes) => bytes,
        }
    }
}

impl LineWriter {
    /// Creates the writer of a new connection.
    pub(super) fn new(half: WriteHalf<Box<dyn HostStream>>, shared: Arc<LineShared>, is_encrypted: bool) -> Self {
        Self {
            half,
            shared,
            is_encrypted,
            replies: VecDeque::new(),
            current: None,
            is_flush_due: false,
            progress: Instant::now(),
        }
    }

    /// Frames a reply or a control message, and puts it before all waiting requests.
    ///
    /// # Errors
    /// The reason why the connection ends: the message cannot be framed, or too many replies wait.
    pub(super) fn queue_reply(&mut self, message: &[u8]) -> Result<(), String> {
        if self.replies.len() >= MAX_WAITING_REPLIES {
            return Err("the host sends requests, but does not read the replies".to_owned());
        }
        let mut frame = Vec::new();
        self.shared.protocol.frame_message(message, &mut frame)?;
        self.replies.push_back(frame);
        Ok(())
    }

    /// Chooses the next frame to write, if none is being written.
    pub(super) fn choose_frame(&mut self, allows_requests: bool, now: Instant) {
        let was_idle = !self.has_output();
        self.drop_ended_frame();
        if self.current.is_none() {
            let reply = self.replies.pop_front().map(FrameContent::Reply);
            let request = || self.shared.with_table(|table| table.take_frame(now)).map(FrameContent::Request);
            let content = reply.or_else(|| if allows_requests { request() } else { None });
            self.current = content.map(|content| CurrentFrame { content, written: 0 });
        }
        if was_idle {
            self.progress = now;
        }
    }

    /// Drops a frame of which nothing was written, if its request has ended.
    fn drop_ended_frame(&mut self) {
        if let Some(CurrentFrame { content: FrameContent::Request(frame), written: 0 }) = &self.current
            && !self.shared.with_table(|table| table.is_frame_due(frame))
        {
            self.current = None;
        }
    }

    /// Returns true if something has to be written or flushed.
    pub(super) fn has_output(&self) -> bool {
        self.current.is_some() || self.is_flush_due
    }

    /// Returns true if a reply or control message is not written yet.
    pub(super) fn has_replies(&self) -> bool {
        !self.replies.is_empty() || self.has_output()
    }

    /// Returns the time until which the host has to accept a byte. `None` if there is nothing to write.
    pub(super) fn deadline(&self, limit: Duration) -> Option<Instant> {
        self.has_output().then(|| self.progress + limit)
    }

    /// Writes some bytes of the current frame, or flushes. It can be cancelled: it changes nothing until it returns.
    ///
    /// # Errors
    /// If the connection is broken. The current frame counts as sent if a byte of it may have left.
    pub(super) async fn write_some(&mut self) -> io::Result<()> {
        let Some(current) = &mut self.current else {
            self.half.flush().await?;
            self.is_flush_due = false;
            self.progress = Instant::now();
            return Ok(());
        };
        let rest = current.bytes().get(current.written..).unwrap_or_default();
        // No `await` follows this one, so a written byte is always recorded.
        let result = match self.half.write(rest).await {
            Ok(0) => Err(io::Error::from(io::ErrorKind::WriteZero)),
            other => other,
        };
        let count = match result {
            Ok(count) => count,
            Err(error) => {
                // TLS may have sent a part of the frame before its error; a socket has not.
                if let (true, FrameContent::Request(frame)) = (self.is_encrypted, &current.content) {
                    self.shared.with_table(|table| table.record_write(frame, false));
                }
                return Err(error);
            }
        };
        current.written = current.written.saturating_add(count);
        let is_whole = current.written >= current.bytes().len();
        if let FrameContent::Request(frame) = &current.content {
            self.shared.with_table(|table| table.record_write(frame, is_whole));
        }
        if is_whole {
            self.current = None;
        }
        self.is_flush_due = true;
        self.progress = Instant::now();
        Ok(())
    }

    /// Closes the connection in an orderly way, within a time limit.
    pub(super) async fn close(&mut self, limit: Duration) {
        // The connection is given up anyway, so a fault changes nothing.
        let _ = timeout(limit, self.half.shutdown()).await;
    }
}
