//! The requests of a line: admission, the queue of frames, answers and time limits. Does no I/O and never waits, so
//! every decision about a request is made at one moment under one lock.

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::circuit::CircuitBreaker;
use super::config::LineLimits;
use super::fault::{NotSentReason, SendFault, UnknownReason};
use super::late_answers::LateReason;
use super::protocol::{KeyUse, LineMessage, RequestKey};
use super::state::LinePhase;
use super::used_keys::{KeyEnd, MAX_UNANSWERED, UsedKeys};

/// The result of a request.
pub(super) type SendResult = Result<LineMessage, SendFault>;

/// The task of a line, given by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineIntent {
    /// Stay connected.
    Run,
    /// Finish the requests in flight, sign off and wait.
    TakeOut,
    /// Finish the requests in flight, sign off and end.
    Stop,
    /// End at once.
    Abandon,
}

/// The progress of a request. The stages are in the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RequestStage {
    /// The frame is in the queue.
    Queued,
    /// The connection has taken the frame, and has written no byte that it knows of.
    Taken,
    /// The connection has written a part of the frame.
    Begun,
    /// The frame is written.
    Written,
}

/// A request in flight.
#[derive(Debug)]
struct PendingRequest {
    sequence: u64,
    stage: RequestStage,
    start: Instant,
    answer: oneshot::Sender<SendResult>,
}

/// A frame in the queue.
#[derive(Debug)]
pub(super) struct RequestFrame {
    /// Key of the request.
    pub(super) key: RequestKey,
    /// Number of the request, which is never used again, other than its key.
    pub(super) sequence: u64,
    /// Bytes to write.
    pub(super) bytes: Vec<u8>,
}

/// Counters for operators.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineCounters {
    pub(super) sent: u64,
    pub(super) answered: u64,
    pub(super) late: u64,
    pub(super) failed: u64,
}

/// The reason why a connection has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// The line was taken out or shut down.
    Left,
    /// A fault, in plain words.
    Broken(String),
}

/// The requests of a line.
#[derive(Debug)]
pub(super) struct LineRequestTable {
    limits: LineLimits,
    intent: LineIntent,
    phase: LinePhase,
    next_sequence: u64,
    in_flight: HashMap<RequestKey, PendingRequest>,
    queue: VecDeque<RequestFrame>,
    used_keys: UsedKeys,
    /// Key of the control message that waits for its answer.
    control_key: Option<RequestKey>,
    circuit: CircuitBreaker,
    pub(super) counters: LineCounters,
}

impl LineRequestTable {
    /// Creates the table of a line that is not connected.
    pub(super) fn new(limits: LineLimits) -> Self {
        Self {
            limits,
            intent: LineIntent::Run,
            phase: LinePhase::Waiting,
            next_sequence: 0,
            in_flight: HashMap::new(),
            queue: VecDeque::new(),
            used_keys: UsedKeys::new(limits.key_keep_time),
            control_key: None,
            circuit: CircuitBreaker::new(limits.circuit_failures, limits.circuit_open_time),
            counters: LineCounters::default(),
        }
    }

    /// Returns the phase as operators see it.
    pub(super) fn visible_phase(&self) -> LinePhase {
        match self.phase {
            LinePhase::Connected if self.intent != LineIntent::Run => LinePhase::Leaving,
            LinePhase::Connected if self.circuit.is_open() => LinePhase::CircuitOpen,
            phase => phase,
        }
    }

    /// Sets the phase of the connection. A stopped line stays stopped.
    pub(super) fn set_phase(&mut self, phase: LinePhase) {
        if self.phase != LinePhase::Stopped {
            self.phase = phase;
        }
    }

    pub(super) fn intent(&self) -> LineIntent {
        self.intent
    }

