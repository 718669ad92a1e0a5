//! The stored payment.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::format::text::truncate_text;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use super::retry_rules::RetryMark;
use super::shared_parameters::SharedParameters;
use super::{
    Account, ConnectorTxIds, PaymentType, Redirect, RequestPlace, TransferAccount, money, optional_money, result_code,
};
use crate::address::add_parameters;
use crate::id::{CheckoutId, EntityId, PaymentId, RegistrationId, ScheduleId};
use crate::ndc::Ndc;
use crate::risk::PaymentRisk;
use crate::three_ds::ThreeDsSession;

/// A payment in its stored form. It never changes once its outcome is final: follow-up payments are payments of their
/// own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// The entity that owns it.
    pub entity: EntityId,
    /// The checkout in which it was created. `None` for a server-to-server payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
    /// Identifier of the request that created it. `None` in a checkout, whose id is used then, and for payments from
    /// before identifiers were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndc: Option<Ndc>,
    /// The token whose request created it, if it refers to another payment: its public half. `None` for other payments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The payment that it captures, reverses, refunds or charges back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referenced: Option<PaymentId>,
    /// The registration that it created or used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationId>,
    /// The schedule that it is a run of. `None` for other payments, and for runs from before it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleId>,
    /// The time of creation.
    pub created: Timestamp,
    /// The payment type.
    pub payment_type: PaymentType,
    /// The brand's code, e.g. `VISA`.
    pub brand: String,
    /// The amount, with two decimals in stored and sent form.
    #[serde(with = "money")]
    pub amount: Amount,
    /// The part of a capture that exceeds what was authorized for it. `None` if nothing of it does.
    #[serde(default, with = "optional_money", skip_serializing_if = "Option::is_none")]
    pub overcapture: Option<Amount>,
    /// The amount of its own request, if its connector has approved only a part of it. `amount` is that part.
    #[serde(default, with = "optional_money", skip_serializing_if = "Option::is_none")]
    pub requested: Option<Amount>,
    /// The outcome.
    #[serde(with = "result_code")]
    pub result: ResultCode,
    /// `result.avsResponse`: result of the address check (A Z N U F; specification, document 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avs: Option<char>,
    /// `result.cvvResponse`: result of the security code check (M N P S U; specification, document 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cvv: Option<char>,
    /// `resultDetails`: further details from the acquirer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
    /// The page that the shopper has to visit before there is an outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Redirect>,
    /// The account that the shopper transfers the money to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_to: Option<TransferAccount>,
    /// Name of the connector that processes it, if the connector's requests leave this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// The merchant id at the acquirer, if the requests of the connector leave this process. `None` if it is the
    /// entity's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquirer_merchant: Option<String>,
    /// The place of its request at the acquirer. `None` if the connector needs none, and for payments from before it
    /// was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<RequestPlace>,
    /// The connector's ids of the transaction (`connectorTxId1` to `connectorTxId3`).
    #[serde(default, skip_serializing_if = "ConnectorTxIds::is_empty")]
    pub connector_tx_ids: ConnectorTxIds,
    /// True while the first request to its connector is in progress and no event has reported the payment. The first
    /// event reports its outcome, or that it is pending once a response has reported that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unannounced: bool,
    /// The mark by which its attempt is counted. `None` if it has ended, or no rule of a scheme applies to it. Boxed,
    /// because most payments have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Box<RetryMark>>,
    /// The text on the shopper's statement.
    pub descriptor: String,
    /// The account, reduced to the data that may be shown.
    pub account: Account,
    /// Other parameters of the request, which responses repeat.
    pub parameters: Parameters,
    /// The risk check. `None` if the channel has none. Boxed, because most payments have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Box<PaymentRisk>>,
    /// Reference to the earlier attempt of the same checkout with which some of the parameters are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<SharedParameters>,
}

