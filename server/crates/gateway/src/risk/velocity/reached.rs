//! Reached limits, for the decision log: the limit that refused a payment attempt, and its masked key.
//!
//! A refused attempt only adds a row in memory, at most one a minute for each entity and limit. The rows are written
//! with the counts, every second and at shutdown.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::rules::{RiskAction, RiskChange};

use crate::risk::velocity::BATCH;
use crate::risk::velocity::lock_mutex;
use crate::risk::velocity::source::SourceKind;
use crate::risk::velocity::to_nanoseconds;

/// Minimum time between two rows of one limit of an entity, in nanoseconds.
const INTERVAL: u64 = 60_000_000_000;
/// Maximum number of entities with rows in the last minute. Beyond it, the limits of further entities are not recorded.
const MAX_ENTITIES: usize = 10_000;
/// Maximum number of rows that wait for the next write. Beyond it, none is added.
const MAX_WAITING: usize = 10_000;
/// Author of the rows.
const AUTHOR: &str = "gateway";

/// A limit against card testing, named after its option of `serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VelocityLimit {
    /// Attempts of a checkout.
    Checkout,
    /// Declines of a shopper's address or network.
    Address,
    /// Declines of cards with one BIN.
    Bin,
    /// Declines of an entity.
    Entity,
    /// Different card numbers with the same first six and last four digits.
    AlikeNumbers,
}

impl VelocityLimit {
    /// Every limit, in the order of the declaration.
    const ALL: [Self; 5] = [Self::Checkout, Self::Address, Self::Bin, Self::Entity, Self::AlikeNumbers];

    /// Returns the name of its option.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Checkout => "attempts-per-checkout",
            Self::Address => "declines-per-address",
            Self::Bin => "declines-per-bin",
            Self::Entity => "declines-per-entity",
            Self::AlikeNumbers => "alike-numbers",
        }
    }
}

impl From<SourceKind> for VelocityLimit {
    fn from(kind: SourceKind) -> Self {
        match kind {
            SourceKind::Address => Self::Address,
            SourceKind::Bin => Self::Bin,
            SourceKind::Entity => Self::Entity,
            SourceKind::AlikeNumbers => Self::AlikeNumbers,
        }
    }
}

/// A cap that refuses an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReachedCap {
    /// The limit.
    pub(super) limit: VelocityLimit,
    /// The cap of the entity, per hour.
    pub(super) cap: i64,
    /// The remaining wait in nanoseconds.
    pub(super) wait: i64,
}

/// The latest rows, and those to be written.
#[derive(Debug, Default)]
struct Rows {
    /// Time of the latest row of each limit, in nanoseconds since 1970, by entity.
    latest: HashMap<EntityId, [i64; VelocityLimit::ALL.len()]>,
    waiting: Vec<RiskChange>,
}

/// The limits that were reached in the last minute. Locked by each refused attempt, for a look-up.
#[derive(Debug, Default)]
pub(super) struct ReachedLimits(Mutex<Rows>);

impl ReachedLimits {
    /// Adds a row that an entity's attempt was refused by a limit, unless there was one in the last minute. `describe`
    /// makes the masked key and the cap in words; it is called only for a row.
    pub(super) fn record(
        &self,
        entity: &Entity,
        limit: VelocityLimit,
        now: Timestamp,
        describe: impl FnOnce() -> (String, String),
    ) {
        let mut rows = lock_mutex(&self.0);
        let at = to_nanoseconds(now);
        if rows.waiting.len() >= MAX_WAITING {
            return;
        }
        if !rows.latest.contains_key(&entity.id) {
            if rows.latest.len() >= MAX_ENTITIES {
                return;
            }
            rows.latest.insert(entity.id.clone(), [i64::MIN; VelocityLimit::ALL.len()]);
        }
        let place = VelocityLimit::ALL.iter().position(|known| *known == limit);
        let latest = rows.latest.get_mut(&entity.id).zip(place).and_then(|(latest, place)| latest.get_mut(place));
        let Some(latest) = latest.filter(|latest| at.abs_diff(**latest) >= INTERVAL) else { return };
        *latest = at;
        let (key, reason) = describe();
        let action = RiskAction::ReachLimit { limit: limit.as_str(), key };
        let at = now + entity.ahead;
        rows.waiting.push(RiskChange { entity: entity.id.clone(), action, reason, author: AUTHOR.to_owned(), at });
    }

