//! The side of the server: listens on the socket, and carries requests out.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tillgate_connector::line::HostLine;
use tillgate_domain::id::log_tag;
use tillgate_gateway::App;
use tillgate_gateway::access::actor::Actor;
use tillgate_gateway::administration::ActError;
use tillgate_gateway::review::operator::SentDecision;
use tillgate_os::process;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::message::{ControlAnswer, ControlRequest};
use super::socket_folder::SocketFolder;
use super::{receive_line, send_line};

/// Maximum number of connections whose request has not arrived yet. A further connection ends the oldest of them, so
/// that clients that send nothing cannot keep others out.
const MAX_WAITING: usize = 64;
/// Maximum number of requests that are carried out at the same time.
const MAX_RUNNING: usize = 256;
/// Maximum time in which a client sends its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval in which a server tries to listen while another server of the same data folder does.
const TAKEOVER_INTERVAL: Duration = Duration::from_secs(1);

/// The socket of a server.
pub struct ControlSocket {
    data: PathBuf,
    /// `None` while another server of the same data folder listens.
    bound: Option<BoundSocket>,
}

/// A socket on which this server listens.
struct BoundSocket {
    folder: SocketFolder,
    listener: UnixListener,
    /// The lock of the socket, which the system releases when the process ends.
    _lock: File,
}

/// A request, with the connection for its answer and the number of its user.
type ReceivedRequest = (UnixStream, u32, ControlRequest);

impl ControlSocket {
    /// Begins to listen in a data folder, unless another server does. Without a socket a server still takes payments,
    /// so a failure is logged only.
    pub fn bind(data: &Path) -> Self {
        let bound = BoundSocket::bind(data).unwrap_or_else(|error| {
            log_failure(&error);
            None
        });
        Self { data: data.to_owned(), bound }
    }

    /// Carries requests out until `stop` changes, and returns when those in progress are answered. Takes the socket
    /// over when another server of the data folder ends.
    pub async fn serve(self, app: Arc<App>, mut stop: watch::Receiver<bool>) {
        let Self { data, mut bound } = self;
        loop {
            if let Some(bound) = &bound {
                return bound.serve(&app, stop).await;
            }
            tokio::select! {
                _ = stop.changed() => return,
                () = tokio::time::sleep(TAKEOVER_INTERVAL) => {}
            }
            bound = match BoundSocket::bind(&data) {
                Ok(taken) => taken,
                Err(error) => return log_failure(&error),
            };
        }
    }
}

fn log_failure(error: &io::Error) {
    tracing::warn!(%error, "opening the socket for commands failed: `tillgate review` and `tillgate line` cannot reach this server");
}

impl BoundSocket {
    /// Listens in a data folder, and replaces the socket of a server that was killed. Returns `None` if another server
    /// listens.
    fn bind(data: &Path) -> io::Result<Option<Self>> {
        let folder = SocketFolder::open(data)?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.lock_path())?;
        // Two servers may run on one folder, and a socket gives no sign whether its server still lives. The lock does,
        // so the second server does not take the socket away from the first one.
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        folder.remove_socket()?;
        let listener = UnixListener::bind(folder.socket_path())?;
        // Each connection is checked as well, because a client may come before this line, and root may open any file.
        fs::set_permissions(folder.socket_path(), Permissions::from_mode(0o600))?;
        Ok(Some(Self { folder, listener, _lock: lock }))
    }

    /// Accepts connections until `stop` changes, and returns when the requests in progress are answered.
    async fn serve(&self, app: &Arc<App>, mut stop: watch::Receiver<bool>) {
        let mut receiving: JoinSet<Option<ReceivedRequest>> = JoinSet::new();
        let mut waiting: VecDeque<AbortHandle> = VecDeque::new();
        let mut running = JoinSet::new();
        loop {
            tokio::select! {
                _ = stop.changed() => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        waiting.retain(|task| !task.is_finished());
                        if waiting.len() >= MAX_WAITING && let Some(oldest) = waiting.pop_front() {
                            oldest.abort();
                        }
                        let is_allowed = self.allows_peer(&stream);
                        waiting.push_back(receiving.spawn(receive_request(stream, is_allowed)));
                    }
                    // The process has no file left. A pause keeps the loop from taking the processor until it has one.
                    Err(_) => tokio::time::sleep(TAKEOVER_INTERVAL).await,
                },
                Some(received) = receiving.join_next() => if let Ok(Some(received)) = received {
                    running.spawn(answer_request(Arc::clone(app), received, running.len() >= MAX_RUNNING));
                },
                Some(_) = running.join_next() => {}
            }
        }
        // A decision in progress may have asked an acquirer, and its client waits for the answer.
        while running.join_next().await.is_some() {}
    }

    /// Returns true if the user of a connection may send requests.
    fn allows_peer(&self, stream: &UnixStream) -> bool {
        let allowed = stream.peer_cred().and_then(|peer| self.folder.allows_user(peer.uid()));
        allowed.unwrap_or(false)
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        // Before the lock is released, so that the socket is still this server's. The next server would replace it.
        let _ = self.folder.remove_socket();
    }
}

