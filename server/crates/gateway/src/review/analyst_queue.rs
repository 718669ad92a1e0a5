//! The queue of held payments as a user of the back office sees it: those of all entities on which the user has the
//! permission, the most urgent first.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::queue::{QueuedReview, ReviewAction, ReviewClock};
use tillgate_store::review::queue::ReviewSelection;

use crate::payment::story::hide_rules;
use crate::{Failure, Gateway};

/// Part of the queue that is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueView {
    /// The payments that are held.
    Open,
    /// Those of them that the analyst has claimed.
    Mine,
    /// Those of them that nobody has claimed.
    Unclaimed,
    /// Also the payments that are not held any more, the newest first.
    All,
}

impl QueueView {
    /// Every view.
    pub const ALL: [Self; 4] = [Self::Open, Self::Mine, Self::Unclaimed, Self::All];

    /// Returns its name in addresses, which is also the key of its text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Mine => "mine",
            Self::Unclaimed => "unclaimed",
            Self::All => "all",
        }
    }

    /// Parses its name. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.as_str() == text)
    }

    /// Returns true if a review is in the part.
    fn matches(self, review: &QueuedReview, analyst: &str, clock: ReviewClock) -> bool {
        let holder = review.active_claim(clock.now).map(|claim| &*claim.analyst);
        match self {
            Self::Open | Self::All => true,
            Self::Mine => holder == Some(analyst),
            Self::Unclaimed => holder.is_none(),
        }
    }
}

/// The entities on which a user has permissions about reviews.
#[derive(Debug, Clone, Default)]
pub struct QueueScope {
    /// Entities whose reviews the user sees.
    pub reviews: Vec<EntityId>,
    /// Entities of which the user sees the names of risk rules and of their inputs, and the scores.
    pub rules: Vec<EntityId>,
}

/// A review in the queue.
#[derive(Debug)]
pub struct QueueItem {
    /// The review.
    pub review: QueuedReview,
    /// Its payment.
    pub payment: Payment,
    /// The time of the request.
    pub clock: ReviewClock,
    /// The time at which the review ends by itself, by the clock of the entity. `None` if it has ended.
    pub deadline: Option<Timestamp>,
}

impl QueueItem {
    /// Returns the time that is left for a decision. Negative if it is over. `None` if the review has ended.
    pub fn time_left(&self) -> Option<SignedDuration> {
        Some(self.deadline?.duration_since(self.clock.entity_now()))
    }
}

/// A page of the queue.
#[derive(Debug, Default)]
pub struct QueuePage {
    /// The reviews.
    pub items: Vec<QueueItem>,
    /// The payment after which the next page begins, if there may be more.
    pub cursor: Option<PaymentId>,
}

impl Gateway {
    /// Lists a page of the queue. A page may be empty and still have a cursor, because it reads a limited number of
    /// reviews. Returns `None` if `after` is not the cursor of an earlier page.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list_queue(
        &self,
        scope: &QueueScope,
        (view, analyst): (QueueView, &str),
        after: Option<PaymentId>,
        limit: usize,
    ) -> Result<Option<QueuePage>, Failure> {
        let selection = ReviewSelection {
            entities: scope.reviews.clone(),
            is_open: (view != QueueView::All).then_some(true),
            newest_first: view == QueueView::All,
            reference: None,
            latest: Timestamp::MAX,
            after,
            limit,
        };
        let matches =
            |review: &QueuedReview, _: &Payment| view.matches(review, analyst, self.clock_of_entity(&review.entity));
        let Some(page) = self.store.load_reviews(&selection, matches)? else { return Ok(None) };
        let items = page.reviews.into_iter().map(|(review, payment)| self.make_item(scope, review, payment));
        let mut items: Vec<QueueItem> = items.collect();
        if view != QueueView::All {
            // The store orders by the machine's clock. The clock of a sandbox may have been moved since.
            items.sort_by_key(QueueItem::time_left);
        }
        Ok(Some(QueuePage { items, cursor: page.cursor }))
    }

    /// Finds the payment that an analyst decides after this one: the next in the queue that nobody else has claimed, or
    /// else the first one. Returns `None` if there is none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn find_next_review(
        &self,
        entities: &[EntityId],
        analyst: &str,
        current: &PaymentId,
    ) -> Result<Option<PaymentId>, Failure> {
        let mut selection = ReviewSelection {
            entities: entities.to_vec(),
            is_open: Some(true),
            newest_first: false,
            reference: None,
            latest: Timestamp::MAX,
            after: Some(current.clone()),
            limit: 1,
        };
        let is_free = |review: &QueuedReview, _: &Payment| {
            let clock = self.clock_of_entity(&review.entity);
            review.payment != *current && review.check_claim(analyst, clock).is_ok()
        };
        for after in [selection.after.take(), None] {
            selection.after = after;
            let page = self.store.load_reviews(&selection, is_free)?;
            let found = page.and_then(|page| page.reviews.into_iter().next());
            if let Some((review, _)) = found {
                return Ok(Some(review.payment));
            }
        }
        Ok(None)
    }

    /// Loads one review with the acts of analysts, oldest first. Returns `None` if the payment was never held, or none
    /// of the entities whose reviews the user sees owns it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_queue_item(
        &self,
        scope: &QueueScope,
        id: &PaymentId,
    ) -> Result<Option<(QueueItem, Vec<ReviewAction>)>, Failure> {
        let record = self.store.load_review_record(id)?;
        let record = record.filter(|(review, ..)| scope.reviews.contains(&review.entity));
        Ok(record.map(|(review, payment, actions)| (self.make_item(scope, review, payment), actions)))
    }

    /// Makes an item of the queue. Leaves out the rules that the user may not see.
    fn make_item(&self, scope: &QueueScope, review: QueuedReview, mut payment: Payment) -> QueueItem {
        if !scope.rules.contains(&review.entity) {
            hide_rules(&mut payment);
        }
        let clock = self.clock_of_entity(&review.entity);
        let deadline = self.review_deadline(&review, &payment);
        QueueItem { review, payment, clock, deadline }
    }
}
