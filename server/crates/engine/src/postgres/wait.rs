//! Waits of a thread for the network, and their limits as the database takes them.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Returns a limit as a setting in milliseconds. 0 is none.
pub(super) fn to_setting(limit: Option<Duration>) -> u128 {
    limit.unwrap_or_default().as_millis()
}

/// Runs work that waits for the network. On a thread of an asynchronous runtime, another one takes over its tasks
/// before.
pub(super) fn leave_runtime<T>(work: impl FnOnce() -> T) -> T {
    if Handle::try_current().is_ok() { block_in_place(work) } else { work() }
}
