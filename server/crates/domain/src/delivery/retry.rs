//! The retry schedule of webhooks, notifications and file pushes (contract, 3.6). Review callbacks have their own.

use jiff::SignedDuration;

/// Retry schedule in minutes after each of the first failures. Then follows one attempt a day for 30 days.
const RETRY_MINUTES: [i64; 7] = [1, 2, 4, 8, 15, 30, 60];
const MINUTES_PER_DAY: i64 = 24 * 60;
const DAILY_RETRIES: u32 = 30;

/// Returns the time to wait after this many failures in a row, or `None` after 37 (seven quick retries and 30 daily
/// ones), when delivery has to end. `chance` spreads messages that failed together, from a tenth earlier (0) to a tenth
/// later (255). `requested` is the wait that the receiver asks for; it applies if it is longer.
pub fn retry_delay(failures: u32, chance: u8, requested: Option<SignedDuration>) -> Option<SignedDuration> {
    let step = failures.saturating_sub(1) as usize;
    let minutes = match RETRY_MINUTES.get(step) {
        Some(minutes) => *minutes,
        None if failures <= RETRY_MINUTES.len() as u32 + DAILY_RETRIES => MINUTES_PER_DAY,
        None => return None,
    };
    let milliseconds = minutes * 60_000;
    let spread = milliseconds / 5 * i64::from(chance) / 255 - milliseconds / 10;
    Some(SignedDuration::from_millis(milliseconds + spread).max(requested.unwrap_or_default()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_are_those_of_the_contract_and_end_after_thirty_days() {
        let minutes = [1, 2, 4, 8, 15, 30, 60].into_iter().chain([MINUTES_PER_DAY; 30]);
        for (failures, minutes) in (1..).zip(minutes) {
            let exact = SignedDuration::from_mins(minutes);
            let (low, high) = (retry_delay(failures, 0, None).unwrap(), retry_delay(failures, 255, None).unwrap());
            assert_eq!((low, high), (exact * 9 / 10, exact * 11 / 10), "{failures}");
        }
        assert_eq!(retry_delay(38, 0, None), None);
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_and_not_for_a_shorter_one() {
        let hour = SignedDuration::from_hours(1);
        assert_eq!(retry_delay(1, 0, Some(hour)), Some(hour));
        assert_eq!(retry_delay(8, 0, Some(hour)), retry_delay(8, 0, None));
    }
}
