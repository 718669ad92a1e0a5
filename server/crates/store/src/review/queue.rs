//! The queue of held payments as rows: pages of reviews, their audit, and changes of claims and notes.
//!
//! A page is bounded: an index leads to the reviews of each entity in the order of the queue, and the pages of several
//! entities are merged.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::queue::{
    Claim, ClaimEffect, MAX_ACTIONS, QueuedReview, ReviewAction, ReviewActionKind, ReviewActor, ReviewChange,
    ReviewStatus,
};
use tillgate_engine::{Row, Rows, Session, params};

use crate::delivery::webhook::timestamp_from_milliseconds;
use crate::ledger;
use crate::payment::load;
use crate::write::changes::{Change, Stage, WriteContext};
use crate::{AdminStore, Changes, Sources, Store, StoreError};

/// Maximum number of reviews that a page reads, including those that the filter rejects.
const MAX_READ: usize = 500;
/// Maximum number of rows of an audit that are loaded: a full one, with its decisions.
const MAX_AUDIT: u32 = MAX_ACTIONS + 100;
/// Columns of a review, in the order in which [`read_review`] reads them.
const COLUMNS: &str = "review.payment, review.entity, review.since, review.ended, review.analyst, review.claimed";
/// Columns of the audit, in the order in which [`read_action`] reads them.
pub(crate) const ACTION_COLUMNS: &str = "action, analyst, at, reason, note, processed";

/// Selection of a page of reviews.
#[derive(Debug, Clone)]
pub struct ReviewSelection {
    /// The entities that own the payments.
    pub entities: Vec<EntityId>,
    /// True for open reviews, false for those that have ended, `None` for both.
    pub is_open: Option<bool>,
    /// True for the reviews that began last first. Otherwise those that are held longest come first.
    pub newest_first: bool,
    /// Only payments with this `merchantTransactionId`.
    pub reference: Option<String>,
    /// Only reviews that began at this time or before, by the clock of the machine.
    pub latest: Timestamp,
    /// The payment after which the page begins. Its review may have ended meanwhile.
    pub after: Option<PaymentId>,
    /// Largest number of reviews on the page.
    pub limit: usize,
}

/// A page of reviews with their payments, in the order of its selection.
#[derive(Debug, Default)]
pub struct ReviewPage {
    /// The reviews.
    pub reviews: Vec<(QueuedReview, Payment)>,
    /// The last payment that was read, if there may be more after it.
    pub cursor: Option<PaymentId>,
}

/// Reads a review from a row with [`COLUMNS`]. Its decision is not among them.
fn read_review(row: &Row<'_>) -> tillgate_engine::Result<QueuedReview> {
    let (payment, entity): (String, String) = (row.get(0)?, row.get(1)?);
    let claim: (Option<String>, Option<i64>) = (row.get(4)?, row.get(5)?);
    Ok(QueuedReview {
        payment: PaymentId::parse(&payment).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of a payment"))?,
        entity: EntityId::parse(&entity).ok_or_else(|| tillgate_engine::Error::unreadable(1, "id of an entity"))?,
        since: timestamp_from_milliseconds(row.get(2)?),
        has_ended: row.get::<Option<i64>>(3)?.is_some(),
        claim: claim
            .0
            .zip(claim.1)
            .map(|(analyst, since)| Claim { analyst, since: timestamp_from_milliseconds(since) }),
        decision: None,
    })
}

/// Reads a row of the audit with [`ACTION_COLUMNS`].
pub(crate) fn read_action(row: &Row<'_>) -> tillgate_engine::Result<ReviewAction> {
    let kind: String = row.get(0)?;
    Ok(ReviewAction {
        kind: ReviewActionKind::parse(&kind).ok_or_else(|| tillgate_engine::Error::unreadable(0, "action"))?,
        analyst: row.get(1)?,
        at: timestamp_from_milliseconds(row.get(2)?),
        reason: row.get(3)?,
        note: row.get(4)?,
        processed: row.get::<Option<i64>>(5)?.map(timestamp_from_milliseconds),
    })
}

