//! What queries read: payments in the order of their ids, by the merchant's reference, and what belongs together.
//!
//! All of them are of several entities at once, for a merchant sees the payments of all its channels, and all of them
//! are bounded: the index leads to what is asked for, and nobody makes the store read more than a page asks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use rusqlite::{CachedStatement, Connection, Rows, params};

use super::{Store, StoreError, rows};
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::{Link, Payment};
use crate::domain::query::Range;
use tillgate_shared::result::ResultCode;

/// The last of all ids.
const END: &str = "ffffffffffffffffffffffffffffffff";

impl Store {
    /// Visits the payments of some entities in a range, oldest first, until the visitor has seen enough. Reads no more
    /// than one payment of each entity beyond that.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn payments_in(
        &self,
        entities: &[EntityId],
        range: &Range,
        mut visit: impl FnMut(Payment) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.readers.at_one_moment(|connection| {
            let query = "SELECT id, document FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 ORDER BY id";
            let mut statements: Vec<CachedStatement<'_>> =
                entities.iter().map(|_| connection.prepare_cached(query)).collect::<Result<_, _>>()?;
            let until = range.until.as_ref().map_or(END, PaymentId::as_str);
            let mut runs: Vec<Rows<'_>> = Vec::with_capacity(entities.len());
            for (statement, entity) in statements.iter_mut().zip(entities) {
                runs.push(statement.query(params![entity.as_str(), range.from.as_str(), until])?);
            }
            // The next payment of each entity, still unread; an id is one payment's, so none is in the way of another.
            let mut heads = BTreeMap::new();
            let mut advance = |heads: &mut BTreeMap<String, (usize, Vec<u8>)>, index: usize| {
                if let Some(row) = runs.get_mut(index).map(Rows::next).transpose()?.flatten() {
                    heads.insert(row.get(0)?, (index, row.get(1)?));
                }
                Ok::<(), StoreError>(())
            };
            for index in 0..entities.len() {
                advance(&mut heads, index)?;
            }
            while let Some((_, (index, document))) = heads.pop_first() {
                if visit(rows::read(&document)?).is_break() {
                    break;
                }
                advance(&mut heads, index)?;
            }
            Ok(())
        })
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

/// Whether a payment that begins something went through under a `merchantTransactionId`, or may yet. Oldest first: before
/// the one that did there are a few declines, and after it nothing but duplicates.
pub(super) fn is_paid(
    connection: &Connection,
    entity: &EntityId,
    reference: &str,
    unless: Option<&PaymentId>,
) -> Result<bool, StoreError> {
    #[derive(serde::Deserialize)]
    struct Outcome {
        id: PaymentId,
        result: String,
        referenced: Option<serde::de::IgnoredAny>,
        redirect: Option<Page>,
    }
    #[derive(serde::Deserialize)]
    struct Page {
        #[serde(default)]
        abandoned: bool,
    }
    let mut statement = connection.prepare_cached(
        "SELECT payment.document FROM payment_reference
         JOIN payment ON payment.entity = payment_reference.entity AND payment.id = payment_reference.payment
         WHERE payment_reference.entity = ?1 AND reference = ?2 ORDER BY payment_reference.payment",
    )?;
    let mut found = statement.query(params![entity.as_str(), reference])?;
    while let Some(row) = found.next()? {
        let outcome: Outcome = rows::read(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?;
        let stands = ResultCode::find(&outcome.result).is_some_and(|code| code.is_success() || code.is_pending());
        let abandoned = outcome.redirect.is_some_and(|page| page.abandoned) || unless == Some(&outcome.id);
        if stands && !abandoned && outcome.referenced.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}
