//! Aggregates to rows and back.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Keys, Loaded, StoreError};
use crate::domain::checkout::Checkout;
use crate::domain::id::{CheckoutId, PaymentId};
use crate::domain::payment::Payment;

/// Rows to write in one commit, already encoded, so that the writer's thread has nothing left to compute.
#[derive(Debug, Default)]
pub struct Changes {
    checkouts: Vec<(String, Vec<u8>)>,
    payments: Vec<(String, Vec<u8>)>,
    cards: Vec<Card>,
}

#[derive(Debug)]
struct Card {
    payment: String,
    purge_at: i64,
    sealed: Vec<u8>,
}

impl Changes {
    /// Writes a checkout, new or changed.
    #[must_use]
    pub fn checkout(mut self, checkout: &Checkout) -> Self {
        self.checkouts.push((checkout.id.as_str().to_owned(), document(checkout)));
        self
    }

    /// Writes a payment.
    #[must_use]
    pub fn payment(mut self, payment: &Payment) -> Self {
        self.payments.push((payment.id.as_str().to_owned(), document(payment)));
        self
    }

    /// Keeps a payment's sealed card number until a moment.
    #[must_use]
    pub fn card(mut self, payment: &PaymentId, sealed: Vec<u8>, purge_at: jiff::Timestamp) -> Self {
        self.cards.push(Card { payment: payment.as_str().to_owned(), purge_at: purge_at.as_millisecond(), sealed });
        self
    }

    /// Writes everything on a connection that is inside a transaction.
    pub(super) fn apply(&self, connection: &Connection) -> Result<(), StoreError> {
        for (id, document) in &self.checkouts {
            connection
                .prepare_cached(
                    "INSERT INTO checkout (id, document) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET document = ?2",
                )?
                .execute(params![id, document])?;
        }
        for (id, document) in &self.payments {
            connection
                .prepare_cached("INSERT INTO payment (id, document) VALUES (?1, ?2)")?
                .execute(params![id, document])?;
        }
        for card in &self.cards {
            connection
                .prepare_cached("INSERT INTO card (purge_at, payment, sealed) VALUES (?1, ?2, ?3)")?
                .execute(params![card.purge_at, card.payment, card.sealed])?;
        }
        Ok(())
    }
}

fn document<T: serde::Serialize>(aggregate: &T) -> Vec<u8> {
    // Aggregates are structs of strings and numbers; serde_json fails on neither.
    #[allow(clippy::expect_used)]
    serde_json::to_vec(aggregate).expect("an aggregate is JSON")
}

pub(super) fn load(connection: &Connection, keys: &Keys) -> Result<Loaded, StoreError> {
    let checkout = match &keys.checkout {
        Some(id) => load_checkout(connection, id)?,
        None => None,
    };
    Ok(Loaded { checkout })
}

pub(super) fn load_checkout<P: serde::de::DeserializeOwned>(
    connection: &Connection,
    id: &CheckoutId,
) -> Result<Option<Checkout<P>>, StoreError> {
    load_document(connection, "SELECT document FROM checkout WHERE id = ?1", id.as_str())
}

pub(super) fn load_payment(connection: &Connection, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
    load_document(connection, "SELECT document FROM payment WHERE id = ?1", id.as_str())
}

fn load_document<T: serde::de::DeserializeOwned>(
    connection: &Connection,
    query: &'static str,
    id: &str,
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(query)?;
    let document = statement.query_row([id], |row| Ok(read(row.get_ref(0)?.as_blob()?))).optional()?;
    Ok(document.transpose()?)
}

/// Whether a document is UTF-8 is looked at once and not for each of its texts.
fn read<T: serde::de::DeserializeOwned>(document: &[u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(document) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(document),
    }
}
