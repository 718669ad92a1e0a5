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
//! A broken rule aborts the statement, which undoes the whole request: it is logged and answered 500.

use rusqlite::{Connection, params};

use super::StoreError;

/// Creates the constraints. Existing follow-up payments get the entity of the payment that they refer to.
pub(super) const MIGRATION: &str = "
    ALTER TABLE payment_link ADD COLUMN entity TEXT;
    CREATE INDEX payment_by_id ON payment (id);
    UPDATE payment_link SET entity = (SELECT payment.entity FROM payment WHERE payment.id = payment_link.referenced);
    DROP INDEX payment_by_id;

    CREATE VIEW payment_link_fault AS SELECT link.referenced, link.id FROM payment_link AS link WHERE
        typeof(link.hundredths) <> 'integer' OR link.hundredths < 0
        OR link.type NOT IN ('CP', 'RV', 'RF', 'CB')
        OR coalesce(
            (SELECT CAST(replace(json_extract(CAST(document AS TEXT), '$.amount[0]'), '.', '') AS INTEGER) FROM payment
                WHERE entity = link.entity AND id = link.referenced), -1)
            < max(CASE link.type WHEN 'CB' THEN link.hundredths ELSE 0 END,
                (SELECT total(hundredths) FROM payment_link
                    WHERE referenced = link.referenced AND approved AND type IN ('CP', 'RF')))
        OR (SELECT count(*) FILTER (WHERE type = 'RV') > 1 OR count(*) FILTER (WHERE type = 'CB') > 1
                OR (count(*) FILTER (WHERE type = 'RV') = 1 AND count(*) FILTER (WHERE type IN ('CP', 'RF')) > 0)
            FROM payment_link WHERE referenced = link.referenced AND approved);
    CREATE TRIGGER payment_link_insert AFTER INSERT ON payment_link WHEN NEW.approved BEGIN
        SELECT RAISE(ABORT, 'the follow-up payments of a payment do not fit it') FROM payment_link_fault
            WHERE referenced = NEW.referenced AND id = NEW.id;
    END;
    CREATE TRIGGER payment_link_update AFTER UPDATE ON payment_link WHEN NEW.approved BEGIN
        SELECT RAISE(ABORT, 'the follow-up payments of a payment do not fit it') FROM payment_link_fault
            WHERE referenced = NEW.referenced AND id = NEW.id;
    END;
    CREATE TRIGGER payment_link_stays BEFORE DELETE ON payment_link BEGIN
        SELECT RAISE(ABORT, 'a follow-up payment is never deleted');
    END;

    CREATE TABLE checkout_payment (checkout TEXT PRIMARY KEY, payment TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO checkout_payment (checkout, payment)
        SELECT id, json_extract(text, '$.attempt') FROM (SELECT id, CAST(document AS TEXT) AS text FROM checkout)
        WHERE json_extract(text, '$.paid') AND json_extract(text, '$.attempt') IS NOT NULL;
    CREATE TRIGGER checkout_payment_update BEFORE UPDATE ON checkout_payment WHEN NEW.payment <> OLD.payment BEGIN
        SELECT RAISE(ABORT, 'a checkout has a second pending or approved payment');
    END;

    CREATE TRIGGER payment_stays BEFORE DELETE ON payment BEGIN
        SELECT RAISE(ABORT, 'a payment is never deleted');
    END;
    CREATE TRIGGER payment_update BEFORE UPDATE ON payment WHEN
        NEW.id <> OLD.id OR NEW.entity <> OLD.entity
        OR json_extract(CAST(NEW.document AS TEXT), '$.amount') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.amount')
        OR (json_extract(CAST(NEW.document AS TEXT), '$.result') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.result')
            AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '000.200.*'
            AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '800.400.5*'
            AND json_extract(CAST(OLD.document AS TEXT), '$.result') <> '100.400.500')
    BEGIN
        SELECT RAISE(ABORT, 'the amount and the final result of a payment never change');
    END;
";

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
