//! The keys of requests that have ended a short while ago. An answer that comes late must not meet a newer request with
//! the same key.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::protocol::RequestKey;

/// Maximum number of keys of answered requests. The host would have to answer twice to need one, so the oldest are
/// forgotten before their time.
const MAX_ANSWERED: usize = 8192;
/// Maximum number of keys of requests without an answer. None is forgotten before its time, so further requests are
/// refused instead.
pub(super) const MAX_UNANSWERED: usize = 8192;

/// The end of a request whose key is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyEnd {
    /// The request was answered.
    Answered,
    /// The request ended without an answer.
    Unanswered,
}

/// The remembered keys, each for the same time.
#[derive(Debug)]
pub(super) struct UsedKeys {
    keep_time: Duration,
    ends: HashMap<RequestKey, KeyEnd>,
    /// Keys with the time at which they are forgotten, the earliest first.
    answered: VecDeque<(Instant, RequestKey)>,
    unanswered: VecDeque<(Instant, RequestKey)>,
}

impl UsedKeys {
    /// Creates an empty memory, which keeps a key for this time.
    pub(super) fn new(keep_time: Duration) -> Self {
        Self { keep_time, ends: HashMap::new(), answered: VecDeque::new(), unanswered: VecDeque::new() }
    }

    /// Remembers the key of a request that has ended.
    pub(super) fn remember_key(&mut self, key: RequestKey, end: KeyEnd, now: Instant) {
        self.forget_old(now);
        let keys = match end {
            KeyEnd::Answered => &mut self.answered,
            KeyEnd::Unanswered => &mut self.unanswered,
        };
        keys.push_back((now + self.keep_time, key.clone()));
        self.ends.insert(key, end);
        if self.answered.len() > MAX_ANSWERED
            && let Some((_, key)) = self.answered.pop_front()
        {
            self.ends.remove(&key);
        }
    }

    /// Returns the end of the request that had this key, if it is remembered.
    pub(super) fn find_end(&mut self, key: &RequestKey, now: Instant) -> Option<KeyEnd> {
        self.forget_old(now);
        self.ends.get(key).copied()
    }

    /// Forgets a key, whose request is sent again.
    pub(super) fn forget_key(&mut self, key: &RequestKey) {
        // Each list is searched only if it has the key, which repeated requests alone do.
        if self.ends.remove(key).is_some() {
            for keys in [&mut self.answered, &mut self.unanswered] {
                keys.retain(|(_, other)| other != key);
            }
        }
    }

    /// Records the answer to a request that had none, so that a further answer counts as a duplicate.
    pub(super) fn record_late_answer(&mut self, key: &RequestKey) {
        if let Some(end) = self.ends.get_mut(key) {
            *end = KeyEnd::Answered;
        }
    }

    /// Returns true if no further key of a request without an answer can be remembered, when so many are in flight.
    pub(super) fn is_full(&mut self, in_flight: usize, now: Instant) -> bool {
        self.forget_old(now);
        self.unanswered.len().saturating_add(in_flight) >= MAX_UNANSWERED
    }

    /// Forgets the keys whose time is over. A key is in one of the lists once, because it cannot be used meanwhile.
    fn forget_old(&mut self, now: Instant) {
        for keys in [&mut self.answered, &mut self.unanswered] {
            while let Some((_, key)) = keys.pop_front_if(|(until, _)| *until <= now) {
                self.ends.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_remembered_for_its_time() {
        let (mut keys, now) = (UsedKeys::new(Duration::from_secs(9)), Instant::now());
        let key = RequestKey::new("7");
        keys.remember_key(key.clone(), KeyEnd::Unanswered, now);
        assert_eq!(keys.find_end(&key, now + Duration::from_secs(8)), Some(KeyEnd::Unanswered));
        keys.record_late_answer(&key);
        assert_eq!(keys.find_end(&key, now + Duration::from_secs(8)), Some(KeyEnd::Answered));
        assert_eq!(keys.find_end(&key, now + Duration::from_secs(9)), None);
    }

    #[test]
    fn a_repeated_request_remembers_its_key_anew() {
        let (mut keys, now) = (UsedKeys::new(Duration::from_secs(9)), Instant::now());
        let key = RequestKey::new("7");
        keys.remember_key(key.clone(), KeyEnd::Unanswered, now);
        keys.forget_key(&key);
        assert_eq!(keys.find_end(&key, now), None);
        keys.remember_key(key.clone(), KeyEnd::Answered, now + Duration::from_secs(5));
        assert_eq!(keys.find_end(&key, now + Duration::from_secs(13)), Some(KeyEnd::Answered));
    }

    #[test]
    fn answered_keys_give_way_to_newer_ones_and_unanswered_keys_to_none() {
        let (mut keys, now) = (UsedKeys::new(Duration::from_secs(9)), Instant::now());
        for key in 0..MAX_UNANSWERED {
            assert!(!keys.is_full(0, now), "{key}");
            keys.remember_key(RequestKey::new(&key.to_string()), KeyEnd::Unanswered, now);
        }
        assert!(keys.is_full(0, now) && !keys.is_full(0, now + Duration::from_secs(9)));
        for key in 0..=MAX_ANSWERED {
            keys.remember_key(RequestKey::new(&key.to_string()), KeyEnd::Answered, now + Duration::from_secs(9));
        }
        let now = now + Duration::from_secs(10);
        assert_eq!(keys.find_end(&RequestKey::new("0"), now), None);
        assert_eq!(keys.find_end(&RequestKey::new("1"), now), Some(KeyEnd::Answered));
    }
}
