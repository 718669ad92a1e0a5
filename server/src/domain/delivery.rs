//! Messages to merchants: the queue of each, the time at which one that was not taken is sent again (contract, 3.6), and how long
//! it is kept.

use jiff::SignedDuration;

/// How long a message and its attempts are kept, so that they can be looked at.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(31 * 24);

/// The waits after each failure: minutes, an hour, then a day, for a month.
const LADDER: [i64; 7] = [1, 2, 4, 8, 15, 30, 60];
const DAY: i64 = 24 * 60;
const DAYS: u32 = 30;

/// Returns the queue of the messages to an address: its host, so that everything for one server stands in one queue. The name is
/// logged, so it is without what may be a password in the address.
pub fn queue_of(address: &str) -> String {
    let host = address.split(['/', '?', '#']).nth(2).unwrap_or_default();
    host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase()
}

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
    fn messages_to_one_server_stand_in_one_queue_whose_name_is_no_secret() {
        for address in ["https://Shop.example/a?b#c", "https://user:password@shop.example", "https://shop.example?x=/"]
        {
            assert_eq!(queue_of(address), "shop.example", "{address}");
        }
        assert_eq!(queue_of("http://127.0.0.1:8080/"), "127.0.0.1:8080");
        assert_eq!(queue_of("nonsense"), "");
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_and_not_for_a_shorter_one() {
        let hour = SignedDuration::from_hours(1);
        assert_eq!(wait(1, 0, Some(hour)), Some(hour));
        assert_eq!(wait(8, 0, Some(hour)), wait(8, 0, None));
    }
}
