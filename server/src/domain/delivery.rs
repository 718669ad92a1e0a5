//! When a message that was not taken is sent again (contract, 3.6).

use jiff::SignedDuration;

/// The waits after each failure: minutes, an hour, then a day, for a month.
const LADDER: [i64; 7] = [1, 2, 4, 8, 15, 30, 60];
const DAY: i64 = 24 * 60;
const DAYS: u32 = 30;

/// How long to wait after so many failures in a row; none where it is time to give up. `chance` spreads what failed together
/// by a tenth in both directions; a receiver that asks for a longer wait gets it.
pub fn wait(failures: u32, chance: u8, asked: Option<SignedDuration>) -> Option<SignedDuration> {
    let step = failures.saturating_sub(1) as usize;
    let minutes = match LADDER.get(step) {
        Some(minutes) => *minutes,
        None if failures <= LADDER.len() as u32 + DAYS => DAY,
        None => return None,
    };
    let milliseconds = minutes * 60_000;
    let spread = milliseconds / 5 * i64::from(chance) / 255 - milliseconds / 10;
    Some(SignedDuration::from_millis(milliseconds + spread).max(asked.unwrap_or_default()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_are_those_of_the_contract_and_end_after_thirty_days() {
        let minutes = [1, 2, 4, 8, 15, 30, 60].into_iter().chain([DAY; 30]);
        for (failures, minutes) in (1..).zip(minutes) {
            let exact = SignedDuration::from_mins(minutes);
            let (low, high) = (wait(failures, 0, None).unwrap(), wait(failures, 255, None).unwrap());
            assert_eq!((low, high), (exact * 9 / 10, exact * 11 / 10), "{failures}");
        }
        assert_eq!(wait(38, 0, None), None);
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_and_not_for_a_shorter_one() {
        let hour = SignedDuration::from_hours(1);
        assert_eq!(wait(1, 0, Some(hour)), Some(hour));
        assert_eq!(wait(8, 0, Some(hour)), wait(8, 0, None));
    }
}
