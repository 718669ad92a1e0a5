//! The comparison of this machine's clock with that of the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use tillgate_engine::Session;
use tillgate_os::clock::{Clock, time_since_boot};

use crate::StoreError;

/// Largest difference of a right clock. Time servers keep clocks within milliseconds, and what a node decides by its
/// clock and another one continues is precise to seconds.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(2);
/// Interval of comparisons.
const INTERVAL: Duration = Duration::from_secs(5);
/// Longest answer from which a difference can be told.
const PRECISION: Duration = Duration::from_secs(1);

/// The comparisons of a process.
pub(super) struct ClockCheck {
    clock: Arc<dyn Clock>,
    /// True if the last comparison has found a difference. Read by requests.
    is_off: Arc<AtomicBool>,
    /// The time of the next comparison since the start of the machine.
    next: Duration,
}

impl ClockCheck {
    pub(super) fn new(clock: Arc<dyn Clock>, is_off: Arc<AtomicBool>) -> Self {
        Self { clock, is_off, next: Duration::ZERO }
    }

    /// Compares the clocks if the last comparison is not recent. Logs a difference, and its end.
    pub(super) fn compare_if_due(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        let asked = time_since_boot();
        if asked < self.next {
            return Ok(());
        }
        let before = self.clock.now();
        let answer: i64 = session.query_one("SELECT clock_milliseconds()", (), |row| row.get(0))?;
        let took = time_since_boot().saturating_sub(asked);
        if took > PRECISION {
            return Ok(());
        }
        self.next = asked + INTERVAL;
        // The database has read its clock between the question and the answer.
        let behind = SignedDuration::from_millis(answer.saturating_sub(before.as_millisecond()));
        let behind = behind.saturating_sub(SignedDuration::try_from(took / 2).unwrap_or_default());
        let is_off = behind.abs() > TOLERANCE;
        let was_off = self.is_off.swap(is_off, Ordering::AcqRel);
        if is_off && !was_off {
            let seconds = behind.as_secs();
            tracing::error!(
                behind = seconds,
                "this machine's clock differs from that of the database by this number of seconds: set it. Until then, \
                 live entities are refused"
            );
        } else if was_off && !is_off {
            tracing::info!("this machine's clock is that of the database again");
        }
        Ok(())
    }
}
