//! Constraints that SQLite enforces for every program that writes to the file: a second line of defence below the
//! rules of the domain.
//!
//! - The captures, or refunds, of a payment are together at most its amount, of a preauthorization with its approved
//!   increments. Captures can exceed that by their overcapture, together by a fifth, and one of them is the last one
//!   (triggers on `payment_link`).
//! - Only preauthorizations have increments, and increments have none (triggers on `payment_link`).
//! - A payment is reversed once, and only while nothing was captured or refunded. It is charged back once, and the
//!   chargeback is reversed once, at most with its amount (triggers on `payment_link`).
//! - A follow-up payment refers to a payment of the same entity, and its amount is not negative (triggers on
//!   `payment_link`).
//! - A checkout has at most one pending or approved payment (primary key and trigger of `checkout_payment`).
//! - An entity is below one of a higher level: there is no cycle, and a channel has a merchant (triggers on `entity`).
//! - An entity is live or a sandbox like the entity above it (triggers on `entity`).
//! - A payment is never deleted. Its final result never changes, nor its amount, unless a part of a pending payment is
//!   approved and the requested amount is kept (triggers on `payment`).
//!
//! The migrations `0016_guards.sql`, `0027_entity_tree.sql`, `0033_follow_up_types.sql`, `0044_chargebacks.sql`,
//! `0069_partial_approvals.sql` and `0071_increments.sql` create them. A violation aborts the statement, and the whole
//! request is undone. It is logged and answered with status 500.

use tillgate_domain::payment::{FollowUpSummary, Payment};
use tillgate_engine::{Session, params};

use crate::StoreError;

/// Writes a follow-up payment to `payment_link`, from which the sums of the original payment are computed. If it is
/// there already, updates only its column `approved`. Does nothing for a payment that refers to none. Fails if a
/// constraint is violated.
pub(super) fn write_payment_link(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    let Some(referenced) = &payment.referenced else { return Ok(()) };
    let FollowUpSummary { payment_type, hundredths, is_effective, is_final } = FollowUpSummary::from_payment(payment);
    session.send(
        // Only the result of a follow-up payment changes later. Its type and its amount stay.
        "INSERT INTO payment_link (referenced, id, type, hundredths, approved, entity, overcapture, is_final)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (referenced, id) DO UPDATE SET approved = ?5",
        params![
            referenced.as_str(),
            payment.id.as_str(),
            payment_type.code(),
            hundredths,
            is_effective,
            payment.entity.as_str(),
            payment.overcapture.map_or(0, |excess| excess.hundredths()),
            is_final
        ],
    )?;
    Ok(())
}

/// Deletes the link from a checkout to a payment that neither pays it nor may still pay it; does nothing for other
/// payments. Runs before another payment of the same commit is linked.
pub(super) fn unlink_checkout(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    if let Some(checkout) = payment.checkout.as_ref().filter(|_| !payment.blocks_checkout()) {
        session.send(
            "DELETE FROM checkout_payment WHERE checkout = ?1 AND payment = ?2",
            [checkout.as_str(), payment.id.as_str()],
        )?;
    }
    Ok(())
}

/// Links the checkout to a payment that pays it or may still pay it; does nothing for other payments. Fails if the
/// checkout is linked to another payment.
pub(super) fn link_checkout(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    if let Some(checkout) = payment.checkout.as_ref().filter(|_| payment.blocks_checkout()) {
        session.send(
            // The same payment is linked again at each of its writes. A trigger refuses another payment.
            "INSERT INTO checkout_payment (checkout, payment) VALUES (?1, ?2)
                 ON CONFLICT (checkout) DO UPDATE SET payment = ?2",
            [checkout.as_str(), payment.id.as_str()],
        )?;
    }
    Ok(())
}
