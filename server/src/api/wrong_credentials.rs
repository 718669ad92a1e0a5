//! Limit on wrong credentials by client address. A right pair passes from every address at all times, so nobody can lock out a
//! merchant, nor the neighbours behind a proxy.
//!
//! The counts live in a table of a fixed size. Addresses that share a place share a count, which only a wrong pair notices.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Number of places.
const PLACES: usize = 65_536;
/// The time in which a used-up limit is restored, in milliseconds: an hour.
const HOUR: i64 = 3_600_000;

/// Counts of wrong credentials.
pub struct WrongCredentials {
    /// Maximum per hour and address; zero for no limit.
    per_hour: u32,
    /// Random hash keys, so that nobody can choose an address that shares a place with another.
    names: RandomState,
    /// Each count as the generic cell rate algorithm (GCRA) keeps it: the moment at which it is forgotten, in milliseconds.
    places: Box<[AtomicI64]>,
}

impl WrongCredentials {
    /// No counts yet.
    pub fn new(per_hour: u32) -> Self {
        let places = if per_hour == 0 { 0 } else { PLACES };
        Self { per_hour, names: RandomState::new(), places: (0..places).map(|_| AtomicI64::new(0)).collect() }
    }

    /// Counts a wrong pair.
    ///
    /// # Errors
    /// The remaining wait in seconds if the limit is reached; then nothing is counted.
    pub(super) fn note(&self, address: IpAddr, now: Timestamp) -> Result<(), u32> {
        if self.per_hour == 0 {
            return Ok(());
        }
        let place = self.names.hash_one(network(address)) % PLACES as u64;
        let Some(count) = usize::try_from(place).ok().and_then(|place| self.places.get(place)) else { return Ok(()) };
        let (now, cost) = (now.as_millisecond(), (HOUR / i64::from(self.per_hour)).max(1));
        let counted = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |until| {
            let next = until.max(now) + cost;
            (next - now <= HOUR).then_some(next)
        });
        counted.map(drop).map_err(|until| {
            let seconds = (until + cost - now - HOUR).div_euclid(1000) + 1;
            u32::try_from(seconds).unwrap_or(1)
        })
    }
}

/// The network that is counted: one subscriber has at least a /64 of IPv6.
fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => u64::try_from(address.to_bits() >> 64).unwrap_or_default(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn an_address_has_its_limit_each_hour_and_a_network_of_ipv6_counts_as_one() {
        let counts = WrongCredentials::new(4);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        for number in 0..4 {
            counts.note(address(&format!("2001:db8::{number}")), at(0)).unwrap();
        }
        let wait = counts.note(address("2001:db8::99"), at(0)).unwrap_err();
        assert!((900..=901).contains(&wait), "{wait}");
        counts.note(address("2001:db8:0:1::1"), at(0)).unwrap();
        counts.note(address("192.0.2.1"), at(0)).unwrap();
        // A refused attempt does not count.
        counts.note(address("2001:db8::99"), at(i64::from(wait))).unwrap();
        assert!(counts.note(address("2001:db8::99"), at(i64::from(wait))).is_err());
    }

    #[test]
    fn no_limit_counts_nothing() {
        let counts = WrongCredentials::new(0);
        assert!((0..10_000).all(|_| counts.note(IpAddr::from([192, 0, 2, 1]), at(0)).is_ok()));
    }
}
