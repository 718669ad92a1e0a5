//! Entries of the ledger: one for each decided request.

use serde::{Deserialize, Serialize};
use tillgate_connector::http::protocol::{MerchantData, StandingInstructionData, ThreeDsData};

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryKind {
    /// Reserves an amount.
    Authorization,
    /// Debits an amount immediately.
    Debit,
    /// Credits an amount.
    Credit,
    /// Captures an authorized amount.
    Capture,
    /// Raises an authorized amount.
    Increment,
    /// Refunds a debit, a capture or a credit.
    Refund,
    /// Reverses another entry.
    Reversal,
    /// Represents a request that was reversed before it arrived.
    Unseen,
}

impl EntryKind {
    const ALL: [Self; 8] = [
        Self::Authorization,
        Self::Debit,
        Self::Credit,
        Self::Capture,
        Self::Increment,
        Self::Refund,
        Self::Reversal,
        Self::Unseen,
    ];

    /// Returns the name of the kind in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::Debit => "debit",
            Self::Credit => "credit",
            Self::Capture => "capture",
            Self::Increment => "increment",
            Self::Refund => "refund",
            Self::Reversal => "reversal",
            Self::Unseen => "unseen",
        }
    }

    /// Finds a kind by its name in the ledger.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A page of the host on which a shopper decides about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPage {
    /// The page's id, a secret of the shopper.
    pub id: String,
    /// The gateway's page that the shopper returns to.
    pub return_url: String,
}

/// The data of a request that an acquirer passes on to the schemes. They do not affect the outcome here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchemeData {
    /// Text for the shopper's statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// The merchant's data. `None` for a capture, an increment or a refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merchant: Option<MerchantData>,
    /// The transaction category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_category: Option<String>,
    /// The standing instruction that the payment is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing_instruction: Option<StandingInstructionData>,
}

/// An entry before it has a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEntry {
    /// Idempotency key of its request.
    pub key: String,
    /// Keyed fingerprint of the request. `None` for [`EntryKind::Unseen`].
    #[serde(skip)]
    pub fingerprint: Option<[u8; 32]>,
    /// The kind.
    pub kind: EntryKind,
    /// The gateway's id of the merchant.
    pub merchant_id: String,
    /// The gateway's id of the payment.
    pub payment_id: String,
    /// Number of the original: the entry that this one captures, raises, refunds or reverses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<i64>,
    /// Amount in minor units: the approved one if only a part was approved.
    pub amount: u64,
    /// Amount of the request in minor units, if only a part of it was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<u64>,
    /// Currency, three letters.
    pub currency: String,
    /// True if the request was executed.
    pub approved: bool,
    /// True if the entry was reversed.
    pub reversed: bool,
    /// True if the response says that the outcome is unknown. Only an inquiry reveals it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// Response code.
    #[serde(rename = "responseCode")]
    pub code: String,
    /// Result of the address check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub avs: Option<char>,
    /// Result of the check of the security code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cvv: Option<char>,
    /// Displayable account: first six and last four digits of a card, last four characters of a bank account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Result of 3-D Secure, as the gateway sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub three_ds: Option<ThreeDsData>,
    /// Data for the schemes, as the gateway sent them.
    #[serde(flatten)]
    pub scheme_data: SchemeData,
    /// True while the entry awaits the shopper's decision on a page of the host. No amount is booked yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub awaits_shopper: bool,
    /// The shopper's page, if there is one.
    #[serde(skip)]
    pub page: Option<HostPage>,
    /// Time in milliseconds since 1970.
    pub created: i64,
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// The entry's number, counted from 1.
    pub number: i64,
    /// Captured amount of an authorization, or refunded amount of any other entry, in minor units.
    pub used: u64,
    /// Sum of the increments of an authorization in minor units, without reversed ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub raised: u64,
    /// True after the last capture of an authorization.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finished: bool,
    /// The entry's other data.
    #[serde(flatten)]
    pub entry: NewEntry,
}

impl NewEntry {
    /// Returns the amount of the request, in minor units. Later requests refer to the request by it.
    pub fn requested_amount(&self) -> u64 {
        self.requested.unwrap_or(self.amount)
    }
}

/// Returns true if an amount is left out of the list of entries.
#[allow(clippy::trivially_copy_pass_by_ref)] // a signature of serde
fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

impl LedgerEntry {
    /// Returns the amount that captures or refunds can take together without a tolerance, in minor units.
    pub fn usable_amount(&self) -> u64 {
        self.entry.amount.saturating_add(self.raised)
    }

    /// Returns true if the entry was executed and not reversed.
    pub fn is_effective(&self) -> bool {
        self.entry.approved && !self.entry.reversed
    }

    /// Returns the acquirer's id of the transaction: the entry's number with twelve digits.
    pub fn transaction_id(&self) -> String {
        format!("{:012}", self.number)
    }

    /// Returns the entry number in an acquirer's id. `None` if the text is not twelve digits.
    pub fn parse_transaction_id(transaction_id: &str) -> Option<i64> {
        let is_id = transaction_id.len() == 12 && transaction_id.bytes().all(|byte| byte.is_ascii_digit());
        if is_id { transaction_id.parse().ok() } else { None }
    }
}
