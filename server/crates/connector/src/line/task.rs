//! The task of a line: it connects, waits after faults, and connects again, until the line is shut down.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::backoff::{ReconnectWait, draw_jitter};
use super::connect::{HostStream, LineConnector};
use super::connection::{FinishedConnection, LineConnection};
use super::request_table::{ConnectionEnd, LineIntent};
use super::shared::LineShared;
use super::state::LinePhase;

/// Stops a line when its task ends in any way, so that no caller waits for a task that is gone.
struct StopGuard(Arc<LineShared>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Keeps a line connected until it is shut down.
pub(super) async fn run_line(shared: Arc<LineShared>, connector: Arc<LineConnector>) {
    let _guard = StopGuard(Arc::clone(&shared));
    let limits = shared.config.limits;
    let mut wait = ReconnectWait::new(limits.first_backoff, limits.max_backoff);
    loop {
        match shared.intent() {
            LineIntent::Stop | LineIntent::Abandon => return,
            LineIntent::TakeOut => {
                shared.set_phase(LinePhase::TakenOut);
                wait.reset();
                shared.wake.notified().await;
                continue;
            }
            LineIntent::Run => {}
        }
        let start = Instant::now();
        let FinishedConnection { end, is_proven } = run_guarded(&shared, &connector).await;
        let ConnectionEnd::Broken(reason) = end else { continue };
        // A host that accepts connections and drops them at once must not be connected to in a tight loop, so a
        // connection has to prove itself before the wait is short again.
        if is_proven || start.elapsed() >= limits.max_backoff {
            wait.reset();
        }
        let pause = wait.next_wait(draw_jitter());
        let host = &shared.config.address;
        let wait_ms = pause.as_millis();
        tracing::warn!(line = %shared.name, %host, reason, wait_ms, "a line failed to keep its connection");
        wait_before_reconnect(&shared, pause).await;
    }
}

/// Waits, unless the line is taken out or shut down.
async fn wait_before_reconnect(shared: &LineShared, pause: Duration) {
    shared.set_phase(LinePhase::Waiting);
    let end = Instant::now() + pause;
    while shared.intent() == LineIntent::Run {
        tokio::select! {
            () = sleep_until(end) => return,
            () = shared.wake.notified() => {}
        }
    }
}

/// Runs one connection in a separate task. A panic in the code of the protocol ends the connection and not the line.
async fn run_guarded(shared: &Arc<LineShared>, connector: &Arc<LineConnector>) -> FinishedConnection {
    // The set aborts the task when it is dropped.
    let mut tasks = JoinSet::new();
    tasks.spawn(run_connection(Arc::clone(shared), Arc::clone(connector)));
    match tasks.join_next().await {
        Some(Ok(finished)) => finished,
        Some(Err(_)) | None => {
            let end = ConnectionEnd::Broken("the task of the connection has failed; see the log".to_owned());
            shared.end_connection(&end, false);
            FinishedConnection { end, is_proven: false }
        }
    }
}

/// Connects, and uses the connection until it ends.
async fn run_connection(shared: Arc<LineShared>, connector: Arc<LineConnector>) -> FinishedConnection {
    shared.set_phase(LinePhase::Connecting);
    match connect_unless_leaving(&shared, &connector).await {
        Some(Ok(stream)) => LineConnection::new(shared, stream, connector.is_encrypted()).run().await,
        Some(Err(reason)) => {
            let end = ConnectionEnd::Broken(reason);
            shared.end_connection(&end, true);
            FinishedConnection { end, is_proven: false }
        }
        None => FinishedConnection { end: ConnectionEnd::Left, is_proven: false },
    }
}

/// Connects. Returns `None` if the line is taken out or shut down meanwhile.
async fn connect_unless_leaving(
    shared: &LineShared,
    connector: &LineConnector,
) -> Option<Result<Box<dyn HostStream>, String>> {
    let mut connect = std::pin::pin!(connector.connect());
    while shared.intent() == LineIntent::Run {
        tokio::select! {
            connected = &mut connect => return Some(connected),
            () = shared.wake.notified() => {}
        }
    }
    None
}
