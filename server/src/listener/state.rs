//! State of one connection: what it waits for, since when, and until when it may.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::ConnectionLimits;

/// Bytes of an answer that a client has to take within the send timeout: at 30 seconds about 1 kB/s.
pub(super) const PART: u32 = 32 * 1024;

/// Event that a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Phase {
    /// The client: the first byte of its next request.
    Idle,
    /// The client: the rest of a request's head.
    Head,
    /// The client: the rest of a request's body.
    Body,
    /// The service: the answer.
    Service,
}

/// State that the connection's task writes and the connection table reads. Atomics, because they are different threads; a
/// value that is a moment old is good enough for both.
#[derive(Debug)]
pub(super) struct ConnectionState {
    /// Zero of the times below, in microseconds: connections that come in one millisecond have an order, too.
    epoch: Instant,
    head_timeout: u64,
    idle_timeout: u64,
    send_timeout: u64,
    /// The peer is a trusted proxy, which carries the requests of many clients.
    pub(super) trusted: bool,
    phase: AtomicU8,
    phase_since: AtomicU64,
    /// Since when the client has taken less than a [`PART`] of what waits for it; 0 if nothing waits.
    stalled_since: AtomicU64,
    /// Bytes that the client has taken since then.
    taken: AtomicU32,
    /// When the answer was complete, but maybe not sent yet; 0 before.
    answered: AtomicU64,
    /// hyper's read buffer is larger than at first, so that the bytes of a body may stay in it.
    pub(super) buffer_grown: AtomicBool,
    /// The connection table has given its place to another connection.
    pub(super) evicted: AtomicBool,
    /// Tells the connection's task to close the connection.
    pub(super) close: Notify,
}

impl ConnectionState {
    /// State of a connection that was just accepted. The head timeout runs from now.
    pub(super) fn new(epoch: Instant, limits: &ConnectionLimits, trusted: bool) -> Self {
        let state = Self {
            epoch,
            head_timeout: microseconds(limits.head_timeout),
            idle_timeout: microseconds(limits.idle_timeout),
            send_timeout: microseconds(limits.send_timeout),
            trusted,
            phase: AtomicU8::new(Phase::Head as u8),
            phase_since: AtomicU64::new(0),
            stalled_since: AtomicU64::new(0),
            taken: AtomicU32::new(0),
            answered: AtomicU64::new(0),
            buffer_grown: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            close: Notify::new(),
        };
        state.enter(Phase::Head);
        state
    }

    /// The client sent something.
    pub(super) fn received(&self) {
        if self.phase() == Phase::Idle {
            self.enter(Phase::Head);
        }
    }

    /// The head of a request is complete.
    pub(super) fn begin_request(&self, has_body: bool) {
        self.answered.store(0, Relaxed);
        self.enter(if has_body { Phase::Body } else { Phase::Service });
    }

    /// The body of the request is complete, or nobody wants it.
    pub(super) fn end_request(&self) {
        if self.phase() == Phase::Body {
            self.enter(Phase::Service);
        }
    }

    /// The last byte of the answer is known. It is sent when [`Self::flushed`] is called next.
    pub(super) fn end_answer(&self) {
        if self.answered.load(Relaxed) == 0 {
            self.answered.store(self.now(), Relaxed);
        }
    }

    /// The client's side of the connection takes no more bytes at the moment.
    pub(super) fn blocked(&self) {
        if self.stalled_since.load(Relaxed) == 0 {
            self.taken.store(0, Relaxed);
            self.stalled_since.store(self.now(), Relaxed);
        }
    }

    /// The client's side has taken some bytes.
    pub(super) fn sent(&self, count: usize) {
        if self.stalled_since.load(Relaxed) != 0 {
            let taken = self.taken.load(Relaxed).saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            if taken >= PART {
                self.stalled_since.store(self.now(), Relaxed);
            }
            self.taken.store(if taken >= PART { 0 } else { taken }, Relaxed);
        }
    }

    /// All bytes have been taken.
    pub(super) fn flushed(&self) {
        self.stalled_since.store(0, Relaxed);
        // A client may see its answer before this is called, so the answer's time counts.
        let answered = self.answered.swap(0, Relaxed);
        if answered != 0 {
            self.enter_since(Phase::Idle, answered);
        }
    }

    /// Returns when the connection is to be closed unless something happens first, or `None` while it waits for the service.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let since = self.phase_since.load(Relaxed);
        let of_phase = match self.phase() {
            Phase::Idle => Some(since + self.idle_timeout),
            Phase::Head => Some(since + self.head_timeout),
            // Whoever reads the body limits its time, and answers when it is over.
            Phase::Body | Phase::Service => None,
        };
        let of_answer = match self.stalled_since.load(Relaxed) {
            0 => None,
            since => Some(since + self.send_timeout),
        };
        let first = of_phase.into_iter().chain(of_answer).min()?;
        Some(self.epoch + Duration::from_micros(first))
    }

    /// Returns which connections are closed first if there are too many, smallest first: the idle ones before those in
    /// the middle of something, the oldest first, those of proxies last. `None` if the service works for it.
    pub(super) fn eviction_order(&self) -> Option<(bool, u8, u64)> {
        let since = self.phase_since.load(Relaxed);
        match (self.phase(), self.stalled_since.load(Relaxed)) {
            (Phase::Idle | Phase::Head, 0) => Some((self.trusted, 0, since)),
            (Phase::Body, 0) => Some((self.trusted, 1, since)),
            (Phase::Service, 0) => None,
            (_, since) => Some((self.trusted, 2, since)),
        }
    }

    fn phase(&self) -> Phase {
        [Phase::Idle, Phase::Head, Phase::Body, Phase::Service][usize::from(self.phase.load(Relaxed)) % 4]
    }

    fn enter(&self, phase: Phase) {
        self.enter_since(phase, self.now());
    }

    fn enter_since(&self, phase: Phase, since: u64) {
        self.phase.store(phase as u8, Relaxed);
        self.phase_since.store(since, Relaxed);
    }

    /// Never 0, which stands for no time.
    fn now(&self) -> u64 {
        microseconds(self.epoch.elapsed()).max(1)
    }
}

fn microseconds(duration: Duration) -> u64 {
    // Far enough away, and without overflow in sums.
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).min(u64::MAX / 4)
}
