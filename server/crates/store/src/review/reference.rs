//! Reviews by the merchant's reference: an outside review system names a payment by its `merchantTransactionId`, which
//! several payments may have.
//!
//! The index of the references leads to the reviews, without a limit that could hide the payment. No request keeps more
//! than one row of them in memory.

use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::decision::RequestedDecision;
use tillgate_domain::review::queue::ReviewActionKind;
use tillgate_engine::{Session, params};

use crate::payment::load;
use crate::review::queue::ACTION_COLUMNS;
use crate::review::queue::read_action;
use crate::{Store, StoreError};

/// The payments with one reference that are or were held.
#[derive(Debug)]
pub enum ReviewedPayments {
    /// There is none.
    None,
    /// The only one, held or not.
    One(Box<Payment>),
    /// There are several.
    Several {
        /// The oldest one that is still held.
        held: Option<Box<Payment>>,
        /// True if the decision was carried out before, for one of them.
        is_decided: bool,
    },
}

/// Reviews of an entity by the reference: the parameters are both. The order of the tables is fixed, so that the index
/// by reference leads to the reviews.
const TABLES: &str = "payment_reference CROSS JOIN review";
/// The rows of [`TABLES`] that belong together.
const MATCHES: &str = "review.payment = payment_reference.payment AND review.entity = ?1
     AND payment_reference.entity = ?1 AND payment_reference.reference = ?2";

/// Returns the first two payments of an entity with a reference that are or were held, or are still held.
fn find_first_two(
    session: &dyn Session,
    entity: &EntityId,
    reference: &str,
    is_open: bool,
) -> Result<Vec<PaymentId>, StoreError> {
    let open = if is_open { "AND review.ended IS NULL" } else { "" };
    // Two rows are enough to see that there are several.
    let query = format!(
        "SELECT review.payment FROM {TABLES} WHERE {MATCHES} {open} ORDER BY payment_reference.payment LIMIT 2"
    );
    let ids: Vec<String> = session.query_all(&query, [entity.as_str(), reference], |row| row.get(0))?;
    Ok(ids.iter().filter_map(|id| PaymentId::parse(id)).collect())
}

/// Returns true if a decision is in the audit of one of the payments of an entity with its reference.
fn is_in_audit(session: &dyn Session, entity: &EntityId, decision: &RequestedDecision) -> Result<bool, StoreError> {
    let query = format!(
        "SELECT {ACTION_COLUMNS} FROM (SELECT review_action.* FROM {TABLES} CROSS JOIN review_action
             WHERE {MATCHES} AND review_action.payment = review.payment) AS found
         WHERE action = ?3 AND analyst = ?4"
    );
    let kind = ReviewActionKind::from(decision.decision).as_str();
    let values = params![entity.as_str(), decision.transaction_id, kind, decision.user_id];
    let mut rows = session.query(&query, values)?;
    while let Some(row) = rows.next()? {
        if decision.is_same_decision(&read_action(&row)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Store {
    /// Finds the payments of these entities that are or were held and have the `merchantTransactionId` of a decision.
    pub fn find_reviewed_payments(
        &self,
        entities: &[EntityId],
        decision: &RequestedDecision,
    ) -> Result<ReviewedPayments, StoreError> {
        let reference = &decision.transaction_id;
        self.readers.in_snapshot(|session| {
            let find = |is_open| -> Result<Vec<(PaymentId, EntityId)>, StoreError> {
                let mut found = Vec::new();
                for entity in entities {
                    let ids = find_first_two(session, entity, reference, is_open)?;
                    found.extend(ids.into_iter().map(|id| (id, entity.clone())));
                }
                found.sort();
                Ok(found)
            };
            let load = |(id, entity): &(PaymentId, EntityId)| load::load_payment(session, entity, id);
            Ok(match &find(false)?[..] {
                [] => ReviewedPayments::None,
                [only] => {
                    load(only)?.map_or(ReviewedPayments::None, |payment| ReviewedPayments::One(Box::new(payment)))
                }
                _ => {
                    let held = find(true)?.first().map(load).transpose()?.flatten().map(Box::new);
                    let mut is_decided = false;
                    for entity in entities {
                        is_decided = is_decided || is_in_audit(session, entity, decision)?;
                    }
                    ReviewedPayments::Several { held, is_decided }
                }
            })
        })
    }
}
