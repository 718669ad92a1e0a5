//! The story of one payment: everything that the store knows about it, for people.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{ModificationType, Payment, PaymentStatus, PaymentType};
use tillgate_domain::review::queue::{QueuedReview, ReviewAction};
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_store::{NumberedMessage, PaymentComment, StoryMessage};

use super::messages::sort_messages;
use crate::payment::listing::find_strongest;
use crate::{Failure, Gateway};

/// Maximum number of related payments.
pub(super) const MAX_RELATED: u32 = 100;

/// Maximum number of comments of a story.
const MAX_COMMENTS: u32 = 20;

/// The entities of which a user may see each part of a story. A part about another entity is left out.
#[derive(Debug, Clone, Default)]
pub struct StoryScope {
    /// Payments themselves. Without them there is no story.
    pub payments: Vec<EntityId>,
    /// The review with its notes.
    pub reviews: Vec<EntityId>,
    /// The names of risk rules and of their inputs, and the scores.
    pub rules: Vec<EntityId>,
    /// Disputes, reconciliation records with fees, and entries of the ledger.
    pub money: Vec<EntityId>,
    /// Messages with the addresses of their receivers. A receiver may belong to an entity above the payment's.
    pub deliveries: Vec<EntityId>,
}

/// Everything about one payment that a user may see.
pub struct PaymentStory {
    /// The payment.
    pub payment: Payment,
    /// Its type, remaining amount and state.
    pub status: PaymentStatus,
    /// The modifications that users may ask for.
    pub acts: Vec<ModificationType>,
    /// The strongest follow-up payment, and true if it concerns the whole amount.
    pub follow_up: Option<(PaymentType, bool)>,
    /// The payments that are linked to it, and itself, oldest first.
    pub related: Vec<Payment>,
    /// The other payment attempts of its checkout, oldest first.
    pub attempts: Vec<Payment>,
    /// Its review, if it was ever held, with the acts of analysts.
    pub review: Option<(QueuedReview, Vec<ReviewAction>)>,
    /// The end of the review's lifetime, while the payment is held.
    pub review_deadline: Option<Timestamp>,
    /// The messages about it and its related payments to the merchant, oldest first.
    pub messages: Vec<StoryMessage>,
    /// The messages about it and its related payments between the gateway and external connectors, oldest first.
    pub connector_messages: Vec<NumberedMessage>,
    /// The latest comments of users, the latest first.
    pub comments: Vec<PaymentComment>,
    /// The disputes about it.
    pub disputes: Vec<Dispute>,
    /// The reconciliation records about it and its related payments.
    pub records: Vec<ReconciliationRecord>,
    /// The entries of it and its related payments in the audit log, with their numbers.
    pub entries: Vec<(i64, AuditEntry)>,
}

