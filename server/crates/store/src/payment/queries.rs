//! Reads for queries: payments in the order of their ids, by the merchant's reference, and with their follow-up
//! payments.
//!
//! All of them cover several entities, because a merchant sees the payments of all its channels. All of them are
//! bounded: an index leads to the requested rows, and no request makes the store read more than one page.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use serde::de::IgnoredAny;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::payment::{FollowUpSummary, Payment, PaymentOutcome, PaymentType};
use tillgate_engine::{Rows, Session, params};

use crate::document::{decode_document, read_document};
use crate::payment::load;
use crate::payment::shared_parameters;
use crate::{AdminStore, Cancellation, Store, StoreError};

/// Number of payments that are read in one snapshot.
const PAYMENTS_PER_SNAPSHOT: usize = 200;
/// The highest possible id.
pub(crate) const MAX_ID: &str = "ffffffffffffffffffffffffffffffff";

impl Store {
    /// Visits the payments of several entities in a range, ordered by id and so oldest first, until the visitor breaks
    /// or the read is cancelled. Reads up to 200 payments in a snapshot, because a long one would keep the WAL from
    /// being truncated.
    ///
    /// # Errors
    /// If the store cannot be read, or the visitor fails.
    pub fn visit_payments(
        &self,
        entities: &[EntityId],
        range: &PaymentRange,
        cancelled: &Cancellation<'_>,
        mut visit: impl FnMut(&PaymentRow<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut rest = range.clone();
        while !cancelled.is_cancelled() {
            let last =
                self.readers.in_snapshot(|session| visit_first_payments(session, entities, &rest, &mut visit))?;
            let Some(last) = last else { break };
            rest = rest.after_payment(&last);
            // Threads of payments may take the processor between two snapshots.
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Counts the payments of several entities in a range, up to `limit`. The entities do not share a snapshot.
    pub fn count_payments(&self, entities: &[EntityId], range: &PaymentRange, limit: u32) -> Result<u32, StoreError> {
        // The inner limit ends the count, however many payments there are.
        let query = "SELECT count(*) FROM
                         (SELECT 1 FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 LIMIT ?4) AS found";
        let until = range.until.as_ref().map_or(MAX_ID, PaymentId::as_str);
        let mut count = 0;
        for entity in entities {
            count += self.readers.with_session(|session| -> Result<u32, StoreError> {
                let values = params![entity.as_str(), range.from.as_str(), until, limit - count];
                Ok(session.query_one(query, values, |row| row.get(0))?)
            })?;
        }
        Ok(count)
    }

    /// Loads the payments with a merchant's reference (`merchantTransactionId`), and their direct and indirect
    /// follow-up payments, oldest first: at most `limit` in total.
    pub fn load_payments_by_reference(
        &self,
        entities: &[EntityId],
        reference: &str,
        limit: u32,
    ) -> Result<Vec<Payment>, StoreError> {
        self.readers.in_snapshot(|session| {
            let mut found = BTreeSet::new();
            for entity in entities {
                let query = "SELECT payment FROM payment_reference
                    WHERE entity = ?1 AND reference = ?2 ORDER BY payment LIMIT ?3";
                let mut rows = session.query(query, params![entity.as_str(), reference, limit])?;
                while let Some(row) = rows.next()? {
                    let id: String = row.get(0)?;
                    found.extend(PaymentId::parse(&id).map(|id| (id, entity.clone())));
                }
            }
            load_payments(session, &collect_follow_ups(session, found, limit)?)
        })
    }

    /// Loads a payment by id. Returns `None` if it belongs to none of these entities.
    pub fn load_payment_of_any(&self, entities: &[EntityId], id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        // One statement, however many entities there are.
        let all = serde_json::to_string(entities).unwrap_or_default();
        let query = "SELECT entity FROM payment WHERE entity IN (SELECT value FROM json_each(?1)) AND id = ?2";
        self.readers.with_session(|session| {
            let entity: Option<String> = session.query_optional(query, params![all, id.as_str()], |row| row.get(0))?;
            match entity.as_deref().and_then(EntityId::parse) {
                Some(entity) => load::load_payment(session, &entity, id),
                None => Ok(None),
            }
        })
    }

    /// Loads a payment with its direct follow-up payments, oldest first, both from one snapshot. Returns `None` if the
    /// payment belongs to none of these entities.
    pub fn load_with_follow_ups(
        &self,
        entities: &[EntityId],
        id: &PaymentId,
    ) -> Result<Option<(Payment, Vec<FollowUpSummary>)>, StoreError> {
        self.readers.in_snapshot(|session| {
            let Some(payment) = find_payment(session, entities, id)? else { return Ok(None) };
            Ok(Some((payment, load::load_follow_ups(session, id)?)))
        })
    }

    /// Loads a payment with all related payments: the original to which its references lead, and all payments that
    /// refer to the original directly or indirectly. Oldest first, at most `limit`.
    pub fn load_related_payments(&self, payment: &Payment, limit: u32) -> Result<Vec<Payment>, StoreError> {
        self.readers.in_snapshot(|session| load_related(session, payment, limit))
    }
}

impl AdminStore {
    /// Same as [`Store::load_related_payments`].
    pub fn load_related_payments(&self, payment: &Payment, limit: u32) -> Result<Vec<Payment>, StoreError> {
        load_related(&*self.session, payment, limit)
    }
}

/// A payment in its stored form, not decoded.
pub struct PaymentRow<'a> {
    /// Its id.
    pub id: &'a PaymentId,
    /// The encoded payment, without the parameters that it shares.
    document: &'a [u8],
    /// Session for loading the parameters that the payment shares with an earlier attempt.
    session: &'a dyn Session,
}

/// The properties of a payment that a filter checks.
#[derive(serde::Deserialize)]
pub struct PaymentKind {
    /// Its type.
    pub payment_type: PaymentType,
    /// The brand's code.
    pub brand: String,
    account: AccountKind,
}

/// Kind of the account of a payment: a card, or anything else.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum AccountKind {
    Card(IgnoredAny),
    #[serde(untagged)]
    Other(IgnoredAny),
}

impl PaymentKind {
    /// Returns true if the payment was made with a card.
    pub fn is_card(&self) -> bool {
        matches!(self.account, AccountKind::Card(_))
    }
}

impl PaymentRow<'_> {
    /// Decodes the payment. Loads the parameters that it shares with an earlier attempt.
    ///
    /// # Errors
    /// If its document, or that of the earlier attempt, is damaged or cannot be read.
    pub fn decode_payment(&self) -> Result<Payment, StoreError> {
        shared_parameters::decode_payment(self.session, self.document)
    }

