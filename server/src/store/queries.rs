//! What queries read: payments in the order of their ids, by the merchant's reference, and what belongs together.
//!
//! All of them are of several entities at once, for a merchant sees the payments of all its channels, and all of them
//! are bounded: the index leads to what is asked for, and nobody makes the store read more than a page asks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{CachedStatement, Connection, Rows, params};
use serde::de::IgnoredAny;

use super::{Cancelled, Store, StoreError, rows, shared};
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::{Link, Payment, PaymentOutcome, PaymentType};
use crate::domain::query::Range;

/// Payments that are read in one snapshot.
const STEP: usize = 200;
/// The last of all ids.
const END: &str = "ffffffffffffffffffffffffffffffff";

impl Store {
    /// Visits the payments of some entities in a range, oldest first, until the visitor has seen enough. Reads in steps: a
    /// snapshot that lasts keeps the write-ahead log from starting over.
    ///
    /// # Errors
    /// When the store cannot be read, or what the visitor says.
    pub fn walk_payments(
        &self,
        entities: &[EntityId],
        range: &Range,
        cancelled: &Cancelled<'_>,
        mut visit: impl FnMut(&PaymentRow<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut rest = range.clone();
        while !cancelled.is_cancelled() {
            let last = self.readers.at_one_moment(|connection| walk_step(connection, entities, &rest, &mut visit))?;
            let Some(last) = last else { break };
            rest = rest.after(&last);
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Counts the payments of some entities in a range, up to `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_payments(&self, entities: &[EntityId], range: &Range, most: u32) -> Result<u32, StoreError> {
        let query = "SELECT count(*) FROM
                         (SELECT 1 FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 LIMIT ?4)";
        let until = range.until.as_ref().map_or(END, PaymentId::as_str);
        let mut count = 0;
        for entity in entities {
            count += self.readers.with(|connection| -> Result<u32, StoreError> {
                let mut statement = connection.prepare_cached(query)?;
                let values = params![entity.as_str(), range.from.as_str(), until, most - count];
                Ok(statement.query_row(values, |row| row.get(0))?)
            })?;
        }
        Ok(count)
    }

    /// The payments that carry a merchant's reference, and everything that belongs to them, oldest first: at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn payments_of_reference(
        &self,
        entities: &[EntityId],
        reference: &str,
        most: u32,
    ) -> Result<Vec<Payment>, StoreError> {
        self.readers.at_one_moment(|connection| {
            let mut found = BTreeSet::new();
            for entity in entities {
                let mut statement = connection.prepare_cached(
                    "SELECT payment FROM payment_reference WHERE entity = ?1 AND reference = ?2 ORDER BY payment LIMIT ?3",
                )?;
                let mut rows = statement.query(params![entity.as_str(), reference, most])?;
                while let Some(row) = rows.next()? {
                    let id: String = row.get(0)?;
                    found.extend(PaymentId::parse(&id).map(|id| (id, entity.clone())));
                }
            }
            load(connection, &referring(connection, found, most)?)
        })
    }

    /// A payment of one of some entities.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn payment_of(&self, entities: &[EntityId], id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        self.readers.with(|connection| find(connection, entities, id))
    }

    /// A payment of one of some entities with what refers to it, both of one moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn payment_with_links(
        &self,
        entities: &[EntityId],
        id: &PaymentId,
    ) -> Result<Option<(Payment, Vec<Link>)>, StoreError> {
        self.readers.at_one_moment(|connection| {
            let Some(payment) = find(connection, entities, id)? else { return Ok(None) };
            Ok(Some((payment, rows::load_links(connection, id)?)))
        })
    }

    /// Everything that belongs together with a payment: the one that all refer to in the end, and what refers to it,
    /// directly or not. Oldest first, at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn linked_payments(&self, payment: &Payment, most: u32) -> Result<Vec<Payment>, StoreError> {
        self.readers.at_one_moment(|connection| {
            let mut root = payment.clone();
            let mut steps = 0;
            while let Some(id) = &root.referenced
                && steps < most
                && let Some(earlier) = rows::load_payment(connection, &root.entity, id)?
            {
                root = earlier;
                steps += 1;
            }
            let first = BTreeSet::from([(root.id, root.entity)]);
            load(connection, &referring(connection, first, most)?)
        })
    }
}

/// A payment as it is stored, not decoded.
pub struct PaymentRow<'a> {
    /// Its id.
    pub id: &'a PaymentId,
    document: &'a [u8],
    /// Loads the parameters that it shares with an earlier attempt.
    connection: &'a Connection,
}

/// The part of a payment that a filter looks at.
#[derive(serde::Deserialize)]
pub struct PaymentKind {
    /// Its type.
    pub payment_type: PaymentType,
    /// The brand's code.
    pub brand: String,
    account: AccountKind,
}

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
    /// Decodes the payment.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn payment(&self) -> Result<Payment, StoreError> {
        shared::read_payment(self.connection, self.document)
    }

    /// Decodes what a filter asks for.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn kind(&self) -> Result<PaymentKind, StoreError> {
        Ok(rows::read(self.document)?)
    }
}

/// Visits the first payments of a range. Returns the last one if there may be more.
fn walk_step(
    connection: &Connection,
    entities: &[EntityId],
    range: &Range,
    visit: &mut impl FnMut(&PaymentRow<'_>) -> Result<ControlFlow<()>, StoreError>,
) -> Result<Option<PaymentId>, StoreError> {
    let query = "SELECT id, document FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 ORDER BY id";
    let mut statements: Vec<CachedStatement<'_>> =
        entities.iter().map(|_| connection.prepare_cached(query)).collect::<Result<_, _>>()?;
    let until = range.until.as_ref().map_or(END, PaymentId::as_str);
    let mut runs: Vec<Rows<'_>> = Vec::with_capacity(entities.len());
    for (statement, entity) in statements.iter_mut().zip(entities) {
        runs.push(statement.query(params![entity.as_str(), range.from.as_str(), until])?);
    }
    // The next payment of each entity; an id is one payment's, so none is in the way of another.
    let mut heads = BTreeMap::new();
    let advance = |heads: &mut BTreeMap<String, usize>, run: &mut Rows<'_>, index: usize| {
        if let Some(row) = run.next()? {
            heads.insert(row.get(0)?, index);
        }
        Ok::<(), StoreError>(())
    };
    for (index, run) in runs.iter_mut().enumerate() {
        advance(&mut heads, run, index)?;
    }
    let mut visited = 0;
    while let Some((id, index)) = heads.pop_first() {
        let Some(run) = runs.get_mut(index) else { break };
        if let (Some(row), Some(id)) = (run.get(), PaymentId::parse(&id)) {
            let document = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            if visit(&PaymentRow { id: &id, document, connection })?.is_break() {
                return Ok(None);
            }
            visited += 1;
            if visited == STEP {
                return Ok(Some(id));
            }
        }
        advance(&mut heads, run, index)?;
    }
    Ok(None)
}

/// A payment of one of some entities.
fn find(connection: &Connection, entities: &[EntityId], id: &PaymentId) -> Result<Option<Payment>, StoreError> {
    for entity in entities {
        if let Some(payment) = rows::load_payment(connection, entity, id)? {
            return Ok(Some(payment));
        }
    }
    Ok(None)
}

/// Payments with what refers to them, directly or not, at most `most`, by id. What refers to a payment is the same
/// entity's.
fn referring(
    connection: &Connection,
    first: BTreeSet<(PaymentId, EntityId)>,
    most: u32,
) -> Result<BTreeSet<(PaymentId, EntityId)>, StoreError> {
    let mut open: Vec<(PaymentId, EntityId)> = first.iter().rev().cloned().collect();
    let mut found = first;
    let mut statement =
        connection.prepare_cached("SELECT id FROM payment_link WHERE referenced = ?1 ORDER BY id LIMIT ?2")?;
    while let Some((id, entity)) = open.pop()
        && found.len() < most as usize
    {
        let mut rows = statement.query(params![id.as_str(), most])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let Some(id) = PaymentId::parse(&id) else { continue };
            if found.insert((id.clone(), entity.clone())) {
                open.push((id, entity.clone()));
            }
        }
    }
    Ok(found.into_iter().take(most as usize).collect())
}

fn load(connection: &Connection, found: &BTreeSet<(PaymentId, EntityId)>) -> Result<Vec<Payment>, StoreError> {
    let mut payments = Vec::with_capacity(found.len());
    for (id, entity) in found {
        payments.extend(rows::load_payment(connection, entity, id)?);
    }
    Ok(payments)
}

/// Returns true if a payment of a `merchantTransactionId` pays its order, other than the one that is given up. Oldest first:
/// before the one that does there are a few declines, and after it nothing but duplicates.
pub(super) fn is_paid(
    connection: &Connection,
    entity: &EntityId,
    reference: &str,
    unless: Option<&PaymentId>,
) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT payment.document FROM payment_reference
         JOIN payment ON payment.entity = payment_reference.entity AND payment.id = payment_reference.payment
         WHERE payment_reference.entity = ?1 AND reference = ?2 ORDER BY payment_reference.payment",
    )?;
    let mut found = statement.query(params![entity.as_str(), reference])?;
    while let Some(row) = found.next()? {
        let outcome: PaymentOutcome = rows::read(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?;
        if outcome.pays_order() && unless != Some(&outcome.id) {
            return Ok(true);
        }
    }
    Ok(false)
}
