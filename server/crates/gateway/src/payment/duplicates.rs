//! Duplicate detection: an entity may require that each `merchantTransactionId` is paid at most once
//! (`--refuse-duplicates`).
//!
//! Follow-up payments are exempt, because captures and refunds carry the reference of their order. Only approved and
//! pending payments are compared, because a shopper may try again after a decline. The lookup runs in the transaction
//! of the write, so that one of two concurrent payments is the duplicate. A duplicate is stored as a payment declined
//! with 800.110.100, so that the merchant finds it by its id and in the checkout's status; no money moves for it.

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::Payment;
use tillgate_shared::result::codes;
use tillgate_store::Changes;

/// Returns the `merchantTransactionId` of a payment if its entity allows each reference only once, with the entity's
/// id. Returns `None` if duplicates are allowed, for follow-up payments, and without a reference.
pub(crate) fn unique_reference(entity: &Entity, payment: &Payment) -> Option<(EntityId, String)> {
    let is_checked = entity.settings.refuse_duplicates && payment.referenced.is_none();
    let reference = payment.parameters.get("merchantTransactionId").filter(|_| is_checked)?;
    Some((entity.id.clone(), reference.to_owned()))
}

/// Changes a drafted payment to one declined as a duplicate, without the data of the connector's response, and returns
/// the changes that store it.
pub(crate) fn decline_duplicate(payment: Payment) -> (Changes, Arc<Payment>) {
    let payment = Arc::new(payment.declined(codes::DUPLICATE).without_response_details());
    (Changes::default().with_payment(Arc::clone(&payment)), payment)
}
