//! A connection on a stream whose faults come at exact moments.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::super::connection::LineConnection;
use super::super::shared::LineShared;
use super::host::frame;
use super::*;

/// A stream that accepts some writes and fails at the next one. It has bytes to read after its fault only.
struct ScriptedStream {
    accepted_writes: usize,
    bytes_after_fault: Vec<u8>,
    has_failed: bool,
}

impl AsyncRead for ScriptedStream {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.has_failed {
            return Poll::Pending;
        }
        buffer.put_slice(&std::mem::take(&mut self.bytes_after_fault));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ScriptedStream {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.accepted_writes == 0 {
            self.has_failed = true;
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        self.accepted_writes -= 1;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Sends requests `1`, `2` and `3` on a stream, and returns their results.
async fn exchange(stream: ScriptedStream, is_encrypted: bool) -> Vec<Result<LineMessage, SendFault>> {
    let (sink, _late) = mpsc::unbounded_channel();
    let config = LineConfig {
        name: "test/1".to_owned(),
        address: LineAddress { host: "127.0.0.1".to_owned(), port: 1 },
        security: LineSecurity::Plain,
        limits: patient(),
    };
    let protocol = Arc::new(WordProtocol::default());
    let shared = Arc::new(LineShared::new(config, protocol, Arc::new(LateChannel(sink))));
    shared.set_phase(LinePhase::Connected);
    let requests: Vec<_> = ["1", "2", "3"]
        .map(|name| shared.admit_request(key(name), KeyUse::New, frame(&format!("Q:{name}:"))).unwrap())
        .into();
    within(LineConnection::new(Arc::clone(&shared), Box::new(stream), is_encrypted).run()).await;
    let mut results = Vec::new();
    for request in requests {
        results.push(request.await.unwrap());
    }
    results
}

#[tokio::test]
async fn a_failed_write_counts_as_not_sent_unless_tls_may_have_sent_a_part() {
    for is_encrypted in [false, true] {
        let stream = ScriptedStream { accepted_writes: 1, bytes_after_fault: Vec::new(), has_failed: false };
        let results = exchange(stream, is_encrypted).await;
        let is_sent: Vec<bool> = results.iter().map(|result| matches!(result, Err(SendFault::Unknown(_)))).collect();
        assert_eq!(is_sent, [true, is_encrypted, false], "{results:?}");
        assert!(results.iter().all(Result::is_err));
    }
}

#[tokio::test]
async fn answers_that_are_already_here_are_read_after_a_failed_write() {
    let bytes_after_fault = frame("A:1:ok");
    let stream = ScriptedStream { accepted_writes: 2, bytes_after_fault, has_failed: false };
    let results = exchange(stream, false).await;
    assert_eq!(results[0].as_ref().map(words::body), Ok("ok".to_owned()));
    assert!(matches!(results[1], Err(SendFault::Unknown(_))));
    assert!(matches!(results[2], Err(SendFault::NotSent(_))));
}
