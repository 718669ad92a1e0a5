//! Lists of payments.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;

use super::PaymentFields;
use crate::{ResultFields, WireTime};

/// A payment in a list: the fields of its own response, the payment it refers to, and its time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListedPayment")]
pub struct ListedPaymentFields<'a> {
    #[serde(flatten)]
    payment: PaymentFields<'a>,
    /// The payment that it refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    referenced_id: Option<&'a str>,
    /// Entity of the payment, if that is not the one that queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_id: Option<&'a str>,
    /// Time of the payment.
    timestamp: WireTime,
}

/// A page of payments.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Payments")]
pub struct PaymentListFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// The payments.
    payments: Vec<ListedPaymentFields<'a>>,
    /// Position of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9a-f]{32}$"))]
    cursor: Option<&'a str>,
    /// Number of pages, if pages are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
}

impl<'a> ListedPaymentFields<'a> {
    /// Creates the entry of a payment in a list for an entity.
    pub fn new(entity: &EntityId, payment: &'a Payment) -> Self {
        let mut fields = PaymentFields::from(payment);
        fields.parameters.remove_all(&["referencedId", "entityId"]);
        Self {
            payment: fields,
            referenced_id: payment.referenced.as_ref().map(|id| id.as_str()),
            entity_id: (payment.entity != *entity).then(|| payment.entity.as_str()),
            timestamp: WireTime(payment.created),
        }
    }
}

impl<'a> PaymentListFields<'a> {
    /// Creates the response with a page of payments for an entity, and the position of the next page.
    pub fn new(
        entity: &EntityId,
        payments: impl Iterator<Item = &'a Payment>,
        cursor: Option<&'a PaymentId>,
        pages: Option<usize>,
    ) -> Self {
        Self {
            result: ResultFields::success(),
            payments: payments.map(|payment| ListedPaymentFields::new(entity, payment)).collect(),
            cursor: cursor.map(PaymentId::as_str),
            pages,
        }
    }
}
