//! Constraints that hold in the file whatever a program writes: a second line of defence below the rules of the domain.
//!
//! | Rule | Holds by |
//! |---|---|
//! | Captures, or refunds, of a payment are together at most its amount | triggers on `payment_link` |
//! | A payment is reversed once, and only while nothing was captured or refunded; it is charged back once | triggers on `payment_link` |
//! | A follow-up payment refers to a payment of the same entity, and moves no negative amount | triggers on `payment_link` |
//! | A checkout has one pending or approved payment at most | primary key of `checkout_payment` |
//! | An entity stands below one of a higher level: there is no cycle, and a channel has a merchant | triggers on `entity` |
//! | An entity is live, or a sandbox, as what it is put below | triggers on `entity` |
//! | A payment is never deleted; its amount and its final result never change | triggers on `payment` |
//!
//! The migrations `0016_guards.sql` and `0027_entity_tree.sql` create them. A broken rule aborts the statement, which undoes the whole request: it is logged
//! and answered 500.

use rusqlite::{Connection, params};

use super::StoreError;
use crate::domain::payment::{Link, Payment};

/// Writes a follow-up payment where the sums of its payment are made of it.
pub(super) fn write_link(connection: &Connection, payment: &Payment) -> Result<(), StoreError> {
    let Some(referenced) = &payment.referenced else { return Ok(()) };
    let Link { payment_type, hundredths, approved } = Link::of(payment);
    connection
        .prepare_cached(
            "INSERT INTO payment_link (referenced, id, type, hundredths, approved, entity)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (referenced, id) DO UPDATE SET approved = ?5",
        )?
        .execute(params![
            referenced.as_str(),
            payment.id.as_str(),
            payment_type.code(),
            hundredths,
            approved,
            payment.entity.as_str()
        ])?;
    Ok(())
}

/// Frees the checkout of a payment that does not hold it any more. Runs before any payment of the same commit takes it.
pub(super) fn release_checkout(connection: &Connection, payment: &Payment) -> Result<(), StoreError> {
    if let Some(checkout) = payment.checkout.as_ref().filter(|_| !payment.holds_checkout()) {
        connection
            .prepare_cached("DELETE FROM checkout_payment WHERE checkout = ?1 AND payment = ?2")?
            .execute([checkout.as_str(), payment.id.as_str()])?;
    }
    Ok(())
}

/// Takes the checkout for a payment that holds it. Fails if another one has it.
pub(super) fn take_checkout(connection: &Connection, payment: &Payment) -> Result<(), StoreError> {
    if let Some(checkout) = payment.checkout.as_ref().filter(|_| payment.holds_checkout()) {
        connection
            .prepare_cached(
                "INSERT INTO checkout_payment (checkout, payment) VALUES (?1, ?2)
                 ON CONFLICT (checkout) DO UPDATE SET payment = ?2",
            )?
            .execute([checkout.as_str(), payment.id.as_str()])?;
    }
    Ok(())
}
