//! Where the time comes from. A trait, so that rules can be tested at any moment and sandboxes can move it.

use jiff::Timestamp;

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// The current instant, UTC.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
