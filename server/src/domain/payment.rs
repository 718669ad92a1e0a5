//! A payment: what was asked, what came of it, and what may be shown of it afterwards.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use super::id::{CheckoutId, EntityId, PaymentId};
use super::refusal::Refusal;

/// What a payment does with the money (specification, document 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaymentType {
    /// Preauthorization: reserves the amount until a capture.
    #[serde(rename = "PA")]
    Preauthorization,
    /// Debit: takes the amount from the shopper at once.
    #[serde(rename = "DB")]
    Debit,
}

impl PaymentType {
    /// The types that can be asked for without a reference to an earlier payment.
    pub const INITIAL: [Self; 2] = [Self::Preauthorization, Self::Debit];

    /// The two letters on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::Preauthorization => "PA",
            Self::Debit => "DB",
        }
    }

    /// Reads a type that may begin a payment.
    ///
    /// # Errors
    /// A refusal that names `paymentType` when it is missing or another one.
    pub fn initial(text: Option<&str>) -> Result<Self, Refusal> {
        let Some(text) = text else {
            return Err(Refusal::parameter("paymentType", None, "may not be empty"));
        };
        Self::INITIAL
            .into_iter()
            .find(|kind| kind.code() == text)
            .ok_or_else(|| Refusal::parameter("paymentType", Some(text), "must be one of [PA, DB]"))
    }
}

/// What may be kept and shown of a card: never the whole number, never the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSummary {
    /// The first six digits, which name the issuer.
    pub bin: String,
    /// The last four digits.
    pub last4: String,
    /// The name on the card, when it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Two digits, 01 to 12.
    pub expiry_month: String,
    /// Four digits.
    pub expiry_year: String,
}

/// A payment as it is stored. It never changes its amount or currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Payment {
    /// Its id.
    pub id: PaymentId,
    /// Whose it is.
    pub entity: EntityId,
    /// The checkout it was made in; none for a payment server to server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
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
    /// What the shopper's statement shows.
    pub descriptor: String,
    /// The card, reduced to what may be shown.
    pub card: CardSummary,
    /// Everything else that was sent and is echoed.
    pub parameters: Parameters,
}

impl Payment {
    /// Whether the money moved, or is reserved.
    pub fn approved(&self) -> bool {
        self.result.is_success()
    }
}

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
mod code {
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