/// Adds the decision to a review that has ended.
fn with_decision(session: &dyn Session, review: QueuedReview) -> Result<QueuedReview, StoreError> {
    if !review.has_ended {
        return Ok(review);
    }
    let query = format!(
        "SELECT {ACTION_COLUMNS} FROM review_action WHERE payment = ?1 AND action IN ('approve', 'cancel', 'expire')
         ORDER BY number DESC LIMIT 1"
    );
    let decision = session.query_optional(&query, [review.payment.as_str()], read_action)?;
    Ok(QueuedReview { decision, ..review })
}

/// Loads the review of a payment. Returns `None` if the payment was never held.
fn load_review(session: &dyn Session, payment: &PaymentId) -> Result<Option<QueuedReview>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM review WHERE payment = ?1");
    let review = session.query_optional(&query, [payment.as_str()], read_review)?;
    review.map(|review| with_decision(session, review)).transpose()
}

/// Loads the review of a payment with the size of its audit. Returns `None` if the payment was never held.
pub(crate) fn load_status(session: &dyn Session, payment: &PaymentId) -> Result<Option<ReviewStatus>, StoreError> {
    let Some(review) = load_review(session, payment)? else { return Ok(None) };
    // The inner limit bounds the work, however long the audit is.
    let query =
        "SELECT count(*), count(note) FROM (SELECT note FROM review_action WHERE payment = ?1 LIMIT ?2) AS latest";
    let (actions, notes) = session.query_one(query, params![payment.as_str(), MAX_AUDIT], |row| row.read())?;
    let query = format!(
        "SELECT {ACTION_COLUMNS} FROM review_action WHERE payment = ?1 AND action IN ('pend', 'approve', 'cancel')
         ORDER BY number DESC LIMIT 1"
    );
    let latest = session.query_optional(&query, [payment.as_str()], read_action)?;
    Ok(Some(ReviewStatus { review, actions, notes, latest }))
}

/// Loads the audit of a payment, oldest first, at most the latest [`MAX_AUDIT`] rows.
fn load_actions(session: &dyn Session, payment: &PaymentId) -> Result<Vec<ReviewAction>, StoreError> {
    let query = format!("SELECT {ACTION_COLUMNS} FROM review_action WHERE payment = ?1 ORDER BY number DESC LIMIT ?2");
    let mut actions: Vec<ReviewAction> =
        session.query_all(&query, params![payment.as_str(), MAX_AUDIT], read_action)?;
    // Selected backwards, so that a limit cuts off the oldest rows.
    actions.reverse();
    Ok(actions)
}

/// Returns the query for the reviews of an entity after a place of the queue. Its parameters are the entity, the place
/// (time and payment), the latest time, and the `merchantTransactionId` if there is one.
fn queue_query(is_open: bool, newest_first: bool, has_reference: bool) -> String {
    let ended = if is_open { "IS NULL" } else { "IS NOT NULL" };
    let (after, order) = if newest_first { ("<", "DESC") } else { (">", "ASC") };
    // The order of the tables is fixed, so that few rows of the index by reference lead to their reviews.
    let (tables, owner) = match has_reference {
        true => (
            "payment_reference CROSS JOIN review",
            "review.payment = payment_reference.payment AND payment_reference.entity = ?1
                 AND payment_reference.reference = ?5 AND review.entity = ?1",
        ),
        false => ("review", "review.entity = ?1"),
    };
    format!(
        "SELECT {COLUMNS} FROM {tables} WHERE {owner} AND review.ended {ended}
         AND (review.since, review.payment) {after} (?2, ?3) AND review.since <= ?4
         ORDER BY review.since {order}, review.payment {order}"
    )
}

/// Finds the place after which a page begins: the time and the payment. Returns `None` if there is no review of the
/// payment after which it should begin, or other entities own it.
fn find_place(session: &dyn Session, selection: &ReviewSelection) -> Result<Option<(i64, String)>, StoreError> {
    let Some(payment) = &selection.after else {
        let start = if selection.newest_first { i64::MAX } else { i64::MIN };
        return Ok(Some((start, String::new())));
    };
    // The id comes from the caller, who must not learn about reviews of other entities.
    let review = load_review(session, payment)?.filter(|review| selection.entities.contains(&review.entity));
    Ok(review.map(|review| (review.since.as_millisecond(), payment.as_str().to_owned())))
}

