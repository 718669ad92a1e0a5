//! The private socket in the data folder, through which commands ask the running server for what only the server can
//! do. A request and its answer are one line of JSON each.

pub mod client;
pub mod listener;
pub mod message;
mod socket_folder;

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Largest size of a line in bytes. The longest note takes less than half of it.
const MAX_LINE: u64 = 16 * 1024;
/// Maximum time in which a line is sent.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// Receives a line, at most for the time `limit`.
///
/// # Errors
/// If the line is longer than [`MAX_LINE`], is cut off, or is not what is expected.
async fn receive_line<T: DeserializeOwned>(stream: &mut UnixStream, limit: Duration) -> io::Result<T> {
    let mut line = Vec::new();
    // The limit keeps a sender of an endless line from filling the memory.
    let mut reader = BufReader::new(stream.take(MAX_LINE));
    timeout(limit, reader.read_until(b'\n', &mut line)).await??;
    if line.last() != Some(&b'\n') {
        let is_long = line.len() as u64 == MAX_LINE;
        let message = if is_long { "a line is too long" } else { "the connection was closed within a line" };
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(serde_json::from_slice(&line)?)
}

/// Sends a line.
///
/// # Errors
/// If the other side does not receive the line in time, or has closed the connection.
async fn send_line<T: Serialize>(stream: &mut UnixStream, content: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(content)?;
    line.push(b'\n');
    timeout(SEND_TIMEOUT, stream.write_all(&line)).await?
}
