//! Velocity limits against card testing: somebody with a list of stolen card numbers finds the valid ones by paying
//! with each. Attempts to pay are therefore limited by the shopper's address and its networks, by the first digits of
//! the card (BIN), by entity, and by groups of similar card numbers. The checkout limits its own attempts, in its
//! document.
//!
//! A cap is a number of declines per hour. Most attempts in a shop are approved and most attempts of card testing are
//! declined, so an approval costs a twentieth of a decline. Every attempt in flight is counted as a decline, so that
//! concurrent attempts cannot exceed the cap. A pending payment stays counted as a decline until its final outcome is
//! known. Stored cards are exempt: they cannot be used for card testing.
//!
//! Numbers with the same first six and last four digits are candidates for one stored card. Each change between them
//! costs as much as a decline, whatever the outcome, and an alarm is logged above the cap. Every route on which a
//! merchant or a shopper sends a full number that is compared with stored ones counts it: payments and registrations as
//! part of their attempt, checks without a payment and list entries with [`VelocityLimiter::count_comparison`].
//!
//! The counts are in memory, in caches of a fixed size, so memory is bounded whatever the number of addresses. Changes
//! of counts with declines are added to the store every half second and at shutdown. The nodes of a cluster take over
//! each other's changes as often, so that all have counted a decline within two seconds. Reached caps are recorded in
//! the audit of risk in the same way.

mod attempt;
mod count;
mod limits;
mod reached;
mod source;
mod stored_counts;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quick_cache::sync::Cache;
use tillgate_connector::FullAccount;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{CheckoutId, PaymentId, log_tag};
use tillgate_domain::payment::account_identity::AccountIdentity;
use tillgate_domain::refusal::Refusal;
use tillgate_store::risk::velocity::VelocityCount;

pub use attempt::{AttemptGuard, AttemptOutcome};
use attempt::{CountedCost, Unsaved};
use count::{Count, HOUR};
pub use limits::VelocityLimits;
use reached::{ReachedCap, ReachedLimits, VelocityLimit, mask_address};
pub use source::ShopperAddress;
use source::{CountName, SourceKind, count_name, networks_of_browser, networks_of_reported};

/// Maximum number of remembered sources of each kind. The least recently used one is dropped first.
const MAX_SOURCES: usize = 100_000;
/// Maximum number of remembered attempts of pending payments. Above it, the oldest stay counted as declines.
const MAX_PENDING: usize = 100_000;
/// Maximum number of counts in one transaction: a longer transaction would delay payments.
const BATCH: usize = 1_000;
/// The number of approvals that cost as much as one decline.
const APPROVALS_PER_DECLINE: i64 = 20;

/// Velocity limiter: the counts of this process and their caps.
pub struct VelocityLimiter {
    limits: VelocityLimits,
    /// Random hash keys for card numbers, different in each process, so that no number can be found by its hash.
    number_hash_keys: RandomState,
    /// One cache for each kind, in the order of [`SourceKind::ALL`], so that many sources of one kind do not evict
    /// those of another.
    caches: [Cache<CountName, Arc<Count>>; 4],
    /// The attempts of pending payments, oldest first.
    pending: Mutex<BTreeMap<PaymentId, AttemptGuard>>,
    /// The counts with unsaved changes. Shared with every attempt, because a dropped attempt adds its
    /// counts too.
    unsaved: Unsaved,
    /// The time up to which the changes of other processes have been taken over: see
    /// [`load_velocity_changes`](tillgate_store::Store::load_velocity_changes). One task at a time locks it.
    seen: Mutex<i64>,
    /// The caps that were reached, for the audit of risk.
    reached: ReachedLimits,
}

impl VelocityLimiter {
    /// Creates a limiter with the stored counts.
    pub fn new(limits: VelocityLimits, stored: Vec<VelocityCount>, now: Timestamp) -> Self {
        let caches = [(); 4].map(|()| Cache::new(MAX_SOURCES));
        let limiter = Self {
            limits,
            number_hash_keys: RandomState::new(),
            caches,
            pending: Mutex::default(),
            unsaved: Unsaved::default(),
            seen: Mutex::default(),
            reached: ReachedLimits::default(),
        };
        limiter.adopt_counts(stored, now);
        limiter
    }

    /// Counts an attempt as a decline, before any request to a connector. The caller has to report its outcome with
    /// [`Self::end_attempt`].
    ///
    /// # Errors
    /// 429 with the remaining wait if one of the caps is reached; then nothing is counted, and the cap is recorded for
    /// the audit.
    pub fn begin_attempt(
        &self,
        entity: &Entity,
        shopper: Option<ShopperAddress>,
        account: &FullAccount,
        now: Timestamp,
    ) -> Result<AttemptGuard, Refusal> {
        let mut attempt = AttemptGuard::new(&self.unsaved);
        let counted = self.count_attempt(&mut attempt, entity, shopper, account, to_nanoseconds(now));
        counted.map_err(|reached| {
            std::mem::take(&mut attempt).refund_costs(|cost| cost, to_nanoseconds(now));
            self.refuse_attempt(reached, entity, (shopper, account.bin()), now)
        })?;
        Ok(attempt)
    }

