//! One order, one payment: an entity may ask that a `merchantTransactionId` is paid once (`--refuse-duplicates`).
//!
//! Only payments that begin something are looked at, for captures and refunds carry their order's reference too; and only
//! those that went through or may yet, for a declined shopper tries again. Whether there is one is looked up inside the
//! write, so that of two at once one is the duplicate. A duplicate is a payment like any other, declined with 800.110.100,
//! so that the merchant finds it under its id and in the checkout's status; no money moves for it.

use tillgate_shared::result::codes;

use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::domain::payment::Payment;
use crate::store::Changes;

/// What has to be unheard of when this payment is written; nothing when the entity does not ask.
pub(super) fn reference(entity: &Entity, payment: &Payment) -> Option<(EntityId, String)> {
    let asked = entity.settings.refuse_duplicates && payment.referenced.is_none();
    let reference = payment.parameters.get("merchantTransactionId").filter(|_| asked)?;
    Some((entity.id.clone(), reference.to_owned()))
}

/// The payment as a duplicate, and what is written of it.
pub(super) fn declined(payment: Payment) -> (Changes, Payment) {
    let payment = Payment {
        result: codes::DUPLICATE,
        avs: None,
        cvv: None,
        details: std::collections::BTreeMap::new(),
        redirect: None,
        pay_to: None,
        ..payment
    };
    (Changes::default().payment(&payment), payment)
}
