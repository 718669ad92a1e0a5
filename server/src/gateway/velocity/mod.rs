//! Velocity limits against card testing: who has a list of stolen numbers finds out which of them work by paying with each.
//! So attempts to pay are capped by the shopper's address and its networks, by the first digits of the card (BIN), by entity,
//! and by the card numbers that look alike; the checkout caps its own, in its document.
//!
//! A cap is a number of declines an hour. Shops that sell live on approvals and testers on declines, so an approval counts
//! a twentieth. Every attempt is taken for a decline until it has ended: a thousand at once do not slip through together. A
//! pending payment has not ended; what it is in the end counts, whoever ends it. Stored cards are not counted: nobody finds
//! out by them which numbers work.
//!
//! Numbers that show the same first six and last four digits are candidates for one stored card. A change from one of them to
//! another counts in full whatever comes of it, and beyond the cap an alarm is logged.
//!
//! The counts live in memory, in caches of a fixed size, so that millions of addresses cost no more than a hundred thousand.
//! Declines are written to the store every second and at the end, and are there again after a restart. What one process
//! counts another one does not know.

mod count;
mod source;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quick_cache::sync::Cache;

use super::Gateway;
use crate::connector::FullAccount;
use crate::domain::entity::Entity;
use crate::domain::id::PaymentId;
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;
use crate::domain::registration::Registration;
use crate::store::StoreError;
use crate::store::velocity::VelocityCount;
use count::{Count, HOUR};
pub use source::Shopper;
use source::{Kind, Name, name, networks_of_browser, networks_told};

/// The most sources of a kind that are remembered; the one unused for longest goes first.
const REMEMBERED: usize = 100_000;
/// The most pending payments whose attempts are remembered; beyond, the oldest stay declines.
const PENDING: usize = 100_000;
/// The most counts that are written at once: a longer transaction would hold up payments.
const BATCH: usize = 1_000;
/// The number of approvals that count as much as one decline.
const APPROVALS: i64 = 20;

/// The caps, in declines an hour; zero is none.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Attempts in the whole life of a checkout.
    pub per_checkout: u32,
    /// Declines an hour of a shopper's address; an IPv6 /64 is one address, a /56 has four times as much, a /48 sixteen times.
    pub per_address: u32,
    /// Declines an hour of the cards with the same BIN, of one entity.
    pub per_bin: u32,
    /// Declines an hour of an entity.
    pub per_entity: u32,
    /// Different card numbers an hour that show the same first six and last four digits, of one entity.
    pub alike_numbers: u32,
    /// The factor of every cap for a sandbox entity; zero is without any cap.
    pub sandbox_factor: u32,
}

impl Limits {
    /// A cap as it is for an entity; `None` if there is none.
    fn of(&self, entity: &Entity, cap: u32) -> Option<i64> {
        let factor = if entity.live { 1 } else { self.sandbox_factor };
        let cap = i64::from(cap).saturating_mul(i64::from(factor));
        (cap > 0).then_some(cap)
    }

    /// The number of attempts that a checkout of an entity allows; `None` for any number.
    pub fn checkout_attempts(&self, entity: &Entity) -> Option<u32> {
        self.of(entity, self.per_checkout).map(|cap| u32::try_from(cap).unwrap_or(u32::MAX))
    }
}

/// The counts of this process.
pub struct VelocityLimiter {
    limits: Limits,
    /// Keys the hashes of card numbers, anew in each process, so that nobody can find a number by its hash.
    numbers: RandomState,
    /// One cache for each kind, in the order of [`Kind::ALL`], so that a flood of one kind pushes out its own only.
    caches: [Cache<Name, Arc<Count>>; 4],
    /// The attempts whose payment is pending, the oldest first.
    pending: Mutex<BTreeMap<PaymentId, AttemptGuard>>,
    /// The counts that differ from what is stored. Shared with every attempt, which may end by being dropped.
    unsaved: Unsaved,
}

type Unsaved = Arc<Mutex<HashMap<(Kind, Name), Arc<Count>>>>;

/// A cost that was added to a count.
#[derive(Debug)]
struct Taken {
    kind: Kind,
    name: Name,
    count: Arc<Count>,
    cost: i64,
    /// The moment until which the cost is remembered.
    until: i64,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The payment was approved, or the account registered.
    Approved,
    /// It was declined.
    Declined,
    /// The payment is pending: its end is told by [`VelocityLimiter::end_pending`].
    Pending(PaymentId),
    /// Nothing was written.
    NotMade,
}

impl AttemptOutcome {
    /// The outcome that a written payment has so far.
    pub fn of(payment: &Payment) -> Self {
        match payment {
            payment if payment.approved() => Self::Approved,
            payment if payment.result.is_pending() => Self::Pending(payment.id.clone()),
            _ => Self::Declined,
        }
    }

    /// The outcome of a written registration.
    pub fn of_registration(registration: &Registration) -> Self {
        if registration.approved() { Self::Approved } else { Self::Declined }
    }
}