    /// Decodes the properties that a filter checks.
    ///
    /// # Errors
    /// If the document is damaged.
    pub fn decode_kind(&self) -> Result<PaymentKind, StoreError> {
        Ok(decode_document(self.document)?)
    }
}

/// Visits the first payments of a range, merged from all entities in the order of their ids, at most
/// [`PAYMENTS_PER_SNAPSHOT`]. Returns the last one if that maximum was reached. Returns `None` if the range has ended
/// or the visitor broke.
fn visit_first_payments(
    session: &dyn Session,
    entities: &[EntityId],
    range: &PaymentRange,
    visit: &mut impl FnMut(&PaymentRow<'_>) -> Result<ControlFlow<()>, StoreError>,
) -> Result<Option<PaymentId>, StoreError> {
    let query = "SELECT id, document FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 ORDER BY id";
    // Each entity has its own cursor, and the cursors are merged. One query for all entities would have to sort all
    // their rows.
    let until = range.until.as_ref().map_or(MAX_ID, PaymentId::as_str);
    let begin = |entity: &EntityId| session.query(query, params![entity.as_str(), range.from.as_str(), until]);
    let mut cursors: Vec<Rows<'_>> = entities.iter().map(begin).collect::<Result<_, _>>()?;
    // The next payment of each entity. Ids are unique, so no entry replaces another.
    let mut heads = BTreeMap::new();
    let advance = |heads: &mut BTreeMap<String, usize>, cursor: &mut Rows<'_>, index: usize| {
        if let Some(row) = cursor.next()? {
            heads.insert(row.get(0)?, index);
        }
        Ok::<(), StoreError>(())
    };
    for (index, cursor) in cursors.iter_mut().enumerate() {
        advance(&mut heads, cursor, index)?;
    }
    let mut visited = 0;
    while let Some((id, index)) = heads.pop_first() {
        let Some(cursor) = cursors.get_mut(index) else { break };
        if let (Some(row), Some(id)) = (cursor.current(), PaymentId::parse(&id)) {
            let document = row.value(1)?.as_blob()?;
            if visit(&PaymentRow { id: &id, document, session })?.is_break() {
                return Ok(None);
            }
            visited += 1;
            if visited == PAYMENTS_PER_SNAPSHOT {
                return Ok(Some(id));
            }
        }
        advance(&mut heads, cursor, index)?;
    }
    Ok(None)
}

