//! The queue of held payments for administrators, who see every entity. Decisions are in `operator.rs`, because only a
//! running gateway may ask connectors.

use std::collections::HashMap;
use std::iter::once;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::SignedDuration;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::review::filter::ReviewFilter;
use tillgate_domain::review::queue::{
    QueueChange, QueuedReview, ReviewActor, ReviewChange, ReviewClock, ReviewState, ReviewStatus,
};
use tillgate_store::AdminStore;
use tillgate_store::review::queue::{ReviewRecord, ReviewSelection};

use super::queue::ReviewOutcome;
use crate::administration::{ActError, Administration, load_known_entity};

/// Number of reviews that are loaded at once.
pub const PAGE: usize = 100;

impl Administration {
    /// Lists the reviews of an entity and those below it, or of all entities: the payments that are held longest first,
    /// at most `limit`. Returns the payment after which the next list begins, if there may be more.
    ///
    /// # Errors
    /// If there is no such entity, or `after` is no payment of an earlier list.
    pub fn list_reviews(
        &self,
        entity: Option<&EntityId>,
        filter: &ReviewFilter,
        after: Option<PaymentId>,
        limit: usize,
    ) -> Result<(Vec<ReviewOutcome>, Option<PaymentId>), ActError> {
        let entities = match entity {
            None => self.store.load_entities()?,
            Some(id) => {
                let entity = self.load_entity(id)?;
                let below = self.store.load_descendants(&entity.id)?;
                once(entity).chain(below).collect()
            }
        };
        let now = self.now();
        let ahead: HashMap<&EntityId, SignedDuration> =
            entities.iter().map(|entity| (&entity.id, entity.ahead)).collect();
        let clock_of = |id: &EntityId| ReviewClock { now, ahead: ahead.get(id).copied().unwrap_or_default() };
        let mut selection = ReviewSelection {
            entities: entities.iter().map(|entity| entity.id.clone()).collect(),
            is_open: Some(filter.state == ReviewState::Open),
            newest_first: false,
            reference: filter.reference.clone(),
            latest: filter.latest_start(now),
            after,
            limit: 0,
        };
        let mut reviews = Vec::new();
        loop {
            selection.limit = (limit - reviews.len()).min(PAGE);
            let page = self.store.load_reviews(&selection, |review, payment| {
                filter.matches(review, payment, clock_of(&review.entity))
            })?;
            let unknown = || ActError::refuse("after", "--after names no held payment of these entities");
            let page = page.ok_or_else(unknown)?;
            reviews.extend(page.reviews.into_iter().map(|(review, payment)| {
                let clock = clock_of(&review.entity);
                ReviewOutcome { review, payment: Arc::new(payment), clock }
            }));
            if page.cursor.is_none() || reviews.len() >= limit {
                return Ok((reviews, page.cursor));
            }
            selection.after = page.cursor;
        }
    }

    /// Loads a review with its payment and its audit.
    ///
    /// # Errors
    /// If the payment was never held.
    pub fn load_review(&self, payment: &PaymentId) -> Result<(ReviewRecord, ReviewClock), ActError> {
        let record = self.store.load_review_record(payment)?.ok_or_else(|| not_held(payment))?;
        let clock = self.find_clock(&self.store, &record.0)?;
        Ok((record, clock))
    }

    /// Claims or releases a payment, or adds a note, in one transaction.
    ///
    /// # Errors
    /// If the payment was never held, or its state or the claim of another analyst does not allow the change.
    pub fn change_review(
        &self,
        payment: &PaymentId,
        change: QueueChange,
        (analyst, note): (String, Option<String>),
    ) -> Result<ReviewOutcome, ActError> {
        self.store.in_transaction(|store| {
            let (status, clock) = self.load_status(store, payment)?;
            let decided = status.decide_change(change, (analyst, note), clock);
            let (review, written) = decided.map_err(|refusal| refuse_review(&refusal))?;
            if let Some(change) = written {
                let actor = describe_actor(store.actor().to_owned(), store.address());
                store.apply_review_change(&ReviewChange { actor: Some(actor), ..change })?;
            }
            let record = store.load_review_record(payment)?;
            let (_, payment, _) = record.ok_or_else(|| not_held(payment))?;
            Ok(ReviewOutcome { review, payment: Arc::new(payment), clock })
        })
    }

    /// Loads the review of a payment for a change, and the time by its entity's clock.
    fn load_status(&self, store: &AdminStore, payment: &PaymentId) -> Result<(ReviewStatus, ReviewClock), ActError> {
        let status = store.load_review_status(payment)?.ok_or_else(|| not_held(payment))?;
        let clock = self.find_clock(store, &status.review)?;
        Ok((status, clock))
    }

    /// Returns the time by the clock of a review's entity.
    fn find_clock(&self, store: &AdminStore, review: &QueuedReview) -> Result<ReviewClock, ActError> {
        Ok(ReviewClock { now: self.now(), ahead: load_known_entity(store, &review.entity)?.ahead })
    }
}

/// Describes the person who acts: a user of the back office, who has an address, or somebody who runs a command.
pub(super) fn describe_actor(name: String, address: Option<IpAddr>) -> ReviewActor {
    match address {
        Some(address) => ReviewActor::User { name, address },
        None => ReviewActor::Operator(name),
    }
}

/// Refuses an act on a payment that was never held.
pub(super) fn not_held(payment: &PaymentId) -> ActError {
    ActError::refuse("payment", format!("the payment {payment} is not held; see: tillgate review list"))
}

/// Refuses an act on a review for a reason that the API shares.
pub(super) fn refuse_review(refusal: &Refusal) -> ActError {
    ActError::from_refusal(refusal, "payment", |name| if name == "note" { "note" } else { "payment" })
}