impl Payment {
    /// Drafts a payment that belongs to no checkout, names no account, and refers to no other payment.
    pub fn draft(
        id: PaymentId,
        entity: EntityId,
        created: Timestamp,
        payment_type: PaymentType,
        brand: &str,
        amount: Amount,
        result: ResultCode,
    ) -> Self {
        Self {
            id,
            entity,
            checkout: None,
            ndc: None,
            actor: None,
            referenced: None,
            registration: None,
            schedule: None,
            created,
            payment_type,
            brand: brand.to_owned(),
            amount,
            overcapture: None,
            requested: None,
            result,
            avs: None,
            cvv: None,
            details: BTreeMap::new(),
            redirect: None,
            pay_to: None,
            connector: None,
            acquirer_merchant: None,
            place: None,
            connector_tx_ids: ConnectorTxIds::default(),
            unannounced: false,
            retry: None,
            descriptor: String::new(),
            account: Account::Unknown,
            parameters: Parameters::default(),
            risk: None,
            shares: None,
        }
    }

    /// Returns the drafted payment as declined with this code: nobody has to visit a page, transfer money, or wait for
    /// an event.
    #[must_use]
    pub fn declined(self, result: ResultCode) -> Self {
        Self { result, redirect: None, pay_to: None, unannounced: false, ..self }
    }

    /// Returns the payment without its connector, for one that the gateway declines itself.
    #[must_use]
    pub fn without_connector(self) -> Self {
        Self { connector: None, acquirer_merchant: None, place: None, ..self }
    }

    /// Returns the payment without the checks and details of its connector's response.
    #[must_use]
    pub fn without_response_details(self) -> Self {
        Self { avs: None, cvv: None, details: BTreeMap::new(), ..self }
    }

    /// Returns true if it succeeded: the money moved or is reserved. A chargeback succeeds with a result code that is
    /// its reason.
    pub fn is_approved(&self) -> bool {
        self.payment_type.is_approved_with(self.result)
    }

    /// Returns true if the payment succeeded or may still succeed (pending). Such a payment pays its order.
    pub fn is_approved_or_pending(&self) -> bool {
        self.is_approved() || self.result.is_pending()
    }

    /// Returns true if it raises the amount of the preauthorization that it refers to.
    pub fn is_increment(&self) -> bool {
        self.payment_type == PaymentType::Preauthorization && self.referenced.is_some()
    }

    /// Returns true if it is part of the sums of the payment that it refers to: it succeeded, or takes from the amount
    /// and may still succeed. An increment that is pending adds nothing yet.
    pub fn is_effective_follow_up(&self) -> bool {
        if self.is_increment() { self.is_approved() } else { self.is_approved_or_pending() }
    }

    /// Returns true if it pays its checkout or may still do so: it succeeded or is pending, and was not abandoned. No
    /// other payment of the checkout is accepted meanwhile.
    pub fn blocks_checkout(&self) -> bool {
        self.is_approved_or_pending() && !self.is_abandoned()
    }

    /// Returns the merchant's own reference, `merchantTransactionId`, by which payments can be found.
    pub fn merchant_transaction_id(&self) -> Option<&str> {
        self.parameters.get("merchantTransactionId")
    }

    /// Returns true if it is pending until its shopper returns from the redirect page. Also true if the payment was
    /// abandoned.
    pub fn awaits_shopper(&self) -> bool {
        self.page_to_visit().is_some()
    }

    /// Returns the page that its shopper has to visit now. Returns `None` if the payment is not pending, has no
    /// redirect, is held for review, or waits for its connector's response after the visit.
    pub fn page_to_visit(&self) -> Option<&Redirect> {
        self.redirect.as_ref().filter(|page| self.result.is_pending() && !self.is_held() && page.asked.is_none())
    }

    /// Returns true if it is pending because the request to its connector is in progress or unanswered. False if the
    /// connector's requests do not leave this process.
    pub fn awaits_connector(&self) -> bool {
        self.result.is_pending() && !self.is_held() && self.connector.is_some() && !self.awaits_shopper()
    }

