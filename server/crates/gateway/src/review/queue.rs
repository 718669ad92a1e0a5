//! The queue of held payments: lists, claims, notes, and decisions of the merchant's analysts.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::review::decision::{DecisionType, RequestedDecision};
use tillgate_domain::review::filter::ReviewFilter;
use tillgate_domain::review::queue::parse_cancel_reason;
use tillgate_domain::review::queue::parse_note;
use tillgate_domain::review::queue::{QueueChange, QueuedReview, ReviewClock, ReviewState};
use tillgate_shared::parameter::Parameters;
use tillgate_store::review::queue::{ReviewPage, ReviewRecord, ReviewSelection};
use tillgate_store::{Changes, RecordKeys};

use crate::payment::response_recorder::ResponseRecorder;
use crate::{Failure, Gateway};

/// A review after a request, with its payment.
#[derive(Debug, Clone)]
pub struct ReviewOutcome {
    /// The review.
    pub review: QueuedReview,
    /// Its payment.
    pub payment: Arc<Payment>,
    /// The time of the request.
    pub clock: ReviewClock,
}

/// Remarks of an analyst about an action: a note, and the reason of a cancellation.
#[derive(Debug, Clone, Default)]
pub struct ReviewRemarks {
    /// The note.
    pub note: Option<String>,
    /// The numeric reason of a cancellation.
    pub reason: Option<u32>,
}

impl ReviewRemarks {
    /// Reads the parameters of a change of the queue.
    ///
    /// # Errors
    /// 400 with the parameter at fault; also if a note is missing that is to be added.
    pub fn for_change(change: QueueChange, own: &Parameters) -> Result<Self, Refusal> {
        let note = read_note(own)?;
        if change == QueueChange::Note && note.is_none() {
            return Err(Refusal::invalid_parameter("note", None, "may not be empty"));
        }
        Ok(Self { note, reason: None })
    }

    /// Reads the parameters of a decision.
    ///
    /// # Errors
    /// 400 with the parameter at fault; also if a cancellation has no reason.
    pub fn for_decision(decision: DecisionType, own: &Parameters) -> Result<Self, Refusal> {
        let note = read_note(own)?;
        if decision != DecisionType::Cancel {
            return Ok(Self { note, reason: None });
        }
        let sent = own.get("reason").filter(|reason| !reason.is_empty());
        let reason = parse_cancel_reason(sent.unwrap_or_default());
        let refuse = |message| Refusal::invalid_parameter("reason", sent, message);
        Ok(Self { note, reason: Some(reason.map_err(refuse)?) })
    }
}

fn read_note(own: &Parameters) -> Result<Option<String>, Refusal> {
    let refuse = |message| Refusal::invalid_parameter("note", None, message);
    own.get("note").map_or(Ok(None), parse_note).map_err(refuse)
}

impl Gateway {
    /// Returns the time of a request about an entity's reviews.
    pub fn review_clock(&self, entity: &Entity) -> ReviewClock {
        ReviewClock { now: self.now(), ahead: entity.ahead }
    }

    /// Loads a page of the reviews of an entity and its channels, those that are held longest first. A page may be
    /// empty and still have a cursor, because it reads a limited number of reviews.
    ///
    /// # Errors
    /// 400 if `after` is not the cursor of an earlier page; if the store cannot be read.
    pub fn list_reviews(
        &self,
        entity: &Entity,
        filter: &ReviewFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<ReviewPage, Failure> {
        let clock = self.review_clock(entity);
        let refuse = || Refusal::invalid_parameter("cursor", after, "is not the cursor of an answer");
        let selection = ReviewSelection {
            entities: self.visible_entities(entity),
            is_open: Some(filter.state == ReviewState::Open),
            newest_first: false,
            reference: filter.reference.clone(),
            latest: filter.latest_start(clock.now),
            after: after.map(|after| PaymentId::parse(after).ok_or_else(refuse)).transpose()?,
            limit,
        };
        let page = self.store.load_reviews(&selection, |review, payment| filter.matches(review, payment, clock))?;
        Ok(page.ok_or_else(refuse)?)
    }

    /// Loads a review of an entity or its channels, with its payment and its audit.
    ///
    /// # Errors
    /// 404 if there is none; if the store cannot be read.
    pub fn find_review(&self, entity: &Entity, id: &str) -> Result<ReviewRecord, Failure> {
        let record = match PaymentId::parse(id) {
            Some(id) => self.store.load_review_record(&id)?,
            None => None,
        };
        let visible = record.filter(|(review, ..)| self.can_see(entity, &review.entity));
        Ok(visible.ok_or_else(|| Refusal::not_found("There is no held payment with this id"))?)
    }

    /// Claims or releases a payment, or adds a note to it.
    ///
    /// # Errors
    /// 404 if there is no such review; 409 if another analyst was faster; if the store fails.
    pub async fn change_review(
        &self,
        entity: &Entity,
        id: &str,
        change: QueueChange,
        (analyst, remarks): (String, ReviewRemarks),
        recorder: ResponseRecorder<ReviewOutcome>,
    ) -> Result<ReviewOutcome, Failure> {
        let (review, payment, _) = self.find_review(entity, id)?;
        let (payment, clock) = (Arc::new(payment), self.review_clock(entity));
        let decided = self.store.update(RecordKeys::for_review(&review.payment), move |loaded| {
            let status = loaded.review.ok_or_else(|| Refusal::not_found("There is no held payment with this id"))?;
            let (review, written) = status.decide_change(change, (analyst, remarks.note), clock)?;
            let changes = written.into_iter().fold(Changes::default(), Changes::with_review_change);
            let outcome = ReviewOutcome { review, payment, clock };
            Ok((recorder.record_response(changes, &outcome, clock.entity_now()), outcome))
        });
        Ok(decided.await??)
    }

    /// Decides a held payment of an entity or its channels. The same decision again by the same analyst changes
    /// nothing, so a response that got lost is safe to ask for again.
    ///
    /// # Errors
    /// Same as [`Gateway::decide_payment`]; also 404 if there is no such review, and if the payment cannot be executed
    /// or the store fails.
    pub async fn decide_queued_payment(
        &self,
        entity: &Entity,
        id: &str,
        decision: DecisionType,
        (analyst, remarks): (String, ReviewRemarks),
        recorder: ResponseRecorder<ReviewOutcome>,
    ) -> Result<ReviewOutcome, Failure> {
        let (_, payment, _) = self.find_review(entity, id)?;
        let requested = RequestedDecision {
            cancel_reason: remarks.reason,
            note: remarks.note,
            ..RequestedDecision::about(&payment, decision, analyst)
        };
        let payment = self.decide_payment(&payment, requested).await?;
        let (review, ..) = self.find_review(entity, id)?;
        let clock = self.review_clock(entity);
        let outcome = ReviewOutcome { review, payment, clock };
        let recorded = outcome.clone();
        let stored = self.store.update(RecordKeys::none(), move |_| {
            let changes = Changes::default().with_response_owner(&recorded.payment.entity);
            Ok((recorder.record_response(changes, &recorded, clock.entity_now()), ()))
        });
        stored.await??;
        Ok(outcome)
    }

    /// Returns the time at which a review ends by itself, by the clock of the entity. `None` if it has ended.
    pub fn review_deadline(&self, review: &QueuedReview, payment: &Payment) -> Option<Timestamp> {
        let since = payment.review()?.since?;
        since.checked_add(self.options.review_lifetime).ok().filter(|_| !review.has_ended)
    }
}