/// Loads a page of reviews that a filter matches. Returns `None` if there is no review of the payment after which it
/// should begin, or other entities own it.
fn load_page(
    session: &dyn Session,
    selection: &ReviewSelection,
    matches: impl Fn(&QueuedReview, &Payment) -> bool,
) -> Result<Option<ReviewPage>, StoreError> {
    let ReviewSelection { entities, is_open, newest_first, reference, latest, limit, .. } = selection;
    let Some(place) = find_place(session, selection)? else { return Ok(None) };
    // Each entity has its own cursors, because the indexes have the order of the queue only within an entity.
    let states = [true, false].into_iter().filter(|state| is_open.is_none_or(|wanted| wanted == *state));
    let queries: Vec<String> = states.map(|state| queue_query(state, *newest_first, reference.is_some())).collect();
    let sources = entities.iter().flat_map(|entity| queries.iter().map(move |query| (entity.as_str(), query)));
    let latest = latest.as_millisecond();
    let begin = |(entity, query): (&str, &String)| match reference {
        Some(reference) => session.query(query, params![entity, place.0, place.1, latest, reference]),
        None => session.query(query, params![entity, place.0, place.1, latest]),
    };
    let mut cursors: Vec<Rows<'_>> = sources.map(begin).collect::<Result<_, _>>()?;
    // The next review of each entity, in the order of the queue.
    let mut heads: BTreeMap<(Timestamp, PaymentId), (usize, QueuedReview)> = BTreeMap::new();
    let advance = |heads: &mut BTreeMap<_, _>, cursor: &mut Rows<'_>, index: usize| {
        if let Some(row) = cursor.next()? {
            let review = read_review(&row)?;
            heads.insert((review.since, review.payment.clone()), (index, review));
        }
        Ok::<(), StoreError>(())
    };
    for (index, cursor) in cursors.iter_mut().enumerate() {
        advance(&mut heads, cursor, index)?;
    }
    let mut page = ReviewPage::default();
    let (mut read, mut last) = (0, None);
    let take_next = if *newest_first { BTreeMap::pop_last } else { BTreeMap::pop_first };
    while let Some((_, (index, review))) = take_next(&mut heads) {
        if page.reviews.len() == *limit || read == MAX_READ {
            // This review is one more than fits, so the next page begins after the last one that was read.
            page.cursor = last;
            break;
        }
        read += 1;
        last = Some(review.payment.clone());
        if let Some(cursor) = cursors.get_mut(index) {
            advance(&mut heads, cursor, index)?;
        }
        let review = with_decision(session, review)?;
        let payment = load::load_payment(session, &review.entity, &review.payment)?;
        page.reviews.extend(payment.filter(|payment| matches(&review, payment)).map(|payment| (review, payment)));
    }
    Ok(Some(page))
}

/// A review with its payment and its audit, oldest row first.
pub type ReviewRecord = (QueuedReview, Payment, Vec<ReviewAction>);

/// Loads a review with its payment and its audit. Returns `None` if the payment was never held.
fn load_record(session: &dyn Session, payment: &PaymentId) -> Result<Option<ReviewRecord>, StoreError> {
    let Some(review) = load_review(session, payment)? else { return Ok(None) };
    let Some(payment) = load::load_payment(session, &review.entity, payment)? else { return Ok(None) };
    let actions = load_actions(session, &payment.id)?;
    Ok(Some((review, payment, actions)))
}

/// Names the person who acts in an entry: the analyst, or somebody who acts for the analyst.
pub(super) fn by_analyst(entry: AuditEntry, actor: Option<&ReviewActor>, analyst: &str) -> AuditEntry {
    match actor {
        Some(ReviewActor::Operator(name)) => entry.by(&**name).with_detail("analyst", analyst),
        // The id of this analyst is a mail address, which an entry must not have.
        Some(ReviewActor::User { name, address }) => entry.by(&**name).with_detail("address", address.to_string()),
        None => entry.by(analyst),
    }
}

