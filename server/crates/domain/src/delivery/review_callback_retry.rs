//! Retries of a review decision callback that its receiver has not accepted.

use jiff::SignedDuration;

/// Wait after a failure, in minutes, if the configuration has none.
pub const DEFAULT_RETRY_MINUTES: u8 = 5;
/// Number of retries, if the configuration has none.
pub const DEFAULT_RETRIES: u8 = 5;

/// Returns the wait in minutes after this many failures in a row, or `None` after the last of `retries` retries.
pub fn retry_delay(failures: u32, retries: u8, minutes: u8) -> Option<SignedDuration> {
    (failures <= u32::from(retries)).then(|| SignedDuration::from_mins(i64::from(minutes)))
}