/// Loads a payment by id. Returns `None` if it belongs to none of these entities.
fn find_payment(session: &dyn Session, entities: &[EntityId], id: &PaymentId) -> Result<Option<Payment>, StoreError> {
    for entity in entities {
        if let Some(payment) = load::load_payment(session, entity, id)? {
            return Ok(Some(payment));
        }
    }
    Ok(None)
}

/// Adds the direct and indirect follow-up payments to these payments, up to `limit` in total. Returns all, ordered by
/// id. A follow-up payment belongs to the same entity as its payment.
fn collect_follow_ups(
    session: &dyn Session,
    first: BTreeSet<(PaymentId, EntityId)>,
    limit: u32,
) -> Result<BTreeSet<(PaymentId, EntityId)>, StoreError> {
    // Taken from the end, so the oldest payment is followed first and the limit cuts off the newest ones.
    let mut open: Vec<(PaymentId, EntityId)> = first.iter().rev().cloned().collect();
    let mut found = first;
    let query = "SELECT id FROM payment_link WHERE referenced = ?1 ORDER BY id LIMIT ?2";
    while let Some((id, entity)) = open.pop()
        && found.len() < limit as usize
    {
        let mut rows = session.query(query, params![id.as_str(), limit])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let Some(id) = PaymentId::parse(&id) else { continue };
            if found.insert((id.clone(), entity.clone())) {
                open.push((id, entity.clone()));
            }
        }
    }
    Ok(found.into_iter().take(limit as usize).collect())
}

/// Loads a payment with all related payments, as [`Store::load_related_payments`] describes.
fn load_related(session: &dyn Session, payment: &Payment, limit: u32) -> Result<Vec<Payment>, StoreError> {
    let mut root = payment.clone();
    let mut steps = 0;
    // The limit ends the walk if damaged rows refer to each other in a circle.
    while let Some(id) = &root.referenced
        && steps < limit
        && let Some(earlier) = load::load_payment(session, &root.entity, id)?
    {
        root = earlier;
        steps += 1;
    }
    let first = BTreeSet::from([(root.id, root.entity)]);
    load_payments(session, &collect_follow_ups(session, first, limit)?)
}

/// Loads payments in the given order, without those that are not stored.
fn load_payments(session: &dyn Session, ids: &BTreeSet<(PaymentId, EntityId)>) -> Result<Vec<Payment>, StoreError> {
    let mut payments = Vec::with_capacity(ids.len());
    for (id, entity) in ids {
        payments.extend(load::load_payment(session, entity, id)?);
    }
    Ok(payments)
}

/// Returns true if a payment of the entity with this `merchantTransactionId` pays its order or may still do so, other
/// than the payment `ignored`. Reads the oldest first: the paying one comes after a few declines, and only duplicates
/// follow it.
pub(crate) fn is_reference_paid(
    session: &dyn Session,
    entity: &EntityId,
    reference: &str,
    ignored: Option<&PaymentId>,
) -> Result<bool, StoreError> {
    let query = "SELECT payment.document FROM payment_reference
         JOIN payment ON payment.entity = payment_reference.entity AND payment.id = payment_reference.payment
         WHERE payment_reference.entity = ?1 AND reference = ?2 ORDER BY payment_reference.payment";
    let mut found = session.query(query, params![entity.as_str(), reference])?;
    while let Some(row) = found.next()? {
        let outcome: PaymentOutcome = read_document(&row, 0)?;
        if outcome.pays_order() && ignored != Some(&outcome.id) {
            return Ok(true);
        }
    }
    Ok(false)
}
