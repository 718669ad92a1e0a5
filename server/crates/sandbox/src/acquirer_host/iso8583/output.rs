//! Writes the frames of a connection, one after the other.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Bytes to write to a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IsoOutput {
    /// A frame, or several.
    Frames(Vec<u8>),
    /// The last bytes. The connection is closed after them.
    Last(Vec<u8>),
}

/// Writes the bytes of a queue until it ends or [`IsoOutput::Last`] is written, and then closes the writing side.
/// Returns early if the client does not accept the bytes within the time limit.
///
/// # Errors
/// The reason in plain words.
pub(super) async fn write_outputs(
    mut stream: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<IsoOutput>,
    limit: Duration,
) -> Result<(), String> {
    while let Some(output) = queue.recv().await {
        let (bytes, is_last) = match &output {
            IsoOutput::Frames(bytes) => (bytes, false),
            IsoOutput::Last(bytes) => (bytes, true),
        };
        // A client that does not read must not keep its place for ever.
        match timeout(limit, stream.write_all(bytes)).await {
            Ok(Ok(())) if is_last => break,
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(format!("writing failed: {error}")),
            Err(_) => return Err("writing failed: the client does not read".to_owned()),
        }
    }
    let _ = timeout(limit, stream.shutdown()).await;
    Ok(())
}
