//! Loading of payments from their rows.

use tillgate_domain::id::{EntityId, PageId, PaymentId};
use tillgate_domain::payment::{EarlierState, FollowUpSummary, Payment, PaymentType};
use tillgate_engine::Session;

use crate::payment::shared_parameters;
use crate::{AdminStore, Store, StoreError};

/// Loads a payment of an entity by id, with the parameters that it shares with an earlier attempt.
pub(crate) fn load_payment(
    session: &dyn Session,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<Payment>, StoreError> {
    shared_parameters::load_payment(session, [entity.as_str(), id.as_str()])
}

/// Loads the state of a payment of an entity by id, from which the effects of its next write are computed.
pub(crate) fn load_earlier_state(
    session: &dyn Session,
    entity: &EntityId,
    id: &PaymentId,
) -> Result<Option<EarlierState>, StoreError> {
    shared_parameters::load_document(session, [entity.as_str(), id.as_str()])
}

/// Loads the payment of a shopper's page, of any entity, with the parameters that it shares.
pub(crate) fn load_payment_of_page(session: &dyn Session, id: &PageId) -> Result<Option<Payment>, StoreError> {
    let query = "SELECT document FROM page JOIN payment ON payment.entity = page.entity AND payment.id = page.payment
         WHERE page.id = ?1";
    let document: Option<Vec<u8>> = session.query_optional(query, [id.as_str()], |row| row.get(0))?;
    document.map(|document| shared_parameters::decode_payment(session, &document)).transpose()
}

/// Loads the direct follow-up payments of a payment, oldest first. Leaves out unknown payment types.
pub(crate) fn load_follow_ups(
    session: &dyn Session,
    referenced: &PaymentId,
) -> Result<Vec<FollowUpSummary>, StoreError> {
    let query = "SELECT type, hundredths, approved, is_final FROM payment_link WHERE referenced = ?1";
    let mut rows = session.query(query, [referenced.as_str()])?;
    let mut follow_ups = Vec::new();
    while let Some(row) = rows.next()? {
        let code = row.value(0)?.as_str()?;
        let Some(payment_type) = PaymentType::parse(code) else { continue };
        let (hundredths, is_effective, is_final) = (row.get(1)?, row.get(2)?, row.get(3)?);
        follow_ups.push(FollowUpSummary { payment_type, hundredths, is_effective, is_final });
    }
    Ok(follow_ups)
}

impl Store {
    /// Loads a payment of an entity by id, as last committed. Returns `None` if it belongs to another entity.
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        self.run_read(|session| load_payment(session, entity, id))
    }

    /// Loads the payment that sent its shopper to a page, of any entity. The page's id is a capability, like a
    /// checkout's id.
    pub fn load_payment_of_page(&self, id: &PageId) -> Result<Option<Payment>, StoreError> {
        self.run_read(|session| load_payment_of_page(session, id))
    }
}

impl AdminStore {
    /// Loads a payment of an entity by id.
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        load_payment(&*self.session, entity, id)
    }
}
