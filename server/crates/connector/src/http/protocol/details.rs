//! The parts of an authorization request: account, billing address, merchant, standing instruction and 3-D Secure.

use std::fmt;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret text: no `Display`, a masked `Debug`, zeroed on drop.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a secret.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the whole text. The caller must protect it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// The shopper's account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AccountData {
    /// A card, also one from a wallet.
    Card(CardData),
    /// A bank account.
    Bank(BankData),
    /// An account with a provider. Without an id, the shopper logs in at the provider.
    Provider(ProviderData),
}

/// A card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardData {
    /// The card number, 12 to 19 digits.
    pub number: SecretText,
    /// The expiry month, two digits.
    pub expiry_month: String,
    /// The expiry year, four digits.
    pub expiry_year: String,
    /// The cardholder's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The security code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_code: Option<SecretText>,
    /// Origin of the data.
    pub entry: CardEntry,
    /// A wallet's cryptogram, in place of the security code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptogram: Option<SecretText>,
    /// Electronic commerce indicator of the cryptogram, two digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cryptogram_eci: Option<String>,
}

/// Origin of a card's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CardEntry {
    /// Typed for this payment.
    Keyed,
    /// Stored by an earlier payment.
    Stored,
    /// Provided by a wallet.
    Wallet,
}

/// An account with a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderData {
    /// The provider's id of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
}

/// A bank account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BankData {
    /// International number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iban: Option<SecretText>,
    /// National number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<SecretText>,
    /// The bank's code in its country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank_code: Option<String>,
    /// The bank's BIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bic: Option<String>,
    /// The bank's country, two letters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The account's holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Day on which the mandate was signed, `yyyy-MM-dd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mandate_signed: Option<String>,
    /// The creditor's identifier in the mandate (AT-02 of the SEPA direct debit schemes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creditor_id: Option<String>,
}

/// The data of the address check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BillingAddress {
    /// Street with house number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street: Option<String>,
    /// Postcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postcode: Option<String>,
}

/// The merchant (`merchant.*`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MerchantData {
    /// Name, normally the first line of the statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// City, telephone number or web address, normally the second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// Street.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street: Option<String>,
    /// Postcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postcode: Option<String>,
    /// State.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Country, two letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// Telephone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Merchant category code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcc: Option<String>,
    /// The merchant behind a payment facilitator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submerchant_id: Option<String>,
}

/// A step of a standing instruction (`standingInstruction.*`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StandingInstructionData {
    /// UNSCHEDULED, INSTALLMENT or RECURRING.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// INITIAL or REPEATED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// CIT or MIT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Reason of a charge without the cardholder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub industry_practice: Option<String>,
    /// Last day, `yyyy-MM-dd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<String>,
    /// Minimum number of days between two charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<String>,
    /// Total number of charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_of_installments: Option<String>,
    /// The scheme's id of the first payment of the standing instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_transaction_id: Option<String>,
}

/// Result of 3-D Secure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreeDsData {
    /// Version of the protocol, e.g. `2.2.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Letter of the result (EMV 3-D Secure `transStatus`). `None` if the card is not enrolled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Electronic commerce indicator, two digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eci: Option<String>,
    /// Authentication value (CAVV, AAV or AEVV), base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cavv: Option<SecretText>,
    /// The directory server's id of the transaction; in version 1 the xid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ds_transaction_id: Option<String>,
}
