//! Reading of payments from their documents, with the parameters that they share with an earlier attempt of their
//! checkout.

use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_engine::Session;

use crate::document::{decode_document, read_document};
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
    pub(crate) fn reload_payment(&self, session: &dyn Session) -> Result<Option<Payment>, StoreError> {
        let mut rows = session.query(QUERY, [self.payment.entity.as_str(), self.payment.id.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let document = row.value(0)?.as_blob()?;
        // The document lacks the shared parameters, so equal bytes do not show that those are unchanged.
        if document == self.document && self.payment.shares.is_none() {
            return Ok(Some(self.payment.clone()));
        }
        decode_payment(session, document).map(Some)
    }
}

impl Store {
    /// Same as [`Store::load_payment`], for a payment that is loaded again under the write lock
    /// ([`crate::RecordKeys::with_known_payment`]).
    pub fn load_stored_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<StoredPayment>, StoreError> {
        self.run_read(|session| {
            let key = [entity.as_str(), id.as_str()];
            let document: Option<Vec<u8>> = session.query_optional(QUERY, key, |row| row.get(0))?;
            let Some(document) = document else { return Ok(None) };
            Ok(Some(StoredPayment { payment: decode_payment(session, &document)?, document }))
        })
    }
}

/// Decodes a payment, and adds the parameters that it shares with an earlier attempt of its entity. They stay missing
/// if that attempt is not stored.
pub(crate) fn decode_payment(session: &dyn Session, document: &[u8]) -> Result<Payment, StoreError> {
    let mut payment: Payment = decode_document(document)?;
    if let Some(shared) = &payment.shares {
        let key = [payment.entity.as_str(), shared.payment.as_str()];
        if let Some(earlier) = load_document(session, key)? {
            payment.add_shared_parameters(&earlier);
        }
    }
    Ok(payment)
}

/// Loads the fields in `T` of a payment by its entity and id, in this order. Its shared parameters stay missing.
pub(crate) fn load_document<T: serde::de::DeserializeOwned>(
    session: &dyn Session,
    key: [&str; 2],
) -> Result<Option<T>, StoreError> {
    session.query_optional(QUERY, key, |row| read_document(row, 0))
}

/// Loads a payment by its entity and id, in this order, with the parameters that it shares.
pub(crate) fn load_payment(session: &dyn Session, key: [&str; 2]) -> Result<Option<Payment>, StoreError> {
    let mut rows = session.query(QUERY, key)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    decode_payment(session, row.value(0)?.as_blob()?).map(Some)
}
