//! The side of the command: sends a request to the server that runs on a data folder.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tillgate_store::is_served;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::message::{ControlAnswer, ControlRequest};
use super::socket_folder::SocketFolder;
use super::{SEND_TIMEOUT, receive_line, send_line};

/// Maximum time to wait for the answer. Longer than the server waits for an acquirer, which is a minute.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(75);

/// Sends a request to the server that runs on a data folder, and returns its answer.
///
/// # Errors
/// If no server is running, or it does not answer in time.
pub(crate) fn send_request(data: &Path, request: &ControlRequest) -> anyhow::Result<ControlAnswer> {
    let folder = SocketFolder::open(data).with_context(|| format!("opening the data folder {}", data.display()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut stream = connect(&folder).await.map_err(|error| describe_connect_error(data, error))?;
        let sent = send_line(&mut stream, request).await;
        // A server that refuses the connection answers before it has received the request, and closes.
        let answer = receive_line(&mut stream, ANSWER_TIMEOUT).await;
        answer.map_err(|error| describe_answer_error(sent.err().unwrap_or(error)))
    })
}

/// Connects to the socket, and checks that a server of the right user listens.
async fn connect(folder: &SocketFolder) -> io::Result<UnixStream> {
    folder.check_socket()?;
    let stream = timeout(SEND_TIMEOUT, UnixStream::connect(folder.socket_path())).await??;
    // Checked again, because the file may have been replaced since.
    if !folder.allows_user(stream.peer_cred()?.uid())? {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "another user listens"));
    }
    Ok(stream)
}

/// Describes why there is no connection, and how to get one.
fn describe_connect_error(data: &Path, error: io::Error) -> anyhow::Error {
    let place = data.display();
    if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) {
        return anyhow!(error).context(format!("connecting to the gateway's socket {place}/control.sock"));
    }
    match is_served(data) {
        Ok(true) => anyhow!(
            "the gateway on {place} does not accept commands: it is starting or stopping, or its log says why it has no \
             socket"
        ),
        _ => anyhow!(
            "no gateway is running on {place}, and only a running gateway can do this: start it with \
             `tillgate serve --data {place}`, and repeat the command"
        ),
    }
}

/// Describes why there is no answer, and what the reader can do.
fn describe_answer_error(error: io::Error) -> anyhow::Error {
    let message = if error.kind() == ErrorKind::TimedOut {
        "the gateway has not answered in time"
    } else {
        "the gateway has closed the connection without an answer"
    };
    anyhow!(error).context(format!("{message}: it may still carry the request out; repeating it does no harm"))
}
