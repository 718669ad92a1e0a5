//! Outcomes of the reviews of a period, by analyst and by rule.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::review::outcome::OutcomeCounts;
use tillgate_domain::review::queue::{QueuedReview, ReviewAction, ReviewActionKind, ReviewState};
use tillgate_store::Cancellation;
use tillgate_store::review::queue::ReviewSelection;

use super::analyst_queue::QueueScope;
use crate::{Failure, Gateway};

/// Number of reviews that are read at once.
const PAGE: usize = 200;
/// Largest number of reviews of a report, so that its cost is bounded.
pub const MAX_REVIEWS: usize = 5000;

/// Outcomes of the reviews that began in a period.
#[derive(Debug, Default)]
pub struct OutcomeReport {
    /// Counts by the name of the analyst.
    pub by_analyst: BTreeMap<String, OutcomeCounts>,
    /// Counts by the name of a rule that fired, of the entities whose rules the user sees.
    pub by_rule: BTreeMap<String, OutcomeCounts>,
    /// Number of reviews in the report.
    pub reviews: usize,
    /// True if the period has more reviews than the report. The latest ones are counted then.
    pub is_cut: bool,
}

impl OutcomeReport {
    /// Adds a review with its acts.
    fn add_review(&mut self, review: &QueuedReview, payment: &Payment, facts: &ReviewFacts<'_>) {
        self.reviews += 1;
        let since = payment.review().and_then(|review| review.since).unwrap_or(review.since);
        let seconds = review.decision.as_ref().map(|decision| decision.at.duration_since(since).as_secs());
        let add = |counts: &mut OutcomeCounts| {
            match review.state() {
                ReviewState::Open => return,
                ReviewState::Approved => counts.approved += 1,
                ReviewState::Cancelled => counts.cancelled += 1,
                ReviewState::Expired => counts.expired += 1,
            }
            counts.charged_back += u64::from(facts.is_charged_back);
            if let Some(seconds) = seconds.filter(|_| review.state() != ReviewState::Expired) {
                counts.add_time(seconds);
            }
        };
        if let Some(decision) = &review.decision {
            add(self.by_analyst.entry(decision.analyst.clone()).or_default());
        }
        let pends = facts.actions.iter().filter(|action| action.kind == ReviewActionKind::Pend);
        for pend in pends.clone() {
            self.by_analyst.entry(pend.analyst.clone()).or_default().pended += 1;
        }
        let is_pended = pends.count() > 0;
        let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref()).filter(|_| facts.sees_rules);
        for rule in decision.iter().flat_map(|decision| &decision.fired) {
            let counts = self.by_rule.entry(rule.clone()).or_default();
            add(counts);
            counts.pended += u64::from(is_pended);
        }
    }
}

/// Facts about a review that its row does not have.
struct ReviewFacts<'a> {
    actions: &'a [ReviewAction],
    is_charged_back: bool,
    sees_rules: bool,
}

impl Gateway {
    /// Counts the outcomes of the reviews that began from a time to another one, by the machine's clock, of the
    /// entities whose reviews the user sees. Ends early if the reader has gone.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_review_outcomes(
        &self,
        scope: &QueueScope,
        (from, until): (Timestamp, Timestamp),
        cancelled: &Cancellation<'_>,
    ) -> Result<OutcomeReport, Failure> {
        let mut report = OutcomeReport::default();
        let mut selection = ReviewSelection {
            entities: scope.reviews.clone(),
            is_open: None,
            newest_first: true,
            reference: None,
            latest: until,
            after: None,
            limit: PAGE,
        };
        while !cancelled.is_cancelled() {
            let Some(page) = self.store.load_reviews(&selection, |_, _| true)? else { break };
            for (review, payment) in &page.reviews {
                if review.since < from {
                    return Ok(report);
                }
                if review.since >= until {
                    continue;
                }
                if report.reviews == MAX_REVIEWS {
                    report.is_cut = true;
                    return Ok(report);
                }
                let actions = self.store.load_review_record(&payment.id)?.map(|(_, _, actions)| actions);
                let facts = ReviewFacts {
                    actions: &actions.unwrap_or_default(),
                    is_charged_back: self.is_charged_back(review, payment)?,
                    sees_rules: scope.rules.contains(&review.entity),
                };
                report.add_review(review, payment, &facts);
            }
            selection.after = page.cursor;
            if selection.after.is_none() {
                break;
            }
        }
        Ok(report)
    }

    /// Returns true if an approved payment was charged back.
    fn is_charged_back(&self, review: &QueuedReview, payment: &Payment) -> Result<bool, Failure> {
        if review.state() != ReviewState::Approved {
            return Ok(false);
        }
        let follow_ups = self.store.load_follow_up_types(&payment.id)?;
        Ok(follow_ups.iter().any(|(found, _)| *found == PaymentType::Chargeback))
    }
}
