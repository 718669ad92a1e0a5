//! State of one connection: the event it waits for, since when, and the deadline.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::ConnectionLimits;

/// Number of bytes of a response that a client has to receive within the send timeout: at 30 seconds about 1 kB/s.
pub(super) const MIN_PROGRESS: u32 = 32 * 1024;
/// Time in which a client has to stop sending a request that was answered early, in microseconds.
const CLOSING_TIMEOUT: u64 = 2_000_000;

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
    /// The service: the response.
    Service,
    /// The client: the rest of a request that was answered early. It is read and discarded.
    Closing,
}

/// State that the connection's task writes and the connection table reads. The fields are atomics, because these are
/// different threads; neither needs the very latest value.
#[derive(Debug)]
pub(super) struct ConnectionState {
    /// Zero of the times below. They are in microseconds, so that connections within the same millisecond have an
    /// order too.
    epoch: Instant,
    head_timeout: u64,
    idle_timeout: u64,
    send_timeout: u64,
    /// True if the peer is a trusted proxy, which carries the requests of many clients.
    pub(super) trusted: bool,
    phase: AtomicU8,
    phase_since: AtomicU64,
    /// Time since which the client has received less than a [`MIN_PROGRESS`] of the pending bytes; 0 if nothing is
    /// pending.
    stalled_since: AtomicU64,
    /// Bytes that the client has received since then.
    received_bytes: AtomicU32,
    /// Time at which the response was complete, but maybe not sent yet; 0 before.
    response_ended: AtomicU64,
    /// True if a request has a body that was not read to its end.
    body_unread: AtomicBool,
    /// True if hyper's read buffer has grown, so that the bytes of a body may stay in it.
    pub(super) buffer_grown: AtomicBool,
    /// True if the connection table has evicted the connection.
    pub(super) evicted: AtomicBool,
    /// Requests the connection's task to close the connection.
    pub(super) close: Notify,
}

impl ConnectionState {
    /// Creates the state of a connection that was just accepted. The head timeout starts now.
    pub(super) fn new(epoch: Instant, limits: &ConnectionLimits, trusted: bool) -> Self {
        let state = Self {
            epoch,
            head_timeout: capped_microseconds(limits.head_timeout),
            idle_timeout: capped_microseconds(limits.idle_timeout),
            send_timeout: capped_microseconds(limits.send_timeout),
            trusted,
            phase: AtomicU8::new(Phase::Head as u8),
            phase_since: AtomicU64::new(0),
            stalled_since: AtomicU64::new(0),
            received_bytes: AtomicU32::new(0),
            response_ended: AtomicU64::new(0),
            body_unread: AtomicBool::new(false),
            buffer_grown: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            close: Notify::new(),
        };
        // A client that connects and sends nothing has the short time of a head, not the longer idle time.
        state.enter_phase(Phase::Head);
        state
    }

    /// Records that the client sent something. An idle connection then waits for the rest of a head.
    pub(super) fn record_received(&self) {
        if self.phase() == Phase::Idle {
            self.enter_phase(Phase::Head);
        }
    }

    /// Records that the head of a request is complete. The connection waits for the body, if there is one, or for the
    /// service.
    pub(super) fn begin_request(&self, has_body: bool) {
        self.response_ended.store(0, Relaxed);
        self.body_unread.store(has_body, Relaxed);
        self.enter_phase(if has_body { Phase::Body } else { Phase::Service });
    }

    /// Records that the body of the request is complete, or was dropped before its end. The connection then waits for
    /// the service. May be called more than once.
    pub(super) fn end_request(&self, is_complete: bool) {
        // A body that was dropped counts as unread, so that the connection is closed after the response.
        if is_complete {
            self.body_unread.store(false, Relaxed);
        }
        if self.phase() == Phase::Body {
            self.enter_phase(Phase::Service);
        }
    }

    /// Records that the response is complete, at the first call. It has been sent at the next call of
    /// [`Self::record_flushed`].
    pub(super) fn end_response(&self) {
        if self.response_ended.load(Relaxed) == 0 {
            self.response_ended.store(self.elapsed_microseconds(), Relaxed);
        }
    }

    /// Returns true if a request has a body that was not read to its end.
    pub(super) fn is_body_unread(&self) -> bool {
        self.body_unread.load(Relaxed)
    }

    /// Records that the server closes the connection. Returns true if the client may still be sending: a body that was
    /// not read to its end, or a head that was refused. It then has 2 seconds to end.
    pub(super) fn begin_closing(&self) -> bool {
        let is_sending = self.phase() == Phase::Head || self.is_body_unread();
        if is_sending {
            self.stalled_since.store(0, Relaxed);
            self.enter_phase(Phase::Closing);
        }
        is_sending
    }

    /// Records that the client's side of the connection accepts no more bytes at the moment. The send timeout starts
    /// now, unless it is running.
    pub(super) fn record_blocked(&self) {
        // Only the first blocked write starts the timeout. If each one restarted it, a client that reads nothing would
        // never reach it.
        if self.stalled_since.load(Relaxed) == 0 {
            self.received_bytes.store(0, Relaxed);
            self.stalled_since.store(self.elapsed_microseconds(), Relaxed);
        }
    }

