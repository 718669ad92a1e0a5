//! The handle of a line: requests, and the commands of operators.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};

use super::config::{LineConfig, LineConfigError};
use super::connect::LineConnector;
use super::fault::{NotSentReason, SendFault, UnknownReason};
use super::late_answers::LateAnswers;
use super::protocol::{KeyUse, LineMessage, LineProtocol, RequestKey};
use super::request_table::{LineIntent, SendResult};
use super::shared::LineShared;
use super::state::{LinePhase, LineState};
use super::task::run_line;

/// Time for the connection to end after its requests were given up. It only has to be scheduled once.
const ABANDON_LIMIT: Duration = Duration::from_secs(1);

/// A line to an acquirer's host: one long-lived connection that carries many requests at once. A dropped line ends its
/// connection and its task at once.
pub struct HostLine {
    shared: Arc<LineShared>,
    task: AbortHandle,
}

impl fmt::Debug for HostLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostLine").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

impl HostLine {
    /// Starts a line in the current runtime. It connects at once, and again after each fault.
    ///
    /// # Errors
    /// If a limit, the host name or the CA file cannot be used, or outside of a runtime. A host that cannot be reached
    /// is no error.
    pub fn start(
        config: LineConfig,
        protocol: Arc<dyn LineProtocol>,
        late_answers: Arc<dyn LateAnswers>,
    ) -> Result<Self, LineConfigError> {
        config.limits.check_ranges()?;
        let connector = Arc::new(LineConnector::new(&config)?);
        let runtime = Handle::try_current().map_err(|_| LineConfigError::NoRuntime)?;
        let shared = Arc::new(LineShared::new(config, protocol, late_answers));
        let task = runtime.spawn(run_line(Arc::clone(&shared), connector)).abort_handle();
        Ok(Self { shared, task })
    }

    /// Returns the name of the line.
    pub fn name(&self) -> &Arc<str> {
        &self.shared.name
    }

    /// Sends a request, and waits for its answer, at most for the answer time-out. A caller that stops waiting leaves
    /// the request in flight; its answer goes to the sink of late answers.
    ///
    /// # Errors
    /// [`SendFault::NotSent`] if no byte of the request was sent, otherwise [`SendFault::Unknown`].
    pub async fn send_request(
        &self,
        key: RequestKey,
        key_use: KeyUse,
        message: &[u8],
    ) -> Result<LineMessage, SendFault> {
        // Outside of the lock: a protocol may take a while.
        let mut frame = Vec::new();
        self.shared.protocol.frame_message(message, &mut frame).map_err(NotSentReason::InvalidMessage)?;
        if frame.is_empty() {
            return Err(NotSentReason::InvalidMessage("its frame is empty".to_owned()).into());
        }
        let result = self.shared.admit_request(key.clone(), key_use, frame)?;
        let mut awaited = AwaitedAnswer { shared: &self.shared, key, result };
        // The table keeps the sender until it has sent a result. Without one, nothing is certain.
        (&mut awaited.result).await.unwrap_or(Err(SendFault::Unknown(UnknownReason::Stopped)))
    }

    /// Returns a snapshot for operators.
    pub fn read_state(&self) -> LineState {
        self.shared.read_state()
    }

    /// Returns the number of requests in flight.
    pub fn count_in_flight(&self) -> usize {
        self.shared.with_table(|table| table.in_flight())
    }

    /// Returns a receiver of the current phase and its changes.
    pub fn watch_phase(&self) -> watch::Receiver<LinePhase> {
        self.shared.watch_phase()
    }

    /// Returns true if the line takes a request now: it is signed on, and its circuit breaker allows one.
    pub fn can_take_request(&self) -> bool {
        self.shared.with_table(|table| table.can_take_request(Instant::now()))
    }

    /// Returns true if a request with this key is in flight, or was a short while ago, so that it cannot be used so.
    pub fn has_used_key(&self, key: &RequestKey, key_use: KeyUse) -> bool {
        self.shared.with_table(|table| table.is_key_used(key, key_use, Instant::now()))
    }

    /// Takes the line out of use. New requests are refused from now on; requests in flight are finished, and the line
    /// signs off. Waits until the line is out, at most for the time limits of an answer, an echo and a sign-off, or
    /// until the line is put back.
    pub async fn take_out(&self) {
        self.shared.set_intent(LineIntent::TakeOut);
        let mut phase = self.shared.watch_phase();
        let is_done = |phase: &LinePhase| matches!(phase, LinePhase::TakenOut | LinePhase::Stopped);
        loop {
            // The sender lives as long as this line, so the wait has no error.
            if is_done(&phase.borrow_and_update()) || self.shared.intent() == LineIntent::Run {
                return;
            }
            let _ = phase.changed().await;
        }
    }

    /// Puts the line back into use. It connects again if it has signed off.
    pub fn put_back(&self) {
        self.shared.set_intent(LineIntent::Run);
    }

    /// Shuts the line down for good. New requests are refused from now on. Waits for the answers in flight up to a time
    /// limit; requests without an answer are then unknown.
    pub async fn shut_down(&self, limit: Duration) {
        self.shared.set_intent(LineIntent::Stop);
        if timeout(limit, self.wait_until_stopped()).await.is_ok() {
            return;
        }
        self.shared.set_intent(LineIntent::Abandon);
        if timeout(ABANDON_LIMIT, self.wait_until_stopped()).await.is_err() {
            // The task is stuck in foreign code, such as a sink that blocks. It ends when that code returns.
            self.shared.stop();
        }
    }

    async fn wait_until_stopped(&self) {
        let mut phase = self.shared.watch_phase();
        let _ = phase.wait_for(|phase| *phase == LinePhase::Stopped).await;
    }
}

impl Drop for HostLine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A caller that waits for its answer.
struct AwaitedAnswer<'a> {
    shared: &'a LineShared,
    key: RequestKey,
    result: oneshot::Receiver<SendResult>,
}

impl Drop for AwaitedAnswer<'_> {
    fn drop(&mut self) {
        // An answer can arrive between the moment at which its caller stops waiting and this one. It is not lost.
        self.result.close();
        if let Ok(Ok(answer)) = self.result.try_recv() {
            self.shared.return_answer(self.key.clone(), answer);
        }
    }
}

/// Shuts lines down side by side, as [`HostLine::shut_down`] does for each.
pub async fn shut_down_lines(lines: Vec<Arc<HostLine>>, limit: Duration) {
    let mut stopping = JoinSet::new();
    for line in lines {
        stopping.spawn(async move { line.shut_down(limit).await });
    }
    stopping.join_all().await;
}
