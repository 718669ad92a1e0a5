//! Reading of payments from their documents, with the parameters that they share with an earlier attempt of their
//! checkout.

use rusqlite::{Connection, OptionalExtension as _};
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;

use crate::document::decode_document;
use crate::{Store, StoreError};

/// Finds the document of a payment by its entity and id.
const QUERY: &str = "SELECT document FROM payment WHERE entity = ?1 AND id = ?2";

/// A payment as it was read, with the document that it was decoded from.
#[derive(Debug)]
pub struct StoredPayment {
    /// The payment.
    pub payment: Payment,
    document: Vec<u8>,
}

impl StoredPayment {
    /// Loads the payment as it is now. Decodes it only if its document has changed.
    pub(crate) fn reload_payment(&self, connection: &Connection) -> Result<Option<Payment>, StoreError> {
        let mut statement = connection.prepare_cached(QUERY)?;
        let mut rows = statement.query([self.payment.entity.as_str(), self.payment.id.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let document = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        // The document lacks the shared parameters, so equal bytes do not show that those are unchanged.
        if document == self.document && self.payment.shares.is_none() {
            return Ok(Some(self.payment.clone()));
        }
        decode_payment(connection, document).map(Some)
    }
}

impl Store {
    /// Same as [`Store::load_payment`], for a payment that is loaded again under the write lock
    /// ([`crate::RecordKeys::with_known_payment`]).
    pub fn load_stored_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<StoredPayment>, StoreError> {
        self.run_read(|connection| {
            let mut statement = connection.prepare_cached(QUERY)?;
            let key = [entity.as_str(), id.as_str()];
            let document: Option<Vec<u8>> = statement.query_row(key, |row| row.get(0)).optional()?;
            let Some(document) = document else { return Ok(None) };
            Ok(Some(StoredPayment { payment: decode_payment(connection, &document)?, document }))
        })
    }
}

/// Decodes a payment, and adds the parameters that it shares with an earlier attempt of its entity. They stay missing
/// if that attempt is not stored.
pub(crate) fn decode_payment(connection: &Connection, document: &[u8]) -> Result<Payment, StoreError> {
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
pub(crate) fn load_document<T: serde::de::DeserializeOwned>(
    connection: &Connection,
    key: [&str; 2],
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(QUERY)?;
    let document = statement.query_row(key, |row| Ok(decode_document(row.get_ref(0)?.as_blob()?))).optional()?;
    Ok(document.transpose()?)
}

/// Loads a payment by its entity and id, in this order, with the parameters that it shares.
pub(crate) fn load_payment(connection: &Connection, key: [&str; 2]) -> Result<Option<Payment>, StoreError> {
    let mut statement = connection.prepare_cached(QUERY)?;
    let mut rows = statement.query(key)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    decode_payment(connection, row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?).map(Some)
}
