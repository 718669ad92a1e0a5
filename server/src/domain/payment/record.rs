//! What is kept of a payment.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{Group, ResultCode};

use super::shared::Shared;
use super::{Account, PaymentType, Redirect, TransferAccount};
use crate::domain::address::with_parameters;
use crate::domain::authentication::Authentication;
use crate::domain::id::{CheckoutId, EntityId, PaymentId, RegistrationId};
use crate::domain::ndc::Ndc;

/// A payment as it is stored. Once its outcome is final it never changes: what refers to it is a payment of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// Whose it is.
    pub entity: EntityId,
    /// The checkout it was made in; none for a payment server to server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
    /// Identifier of the request that made it. `None` in a checkout, whose id it is then, and for payments made before it was
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndc: Option<Ndc>,
    /// The payment that it captures, reverses or refunds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referenced: Option<PaymentId>,
    /// The registration that it made or used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationId>,
    /// When it was made.
    pub created: Timestamp,
    /// What it does.
    pub payment_type: PaymentType,
    /// The brand's code, e.g. `VISA`.
    pub brand: String,
    /// How much, as on the wire: two decimals.
    #[serde(with = "money")]
    pub amount: Amount,
    /// The outcome.
    #[serde(with = "code")]
    pub result: ResultCode,
    /// `result.avsResponse`: what the address check says (A Z N U F; specification, document 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avs: Option<char>,
    /// `result.cvvResponse`: what the check of the security code says (M N P S U; specification, document 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cvv: Option<char>,
    /// `resultDetails`: what the acquirer tells beyond the result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
    /// Where the shopper has to go before there is an outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Redirect>,
    /// Where the shopper transfers the money to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pay_to: Option<TransferAccount>,
    /// Name of the connector that takes it, if its requests leave this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<String>,
    /// The connector's ids of the transaction (`connectorTxId1` to `connectorTxId3`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connector_tx_ids: Vec<String>,
    /// What the shopper's statement shows.
    pub descriptor: String,
    /// The account, reduced to what may be shown.
    pub account: Account,
    /// Everything else that was sent and is echoed.
    pub parameters: Parameters,
    /// Earlier attempt of the same checkout that some of the parameters are stored with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shared>,
}

impl Payment {
    /// Whether it was carried out: the money moved, or is reserved. A chargeback's result is its reason.
    pub fn approved(&self) -> bool {
        let charged_back = self.payment_type == PaymentType::Chargeback && self.result.group() == Group::Chargeback;
        self.result.is_success() || charged_back
    }

    /// Whether it counts, against the payment that it refers to or as the one of its order: it was carried out, or may yet
    /// be.
    pub fn counts(&self) -> bool {
        self.approved() || self.result.is_pending()
    }

    /// Returns true if its checkout is paid by it, or may be: no other payment of the checkout succeeds or waits meanwhile.
    pub fn holds_checkout(&self) -> bool {
        self.counts() && !self.is_abandoned()
    }

    /// The merchant's own reference, `merchantTransactionId`, by which payments are found.
    pub fn reference(&self) -> Option<&str> {
        self.parameters.get("merchantTransactionId")
    }

    /// Whether it has no outcome yet, and its shopper will bring it back from the brand's page.
    pub fn waits(&self) -> bool {
        self.result.is_pending() && self.redirect.is_some()
    }

    /// Returns true if it has no outcome yet because its connector is being asked, or has not been heard of.
    pub fn awaits_connector(&self) -> bool {
        self.result.is_pending() && self.redirect.is_none() && self.connector.is_some()
    }

    /// Returns true if it has no outcome yet, and somebody will bring it: its shopper, or its connector.
    pub fn awaits_outcome(&self) -> bool {
        self.waits() || self.awaits_connector()
    }

    /// The id and the path under which its merchant reads the outcome: its checkout's, unless that has gone on without it.
    pub fn resource(&self) -> (&str, String) {
        match &self.checkout {
            Some(checkout) if !self.is_abandoned() => {
                (checkout.as_str(), format!("/v1/checkouts/{}/payment", checkout.as_str()))
            }
            _ => (self.id.as_str(), format!("/v1/payments/{}", self.id)),
        }
    }

    /// Returns the identifier of the request that made it.
    pub fn ndc(&self) -> Ndc {
        let of_record = || Ndc::of_record(self.checkout.as_ref(), &self.entity, self.id.as_str());
        self.ndc.clone().unwrap_or_else(of_record)
    }

    /// The address that is asked for when its merchant is to be told (`notificationUrl`); none where the merchant names none.
    pub fn notification(&self) -> Option<String> {
        let address = self.parameters.get(NOTIFICATION_URL)?;
        let (id, path) = self.resource();
        let mut told = vec![("id", id), ("resourcePath", path.as_str())];
        told.extend(self.referenced.as_ref().map(|referenced| ("referencedId", referenced.as_str())));
        Some(with_parameters(address, &told))
    }

    /// The authentication of its cardholder, where it is pending for one or was.
    pub fn authentication(&self) -> Option<&Authentication> {
        self.redirect.as_ref()?.authentication.as_ref()
    }

    /// Whether its shopper went on with another brand while it was pending. It pays nothing, whatever comes of it.
    pub fn is_abandoned(&self) -> bool {
        self.redirect.as_ref().is_some_and(|redirect| redirect.abandoned)
    }
}

/// Where a merchant is told what becomes of a payment later.
pub const NOTIFICATION_URL: &str = "notificationUrl";

/// Longest descriptor (specification, document 2).
const DESCRIPTOR_MAX: usize = 127;

/// What the statement shows: the payment's short id, then the merchant's own text or the entity's name.
pub fn descriptor(id: &PaymentId, text: &str) -> String {
    format!("{} {text}", id.short_id()).chars().take(DESCRIPTOR_MAX).collect()
}

/// Amounts in stored documents: `["92.00","EUR"]`.
mod money {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use tillgate_shared::money::{Amount, Currency};

    pub fn serialize<S: Serializer>(amount: &Amount, serializer: S) -> Result<S::Ok, S::Error> {
        (amount.to_string(), amount.currency().code()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        let (amount, currency) = <(String, String)>::deserialize(deserializer)?;
        let currency = Currency::parse(&currency).ok_or_else(|| D::Error::custom("currency"))?;
        Amount::parse(&amount, currency).map_err(|_| D::Error::custom("amount"))
    }
}

/// Result codes in stored documents: the code alone, its words may change.
pub(in crate::domain) mod code {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use tillgate_shared::result::ResultCode;

    pub fn serialize<S: Serializer>(code: &ResultCode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(code.code())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ResultCode, D::Error> {
        let code = String::deserialize(deserializer)?;
        ResultCode::find(&code).ok_or_else(|| D::Error::custom("result code"))
    }
}