    /// Sets the task of the line. A line that stops can be abandoned, and nothing else.
    pub(super) fn set_intent(&mut self, intent: LineIntent) {
        let is_final = matches!(self.intent, LineIntent::Stop | LineIntent::Abandon);
        if !is_final || intent == LineIntent::Abandon {
            self.intent = intent;
        }
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Lets a line that has to leave do so, unless a request is in flight. Returns true if it leaves. No request is
    /// admitted afterwards.
    pub(super) fn start_leaving(&mut self) -> bool {
        // One step under the lock: between a check and the change, `put_back` could let a request in.
        let can_leave = self.intent != LineIntent::Run && self.in_flight.is_empty();
        if can_leave {
            self.set_phase(LinePhase::Leaving);
        }
        can_leave
    }

    /// Returns true if an answer with this key could belong to another request.
    pub(super) fn is_key_used(&mut self, key: &RequestKey, key_use: KeyUse, now: Instant) -> bool {
        self.in_flight.contains_key(key)
            || self.control_key.as_ref() == Some(key)
            || (key_use == KeyUse::New && self.used_keys.find_end(key, now).is_some())
    }

    /// Returns true if a request is admitted now.
    pub(super) fn can_take_request(&self, now: Instant) -> bool {
        self.intent == LineIntent::Run
            && self.phase == LinePhase::Connected
            && self.circuit.allows_request(now)
            && self.in_flight.len() < self.limits.max_in_flight
    }

    /// Sets the key of the control message that waits for its answer.
    pub(super) fn set_control_key(&mut self, key: Option<RequestKey>) {
        self.control_key = key;
    }

    /// Puts a request into the queue. The result comes through the returned channel.
    ///
    /// # Errors
    /// The reason why the request is refused.
    pub(super) fn admit_request(
        &mut self,
        key: RequestKey,
        key_use: KeyUse,
        bytes: Vec<u8>,
        now: Instant,
    ) -> Result<oneshot::Receiver<SendResult>, NotSentReason> {
        match self.intent {
            LineIntent::Run => {}
            LineIntent::TakeOut => return Err(NotSentReason::TakenOut),
            LineIntent::Stop | LineIntent::Abandon => return Err(NotSentReason::Stopped),
        }
        // A key in use is the caller's fault on every line, so it is reported before any fault of this line.
        if self.is_key_used(&key, key_use, now) {
            return Err(NotSentReason::KeyInUse(key));
        }
        match self.phase {
            LinePhase::Connected => {}
            LinePhase::Stopped => return Err(NotSentReason::Stopped),
            _ => return Err(NotSentReason::NotConnected),
        }
        if !self.circuit.allows_request(now) {
            return Err(NotSentReason::CircuitOpen);
        }
        if self.in_flight.len() >= self.limits.max_in_flight {
            return Err(NotSentReason::QueueFull(self.in_flight.len()));
        }
        if self.used_keys.is_full(self.in_flight.len(), now) {
            return Err(NotSentReason::TooManyUnanswered(MAX_UNANSWERED));
        }
        // A repeated request takes its key over, and remembers it anew at its end.
        self.used_keys.forget_key(&key);
        let sequence = self.next_sequence;
        self.next_sequence = sequence.wrapping_add(1);
        self.circuit.start_request(sequence);
        let (answer, result) = oneshot::channel();
        let pending = PendingRequest { sequence, stage: RequestStage::Queued, start: now, answer };
        self.in_flight.insert(key.clone(), pending);
        self.queue.push_back(RequestFrame { key, sequence, bytes });
        Ok(result)
    }

    /// Takes the next frame to write, which counts as not sent until [`Self::record_write`]. Requests whose callers are
    /// gone are dropped.
    pub(super) fn take_frame(&mut self, now: Instant) -> Option<RequestFrame> {
        while let Some(frame) = self.queue.pop_front() {
            let Some(pending) = self.in_flight.get_mut(&frame.key) else { continue };
            if pending.answer.is_closed() {
                // A payment that no caller waits for any more is better not sent.
                self.in_flight.remove(&frame.key);
                self.circuit.withdraw_request(frame.sequence, now);
                continue;
            }
            pending.stage = RequestStage::Taken;
            return Some(frame);
        }
        None
    }

    /// Records that bytes of a frame were written, and if they were the last.
    pub(super) fn record_write(&mut self, frame: &RequestFrame, is_whole: bool) {
        let found = self.in_flight.get_mut(&frame.key).filter(|pending| pending.sequence == frame.sequence);
        let Some(pending) = found else { return };
        if pending.stage < RequestStage::Begun {
            self.counters.sent += 1;
        }
        pending.stage = if is_whole { RequestStage::Written } else { RequestStage::Begun };
    }

    /// Gives an answer to its request. Returns the answer with the reason if no request waits for it.
    pub(super) fn take_answer(
        &mut self,
        key: &RequestKey,
        answer: LineMessage,
        now: Instant,
    ) -> Result<(), (LateReason, LineMessage)> {
        // An answer to a request that is not written cannot be its own.
        let is_awaited = self.in_flight.get(key).is_some_and(|pending| pending.stage == RequestStage::Written);
        let pending = if is_awaited { self.in_flight.remove(key) } else { None };
        let Some(pending) = pending else {
            self.counters.late += 1;
            return Err((self.find_late_reason(key, now), answer));
        };
        self.used_keys.remember_key(key.clone(), KeyEnd::Answered, now);
        self.circuit.record_answer(pending.sequence);
        match pending.answer.send(Ok(answer)) {
            Ok(()) => {
                self.counters.answered += 1;
                Ok(())
            }
            Err(unread) => {
                self.counters.late += 1;
                Err((LateReason::GivenUp, unread.unwrap_or_default()))
            }
        }
    }

    fn find_late_reason(&mut self, key: &RequestKey, now: Instant) -> LateReason {
        match self.used_keys.find_end(key, now) {
            Some(KeyEnd::Unanswered) => {
                self.used_keys.record_late_answer(key);
                LateReason::GivenUp
            }
            Some(KeyEnd::Answered) => LateReason::Duplicate,
            None => LateReason::Unmatched,
        }
    }

    /// Returns the time of the next [`Self::end_late_requests`].
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.in_flight.values().map(|pending| self.find_deadline(pending)).min()
    }

