//! Aggregates from their rows, and their encoding.

use rusqlite::{Connection, OptionalExtension as _};

use super::{Keys, Loaded, StoreError, on_file, queries, shared, wallet};
use crate::domain::checkout::Checkout;
use crate::domain::id::{CheckoutId, EntityId, PageId, PaymentId};
use crate::domain::payment::{Link, Payment, PaymentType};

pub(super) fn document<T: serde::Serialize>(aggregate: &T) -> Vec<u8> {
    // Aggregates are structs of strings and numbers; serde_json fails on neither.
    #[allow(clippy::expect_used)]
    serde_json::to_vec(aggregate).expect("an aggregate is JSON")
}

pub(super) fn load(connection: &Connection, keys: &Keys) -> Result<Loaded, StoreError> {
    let checkout = match &keys.checkout {
        Some(id) => load_checkout(connection, id)?,
        None => None,
    };
    let (payment, links) = match &keys.payment {
        Some((entity, id)) => match load_payment(connection, entity, id)? {
            Some(payment) => (Some(payment), load_links(connection, id)?),
            None => Default::default(),
        },
        None => Default::default(),
    };
    let reference_paid = match &keys.reference {
        Some((entity, reference)) => queries::is_paid(connection, entity, reference, keys.unless.as_ref())?,
        None => false,
    };
    let token_used = match &keys.wallet_token {
        Some(token) => wallet::is_used(connection, token)?,
        None => false,
    };
    let on_file = on_file::load(connection, &keys.on_file)?;
    Ok(Loaded { checkout, payment, links, reference_paid, token_used, on_file })
}

pub(super) fn load_checkout<P: serde::de::DeserializeOwned>(
    connection: &Connection,
    id: &CheckoutId,
) -> Result<Option<Checkout<P>>, StoreError> {
    load_document(connection, "SELECT document FROM checkout WHERE id = ?1", id.as_str())
}

pub(super) fn load_payment(
    connection: &Connection,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<Payment>, StoreError> {
    shared::load_payment(connection, [entity.as_str(), id.as_str()])
}

/// The payment that a shopper's page is about, whosever it is.
pub(super) fn load_payment_of_page(connection: &Connection, id: &PageId) -> Result<Option<Payment>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT document FROM page JOIN payment ON payment.entity = page.entity AND payment.id = page.payment
         WHERE page.id = ?1",
    )?;
    let document: Option<Vec<u8>> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
    document.map(|document| shared::read_payment(connection, &document)).transpose()
}

/// What refers to a payment, oldest first.
pub(super) fn load_links(connection: &Connection, referenced: &PaymentId) -> Result<Vec<Link>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT type, hundredths, approved FROM payment_link WHERE referenced = ?1")?;
    let mut rows = statement.query([referenced.as_str()])?;
    let mut links = Vec::new();
    while let Some(row) = rows.next()? {
        let kind = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        let Some(payment_type) = PaymentType::parse(kind) else { continue };
        links.push(Link { payment_type, hundredths: row.get(1)?, approved: row.get(2)? });
    }
    Ok(links)
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
pub(super) fn read<T: serde::de::DeserializeOwned>(document: &[u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(document) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(document),
    }
}
