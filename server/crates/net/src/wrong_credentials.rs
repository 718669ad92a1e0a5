//! Limit on wrong credentials per client address. Right credentials are accepted from every address at all times, so
//! nobody can lock out a merchant, nor other clients behind the same proxy.
//!
//! The counters are in a table of a fixed size. Addresses with the same slot share a counter, which affects only
//! clients with wrong credentials.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Number of slots.
const SLOTS: usize = 65_536;
/// Time in which a used-up limit is restored, in milliseconds: an hour.
const HOUR: i64 = 3_600_000;

/// Counters of wrong credentials.
pub struct WrongCredentials {
    /// Maximum per hour and address; zero for no limit.
    per_hour: u32,
    /// Random hash keys, so that nobody can choose an address that shares a slot with another.
    hasher: RandomState,
    /// The counters, each in the form of the generic cell rate algorithm (GCRA): the time at which it is back to zero,
    /// in milliseconds.
    slots: Box<[AtomicI64]>,
}

impl WrongCredentials {
    /// Creates empty counters, and none for a limit of zero.
    pub fn new(per_hour: u32) -> Self {
        let slots = if per_hour == 0 { 0 } else { SLOTS };
        Self { per_hour, hasher: RandomState::new(), slots: (0..slots).map(|_| AtomicI64::new(0)).collect() }
    }

    /// Counts an attempt with wrong credentials.
    ///
    /// # Errors
    /// The remaining wait in seconds if the limit is reached; then nothing is counted.
    pub fn record_attempt(&self, address: IpAddr, now: Timestamp) -> Result<(), u32> {
        self.record_key(counted_network(address), now)
    }

    /// Counts an attempt like [`Self::record_attempt`], by something else than an address.
    ///
    /// # Errors
    /// Same as [`Self::record_attempt`].
    pub fn record_key(&self, key: impl Hash, now: Timestamp) -> Result<(), u32> {
        if self.per_hour == 0 {
            return Ok(());
        }
        let Some(slot) = self.slot(key) else { return Ok(()) };
        let (now, cost) = (now.as_millisecond(), (HOUR / i64::from(self.per_hour)).max(1));
        let updated = slot.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |until| {
            let next = until.max(now) + cost;
            (next - now <= HOUR).then_some(next)
        });
        updated.map(drop).map_err(|until| {
            let seconds = (until + cost - now - HOUR).div_euclid(1000) + 1;
            u32::try_from(seconds).unwrap_or(1)
        })
    }
}

impl WrongCredentials {
    /// Returns true if an address has reached its limit, so that its next attempt would not be counted.
    pub fn is_reached(&self, address: IpAddr, now: Timestamp) -> bool {
        self.is_key_reached(counted_network(address), now)
    }

    /// Returns true if something else than an address has reached its limit.
    pub fn is_key_reached(&self, key: impl Hash, now: Timestamp) -> bool {
        if self.per_hour == 0 {
            return false;
        }
        let (now, cost) = (now.as_millisecond(), (HOUR / i64::from(self.per_hour)).max(1));
        self.slot(key).is_some_and(|slot| slot.load(Ordering::Relaxed).max(now) + cost - now > HOUR)
    }

    /// Counts for a key what was counted for another one, so that a new name gives no new attempts.
    pub fn copy_key(&self, from: impl Hash, to: impl Hash) {
        if self.per_hour == 0 {
            return;
        }
        if let (Some(from), Some(to)) = (self.slot(from), self.slot(to)) {
            to.fetch_max(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Returns the counter of a key.
    fn slot(&self, key: impl Hash) -> Option<&AtomicI64> {
        let index = self.hasher.hash_one(key) % SLOTS as u64;
        usize::try_from(index).ok().and_then(|index| self.slots.get(index))
    }
}

/// Returns the network that is counted: an IPv4 address as it is, of IPv6 the first 64 bits, because a subscriber has
/// at least a /64.
pub fn counted_network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => u64::try_from(address.to_bits() >> 64).unwrap_or_default(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the time so many seconds after the tests begin.
    fn time_after(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn an_address_has_its_limit_each_hour_and_a_network_of_ipv6_counts_as_one() {
        let counts = WrongCredentials::new(4);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        for number in 0..4 {
            counts.record_attempt(address(&format!("2001:db8::{number}")), time_after(0)).unwrap();
        }
        let wait = counts.record_attempt(address("2001:db8::99"), time_after(0)).unwrap_err();
        assert!((900..=901).contains(&wait), "{wait}");
        counts.record_attempt(address("2001:db8:0:1::1"), time_after(0)).unwrap();
        counts.record_attempt(address("192.0.2.1"), time_after(0)).unwrap();
        // A refused attempt is not counted.
        counts.record_attempt(address("2001:db8::99"), time_after(i64::from(wait))).unwrap();
        assert!(counts.record_attempt(address("2001:db8::99"), time_after(i64::from(wait))).is_err());
    }

    #[test]
    fn no_limit_counts_nothing() {
        let counts = WrongCredentials::new(0);
        assert!((0..10_000).all(|_| counts.record_attempt(IpAddr::from([192, 0, 2, 1]), time_after(0)).is_ok()));
    }
}