    /// Returns the time until which a request has to leave the queue, or has to be answered if it has left it.
    fn find_deadline(&self, pending: &PendingRequest) -> Instant {
        // A frame that the connection has taken has the connection's own time limit for writes. Without the frame, the
        // connection would have nothing to write, and would not notice that the host accepts nothing.
        let is_queued = pending.stage == RequestStage::Queued;
        pending.start + if is_queued { self.limits.write_timeout } else { self.limits.answer_timeout }
    }

    /// Ends the requests whose time is over.
    pub(super) fn end_late_requests(&mut self, now: Instant) {
        let is_late = |pending: &PendingRequest| self.find_deadline(pending) <= now;
        let late: Vec<RequestKey> =
            self.in_flight.iter().filter(|(_, pending)| is_late(pending)).map(|(key, _)| key.clone()).collect();
        for key in late {
            let Some(pending) = self.in_flight.remove(&key) else { continue };
            if pending.stage >= RequestStage::Begun {
                let reason = UnknownReason::Timeout(self.limits.answer_timeout.as_millis());
                self.circuit.record_failure(pending.sequence, now);
                self.fail_request(key, pending, reason, now);
            } else {
                self.queue.retain(|frame| frame.sequence != pending.sequence);
                let reason = NotSentReason::NotWritten(now.duration_since(pending.start).as_millis());
                self.refuse_request(pending, reason, now);
            }
        }
    }

    /// Returns true if the request of a taken frame still waits for its turn.
    pub(super) fn is_frame_due(&self, frame: &RequestFrame) -> bool {
        self.in_flight.get(&frame.key).is_some_and(|pending| pending.sequence == frame.sequence)
    }

    /// Ends all requests with their connection. `is_exact` says that no other task can still write the frame that the
    /// connection has taken; otherwise its outcome is unknown.
    pub(super) fn end_all_requests(&mut self, end: &ConnectionEnd, is_exact: bool, now: Instant) {
        self.queue.clear();
        self.control_key = None;
        let first_unknown = if is_exact { RequestStage::Begun } else { RequestStage::Taken };
        let pending: Vec<_> = self.in_flight.drain().collect();
        let (begun, waiting): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|(_, pending)| pending.stage >= first_unknown);
        // One broken connection is one failure, however many requests were in flight. A probe is always the newest.
        let newest = begun.iter().map(|(_, pending)| pending.sequence).max();
        if let (Some(newest), ConnectionEnd::Broken(_)) = (newest, end) {
            self.circuit.record_failure(newest, now);
        }
        for (key, pending) in begun {
            let reason = match end {
                ConnectionEnd::Left => UnknownReason::Stopped,
                ConnectionEnd::Broken(text) => UnknownReason::ConnectionEnded(text.clone()),
            };
            self.fail_request(key, pending, reason, now);
        }
        for (_, pending) in waiting {
            let reason = match end {
                ConnectionEnd::Left => NotSentReason::Stopped,
                ConnectionEnd::Broken(text) => NotSentReason::ConnectionEnded(text.clone()),
            };
            self.refuse_request(pending, reason, now);
        }
    }

    /// Ends a request whose outcome is unknown.
    fn fail_request(&mut self, key: RequestKey, pending: PendingRequest, reason: UnknownReason, now: Instant) {
        self.used_keys.remember_key(key, KeyEnd::Unanswered, now);
        self.counters.failed += 1;
        // A caller that has gone needs no result.
        let _ = pending.answer.send(Err(reason.into()));
    }

    /// Ends a request that was not sent. Its key can be used again.
    fn refuse_request(&mut self, pending: PendingRequest, reason: NotSentReason, now: Instant) {
        self.circuit.withdraw_request(pending.sequence, now);
        let _ = pending.answer.send(Err(reason.into()));
    }
}