    /// Records that the client's side accepted some bytes. While the send timeout runs, it starts anew after every
    /// [`MIN_PROGRESS`] bytes.
    pub(super) fn record_sent(&self, count: usize) {
        if self.stalled_since.load(Relaxed) != 0 {
            let received = self.received_bytes.load(Relaxed).saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            // Fewer bytes do not restart the timeout. Otherwise a client could hold a connection with one byte per
            // timeout.
            if received >= MIN_PROGRESS {
                self.stalled_since.store(self.elapsed_microseconds(), Relaxed);
            }
            self.received_bytes.store(if received >= MIN_PROGRESS { 0 } else { received }, Relaxed);
        }
    }

    /// Records that all bytes were accepted: the send timeout ends. If the response is complete, the connection is idle
    /// since its end.
    pub(super) fn record_flushed(&self) {
        self.stalled_since.store(0, Relaxed);
        // A client may see its response before this is called, so the time of the response is used.
        let response_ended = self.response_ended.swap(0, Relaxed);
        if response_ended != 0 {
            self.enter_phase_since(Phase::Idle, response_ended);
        }
    }

    /// Returns the time at which the connection is closed unless something happens before: the earlier of the end of
    /// its phase and the end of the send timeout. Returns `None` while it waits for a request's body or for the
    /// service, and no bytes wait to be sent.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let since = self.phase_since.load(Relaxed);
        let phase_deadline = match self.phase() {
            Phase::Idle => Some(since + self.idle_timeout),
            Phase::Head => Some(since + self.head_timeout),
            // The reader of the body limits its time, and responds when the limit is reached.
            Phase::Body | Phase::Service => None,
            Phase::Closing => Some(since + CLOSING_TIMEOUT),
        };
        let send_deadline = match self.stalled_since.load(Relaxed) {
            0 => None,
            since => Some(since + self.send_timeout),
        };
        let first = phase_deadline.into_iter().chain(send_deadline).min()?;
        Some(self.epoch + Duration::from_micros(first))
    }

    /// Returns the order in which connections are closed if there are too many, smallest first: those that wait for a
    /// request or its head or are closing, then for its body, then for the client to receive a response; the oldest
    /// first, those of proxies last. Returns `None` if the service is working on a request.
    pub(super) fn eviction_order(&self) -> Option<(bool, u8, u64)> {
        let since = self.phase_since.load(Relaxed);
        let (class, since) = match (self.phase(), self.stalled_since.load(Relaxed), self.response_ended.load(Relaxed)) {
            // No request of these connections is waiting for the service, so closing them loses the least.
            (Phase::Closing, ..) | (Phase::Idle | Phase::Head, 0, _) => (0, since),
            (Phase::Body, 0, _) => (1, since),
            (Phase::Service, 0, 0) => return None,
            // The client may have its whole response already, and open its next connection before `record_flushed` is
            // called. The connection's task writes the rest of a response before it looks at an eviction; only a client
            // that stops reading in that moment loses it.
            (Phase::Service, 0, response_ended) => (0, response_ended),
            (_, stalled_since, _) => (2, stalled_since),
        };
        // A trusted proxy's connection carries the requests of many clients. `false` sorts first, so these come last.
        Some((self.trusted, class, since))
    }

    /// Returns the current phase.
    fn phase(&self) -> Phase {
        let phases = [Phase::Idle, Phase::Head, Phase::Body, Phase::Service, Phase::Closing];
        // The remainder keeps the index inside the array, so that this look-up cannot panic.
        phases[usize::from(self.phase.load(Relaxed)) % 5]
    }

    fn enter_phase(&self, phase: Phase) {
        self.enter_phase_since(phase, self.elapsed_microseconds());
    }

    /// Changes the phase. Its time limit counts from `since`, in microseconds after the epoch.
    fn enter_phase_since(&self, phase: Phase, since: u64) {
        self.phase.store(phase as u8, Relaxed);
        self.phase_since.store(since, Relaxed);
    }

    /// Returns the time since the epoch, never 0, because 0 means no time.
    fn elapsed_microseconds(&self) -> u64 {
        capped_microseconds(self.epoch.elapsed()).max(1)
    }
}

/// Returns a duration in microseconds, capped at a quarter of the range.
fn capped_microseconds(duration: Duration) -> u64 {
    // Capped, so that sums cannot overflow.
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).min(u64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_counts_as_idle_from_the_end_of_its_response_also_before_it_is_flushed() {
        let epoch = Instant::now();
        let limits = ConnectionLimits {
            head_timeout: Duration::from_secs(1),
            idle_timeout: Duration::from_secs(1),
            send_timeout: Duration::from_secs(1),
            connections: 2,
            connections_per_address: 0,
            trusted_proxies: Vec::new(),
        };
        let [first, second] = [(); 2].map(|()| ConnectionState::new(epoch, &limits, false));
        first.begin_request(false);
        assert_eq!(first.eviction_order(), None);
        first.end_response();
        let ended = first.elapsed_microseconds();
        while second.elapsed_microseconds() == ended {
            std::hint::spin_loop();
        }
        second.begin_request(false);
        second.end_response();
        second.record_flushed();
        let before = first.eviction_order();
        assert!(before < second.eviction_order(), "the client of the first may have its response for longer");
        first.record_flushed();
        assert_eq!(first.eviction_order(), before);
    }
}
