//! The warnings and errors that this process has logged, for a page: each kind once, with its count.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

/// Maximum number of kinds. The one that was logged longest ago gives way to a new one.
const MAX_KINDS: usize = 100;
/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 300;

/// A kind of warning: all with the same message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedWarning {
    /// True for an error.
    pub is_error: bool,
    /// The message, at most 300 characters.
    pub message: String,
    /// The values of the latest one, such as `entity=8a01…`, at most 300 characters.
    pub details: String,
    /// Number of times that it was logged.
    pub count: u64,
    /// Time of the latest one.
    pub latest: Timestamp,
}

/// The warnings of this process since its start, as many kinds as fit.
#[derive(Debug, Default)]
pub struct WarningLog(Mutex<Vec<LoggedWarning>>);

impl WarningLog {
    /// Adds a warning or an error.
    pub fn record(&self, is_error: bool, message: &str, details: &str, now: Timestamp) {
        let (message, details) = (cut(message), cut(details));
        let mut kinds = self.lock();
        if let Some(known) = kinds.iter_mut().find(|known| known.is_error == is_error && known.message == message) {
            *known = LoggedWarning { is_error, message, details, count: known.count + 1, latest: now };
            return;
        }
        // A warning with values in its message makes many kinds, and must not fill the memory.
        if kinds.len() >= MAX_KINDS
            && let Some((oldest, _)) = kinds.iter().enumerate().min_by_key(|(_, known)| known.latest)
        {
            kinds.swap_remove(oldest);
        }
        kinds.push(LoggedWarning { is_error, message, details, count: 1, latest: now });
    }

    /// Returns the kinds that were logged since a time, the latest first.
    pub fn list_since(&self, since: Timestamp) -> Vec<LoggedWarning> {
        let mut found: Vec<_> = self.lock().iter().filter(|known| known.latest >= since).cloned().collect();
        found.sort_by_key(|known| std::cmp::Reverse(known.latest));
        found
    }

    fn lock(&self) -> MutexGuard<'_, Vec<LoggedWarning>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts a text to the maximum length.
fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap_or_default()
    }

    #[test]
    fn a_warning_that_repeats_is_one_kind_with_its_count_and_its_latest_values() {
        let log = WarningLog::default();
        log.record(false, "a webhook fails", "webhook=1", at(1));
        log.record(true, "a webhook fails", "webhook=2", at(2));
        log.record(false, "a webhook fails", "webhook=3", at(3));
        let found = log.list_since(at(0));
        let told: Vec<_> = found.iter().map(|known| (known.is_error, &*known.details, known.count)).collect();
        assert_eq!(told, [(false, "webhook=3", 2), (true, "webhook=2", 1)]);
        assert_eq!(log.list_since(at(3)).len(), 1);
    }

    #[test]
    fn many_kinds_and_long_texts_take_bounded_memory() {
        let log = WarningLog::default();
        for number in 0..1000 {
            log.record(false, &format!("{number}{}", "x".repeat(5000)), &"y".repeat(5000), at(number));
        }
        let found = log.list_since(at(0));
        assert_eq!(found.len(), MAX_KINDS);
        assert!(found.iter().all(|known| known.message.len() <= MAX_TEXT && known.details.len() <= MAX_TEXT));
        assert!(found[0].message.starts_with("999x"), "the oldest give way");
    }
}
