//! One connection: reads frames, starts a task for each request, and sends the host's own echo.

use std::net::SocketAddr;
use std::sync::Arc;

use tillgate_connector::iso8583::{Frame, FrameReader};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::echo::{AwaitedEcho, create_echo};
use super::host::{IsoHost, ReceivedMessage};
use super::output::{IsoOutput, write_outputs};
use super::service::answer_request;

/// Maximum number of requests in flight on a connection. The host does not read further ones before one is answered.
const MAX_PENDING: usize = 256;
/// Size of a read, in bytes.
const READ_SIZE: usize = 8 * 1024;
/// Highest trace number in six digits.
const MAX_TRACE: u64 = 999_999;

/// The end of a connection.
enum IsoConnectionEnd {
    /// The client has closed its side between two frames, or the last bytes are written.
    Closed,
    /// The host stops.
    Stopping,
    /// The reason in plain words, without card data.
    Broken(String),
}

/// A connection that is read.
struct IsoConnection {
    host: Arc<IsoHost>,
    stream: OwnedReadHalf,
    frames: FrameReader,
    output: mpsc::Sender<IsoOutput>,
    tasks: JoinSet<()>,
    slots: Arc<Semaphore>,
    stopping: watch::Receiver<bool>,
    last_message: Instant,
    echo: Option<AwaitedEcho>,
    trace_number: u64,
}

/// Serves a connection until the client closes it, it breaks, or the host stops. Logs the reason if it breaks. Requests
/// in flight are booked in any case.
pub(super) async fn serve_iso_connection(host: Arc<IsoHost>, stream: TcpStream, peer: SocketAddr) {
    // Messages are small, so waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let (reading, writing) = stream.into_split();
    let (output, queue) = mpsc::channel(MAX_PENDING);
    let writer = tokio::spawn(write_outputs(writing, queue, host.write_timeout));
    let mut connection = IsoConnection {
        stream: reading,
        frames: FrameReader::new(host.dialect.frames().clone()),
        output,
        tasks: JoinSet::new(),
        slots: Arc::new(Semaphore::new(MAX_PENDING)),
        stopping: host.state.stopping.clone(),
        last_message: Instant::now(),
        echo: None,
        trace_number: 0,
        host,
    };
    let end = connection.read_messages().await;
    let IsoConnection { mut tasks, output, .. } = connection;
    let is_written = output.is_closed();
    drop(output);
    let mut reason = None;
    if let IsoConnectionEnd::Broken(broken) = end {
        writer.abort();
        reason = Some(broken);
    }
    if reason.is_some() || is_written {
        // A booking continues although its answer is lost, which is also so at a real host.
        tasks.detach_all();
    }
    // The client may still read the answers to its last requests.
    while tasks.join_next().await.is_some() {}
    if let Ok(Err(failed)) = writer.await {
        reason = Some(failed);
    }
    if let Some(reason) = reason {
        tracing::warn!(%peer, reason, "an ISO 8583 connection failed");
    }
}

impl IsoConnection {
    /// Reads messages until the connection ends.
    async fn read_messages(&mut self) -> IsoConnectionEnd {
        let mut buffer = vec![0; READ_SIZE];
        loop {
            loop {
                let taken = match self.frames.next_frame() {
                    Ok(None) => break,
                    Ok(Some(frame)) => self.take_frame(frame).await,
                    Err(error) => Err(IsoConnectionEnd::Broken(error.to_string())),
                };
                if let Err(end) = taken {
                    return end;
                }
            }
            let next_time = self.find_next_time();
            let read = tokio::select! {
                // Received bytes come before the time: they may be the answer to the echo.
                biased;
                _ = self.stopping.wait_for(|stopping| *stopping) => return IsoConnectionEnd::Stopping,
                () = self.output.closed() => return IsoConnectionEnd::Closed,
                read = self.stream.read(&mut buffer) => Some(read),
                () = sleep_until(next_time) => None,
            };
            let read_end = match read {
                Some(Ok(0)) if self.frames.has_partial_frame() => {
                    Some(IsoConnectionEnd::Broken("the client closed it within a frame".to_owned()))
                }
                Some(Ok(0)) => Some(IsoConnectionEnd::Closed),
                Some(Ok(length)) => {
                    self.frames.push_bytes(buffer.get(..length).unwrap_or_default());
                    None
                }
                Some(Err(error)) => Some(IsoConnectionEnd::Broken(format!("reading failed: {error}"))),
                None => self.send_echo().err(),
            };
            if let Some(end) = read_end {
                return end;
            }
        }
    }

