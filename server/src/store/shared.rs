//! Payments from their documents, with the parameters that they share with an earlier attempt of their checkout.

use rusqlite::{Connection, OptionalExtension as _};

use super::StoreError;
use super::rows::read;
use crate::domain::payment::Payment;

const QUERY: &str = "SELECT document FROM payment WHERE entity = ?1 AND id = ?2";

/// Reads a payment from its document, complete.
pub(super) fn read_payment(connection: &Connection, document: &[u8]) -> Result<Payment, StoreError> {
    let mut payment: Payment = read(document)?;
    if let Some(shared) = &payment.shares {
        let mut statement = connection.prepare_cached(QUERY)?;
        let key = [payment.entity.as_str(), shared.payment.as_str()];
        let earlier = statement.query_row(key, |row| Ok(read(row.get_ref(0)?.as_blob()?))).optional()?.transpose()?;
        if let Some(earlier) = earlier {
            payment.complete(&earlier);
        }
    }
    Ok(payment)
}

/// Loads a payment by its entity and id.
pub(super) fn load_payment(connection: &Connection, key: [&str; 2]) -> Result<Option<Payment>, StoreError> {
    let mut statement = connection.prepare_cached(QUERY)?;
    let mut rows = statement.query(key)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    read_payment(connection, row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?).map(Some)
}