    /// Counts a full number that a request sends and that is compared with stored ones, although nobody pays with it.
    /// The response reveals something whatever it is, so nothing is refunded.
    ///
    /// # Errors
    /// 429 with the remaining wait if the cap of similar numbers is reached, which is recorded for the audit. The
    /// caller must not compare the number then.
    pub fn count_comparison(&self, entity: &Entity, account: &AccountIdentity, now: Timestamp) -> Result<(), Refusal> {
        let mut attempt = AttemptGuard::new(&self.unsaved);
        let counted = self.count_number(&mut attempt, entity, account, to_nanoseconds(now));
        counted.map_err(|reached| self.refuse_attempt(reached, entity, (None, account.bin()), now))
    }

    /// Records a reached cap for the audit, and returns the refusal.
    fn refuse_attempt(
        &self,
        ReachedCap { limit, cap, wait }: ReachedCap,
        entity: &Entity,
        (shopper, bin): (Option<ShopperAddress>, Option<&str>),
        now: Timestamp,
    ) -> Refusal {
        self.reached.record(entity, limit, now, || {
            let key = match limit {
                VelocityLimit::Address => shopper.map(|shopper| mask_address(shopper.address())),
                // The last digits are left out, so that the row is of no use to somebody who looks for a number.
                VelocityLimit::Bin | VelocityLimit::AlikeNumbers => bin.map(str::to_owned),
                VelocityLimit::Entity | VelocityLimit::Checkout => None,
            };
            (key.unwrap_or_default(), format!("{cap} an hour"))
        });
        Refusal::too_many_attempts(to_whole_seconds(wait))
    }

    /// Records for the audit that a checkout has no attempt left. Its id is a capability, so its log tag stands for it.
    pub fn record_exhausted_checkout(&self, entity: &Entity, checkout: &CheckoutId, limit: u32, now: Timestamp) {
        self.reached.record(entity, VelocityLimit::Checkout, now, || {
            (log_tag(checkout.as_str()), format!("{limit} in its lifetime"))
        });
    }

    /// Adds the costs of an attempt to the counts of its address, its BIN, its entity and its group of similar card
    /// numbers.
    ///
    /// # Errors
    /// The first cap that is reached. The costs before it stay in `attempt`.
    fn count_attempt(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        shopper: Option<ShopperAddress>,
        account: &FullAccount,
        now: i64,
    ) -> Result<(), ReachedCap> {
        let id = entity.id.as_str().as_bytes();
        if let Some(shopper) = shopper {
            self.count_address(attempt, entity, shopper, now)?;
        }
        if let Some(bin) = account.bin() {
            self.count_source(
                attempt,
                entity,
                (SourceKind::Bin, count_name(&[b"bin", id, bin.as_bytes()])),
                self.limits.per_bin,
                now,
            )?;
        }
        self.count_source(
            attempt,
            entity,
            (SourceKind::Entity, count_name(&[b"entity", id])),
            self.limits.per_entity,
            now,
        )?;
        // Counted last, because this cost is never refunded. The brand matters for accounts with a provider only, which
        // have no hidden part.
        account.identity("").map_or(Ok(()), |identity| self.count_number(attempt, entity, &identity, now))
    }

    /// Counts a shopper's address under its origin (browser or merchant), and only checks the counts of the other
    /// origin, so that an address at its limit is refused by either.
    ///
    /// # Errors
    /// The cap that is reached, if any.
    fn count_address(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        shopper: ShopperAddress,
        now: i64,
    ) -> Result<(), ReachedCap> {
        let address = shopper.address();
        let (browser, reported) = (networks_of_browser(address), networks_of_reported(address, entity));
        let (counted, checked) = match shopper {
            ShopperAddress::Browser(_) => (browser, reported),
            ShopperAddress::Reported(_) => (reported, browser),
        };
        for (name, factor) in checked {
            let cap = self.limits.cap_for(entity, self.limits.per_address.saturating_mul(factor));
            if let (Some(cap), Some(count)) = (cap, self.cache_for(SourceKind::Address).get(&name)) {
                let checked = count.check_cost(HOUR / cap, now);
                checked.map_err(|wait| ReachedCap { limit: VelocityLimit::Address, cap, wait })?;
            }
        }
        for (name, factor) in counted {
            let cap = self.limits.per_address.saturating_mul(factor);
            self.count_source(attempt, entity, (SourceKind::Address, name), cap, now)?;
        }
        Ok(())
    }