impl Gateway {
    /// Loads the story of a payment. Returns `None` if it belongs to none of the entities whose payments may be seen.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_payment_story(&self, scope: &StoryScope, id: &PaymentId) -> Result<Option<PaymentStory>, Failure> {
        let found = self.store.load_with_follow_ups(&scope.payments, id)?;
        let Some((payment, follow_ups)) = found else { return Ok(None) };
        let now = self.now_of_id(&payment.entity);
        let status = PaymentStatus::from_follow_ups(&payment, &follow_ups, &self.follow_up_limits_of(&payment), now);
        let acts = self.find_possible_acts(&payment, &status);
        let effective = follow_ups.iter().filter(|one| one.is_effective && payment.is_approved());
        let effective: Vec<_> = effective.map(|one| (one.payment_type, one.hundredths)).collect();
        let follow_up = find_strongest(&effective, &payment.amount.to_string());
        let related = self.store.load_related_payments(&payment, MAX_RELATED)?;
        let attempts = self.store.find_other_attempts(&payment)?;
        let owner = &payment.entity;
        // Its times lead to the messages, so a user who sees only those needs it as well.
        let needs_review = scope.reviews.contains(owner) || scope.deliveries.contains(owner);
        let review = if needs_review { self.store.load_review_record(&payment.id)? } else { None };
        let review = review.map(|(review, _, actions)| (review, actions));
        let messages = self.find_story_messages(scope, &payment, &related, review.as_ref())?;
        let review = review.filter(|_| scope.reviews.contains(owner));
        let open = review.as_ref().filter(|(review, _)| !review.has_ended);
        let review_deadline = open.and_then(|(review, _)| review.since.checked_add(self.options.review_lifetime).ok());
        let comments = self.store.load_payment_comments(owner, &payment.id, None, MAX_COMMENTS)?;
        let connector_messages = self.find_connector_messages(&payment, &related)?;
        let (shows_money, shows_rules) = (scope.money.contains(owner), scope.rules.contains(owner));
        let mut story = PaymentStory {
            payment,
            status,
            acts,
            follow_up,
            related,
            attempts,
            review,
            review_deadline,
            messages,
            connector_messages,
            comments,
            disputes: Vec::new(),
            records: Vec::new(),
            entries: Vec::new(),
        };
        if shows_money {
            self.add_money(&mut story)?;
        }
        if !shows_rules {
            hide_rules(&mut story.payment);
        }
        Ok(Some(story))
    }

    /// Adds the disputes, the reconciliation records and the entries of the ledger.
    fn add_money(&self, story: &mut PaymentStory) -> Result<(), Failure> {
        let chargebacks = story.related.iter().filter(|payment| payment.payment_type == PaymentType::Chargeback);
        let chargebacks: Vec<PaymentId> = chargebacks.map(|payment| payment.id.clone()).collect();
        story.disputes = self.store.load_disputes_of(&story.payment.id, &chargebacks)?;
        for each in &story.related {
            let day = each.created.to_zoned(jiff::tz::TimeZone::UTC).date();
            let first = day.yesterday().unwrap_or(day);
            story.records.extend(self.store.find_payment_records(&each.entity, &each.id, first)?);
            story.entries.extend(self.store.find_payment_entry(&each.entity, &each.id, each.created)?);
        }
        Ok(())
    }

    /// Finds the messages about a payment and its related payments between the gateway and external connectors, oldest
    /// first. Whoever may see the payment may see them, as its parameters.
    fn find_connector_messages(&self, payment: &Payment, related: &[Payment]) -> Result<Vec<NumberedMessage>, Failure> {
        // The payment itself may be beyond the limit of its related payments.
        let others = related.iter().filter(|other| other.id != payment.id);
        let payments: Vec<&Payment> = std::iter::once(payment).chain(others).collect();
        let mut messages = self.store.load_connector_messages(&payments)?;
        sort_messages(&mut messages);
        Ok(messages)
    }

    /// Finds the messages about a payment and its related payments to the merchant, oldest first.
    fn find_story_messages(
        &self,
        scope: &StoryScope,
        payment: &Payment,
        related: &[Payment],
        review: Option<&(QueuedReview, Vec<ReviewAction>)>,
    ) -> Result<Vec<StoryMessage>, Failure> {
        let mut messages = Vec::new();
        if !scope.deliveries.contains(&payment.entity) {
            return Ok(messages);
        }
        for each in related {
            let entry = self.store.find_payment_entry(&each.entity, &each.id, each.created)?;
            let mut times = vec![each.created];
            times.extend(entry.map(|(_, entry)| entry.time));
            times.extend(each.review().and_then(|review| review.since));
            if each.id == payment.id {
                times.extend(review.iter().flat_map(|(_, actions)| actions.iter().map(|action| action.at)));
            }
            let times = self.to_machine_times(&each.entity, &times);
            let found = self.store.find_payment_messages((&each.entity, &each.id), &scope.deliveries, &times)?;
            messages.extend(found);
        }
        messages.sort_by_key(|message| message.written);
        Ok(messages)
    }

    /// Converts times of an entity's clock to the machine's clock, under which messages are written. The clock of a
    /// sandbox may have been moved since, so the times themselves are kept as well.
    fn to_machine_times(&self, entity: &EntityId, times: &[Timestamp]) -> Vec<Timestamp> {
        let ahead = self.directory.find_entity(entity).map_or(SignedDuration::ZERO, |entity| entity.ahead);
        let moved = times.iter().filter(|_| !ahead.is_zero()).filter_map(|time| time.checked_sub(ahead).ok());
        times.iter().copied().chain(moved).collect()
    }
}

/// Removes the names of rules and of their inputs, and the scores. The outcome of the risk check stays, because the
/// payment's result shows it as well.
pub(crate) fn hide_rules(payment: &mut Payment) {
    let Some(risk) = &mut payment.risk else { return };
    risk.shadow = None;
    if let Some(decision) = &mut risk.decision {
        decision.score = 0;
        decision.version = None;
        decision.fired.clear();
        decision.inputs.clear();
    }
}
