//! The part of a line that its handle, its task and its connection share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tillgate_os::clock::{Clock as _, SystemClock};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use super::config::LineConfig;
use super::fault::NotSentReason;
use super::late_answers::{LateAnswer, LateAnswers, LateReason};
use super::protocol::{KeyUse, LineMessage, LineProtocol, RequestKey};
use super::request_table::{ConnectionEnd, LineIntent, LineRequestTable, SendResult};
use super::state::{LinePhase, LineState};

/// The shared part of a line.
pub(super) struct LineShared {
    pub(super) name: Arc<str>,
    pub(super) config: LineConfig,
    pub(super) protocol: Arc<dyn LineProtocol>,
    late_answers: Arc<dyn LateAnswers>,
    /// Locked for a few instructions, and never across an `await`.
    record: Mutex<LineRecord>,
    phase: watch::Sender<LinePhase>,
    /// Wakes the task after a change of the table: a new request, or another intent.
    pub(super) wake: Notify,
}

/// The locked part of a line.
struct LineRecord {
    table: LineRequestTable,
    since: Timestamp,
    last_error: Option<String>,
    last_answer: Option<Timestamp>,
}

impl LineShared {
    /// Creates the shared part of a line that is not connected.
    pub(super) fn new(config: LineConfig, protocol: Arc<dyn LineProtocol>, late_answers: Arc<dyn LateAnswers>) -> Self {
        let table = LineRequestTable::new(config.limits);
        let phase = watch::Sender::new(table.visible_phase());
        let record = LineRecord { table, since: SystemClock.now(), last_error: None, last_answer: None };
        Self {
            name: config.name.as_str().into(),
            config,
            protocol,
            late_answers,
            record: Mutex::new(record),
            phase,
            wake: Notify::new(),
        }
    }

    /// Reads or changes the table, and announces a change of the phase.
    pub(super) fn with_table<T>(&self, change: impl FnOnce(&mut LineRequestTable) -> T) -> T {
        let mut record = self.lock_record();
        let result = change(&mut record.table);
        let phase = record.table.visible_phase();
        // The phase is announced under the lock, so that announcements have the order of the changes.
        if *self.phase.borrow() != phase {
            record.since = SystemClock.now();
            self.phase.send_replace(phase);
        }
        result
    }

    /// Puts a request into the queue, and wakes the task.
    ///
    /// # Errors
    /// The reason why the request is refused.
    pub(super) fn admit_request(
        &self,
        key: RequestKey,
        key_use: KeyUse,
        bytes: Vec<u8>,
    ) -> Result<oneshot::Receiver<SendResult>, NotSentReason> {
        let admitted = self.with_table(|table| table.admit_request(key, key_use, bytes, Instant::now()))?;
        self.wake.notify_one();
        Ok(admitted)
    }

    /// Gives an answer to its request, or to the sink of late answers. Returns true if a request has waited for it.
    pub(super) fn take_answer(&self, key: RequestKey, answer: LineMessage) -> bool {
        let taken = self.with_table(|table| table.take_answer(&key, answer, Instant::now()));
        match taken {
            Ok(()) => {
                self.lock_record().last_answer = Some(SystemClock.now());
                true
            }
            Err((reason, message)) => {
                self.pass_late_answer(key, message, reason);
                false
            }
        }
    }

    /// Passes an answer on that its request has not read.
    pub(super) fn return_answer(&self, key: RequestKey, answer: LineMessage) {
        self.with_table(|table| table.counters.late += 1);
        self.pass_late_answer(key, answer, LateReason::GivenUp);
    }

    fn pass_late_answer(&self, key: RequestKey, message: LineMessage, reason: LateReason) {
        // Not above the level `debug`, because a host can send any number of them. The sink knows their meaning.
        tracing::debug!(line = %self.name, %key, ?reason, "a line received an answer that no request waits for");
        self.late_answers.take_late_answer(LateAnswer { line: Arc::clone(&self.name), key, message, reason });
    }

    /// Changes the task of the line.
    pub(super) fn set_intent(&self, intent: LineIntent) {
        self.with_table(|table| table.set_intent(intent));
        self.wake.notify_one();
    }

    pub(super) fn intent(&self) -> LineIntent {
        self.with_table(|table| table.intent())
    }

    /// Sets the phase of the connection.
    pub(super) fn set_phase(&self, phase: LinePhase) {
        self.with_table(|table| table.set_phase(phase));
    }

    /// Ends all requests with their connection. See [`LineRequestTable::end_all_requests`].
    pub(super) fn end_connection(&self, end: &ConnectionEnd, is_exact: bool) {
        if let ConnectionEnd::Broken(reason) = end {
            self.lock_record().last_error = Some(reason.clone());
        }
        self.with_table(|table| {
            // The phase changes under the same lock, so that no request is admitted after this.
            table.set_phase(LinePhase::Waiting);
            table.end_all_requests(end, is_exact, Instant::now());
        });
    }

    /// Ends the line for good, with all its requests. The connection may still be writing.
    pub(super) fn stop(&self) {
        self.with_table(|table| {
            table.set_intent(LineIntent::Abandon);
            table.set_phase(LinePhase::Stopped);
            table.end_all_requests(&ConnectionEnd::Left, false, Instant::now());
        });
        self.wake.notify_one();
    }

    /// Returns a receiver of the phase.
    pub(super) fn watch_phase(&self) -> watch::Receiver<LinePhase> {
        self.phase.subscribe()
    }

    /// Returns a snapshot.
    pub(super) fn read_state(&self) -> LineState {
        let record = self.lock_record();
        let counters = record.table.counters;
        LineState {
            name: Arc::clone(&self.name),
            address: self.config.address.to_string(),
            phase: record.table.visible_phase(),
            since: record.since,
            in_flight: record.table.in_flight(),
            last_error: record.last_error.clone(),
            sent: counters.sent,
            answered: counters.answered,
            late: counters.late,
            failed: counters.failed,
            last_answer: record.last_answer,
        }
    }

    fn lock_record(&self) -> MutexGuard<'_, LineRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