    /// Counts a change of the number among those of a merchant that show the same: the same first six and last four
    /// digits of a card. A merchant and its channels share the count, because they share what is stored. Counts nothing
    /// for an account without a hidden part, for the last number again, or without a cap.
    ///
    /// # Errors
    /// The cap if it is reached; then an alarm is logged, at most once a minute.
    fn count_number(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        account: &AccountIdentity,
        now: i64,
    ) -> Result<(), ReachedCap> {
        let cap = self.limits.cap_for(entity, self.limits.alike_numbers);
        let (Some([first, last]), Some(cap)) = (account.visible_parts(), cap) else { return Ok(()) };
        let merchant = entity.merchant_or_self().as_str();
        let name = count_name(&[b"alike", merchant.as_bytes(), first.as_bytes(), last.as_bytes()]);
        let count = self.count_for(SourceKind::AlikeNumbers, &name);
        let cost = HOUR / cap;
        match count.add_number(self.number_hash_keys.hash_one(account.characters()), cost, now) {
            Ok(None) => Ok(()),
            Ok(Some(until)) => {
                attempt.costs.push(CountedCost { kind: SourceKind::AlikeNumbers, name, count, cost, until });
                Ok(())
            }
            Err(wait) => {
                if count.is_alarm_due(now) {
                    tracing::warn!(
                        entity = entity.id.as_str(),
                        cap,
                        "more different numbers an hour than the cap show the same first six and last four digits: \
                         somebody may be looking for the number of a stored card or account; requests with such numbers \
                         are refused"
                    );
                }
                Err(ReachedCap { limit: VelocityLimit::AlikeNumbers, cap, wait })
            }
        }
    }

    /// Adds the cost of a decline to the count of a source. Does nothing without a cap.
    ///
    /// # Errors
    /// The cap if it is reached.
    fn count_source(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        (kind, name): (SourceKind, CountName),
        cap: u32,
        now: i64,
    ) -> Result<(), ReachedCap> {
        let Some(cap) = self.limits.cap_for(entity, cap) else { return Ok(()) };
        let (count, cost) = (self.count_for(kind, &name), HOUR / cap);
        let added = count.add_cost(cost, now);
        let until = added.map_err(|wait| ReachedCap { limit: kind.into(), cap, wait })?;
        attempt.costs.push(CountedCost { kind, name, count, cost, until });
        Ok(())
    }

    /// Reports the outcome of an attempt: an approval refunds all but a twentieth of its costs, a decline nothing, and
    /// an attempt that was not made everything. The attempt of a pending payment stays counted until
    /// [`Self::end_pending`].
    pub fn end_attempt(&self, attempt: AttemptGuard, outcome: AttemptOutcome, now: Timestamp) {
        let now = to_nanoseconds(now);
        match outcome {
            AttemptOutcome::Approved => attempt.refund_costs(|cost| cost - cost / APPROVALS_PER_DECLINE, now),
            AttemptOutcome::Declined => drop(attempt),
            AttemptOutcome::NotMade => attempt.refund_costs(|cost| cost, now),
            AttemptOutcome::Pending(_) if attempt.costs.is_empty() => {}
            AttemptOutcome::Pending(id) => {
                let mut attempt = attempt;
                attempt.mark_unsaved();
                let mut pending = lock_mutex(&self.pending);
                pending.insert(id, attempt);
                if pending.len() > MAX_PENDING {
                    pending.pop_first();
                }
            }
        }
    }

    /// Reports the outcome of a payment that was pending. Does nothing if its attempt is not remembered.
    pub fn end_pending(&self, payment: &PaymentId, approved: bool, now: Timestamp) {
        let attempt = lock_mutex(&self.pending).remove(payment);
        let Some(attempt) = attempt else { return };
        let outcome = if approved { AttemptOutcome::Approved } else { AttemptOutcome::Declined };
        self.end_attempt(attempt, outcome, now);
    }

    /// Returns the count of a source, a new one if none is in memory.
    fn count_for(&self, kind: SourceKind, name: &CountName) -> Arc<Count> {
        let count = self.cache_for(kind).get_or_insert_with(name, || Ok::<_, std::convert::Infallible>(Arc::default()));
        let Ok(count) = count;
        count
    }

    /// Returns the cache of the counts of this kind.
    fn cache_for(&self, kind: SourceKind) -> &Cache<CountName, Arc<Count>> {
        &self.caches[kind.cache_index()]
    }
}

/// Locks a mutex, also after a panic in another thread.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts a time to nanoseconds since 1970. Returns 0 for a time beyond their range (1677 to 2262).
fn to_nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or_default()
}

/// Converts nanoseconds to the number of whole seconds plus one.
fn to_whole_seconds(nanoseconds: i64) -> u32 {
    u32::try_from(nanoseconds / 1_000_000_000 + 1).unwrap_or(u32::MAX)
}
