//! Card testing: who has a list of stolen numbers finds out which of them work by paying with each. So attempts to pay are
//! capped by the shopper's address, by the first digits of the card (BIN) and by entity; the checkout caps its own, in its
//! document.
//!
//! A cap is a number of declines an hour. Shops that sell live on approvals and testers on declines, so an approval counts
//! a twentieth. Every attempt is taken for a decline until it has ended: a thousand at once do not slip through together.
//! The counts live in memory, in caches of a fixed size, so that millions of addresses cost no more than a hundred thousand;
//! a restart forgets them. Stored cards are not counted: nobody finds out by them which numbers work.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use quick_cache::sync::Cache;

use crate::domain::entity::Entity;
use crate::domain::refusal::Refusal;

/// How many sources of a kind are remembered; who has not tried for longest goes first.
const REMEMBERED: usize = 100_000;
/// The time in which a cap fills up again, in nanoseconds: an hour.
const HOUR: i64 = 3_600_000_000_000;
/// How many approvals count as much as one decline.
const APPROVALS: i64 = 20;

/// The caps, in declines an hour; zero is none.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Attempts in the whole life of a checkout.
    pub per_checkout: u32,
    /// Declines an hour of a shopper's address; IPv6 addresses count by their network (/64).
    pub per_address: u32,
    /// Declines an hour of the cards with the same BIN, of one entity.
    pub per_bin: u32,
    /// Declines an hour of an entity.
    pub per_entity: u32,
    /// How many times as much a sandbox entity may; zero is without any cap.
    pub sandbox_factor: u32,
}

impl Limits {
    /// A cap as it is for an entity; `None` where there is none.
    fn of(&self, entity: &Entity, cap: u32) -> Option<i64> {
        let factor = if entity.live { 1 } else { self.sandbox_factor };
        let cap = i64::from(cap).saturating_mul(i64::from(factor));
        (cap > 0).then_some(cap)
    }

    /// How often a checkout of an entity may be tried; `None` for ever so often.
    pub fn checkout_attempts(&self, entity: &Entity) -> Option<u32> {
        self.of(entity, self.per_checkout).map(|cap| u32::try_from(cap).unwrap_or(u32::MAX))
    }
}

/// The counts of this process.
pub struct Attempts {
    limits: Limits,
    /// Keyed by chance: nobody can make two sources share a count.
    names: RandomState,
    addresses: Cache<u64, Arc<Count>>,
    bins: Cache<u64, Arc<Count>>,
    entities: Cache<u64, Arc<Count>>,
}

/// One source's count, as the generic cell rate algorithm (GCRA) keeps it: the moment at which everything that was counted
/// will be forgotten, in nanoseconds since 1970.
#[derive(Debug, Default)]
struct Count(AtomicI64);

impl Count {
    /// Counts a decline of so many nanoseconds.
    ///
    /// # Errors
    /// For how many nanoseconds there is no room for it.
    fn take(&self, cost: i64, now: i64) -> Result<(), i64> {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full| {
            let next = full.max(now) + cost;
            (next - now <= HOUR).then_some(next)
        });
        taken.map(drop).map_err(|full| full + cost - now - HOUR)
    }

    fn give_back(&self, cost: i64) {
        self.0.fetch_sub(cost, Ordering::Relaxed);
    }
}

/// An attempt that is under way, counted as declined. Dropped without an end (the client has hung up) it stays so.
#[must_use]
#[derive(Debug, Default)]
pub struct Attempt([Option<(Arc<Count>, i64)>; 3]);

impl Attempt {
    /// How it ended: approved (or still pending), declined, or not at all (`None`), which does not count.
    pub fn end(self, approved: Option<bool>) {
        for (count, cost) in self.0.into_iter().flatten() {
            match approved {
                Some(true) => count.give_back(cost - cost / APPROVALS),
                Some(false) => {}
                None => count.give_back(cost),
            }
        }
    }
}

impl Attempts {
    /// No attempts yet.
    pub fn new(limits: Limits) -> Self {
        let (addresses, bins, entities) = (Cache::new(REMEMBERED), Cache::new(REMEMBERED), Cache::new(REMEMBERED));
        Self { limits, names: RandomState::new(), addresses, bins, entities }
    }

    /// Counts an attempt before anything is asked of anybody.
    ///
    /// # Errors
    /// 429 when one of the caps is reached; then nothing is counted.
    pub fn begin(
        &self,
        entity: &Entity,
        address: Option<IpAddr>,
        bin: Option<&str>,
        now: Timestamp,
    ) -> Result<Attempt, Refusal> {
        let limits = &self.limits;
        let sources = [
            (limits.per_address, &self.addresses, address.map(|address| self.names.hash_one(network(address)))),
            (limits.per_bin, &self.bins, bin.map(|bin| self.names.hash_one((&entity.id, bin)))),
            (limits.per_entity, &self.entities, Some(self.names.hash_one(&entity.id))),
        ];
        let now = i64::try_from(now.as_nanosecond()).unwrap_or_default();
        let mut attempt = Attempt::default();
        for (place, (cap, counts, name)) in attempt.0.iter_mut().zip(sources) {
            let (Some(cap), Some(name)) = (limits.of(entity, cap), name) else { continue };
            let cost = HOUR / cap;
            let count = counts.get_or_insert_with(&name, || Ok::<_, std::convert::Infallible>(Arc::default()));
            let Ok(count) = count;
            if let Err(wait) = count.take(cost, now) {
                attempt.end(None);
                return Err(Refusal::too_many_attempts(seconds(wait)));
            }
            *place = Some((count, cost));
        }
        Ok(attempt)
    }
}