    /// Returns its merchant id at the acquirer: the one set at its creation, or the id of the entity that owns it.
    pub fn acquirer_merchant_id(&self) -> &str {
        self.acquirer_merchant.as_deref().unwrap_or(self.entity.as_str())
    }

    /// Returns the time of the request to its connector whose outcome is not known: the one recorded after its review,
    /// or with its redirect, otherwise the payment's creation.
    pub fn connector_request_time(&self) -> Timestamp {
        let after_review = self.review().and_then(|review| review.asked);
        after_review.or_else(|| self.redirect.as_ref()?.asked).unwrap_or(self.created)
    }

    /// Returns true if it is pending and its connector has or will have an outcome, which inquiries look up. This
    /// includes payments whose shopper is on a page of the connector, but not those whose shopper is being
    /// authenticated.
    pub fn can_be_inquired(&self) -> bool {
        let awaits_authentication = self.awaits_shopper() && self.three_ds_session().is_some();
        self.result.is_pending() && !self.is_held() && self.connector.is_some() && !awaits_authentication
    }

    /// Returns true if it is pending, and its shopper, its connector or its review can bring the outcome.
    pub fn awaits_outcome(&self) -> bool {
        self.awaits_shopper() || self.awaits_connector() || self.is_held()
    }

    /// Returns the id and the path at which the merchant reads the outcome: those of its checkout, or its own if it has
    /// none or was abandoned.
    pub fn resource_id_and_path(&self) -> (&str, String) {
        match &self.checkout {
            Some(checkout) if !self.is_abandoned() => {
                (checkout.as_str(), format!("/v1/checkouts/{}/payment", checkout.as_str()))
            }
            _ => (self.id.as_str(), format!("/v1/payments/{}", self.id)),
        }
    }

    /// Returns the identifier of the request that created it; if none is stored, one that consists of the checkout's
    /// id, or of the entity's id and its own.
    pub fn ndc(&self) -> Ndc {
        let derived = || Ndc::for_record(self.checkout.as_ref(), &self.entity, self.id.as_str());
        self.ndc.clone().unwrap_or_else(derived)
    }

    /// Returns the `notificationUrl` with `id`, `resourcePath` and, for a follow-up payment, `referencedId` of this
    /// payment. Returns `None` if the merchant sent no `notificationUrl`.
    pub fn notification_address(&self) -> Option<String> {
        let address = self.parameters.get(NOTIFICATION_URL)?;
        let (id, path) = self.resource_id_and_path();
        let mut parameters = vec![("id", id), ("resourcePath", path.as_str())];
        parameters.extend(self.referenced.as_ref().map(|referenced| ("referencedId", referenced.as_str())));
        Some(add_parameters(address, &parameters))
    }

    /// Returns the authentication of its cardholder, if the payment waits or waited for one that needs the shopper.
    pub fn three_ds_session(&self) -> Option<&ThreeDsSession> {
        self.redirect.as_ref()?.authentication.as_ref()
    }

    /// Returns true if its shopper chose another brand while it was pending. It does not pay its checkout, whatever
    /// its outcome is.
    pub fn is_abandoned(&self) -> bool {
        self.redirect.as_ref().is_some_and(|redirect| redirect.abandoned)
    }
}

/// Name of the parameter with the address for notifications about later outcomes.
pub const NOTIFICATION_URL: &str = "notificationUrl";

/// Maximum length of a descriptor in characters (specification, document 2).
const MAX_DESCRIPTOR_LENGTH: usize = 127;

/// Returns the text on the shopper's statement: the payment's short id, a space, and the merchant's own text or the
/// entity's name. At most 127 characters; the rest is cut off.
pub fn statement_descriptor(id: &PaymentId, text: &str) -> String {
    let mut descriptor = id.short_id();
    descriptor.push(' ');
    descriptor.push_str(text);
    descriptor.truncate(truncate_text(&descriptor, MAX_DESCRIPTOR_LENGTH).len());
    descriptor
}