    /// Returns the time of the next echo, or the time until which the last one has to be answered.
    fn find_next_time(&self) -> Instant {
        self.echo.as_ref().map_or(self.last_message + self.host.echo_after, |echo| echo.deadline)
    }

    /// Sends an echo. Does nothing if the dialect has none.
    ///
    /// # Errors
    /// The end of the connection, if the client has not answered the last echo.
    fn send_echo(&mut self) -> Result<(), IsoConnectionEnd> {
        if self.echo.is_some() {
            return Err(IsoConnectionEnd::Broken("the client failed to answer an echo".to_owned()));
        }
        self.trace_number = self.trace_number % MAX_TRACE + 1;
        self.last_message = Instant::now();
        let deadline = Instant::now() + self.host.echo_timeout;
        let now = self.host.state.clock.now();
        let Some((message, echo)) = create_echo(&self.host.dialect, self.trace_number, now, deadline) else {
            return Ok(());
        };
        // The host sends as the destination of the dialect's requests.
        let request = self.host.dialect.frames().frame_request(Vec::new());
        if let Some(frame) = self.host.frame_response(&request, &message) {
            // With a full queue the client does not read at present, so it cannot answer the echo either.
            let _ = self.output.try_send(IsoOutput::Frames(frame));
            self.echo = Some(echo);
        }
        Ok(())
    }

    /// Decodes a message, and starts the task of a request. Waits while too many requests are in flight.
    ///
    /// # Errors
    /// The end of the connection, if the bytes are no message of the dialect, or the connection ends meanwhile.
    async fn take_frame(&mut self, frame: Frame) -> Result<(), IsoConnectionEnd> {
        let received = self.host.decode_message(&frame.message);
        let received =
            received.map_err(|error| IsoConnectionEnd::Broken(format!("a message is malformed: {error}")))?;
        self.last_message = Instant::now();
        if received.message.mti().is_response() {
            self.take_response(&received);
            return Ok(());
        }
        let slots = [Arc::clone(&self.host.request_slots), Arc::clone(&self.slots)];
        let permits = tokio::select! {
            biased;
            _ = self.stopping.wait_for(|stopping| *stopping) => return Err(IsoConnectionEnd::Stopping),
            () = self.output.closed() => return Err(IsoConnectionEnd::Closed),
            permits = acquire_slots(slots) => permits,
        };
        while self.tasks.try_join_next().is_some() {}
        let (host, output) = (Arc::clone(&self.host), self.output.clone());
        self.tasks.spawn(async move {
            if let Some(answer) = answer_request(&host, &frame, &received).await {
                // It fails only if the connection has ended.
                let _ = output.send(answer).await;
            }
            drop(permits);
        });
        Ok(())
    }

    /// Ends the wait for an echo with its answer. Logs any other response: the host sends no other requests.
    fn take_response(&mut self, received: &ReceivedMessage) {
        let data = self.host.dialect.data();
        let is_answer = self.echo.as_ref().is_some_and(|echo| echo.is_answered_by(data, &received.message));
        if is_answer && received.is_verified {
            self.echo = None;
        } else {
            let message_type = received.message.mti();
            tracing::warn!(%message_type, "an ISO 8583 response failed to match an echo of this host");
        }
    }
}

/// Waits for a slot of the connection and one of the listener. Both are released with the returned permits.
async fn acquire_slots([listener, connection]: [Arc<Semaphore>; 2]) -> [Option<OwnedSemaphorePermit>; 2] {
    // The connection's slot comes first, so that a busy connection does not queue for the slots of the others. The
    // semaphores are never closed, so there are always permits.
    let own = connection.acquire_owned().await.ok();
    [own, listener.acquire_owned().await.ok()]
}