/// What counts as one address: who has one IPv6 address has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

/// Nanoseconds in whole seconds, at least one.
fn seconds(nanoseconds: i64) -> u32 {
    u32::try_from(nanoseconds / 1_000_000_000 + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::domain::entity::Settings;
    use crate::domain::id::EntityId;

    const LIMITS: Limits = Limits { per_checkout: 0, per_address: 6, per_bin: 0, per_entity: 0, sandbox_factor: 10 };

    fn entity(number: u8, live: bool) -> Entity {
        let id = EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]);
        Entity {
            id,
            name: "Bakery".to_owned(),
            live,
            merchant: None,
            ahead: jiff::SignedDuration::ZERO,
            settings: Settings::default(),
        }
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000).unwrap() + SignedDuration::from_mins(minutes)
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    /// How many attempts of one address are let through before one is not.
    fn allowed(attempts: &Attempts, entity: &Entity, from: &str, now: Timestamp, approved: Option<bool>) -> usize {
        (0..1000)
            .take_while(|_| {
                let attempt = attempts.begin(entity, address(from), None, now);
                attempt.map(|attempt| attempt.end(approved)).is_ok()
            })
            .count()
    }

    #[test]
    fn six_declines_an_hour_are_six_at_once_and_then_one_every_ten_minutes() {
        let (attempts, entity) = (Attempts::new(LIMITS), entity(1, true));
        assert_eq!(allowed(&attempts, &entity, "192.0.2.1", at(0), Some(false)), 6);
        let refused = attempts.begin(&entity, address("192.0.2.1"), None, at(4)).unwrap_err();
        assert_eq!((refused.status, refused.retry_after), (429, Some(6 * 60 + 1)));
        assert_eq!(allowed(&attempts, &entity, "192.0.2.1", at(10), Some(false)), 1);
        assert_eq!(allowed(&attempts, &entity, "192.0.2.1", at(200), Some(false)), 6);
    }

    #[test]
    fn twenty_approvals_count_as_one_decline_and_what_did_not_happen_does_not_count() {
        let (attempts, entity) = (Attempts::new(LIMITS), entity(1, true));
        // The last one is taken for a decline while it is under way, so there has to be room for one.
        assert_eq!(allowed(&attempts, &entity, "192.0.2.1", at(0), Some(true)), 5 * 20 + 1);
        assert_eq!(allowed(&attempts, &entity, "192.0.2.2", at(0), None), 1000);
    }

    #[test]
    fn attempts_that_are_under_way_count_as_declined() {
        let (attempts, entity) = (Attempts::new(LIMITS), entity(1, true));
        let begun: Vec<_> = (0..10).map(|_| attempts.begin(&entity, address("192.0.2.1"), None, at(0))).collect();
        assert_eq!(begun.iter().filter(|attempt| attempt.is_ok()).count(), 6);
        begun.into_iter().flatten().for_each(|attempt| attempt.end(Some(true)));
        assert!(attempts.begin(&entity, address("192.0.2.1"), None, at(0)).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_source_and_a_sandbox_may_more() {
        let attempts = Attempts::new(LIMITS);
        assert_eq!(allowed(&attempts, &entity(1, true), "2001:db8::1", at(0), Some(false)), 6);
        assert_eq!(allowed(&attempts, &entity(1, true), "2001:db8::ffff:1", at(0), Some(false)), 0);
        assert_eq!(allowed(&attempts, &entity(1, true), "2001:db8:0:1::1", at(0), Some(false)), 6);
        assert_eq!(allowed(&attempts, &entity(2, false), "192.0.2.9", at(0), Some(false)), 60);
        let free = Attempts::new(Limits { sandbox_factor: 0, ..LIMITS });
        assert_eq!(allowed(&free, &entity(2, false), "192.0.2.9", at(0), Some(false)), 1000);
    }

    #[test]
    fn the_cards_of_one_bin_are_counted_for_each_entity_by_itself() {
        let attempts = Attempts::new(Limits { per_address: 0, per_bin: 2, per_entity: 3, ..LIMITS });
        let decline = |number: u8, bin: &str| {
            attempts
                .begin(&entity(number, true), None, Some(bin), at(0))
                .map(|attempt| attempt.end(Some(false)))
                .is_ok()
        };
        assert!(decline(1, "420000") && decline(1, "420000") && !decline(1, "420000"));
        // The refused one did not count: the entity has one left for another BIN, and another entity all of its own.
        assert!(decline(1, "424242") && !decline(1, "555555"));
        assert!(decline(2, "420000"));
    }

    #[test]
    fn however_many_addresses_there_are_a_hundred_thousand_are_remembered() {
        let (attempts, entity) = (Attempts::new(LIMITS), entity(1, true));
        for number in 0..300_000_u32 {
            attempts.begin(&entity, Some(IpAddr::V4(number.into())), None, at(0)).unwrap().end(Some(false));
        }
        assert!(attempts.addresses.len() <= REMEMBERED);
    }
}
