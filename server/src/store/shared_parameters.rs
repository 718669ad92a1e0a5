//! Reading of payments from their documents, with the parameters that they share with an earlier attempt of their
//! checkout.

use rusqlite::{Connection, OptionalExtension as _};

use super::StoreError;
use super::rows::decode_document;
use crate::domain::payment::Payment;

/// Finds the document of a payment by its entity and id.
const QUERY: &str = "SELECT document FROM payment WHERE entity = ?1 AND id = ?2";

/// Decodes a payment, and adds the parameters that it shares with an earlier attempt of its entity. They stay missing
/// if that attempt is not stored.
pub(super) fn decode_payment(connection: &Connection, document: &[u8]) -> Result<Payment, StoreError> {
    let mut payment: Payment = decode_document(document)?;
    if let Some(shared) = &payment.shares {
        let key = [payment.entity.as_str(), shared.payment.as_str()];
        if let Some(earlier) = load_document(connection, key)? {
            payment.add_shared_parameters(&earlier);
        }
    }
    Ok(payment)
}

/// Loads the fields in `T` of a payment by its entity and id, in this order. Its shared parameters stay missing.
pub(super) fn load_document<T: serde::de::DeserializeOwned>(
    connection: &Connection,
    key: [&str; 2],
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(QUERY)?;
    let document = statement.query_row(key, |row| Ok(decode_document(row.get_ref(0)?.as_blob()?))).optional()?;
    Ok(document.transpose()?)
}

/// Loads a payment by its entity and id, in this order, with the parameters that it shares.
pub(super) fn load_payment(connection: &Connection, key: [&str; 2]) -> Result<Option<Payment>, StoreError> {
    let mut statement = connection.prepare_cached(QUERY)?;
    let mut rows = statement.query(key)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    decode_payment(connection, row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?).map(Some)
}
