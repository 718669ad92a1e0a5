//! The clock of the demo data, which shows the times of its month.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use tillgate_os::clock::Clock;

tokio::task_local! {
    /// Time of the step that the task carries out.
    static STEP_TIME: Timestamp;
}

/// A clock of a gateway that carries out past steps, several at a time. Each task sees the time of its own step. Other
/// threads, such as the store's writer, see the time of the latest step that was started.
pub(super) struct StepClock {
    /// The latest time in milliseconds. It never goes back.
    latest: AtomicI64,
}

impl StepClock {
    /// Creates a clock that shows this time.
    pub(super) fn starting_at(time: Timestamp) -> Arc<Self> {
        Arc::new(Self { latest: AtomicI64::new(time.as_millisecond()) })
    }

    /// Moves the clock forward to a time.
    pub(super) fn move_to(&self, time: Timestamp) {
        self.latest.fetch_max(time.as_millisecond(), Ordering::Relaxed);
    }

    /// Moves the clock to the time of a step, and runs the step at that time.
    pub(super) fn run_at<F: Future>(&self, time: Timestamp, step: F) -> impl Future<Output = F::Output> + use<F> {
        self.move_to(time);
        STEP_TIME.scope(time, step)
    }
}

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        let latest = || Timestamp::from_millisecond(self.latest.load(Ordering::Relaxed)).unwrap_or(Timestamp::MAX);
        STEP_TIME.try_with(|time| *time).unwrap_or_else(|_| latest())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_step_sees_its_own_time_and_other_code_the_latest() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let clock = StepClock::starting_at(time(10));
        let (first, second) =
            (clock.run_at(time(20), async { clock.now() }), clock.run_at(time(30), async { clock.now() }));
        assert_eq!(clock.now(), time(30));
        assert_eq!((first.await, second.await), (time(20), time(30)));
        clock.move_to(time(15));
        assert_eq!(clock.now(), time(30));
    }
}
