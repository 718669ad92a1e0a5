//! The wait between attempts to connect.

use std::time::Duration;

/// Maximum number of doublings. Later waits have the maximum anyway, and the factor stays a number of 32 bits.
const MAX_DOUBLINGS: u32 = 20;

/// The growing wait between attempts to connect.
#[derive(Debug)]
pub(super) struct ReconnectWait {
    first: Duration,
    maximum: Duration,
    failures: u32,
}

impl ReconnectWait {
    /// Creates the wait before any failure.
    pub(super) fn new(first: Duration, maximum: Duration) -> Self {
        Self { first, maximum, failures: 0 }
    }

    /// Returns the wait after one more failure. `jitter` shortens it by up to a half: 255 not at all.
    pub(super) fn next_wait(&mut self, jitter: u8) -> Duration {
        let factor = 1_u32 << self.failures.min(MAX_DOUBLINGS);
        self.failures = self.failures.saturating_add(1);
        let longest = self.first.saturating_mul(factor).min(self.maximum);
        // Gateways that lost their host at the same moment must not all come back at the same moment.
        longest / 2 + (longest / 2).mul_f64(f64::from(jitter) / 255.0)
    }

    /// Lets the next wait be the first again.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// Returns a random byte, which spreads waits.
pub(super) fn draw_jitter() -> u8 {
    let mut jitter = [128];
    // Without random bytes the waits are not spread.
    let _ = getrandom::fill(&mut jitter);
    let [jitter] = jitter;
    jitter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_up_to_the_maximum_and_is_short_again_after_a_reset() {
        let mut wait = ReconnectWait::new(Duration::from_secs(1), Duration::from_secs(5));
        let waits: Vec<u64> = (0..5).map(|_| wait.next_wait(255).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 5, 5]);
        wait.reset();
        assert_eq!(wait.next_wait(255), Duration::from_secs(1));
    }

    #[test]
    fn jitter_shortens_a_wait_by_at_most_a_half() {
        for jitter in 0..=255 {
            let mut wait = ReconnectWait::new(Duration::from_secs(8), Duration::from_secs(8));
            let waited = wait.next_wait(jitter);
            assert!(waited >= Duration::from_secs(4) && waited <= Duration::from_secs(8), "{jitter}: {waited:?}");
        }
    }

    #[test]
    fn any_number_of_failures_keeps_the_maximum() {
        let mut wait = ReconnectWait::new(Duration::from_secs(1), Duration::from_secs(60));
        for _ in 0..10_000 {
            assert!(wait.next_wait(0) <= Duration::from_secs(60));
        }
        assert_eq!(wait.next_wait(255), Duration::from_secs(60));
    }
}
