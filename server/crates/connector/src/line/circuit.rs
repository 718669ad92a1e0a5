//! The circuit breaker of a line: requests that have no answer close the line for a while, so that further requests
//! fail at once and can use another line.

use std::time::Duration;

use tokio::time::Instant;

/// A circuit breaker. Its times are given by the caller.
#[derive(Debug)]
pub(super) struct CircuitBreaker {
    max_failures: u32,
    open_time: Duration,
    position: CircuitPosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CircuitPosition {
    /// Requests are allowed. Counts the failures since the last answer.
    Closed { failures: u32 },
    /// No request is allowed before this time.
    Open { until: Instant },
    /// One request, with this sequence number, is tried.
    Probing { sequence: u64 },
}

impl CircuitBreaker {
    /// Creates a closed circuit. It opens after this many failures in a row, and allows a probe after `open_time`.
    pub(super) fn new(max_failures: u32, open_time: Duration) -> Self {
        Self { max_failures: max_failures.max(1), open_time, position: CircuitPosition::Closed { failures: 0 } }
    }

    /// Returns true if a request is allowed now.
    pub(super) fn allows_request(&self, now: Instant) -> bool {
        match self.position {
            CircuitPosition::Closed { .. } => true,
            CircuitPosition::Open { until } => now >= until,
            CircuitPosition::Probing { .. } => false,
        }
    }

    /// Returns true unless requests are allowed without a probe.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.position, CircuitPosition::Closed { .. })
    }

    /// Records that an allowed request is sent. After the wait it becomes the probe.
    pub(super) fn start_request(&mut self, sequence: u64) {
        if let CircuitPosition::Open { .. } = self.position {
            self.position = CircuitPosition::Probing { sequence };
        }
    }

    /// Records an answer in time. An open circuit closes only by the answer to its probe. Returns true if it closes.
    pub(super) fn record_answer(&mut self, sequence: u64) -> bool {
        let is_probe = self.position == CircuitPosition::Probing { sequence };
        if is_probe || !self.is_open() {
            self.position = CircuitPosition::Closed { failures: 0 };
        }
        is_probe
    }

    /// Records that a request has no answer. Returns true if the circuit opens.
    pub(super) fn record_failure(&mut self, sequence: u64, now: Instant) -> bool {
        let failures = match self.position {
            CircuitPosition::Closed { failures } => failures.saturating_add(1),
            CircuitPosition::Probing { sequence: probe } if probe == sequence => self.max_failures,
            // A request from before the circuit opened shows nothing new.
            CircuitPosition::Open { .. } | CircuitPosition::Probing { .. } => return false,
        };
        let is_opened = failures >= self.max_failures;
        self.position = if is_opened {
            CircuitPosition::Open { until: now + self.open_time }
        } else {
            CircuitPosition::Closed { failures }
        };
        is_opened
    }

    /// Records that a request was not sent after all. If it is the probe, the next request becomes the probe.
    pub(super) fn withdraw_request(&mut self, sequence: u64, now: Instant) {
        if self.position == (CircuitPosition::Probing { sequence }) {
            self.position = CircuitPosition::Open { until: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_TIME: Duration = Duration::from_secs(10);

    #[test]
    fn a_circuit_opens_after_failures_in_a_row_only() {
        let (mut circuit, now) = (CircuitBreaker::new(3, OPEN_TIME), Instant::now());
        for round in 0..5 {
            assert!(!circuit.record_failure(round, now) && !circuit.record_failure(round, now), "{round}");
            circuit.record_answer(round);
        }
        assert!(!circuit.record_failure(7, now) && !circuit.record_failure(8, now));
        assert!(circuit.record_failure(9, now) && circuit.is_open() && !circuit.allows_request(now));
    }

    #[test]
    fn one_probe_decides_if_an_open_circuit_closes() {
        let (mut circuit, now) = (CircuitBreaker::new(1, OPEN_TIME), Instant::now());
        circuit.record_failure(1, now);
        let later = now + OPEN_TIME;
        assert!(circuit.allows_request(later));
        circuit.start_request(2);
        assert!(!circuit.allows_request(later), "a second probe");
        assert!(!circuit.record_answer(1) && circuit.is_open(), "the answer to an earlier request");
        assert!(!circuit.record_failure(1, later), "the failure of an earlier request");
        assert!(circuit.record_failure(2, later) && !circuit.allows_request(later));
        let latest = later + OPEN_TIME;
        assert!(circuit.allows_request(latest));
        circuit.start_request(3);
        assert!(circuit.record_answer(3) && !circuit.is_open() && circuit.allows_request(latest));
    }

    #[test]
    fn a_probe_that_was_not_sent_leaves_its_place_to_the_next_request() {
        let (mut circuit, now) = (CircuitBreaker::new(1, OPEN_TIME), Instant::now());
        circuit.record_failure(1, now);
        let later = now + OPEN_TIME;
        circuit.start_request(2);
        circuit.withdraw_request(1, later);
        assert!(!circuit.allows_request(later), "another request is not the probe");
        circuit.withdraw_request(2, later);
        assert!(circuit.allows_request(later) && circuit.is_open());
    }
}
