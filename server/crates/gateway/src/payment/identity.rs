//! Identity of a new payment: its id, and the texts by which shopper and acquirer know it.

use jiff::Timestamp;
use tillgate_connector::{Order, OrderRequest};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::{Payment, statement_descriptor};

use super::{Intake, order};
use crate::{Failure, Gateway};

/// Data that identify a new payment.
#[derive(Clone)]
pub(crate) struct PaymentIdentity {
    pub(super) id: PaymentId,
    pub(super) descriptor: String,
    /// The acquirer's id of the merchant.
    pub(super) merchant_id: String,
    /// The current time by the entity's clock.
    pub(super) now: Timestamp,
}

impl PaymentIdentity {
    /// Returns the data of a stored payment, at a time of its entity's clock.
    pub(crate) fn of_payment(payment: &Payment, now: Timestamp) -> Self {
        Self {
            id: payment.id.clone(),
            descriptor: payment.descriptor.clone(),
            merchant_id: payment.acquirer_merchant_id().to_owned(),
            now,
        }
    }

    /// Makes the request to a connector for an order of this payment, without an address to return to.
    pub(crate) fn order_request<'a>(&'a self, order: &'a Order) -> OrderRequest<'a> {
        let (reference, merchant_id) = (self.id.as_str(), self.merchant_id.as_str());
        let descriptor = &self.descriptor;
        OrderRequest { reference, merchant_id, return_url: None, place: None, descriptor, now: self.now, order }
    }
}

impl Gateway {
    /// Makes the id of a payment and the text on the shopper's statement: the merchant's own text, or else the entity's
    /// name. A payment that a clock has jumped over is dated, named and listed `at` its own time.
    pub(super) fn identify_payment(&self, intake: &Intake, at: Option<Timestamp>) -> Result<PaymentIdentity, Failure> {
        let payer = &intake.payer;
        let now = self.now_of(payer);
        let id = match at.filter(|at| *at < now) {
            Some(at) => Self::new_payment_id(at)?,
            None => Self::new_payment_id(self.next_id_time(payer))?,
        };
        let descriptor = statement_descriptor(&id, order::statement_text(&intake.parameters).unwrap_or(&payer.name));
        let merchant_id = payer.acquirer_merchant_id().to_owned();
        Ok(PaymentIdentity { id, descriptor, merchant_id, now: at.unwrap_or(now) })
    }
}
