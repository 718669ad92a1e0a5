//! Sealed card numbers of payments, each stored until its time is over.

use jiff::Timestamp;
use tillgate_domain::id::PaymentId;
use tillgate_engine::params;
use tillgate_vault::Sealed;

use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Store, StoreError};

/// A payment's card number, sealed by the vault.
#[derive(Debug)]
struct SealedCard {
    payment: PaymentId,
    purge_at: Timestamp,
    sealed: Sealed,
}

/// Deletion of a payment's sealed card.
#[derive(Debug)]
struct CardDeletion {
    payment: PaymentId,
    purge_at: Timestamp,
}

impl Changes {
    /// Stores a payment's sealed card number until `purge_at`. A second card of a payment with the same time fails the
    /// write.
    #[must_use]
    pub fn with_card(self, payment: &PaymentId, sealed: Sealed, purge_at: Timestamp) -> Self {
        self.with(SealedCard { payment: payment.clone(), purge_at, sealed })
    }

    /// Deletes a payment's sealed card before its time, because the payment failed. `purge_at` is the time until which
    /// it is stored. A missing card is no error.
    #[must_use]
    pub fn without_card(self, payment: &PaymentId, purge_at: Timestamp) -> Self {
        self.with(CardDeletion { payment: payment.clone(), purge_at })
    }
}

impl Change for CardDeletion {
    fn stage(&self) -> Stage {
        Stage::CardDeletion
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        context.session.send(
            // The primary key begins with the time of the deletion, so that expired cards need no other index.
            "DELETE FROM card WHERE purge_at = ?1 AND payment = ?2",
            params![self.purge_at.as_millisecond(), self.payment.as_str()],
        )?;
        Ok(false)
    }
}

impl Change for SealedCard {
    fn stage(&self) -> Stage {
        Stage::Card
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        let Self { payment, purge_at, sealed } = self;
        context.session.send(
            "INSERT INTO card (purge_at, payment, sealed) VALUES (?1, ?2, ?3)",
            params![purge_at.as_millisecond(), payment.as_str(), sealed.as_bytes()],
        )?;
        Ok(false)
    }
}

impl Store {
    /// Returns true if there is a sealed card whose retention has ended by `now`.
    pub fn has_expired_cards(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.run_read(|session| {
            let query = "SELECT EXISTS (SELECT 1 FROM card WHERE purge_at <= ?1)";
            Ok(session.query_one(query, [now.as_millisecond()], |row| row.get(0))?)
        })
    }

    /// Deletes the sealed cards whose retention has ended, and marks the WAL as dirty if there are any. Returns their
    /// number.
    pub async fn delete_expired_cards(&self, now: Timestamp) -> Result<usize, StoreError> {
        let delete = "DELETE FROM card WHERE purge_at <= ?1";
        let deleted = self.run_write(move |session| Ok(session.execute(delete, [now.as_millisecond()])?)).await?;
        if deleted > 0 {
            // The write-ahead log still contains the deleted cards until it is truncated.
            self.mark_wal_dirty();
        }
        Ok(deleted)
    }
}