/// Receives the request of a connection. Answers it here, and returns `None`, if it cannot be read or is not allowed.
async fn receive_request(mut stream: UnixStream, is_allowed: bool) -> Option<ReceivedRequest> {
    let refused = if is_allowed {
        match (receive_line(&mut stream, REQUEST_TIMEOUT).await, stream.peer_cred()) {
            (Ok(request), Ok(peer)) => return Some((stream, peer.uid(), request)),
            (Err(error), _) | (_, Err(error)) => {
                ControlAnswer::refuse("request", format!("the gateway cannot read the request: {error}"))
            }
        }
    } else {
        tracing::warn!("a user who does not own the data folder has connected to its socket");
        ControlAnswer::refuse("user", "only the owner of the data folder and root may send commands to the gateway")
    };
    let _ = send_line(&mut stream, &refused).await;
    None
}

/// Carries a request out and answers it. `is_busy`: too many others are in progress.
async fn answer_request(app: Arc<App>, (mut stream, user, request): ReceivedRequest, is_busy: bool) {
    let answer = if is_busy {
        ControlAnswer::Failed { message: "the gateway carries out too many requests: repeat this one later".to_owned() }
    } else {
        carry_out(&app, request, user).await
    };
    // A client that has left misses the answer only. The request is carried out.
    let _ = send_line(&mut stream, &answer).await;
}

/// Carries a request of a user out.
async fn carry_out(app: &App, request: ControlRequest, user: u32) -> ControlAnswer {
    let (payment, decision, analyst, reason, note, name) = match request {
        ControlRequest::DecideReview { payment, decision, analyst, reason, note, user } => {
            (payment, decision, analyst, reason, note, user)
        }
        ControlRequest::ListLines => return describe_lines(app.gateway.connectors.lines().iter().map(|line| &**line)),
        ControlRequest::TakeLineOut { line } => return change_line(app, &line, true).await,
        ControlRequest::PutLineBack { line } => return change_line(app, &line, false).await,
    };
    let actor = Actor::of_operator(process::describe_user_of(&name, user));
    let input = SentDecision { payment, decision, analyst, reason, note, actor };
    match app.gateway.decide_for_operator(&input).await {
        Ok(payment) => ControlAnswer::Done {
            result: payment.result.code().to_owned(),
            message: payment.result.description().to_owned(),
        },
        Err(ActError::Refused { parameter, message }) => ControlAnswer::refuse(parameter, message),
        Err(error) => {
            tracing::warn!(%error, payment = log_tag(&input.payment), "deciding a held payment for a command failed");
            ControlAnswer::Failed { message: error.to_string() }
        }
    }
}

/// Takes a line out or puts it back, and returns its state afterwards.
async fn change_line(app: &App, name: &str, is_taken_out: bool) -> ControlAnswer {
    let Some(line) = app.gateway.connectors.find_line(name) else {
        return ControlAnswer::refuse(
            "line",
            format!("the gateway has no line {name:?}: `tillgate line list` shows all"),
        );
    };
    if is_taken_out {
        line.take_out().await;
    } else {
        line.put_back();
    }
    describe_lines([line])
}

fn describe_lines<'a>(lines: impl IntoIterator<Item = &'a HostLine>) -> ControlAnswer {
    ControlAnswer::Lines { lines: lines.into_iter().map(|line| line.read_state().into()).collect() }
}