/// Writes a change of a review, and its row in the audit.
fn apply_change(session: &dyn Session, sources: &Sources, change: &ReviewChange) -> Result<(), StoreError> {
    let ReviewChange { payment, claim, action, entity, actor } = change;
    let payment = payment.as_str();
    let entry = AuditEntry::new(action.at, &format!("review {}", action.kind.as_str()), payment);
    let entry = by_analyst(entry, actor.as_ref(), &action.analyst);
    ledger::write_entry(session, Some(entity), &entry, sources.now())?;
    match claim {
        ClaimEffect::Keep => {}
        ClaimEffect::Start(since) => {
            let query = "UPDATE review SET analyst = ?2, claimed = ?3 WHERE payment = ?1";
            session.send(query, params![payment, action.analyst, since.as_millisecond()])?;
        }
        ClaimEffect::End => {
            let query = "UPDATE review SET analyst = NULL, claimed = NULL WHERE payment = ?1";
            session.send(query, [payment])?;
        }
    }
    let ReviewAction { kind, analyst, at, reason, note, processed } = action;
    let processed = processed.map(Timestamp::as_millisecond);
    session.send(
        &format!("INSERT INTO review_action (payment, {ACTION_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
        params![payment, kind.as_str(), analyst, at.as_millisecond(), reason, note, processed],
    )?;
    Ok(())
}

impl Changes {
    /// Writes a change of a claim or a note, and its row in the audit.
    #[must_use]
    pub fn with_review_change(self, change: ReviewChange) -> Self {
        self.with(change)
    }
}

impl Change for ReviewChange {
    fn stage(&self) -> Stage {
        Stage::ReviewChange
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        apply_change(context.session, context.sources, self)?;
        Ok(false)
    }

    fn owner(&self) -> Option<&EntityId> {
        Some(&self.entity)
    }
}

impl Store {
    /// Loads a page of reviews that a filter matches. Returns `None` if there is no review of the payment after which
    /// it should begin.
    pub fn load_reviews(
        &self,
        selection: &ReviewSelection,
        matches: impl Fn(&QueuedReview, &Payment) -> bool,
    ) -> Result<Option<ReviewPage>, StoreError> {
        self.readers.in_snapshot(|session| load_page(session, selection, matches))
    }

    /// Loads a review with its payment and its audit. Returns `None` if the payment was never held.
    pub fn load_review_record(&self, payment: &PaymentId) -> Result<Option<ReviewRecord>, StoreError> {
        self.readers.in_snapshot(|session| load_record(session, payment))
    }

    /// Loads a review with the size of its audit. Returns `None` if the payment was never held.
    pub fn load_review_status(&self, payment: &PaymentId) -> Result<Option<ReviewStatus>, StoreError> {
        self.readers.in_snapshot(|session| load_status(session, payment))
    }
}

impl AdminStore {
    /// Loads a page of reviews that a filter matches. Returns `None` if there is no review of the payment after which
    /// it should begin.
    pub fn load_reviews(
        &self,
        selection: &ReviewSelection,
        matches: impl Fn(&QueuedReview, &Payment) -> bool,
    ) -> Result<Option<ReviewPage>, StoreError> {
        let _snapshot = self.session.begin_snapshot()?;
        load_page(&*self.session, selection, matches)
    }

    /// Loads a review with its payment and its audit. Returns `None` if the payment was never held.
    pub fn load_review_record(&self, payment: &PaymentId) -> Result<Option<ReviewRecord>, StoreError> {
        load_record(&*self.session, payment)
    }

    /// Loads a review with the size of its audit. Returns `None` if the payment was never held.
    pub fn load_review_status(&self, payment: &PaymentId) -> Result<Option<ReviewStatus>, StoreError> {
        load_status(&*self.session, payment)
    }

    /// Writes a change of a claim or a note, and its row in the audit. Run it in the transaction that loads the review.
    pub fn apply_review_change(&self, change: &ReviewChange) -> Result<(), StoreError> {
        apply_change(&*self.session, &Sources::system(), change)
    }
}