impl Gateway {
    /// Writes the counts that have changed, and deletes those that are empty.
    ///
    /// # Errors
    /// When the store cannot be written; the counts are then written by the next call.
    pub async fn save_velocity(&self) -> Result<(), StoreError> {
        let now = self.now();
        loop {
            let counts = self.velocity.take_unsaved(now);
            let last = counts.len() < BATCH;
            if !counts.is_empty() {
                let written = self.store.save_velocity_counts(counts.clone()).await;
                if written.is_err() {
                    self.velocity.put_back(counts);
                }
                written?;
            }
            if last {
                return self.store.purge_velocity_counts(now).await;
            }
        }
    }
}

/// An attempt that is under way, counted as declined. It stays so if it is dropped without an end: its client has hung up.
#[must_use]
#[derive(Debug, Default)]
pub struct AttemptGuard {
    taken: Vec<Taken>,
    /// True once the counts have been marked as unsaved: they are then marked again when something is given back.
    marked: bool,
    unsaved: Unsaved,
}

impl AttemptGuard {
    /// Takes back what does not count. The rest stays counted.
    fn give_back(mut self, part: impl Fn(i64) -> i64, now: i64) {
        for taken in &self.taken {
            // Trying a number that looks like another has told what it tells, whatever comes of it.
            if taken.kind != Kind::AlikeNumbers {
                taken.count.give_back(part(taken.cost), taken.until, now);
            }
        }
        // Approvals alone are not worth a write for each payment.
        let marked = self.marked;
        self.taken.retain(|taken| marked || taken.kind == Kind::AlikeNumbers);
    }

    /// Notes that the counts differ from what is stored.
    fn mark(&mut self) {
        if self.taken.is_empty() {
            return;
        }
        self.marked = true;
        let mut unsaved = lock(&self.unsaved);
        for Taken { kind, name, count, .. } in &self.taken {
            if unsaved.len() < REMEMBERED {
                unsaved.insert((*kind, *name), Arc::clone(count));
            }
        }
    }
}

impl Drop for AttemptGuard {
    fn drop(&mut self) {
        self.mark();
    }
}

impl VelocityLimiter {
    /// A limiter with the counts of the process before.
    pub fn new(limits: Limits, stored: Vec<VelocityCount>, now: Timestamp) -> Self {
        let caches = [(); 4].map(|()| Cache::new(REMEMBERED));
        let limiter = Self {
            limits,
            numbers: RandomState::new(),
            caches,
            pending: Mutex::default(),
            unsaved: Unsaved::default(),
        };
        for VelocityCount { kind, name, until } in stored {
            if let Some(kind) = Kind::find(kind) {
                limiter.cache(kind).insert(name, Arc::new(Count::until(until.min(nanoseconds(now) + HOUR))));
            }
        }
        limiter
    }

    /// Counts an attempt before anything is asked of anybody.
    ///
    /// # Errors
    /// 429 when one of the caps is reached; then nothing is counted.
    pub fn begin(
        &self,
        entity: &Entity,
        shopper: Option<Shopper>,
        account: &FullAccount,
        now: Timestamp,
    ) -> Result<AttemptGuard, Refusal> {
        let now = nanoseconds(now);
        let mut attempt =
            AttemptGuard { taken: Vec::with_capacity(6), marked: false, unsaved: Arc::clone(&self.unsaved) };
        let counted = self.count(&mut attempt, entity, shopper, account, now);
        counted.map_err(|wait| {
            std::mem::take(&mut attempt).give_back(|cost| cost, now);
            Refusal::too_many_attempts(seconds(wait))
        })?;
        Ok(attempt)
    }

    fn count(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        shopper: Option<Shopper>,
        account: &FullAccount,
        now: i64,
    ) -> Result<(), i64> {
        let id = entity.id.as_str().as_bytes();
        if let Some(shopper) = shopper {
            self.count_address(attempt, entity, shopper, now)?;
        }
        if let Some(bin) = account.bin() {
            self.take(attempt, entity, (Kind::Bin, name(&[b"bin", id, bin.as_bytes()])), self.limits.per_bin, now)?;
        }
        self.take(attempt, entity, (Kind::Entity, name(&[b"entity", id])), self.limits.per_entity, now)?;
        // The last one: it is not given back.
        self.count_number(attempt, entity, account, now)
    }

    /// Counts an address where its word is believed, and checks it where the other kind of word was believed before.
    fn count_address(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        shopper: Shopper,
        now: i64,
    ) -> Result<(), i64> {
        let address = shopper.address();
        let (browser, told) = (networks_of_browser(address), networks_told(address, entity));
        let (counted, checked) = match shopper {
            Shopper::Browser(_) => (browser, told),
            Shopper::Told(_) => (told, browser),
        };
        for (name, factor) in checked {
            let cap = self.limits.of(entity, self.limits.per_address.saturating_mul(factor));
            if let (Some(cap), Some(count)) = (cap, self.cache(Kind::Address).get(&name)) {
                count.check(HOUR / cap, now)?;
            }
        }
        for (name, factor) in counted {
            let cap = self.limits.per_address.saturating_mul(factor);
            self.take(attempt, entity, (Kind::Address, name), cap, now)?;
        }
        Ok(())
    }