    /// Removes and returns a batch of the rows (at most 1000), oldest first, and forgets entities without a row in the
    /// last minute.
    pub(super) fn take(&self, now: Timestamp) -> Vec<RiskChange> {
        let mut rows = lock_mutex(&self.0);
        let now = to_nanoseconds(now);
        rows.latest.retain(|_, latest| latest.iter().any(|at| now.abs_diff(*at) < INTERVAL));
        let batch = rows.waiting.len().min(BATCH);
        rows.waiting.drain(..batch).collect()
    }

    /// Puts rows back after a failed write.
    pub(super) fn restore(&self, taken: Vec<RiskChange>) {
        let mut rows = lock_mutex(&self.0);
        rows.waiting.splice(..0, taken);
        rows.waiting.truncate(MAX_WAITING);
    }
}

/// Returns the network of an address, /24 or /48, so that no row names a shopper.
pub(super) fn mask_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, third, _] = v4.octets();
            format!("{first}.{second}.{third}.0/24")
        }
        IpAddr::V6(v6) => format!("{}/48", Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 80))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::SignedDuration;
    use tillgate_domain::access::entity::EntitySettings;
    use tillgate_domain::access::level::Level;

    use crate::risk::velocity::reached::*;

    fn create_entity(number: u32) -> Entity {
        let mut random = [0; 9];
        random[..4].copy_from_slice(&number.to_be_bytes());
        Entity {
            id: EntityId::new(Timestamp::UNIX_EPOCH, random),
            name: String::new(),
            live: false,
            level: Level::Merchant,
            parent: None,
            ahead: SignedDuration::from_hours(1),
            settings: EntitySettings::default(),
        }
    }

    fn at_second(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn record(reached: &ReachedLimits, entity: &Entity, limit: VelocityLimit, second: i64) {
        reached.record(entity, limit, at_second(second), || ("key".to_owned(), "cap".to_owned()));
    }

    #[test]
    fn a_limit_of_an_entity_has_one_row_a_minute_by_the_clock_of_the_entity() {
        let (reached, entity) = (ReachedLimits::default(), create_entity(1));
        for second in [0, 1, 59, 60, 61, 119] {
            record(&reached, &entity, VelocityLimit::Bin, second);
        }
        record(&reached, &entity, VelocityLimit::Entity, 61);
        record(&reached, &create_entity(2), VelocityLimit::Bin, 61);
        let rows = reached.take(at_second(120));
        let times: Vec<Timestamp> = rows.iter().map(|row| row.at - SignedDuration::from_hours(1)).collect();
        assert_eq!(times, [0, 60, 61, 61].map(at_second));
        assert!(reached.take(at_second(120)).is_empty());
    }

    #[test]
    fn rows_of_a_failed_write_are_written_before_later_ones() {
        let (reached, entity) = (ReachedLimits::default(), create_entity(1));
        record(&reached, &entity, VelocityLimit::Bin, 0);
        let taken = reached.take(at_second(1));
        record(&reached, &entity, VelocityLimit::Entity, 1);
        reached.restore(taken);
        let limits = reached.take(at_second(2)).into_iter().map(|row| match row.action {
            RiskAction::ReachLimit { limit, .. } => limit,
            other => panic!("{other:?}"),
        });
        assert_eq!(limits.collect::<Vec<_>>(), ["declines-per-bin", "declines-per-entity"]);
    }

    #[test]
    fn however_many_entities_are_refused_a_bounded_number_of_rows_waits() {
        let reached = ReachedLimits::default();
        for number in 0..30_000 {
            for limit in VelocityLimit::ALL {
                record(&reached, &create_entity(number), limit, 0);
            }
        }
        reached.restore(vec![reached.take(at_second(0))[0].clone(); 5000]);
        let rows = lock_mutex(&reached.0);
        assert!(rows.latest.len() <= MAX_ENTITIES && rows.waiting.len() <= MAX_WAITING);
        drop(rows);
        while !reached.take(at_second(61)).is_empty() {}
        assert!(lock_mutex(&reached.0).latest.is_empty(), "a minute later nothing is remembered");
    }

    #[test]
    fn an_address_is_masked_to_its_network() {
        for (address, masked) in [
            ("203.0.113.9", "203.0.113.0/24"),
            ("::ffff:203.0.113.9", "203.0.113.0/24"),
            ("2001:db8:aaaa:bbcc::1", "2001:db8:aaaa::/48"),
        ] {
            assert_eq!(mask_address(address.parse().unwrap()), masked);
        }
    }
}
