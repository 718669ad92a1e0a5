//! Constraints that hold in the file whatever a program writes: a second line of defence below the rules of the domain.
//!
//! | Rule | Holds by |
//! |---|---|
//! | Captures, or refunds, of a payment are together at most its amount | triggers on `payment_link` |
//! | A payment is reversed once, and only while nothing was captured or refunded; it is charged back once | triggers on `payment_link` |
//! | A follow-up payment refers to a payment of the same entity, and moves no negative amount | triggers on `payment_link` |
//! | A checkout has one pending or approved payment at most | primary key of `checkout_payment` |
//! | A payment is never deleted; its amount and its final result never change | triggers on `payment` |
//!
//! The migration `0016_guards.sql` creates them. A broken rule aborts the statement, which undoes the whole request: it is logged
//! and answered 500.

use rusqlite::{Connection, params};

use super::StoreError;

/// A follow-up payment, as the sums see it.
#[derive(Debug)]
pub(super) struct LinkRow {
    pub(super) referenced: String,
    pub(super) payment_type: &'static str,
    pub(super) hundredths: i64,
    pub(super) approved: bool,
}

impl LinkRow {
    pub(super) fn apply(&self, connection: &Connection, entity: &str, id: &str) -> Result<(), StoreError> {
        let Self { referenced, payment_type, hundredths, approved } = self;
        connection
            .prepare_cached(
                "INSERT INTO payment_link (referenced, id, type, hundredths, approved, entity)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (referenced, id) DO UPDATE SET approved = ?5",
            )?
            .execute(params![referenced, id, payment_type, hundredths, approved, entity])?;
        Ok(())
    }
}

/// A payment of a checkout, and whether the checkout is paid by it or may be.
#[derive(Debug)]
pub(super) struct CheckoutPayment {
    pub(super) checkout: String,
    /// True while the payment is approved, or pending and not abandoned.
    pub(super) holds: bool,
}

impl CheckoutPayment {
    /// Frees the checkout of a payment that failed or was abandoned. Runs before any payment of the same commit takes it.
    pub(super) fn release(&self, connection: &Connection, payment: &str) -> Result<(), StoreError> {
        if !self.holds {
            connection
                .prepare_cached("DELETE FROM checkout_payment WHERE checkout = ?1 AND payment = ?2")?
                .execute(params![self.checkout, payment])?;
        }
        Ok(())
    }

    /// Takes the checkout for a payment. Fails if another one has it.
    pub(super) fn take(&self, connection: &Connection, payment: &str) -> Result<(), StoreError> {
        if self.holds {
            connection
                .prepare_cached(
                    "INSERT INTO checkout_payment (checkout, payment) VALUES (?1, ?2)
                     ON CONFLICT (checkout) DO UPDATE SET payment = ?2",
                )?
                .execute(params![self.checkout, payment])?;
        }
        Ok(())
    }
}