    fn count_number(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        account: &FullAccount,
        now: i64,
    ) -> Result<(), i64> {
        let (FullAccount::Card(card), Some(cap)) = (account, self.limits.of(entity, self.limits.alike_numbers)) else {
            return Ok(());
        };
        let (first, last) = (card.number.bin().as_bytes(), card.number.last4().as_bytes());
        let name = name(&[b"alike", entity.id.as_str().as_bytes(), first, last]);
        let count = self.named(Kind::AlikeNumbers, &name);
        let cost = HOUR / cap;
        match count.take_number(self.numbers.hash_one(card.number.digits()), cost, now) {
            Ok(None) => Ok(()),
            Ok(Some(until)) => {
                attempt.taken.push(Taken { kind: Kind::AlikeNumbers, name, count, cost, until });
                Ok(())
            }
            Err(wait) => {
                if count.alarm(now) {
                    tracing::warn!(
                        entity = entity.id.as_str(),
                        cap,
                        "more different card numbers an hour than the cap show the same first six and last four digits: \
                         somebody may be looking for the number of a stored card; attempts with such numbers are refused"
                    );
                }
                Err(wait)
            }
        }
    }

    fn take(
        &self,
        attempt: &mut AttemptGuard,
        entity: &Entity,
        (kind, name): (Kind, Name),
        cap: u32,
        now: i64,
    ) -> Result<(), i64> {
        let Some(cap) = self.limits.of(entity, cap) else { return Ok(()) };
        let (count, cost) = (self.named(kind, &name), HOUR / cap);
        let until = count.take(cost, now)?;
        attempt.taken.push(Taken { kind, name, count, cost, until });
        Ok(())
    }

    /// Ends an attempt.
    pub fn end(&self, attempt: AttemptGuard, outcome: AttemptOutcome, now: Timestamp) {
        let now = nanoseconds(now);
        match outcome {
            AttemptOutcome::Approved => attempt.give_back(|cost| cost - cost / APPROVALS, now),
            AttemptOutcome::Declined => drop(attempt),
            AttemptOutcome::NotMade => attempt.give_back(|cost| cost, now),
            AttemptOutcome::Pending(_) if attempt.taken.is_empty() => {}
            AttemptOutcome::Pending(id) => {
                let mut attempt = attempt;
                attempt.mark();
                let mut pending = lock(&self.pending);
                pending.insert(id, attempt);
                if pending.len() > PENDING {
                    pending.pop_first();
                }
            }
        }
    }

    /// Ends the attempt of a payment that was pending.
    pub fn end_pending(&self, payment: &PaymentId, approved: bool, now: Timestamp) {
        let attempt = lock(&self.pending).remove(payment);
        let Some(attempt) = attempt else { return };
        let outcome = if approved { AttemptOutcome::Approved } else { AttemptOutcome::Declined };
        self.end(attempt, outcome, now);
    }

    /// Takes some of the counts that differ from what is stored, and forgets the attempts of pending payments that no longer
    /// count.
    pub fn take_unsaved(&self, now: Timestamp) -> Vec<VelocityCount> {
        let now = nanoseconds(now);
        lock(&self.pending).retain(|_, attempt| attempt.taken.iter().any(|taken| taken.until > now));
        let mut unsaved = lock(&self.unsaved);
        let some: Vec<(Kind, Name)> = unsaved.keys().take(BATCH).copied().collect();
        let counts = some.into_iter().filter_map(|key| {
            let count = unsaved.remove(&key)?;
            Some(VelocityCount { kind: key.0 as u8, name: key.1, until: count.full() })
        });
        counts.collect()
    }

    /// Puts counts back that could not be written.
    pub fn put_back(&self, counts: Vec<VelocityCount>) {
        for VelocityCount { kind, name, .. } in counts {
            if let Some(kind) = Kind::find(kind)
                && let Some(count) = self.cache(kind).get(&name)
            {
                lock(&self.unsaved).insert((kind, name), count);
            }
        }
    }

    fn named(&self, kind: Kind, name: &Name) -> Arc<Count> {
        let count = self.cache(kind).get_or_insert_with(name, || Ok::<_, std::convert::Infallible>(Arc::default()));
        let Ok(count) = count;
        count
    }

    fn cache(&self, kind: Kind) -> &Cache<Name, Arc<Count>> {
        &self.caches[kind.place()]
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or_default()
}

/// Nanoseconds in whole seconds, at least one.
fn seconds(nanoseconds: i64) -> u32 {
    u32::try_from(nanoseconds / 1_000_000_000 + 1).unwrap_or(u32::MAX)
}
