//! The rows of a payment: its document, the indexes to find it, and the tables of the constraints.

use tillgate_domain::payment::{EarlierState, Payment};
use tillgate_engine::{Session, params};

use crate::StoreError;
use crate::document::encode_document;
use crate::payment::guards;
use crate::payment::load::load_earlier_state;
use crate::payment::search;

/// A payment whose rows are written.
pub(super) struct WrittenPayment {
    /// The state of the stored version. `None` if the payment is new.
    pub(super) before: Option<EarlierState>,
    document: Vec<u8>,
    /// The document with the parameters that it shares with an earlier attempt. `None` if it shares none.
    whole_document: Option<Vec<u8>>,
}

impl WrittenPayment {
    /// Returns the document for messages. They contain the whole payment, including the parameters stored with an
    /// earlier attempt.
    pub(super) fn event_document(&self) -> &[u8] {
        self.whole_document.as_ref().unwrap_or(&self.document)
    }
}

/// Writes the document of a new or changed payment, its index rows and its constraint rows.
pub(super) fn write_rows(session: &dyn Session, payment: &Payment) -> Result<WrittenPayment, StoreError> {
    let (entity, id) = (payment.entity.as_str(), payment.id.as_str());
    let stored = payment.without_shared_parameters();
    let document = encode_document(stored.as_ref().unwrap_or(payment));
    // Most writes are of new payments. The insert finds that out without a read of the stored version.
    let is_new = session.execute(
        "INSERT INTO payment (entity, id, document) VALUES (?1, ?2, ?3) ON CONFLICT (entity, id) DO NOTHING",
        params![entity, id, document],
    )? == 1;
    // Loaded before the update, which replaces the stored version.
    let before = if is_new { None } else { load_earlier_state(session, &payment.entity, &payment.id)? };
    if is_new {
        write_index_rows(session, payment)?;
    } else {
        session
            .send("UPDATE payment SET document = ?3 WHERE entity = ?1 AND id = ?2", params![entity, id, document])?;
    }
    write_connector_ids(session, payment)?;
    search::write_registration_term(session, payment)?;
    guards::link_checkout(session, payment)?;
    guards::write_payment_link(session, payment)?;
    let whole_document = stored.map(|_| encode_document(&Payment { shares: None, ..payment.clone() }));
    Ok(WrittenPayment { before, document, whole_document })
}

/// Writes the rows by which a new payment is found: of its reference, of its page, and of its search terms. None of
/// them ever changes.
fn write_index_rows(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    let (entity, id) = (payment.entity.as_str(), payment.id.as_str());
    if let Some(reference) = payment.merchant_transaction_id() {
        session.send(
            "INSERT INTO payment_reference (entity, reference, payment) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![entity, reference, id],
        )?;
    }
    if let Some(page) = payment.redirect.as_ref().and_then(|redirect| redirect.page.as_ref()) {
        session.send(
            "INSERT INTO page (id, entity, payment) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![page.as_str(), entity, id],
        )?;
    }
    search::write_terms(session, payment)
}

/// Writes the rows by which a payment of an external connector is found by the acquirer's own ids: of the first two, as
/// the third is an approval code or a scheme's id. Does nothing for another payment, and if the rows are there.
fn write_connector_ids(session: &dyn Session, payment: &Payment) -> Result<(), StoreError> {
    if payment.connector.is_none() {
        return Ok(());
    }
    for id in (0..2).filter_map(|place| payment.connector_tx_ids.get(place)) {
        session.send(
            "INSERT INTO payment_connector_id (connector_id, entity, payment) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![id, payment.entity.as_str(), payment.id.as_str()],
        )?;
    }
    Ok(())
}
