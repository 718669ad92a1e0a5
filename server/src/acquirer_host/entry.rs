//! Entries of the ledger: one for each request that was decided.

use serde::Serialize;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryKind {
    /// Reserves an amount.
    Authorization,
    /// Takes an amount at once.
    Debit,
    /// Gives an amount.
    Credit,
    /// Takes an authorised amount.
    Capture,
    /// Gives back what a debit or a capture took, or takes back what a credit gave.
    Refund,
    /// Undoes another entry.
    Reversal,
    /// Stands for a request that was reversed before it came.
    Unseen,
}

impl EntryKind {
    const ALL: [Self; 7] =
        [Self::Authorization, Self::Debit, Self::Credit, Self::Capture, Self::Refund, Self::Reversal, Self::Unseen];

    /// The word for it in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::Debit => "debit",
            Self::Credit => "credit",
            Self::Capture => "capture",
            Self::Refund => "refund",
            Self::Reversal => "reversal",
            Self::Unseen => "unseen",
        }
    }

    /// Finds a kind by its word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An entry before it has a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEntry {
    /// Idempotency key of its request.
    pub key: String,
    /// Keyed fingerprint of its request; none of [`EntryKind::Unseen`].
    #[serde(skip)]
    pub fingerprint: Option<[u8; 32]>,
    /// Its kind.
    pub kind: EntryKind,
    /// The gateway's id of the merchant.
    pub merchant_id: String,
    /// The gateway's id of the payment.
    pub payment_id: String,
    /// Number of the entry that it captures, refunds or reverses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<i64>,
    /// Amount in minor units.
    pub amount: u64,
    /// Currency, three letters.
    pub currency: String,
    /// True if it was done.
    pub approved: bool,
    /// True if it was undone.
    pub reversed: bool,
    /// True if its answer says that the outcome is unknown, which only an inquiry finds out.
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
    /// Account as it may be shown: first six and last four digits of a card, last four characters of a bank account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Time in milliseconds since 1970.
    pub created: i64,
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// Its number, from 1 upwards.
    pub number: i64,
    /// Amount that was captured of an authorisation, or refunded of anything else, in minor units.
    pub used: u64,
    /// The rest.
    #[serde(flatten)]
    pub entry: NewEntry,
}

impl LedgerEntry {
    /// Returns true if it was done and not undone.
    pub fn is_effective(&self) -> bool {
        self.entry.approved && !self.entry.reversed
    }

    /// The acquirer's id of the transaction.
    pub fn transaction_id(&self) -> String {
        format!("{:012}", self.number)
    }

    /// The number in an acquirer's id.
    pub fn number_of(transaction_id: &str) -> Option<i64> {
        let digits = transaction_id.len() == 12 && transaction_id.bytes().all(|byte| byte.is_ascii_digit());
        if digits { transaction_id.parse().ok() } else { None }
    }
}
