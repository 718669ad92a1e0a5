//! What may be kept and shown of an account.

use serde::{Deserialize, Serialize};

/// The account that a payment was made with, reduced to what may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Account {
    /// A card, also one from a wallet.
    Card(CardSummary),
    /// A bank account.
    Bank(BankSummary),
    /// An account with a provider.
    Virtual(VirtualSummary),
    /// The provider knows it, and tells nobody.
    Unknown,
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

impl CardSummary {
    /// Whether a number may be that of this card.
    pub fn is(&self, number: &str) -> bool {
        number.starts_with(&self.bin) && number.ends_with(&self.last4)
    }
}

/// What may be kept and shown of a bank account: never the whole number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BankSummary {
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The IBAN, all but its first four and last four characters masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iban: Option<String>,
    /// The last four characters of IBAN or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
    /// The bank's BIC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bic: Option<String>,
    /// The bank's national code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_code: Option<String>,
    /// The bank's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_name: Option<String>,
    /// The bank's country, two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// What may be kept and shown of an account with a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualSummary {
    /// `virtualAccount.accountId`.
    pub account_id: String,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

impl Account {
    /// The card, when it is one.
    pub fn card(&self) -> Option<&CardSummary> {
        match self {
            Self::Card(card) => Some(card),
            Self::Bank(_) | Self::Virtual(_) | Self::Unknown => None,
        }
    }
}
