//! The part of an account that may be shown.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::payment::{Account, BankSummary, CardSummary, VirtualSummary};

use crate::json_object::JsonObject;

/// The part of an account that may be shown. An unknown account has none.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AccountSummary")]
pub struct AccountFields<'a> {
    /// The card.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<CardFields<'a>>,
    /// The bank account.
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_account: Option<BankAccountFields<'a>>,
    /// The account at a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    virtual_account: Option<VirtualAccountFields<'a>>,
}

/// The part of an account by which its shopper recognises it, for the merchant's page: of a card all that may be shown
/// but the first digits, of other accounts the same as [`AccountFields`].
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SavedAccount")]
pub struct ShopperAccountFields<'a> {
    /// Brand of the account.
    payment_brand: &'a str,
    #[serde(flatten)]
    account: AccountFields<'a>,
}

/// The part of a card that may be shown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CardSummary")]
struct CardFields<'a> {
    /// First six digits. Absent on a page of the shopper.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<&'a str>,
    /// Last four digits.
    #[serde(rename = "last4Digits")]
    last4_digits: &'a str,
    /// Name on the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
    /// Month of expiry, two digits.
    expiry_month: &'a str,
    /// Year of expiry, four digits.
    expiry_year: &'a str,
}

/// The part of a bank account that may be shown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BankAccountSummary")]
struct BankAccountFields<'a> {
    /// Holder of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
    /// IBAN, masked except for its first four and last four characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    iban: Option<&'a str>,
    /// Last four characters of the IBAN or account number.
    #[serde(rename = "last4Digits", skip_serializing_if = "Option::is_none")]
    last4_digits: Option<&'a str>,
    /// BIC of the bank.
    #[serde(skip_serializing_if = "Option::is_none")]
    bic: Option<&'a str>,
    /// National code of the bank.
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_code: Option<&'a str>,
    /// Name of the bank.
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_name: Option<&'a str>,
    /// Country of the bank.
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<&'a str>,
    // Parameters about the account that are no part of it, such as its mandate.
    #[serde(flatten)]
    parameters: JsonObject<'a>,
}

/// An account at a provider.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VirtualAccountSummary")]
struct VirtualAccountFields<'a> {
    /// Id of the account.
    account_id: &'a str,
    /// Holder of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
    // Parameters about the account that are no part of it.
    #[serde(flatten)]
    parameters: JsonObject<'a>,
}

impl<'a> AccountFields<'a> {
    /// Creates the fields of an account. Takes those of `parameters` that are about it, because a group is only once in
    /// a response.
    pub(crate) fn new(account: &'a Account, parameters: &mut JsonObject<'a>) -> Self {
        match account {
            Account::Card(card) => {
                parameters.remove_all(&["card"]);
                Self { card: Some(card.into()), ..Self::default() }
            }
            Account::Bank(bank) => {
                let own = parameters.take_object("bankAccount");
                Self { bank_account: Some(BankAccountFields::new(bank, own)), ..Self::default() }
            }
            Account::Virtual(account) => {
                let own = parameters.take_object("virtualAccount");
                Self { virtual_account: Some(VirtualAccountFields::new(account, own)), ..Self::default() }
            }
            Account::Unknown => Self::default(),
        }
    }
}

impl<'a> ShopperAccountFields<'a> {
    /// Creates the fields of an account with this brand.
    pub fn new(brand: &'a str, account: &'a Account) -> Self {
        let mut fields = AccountFields::new(account, &mut JsonObject::default());
        if let Some(card) = &mut fields.card {
            card.bin = None;
        }
        Self { payment_brand: brand, account: fields }
    }
}

impl<'a> From<&'a CardSummary> for CardFields<'a> {
    fn from(card: &'a CardSummary) -> Self {
        Self {
            bin: Some(&card.bin),
            last4_digits: &card.last4,
            holder: card.holder.as_deref(),
            expiry_month: &card.expiry_month,
            expiry_year: &card.expiry_year,
        }
    }
}

impl<'a> BankAccountFields<'a> {
    fn new(bank: &'a BankSummary, mut parameters: JsonObject<'a>) -> Self {
        parameters.remove_all(&["holder", "iban", "last4Digits", "bic", "bankCode", "bankName", "country"]);
        Self {
            holder: bank.holder.as_deref(),
            iban: bank.iban.as_deref(),
            last4_digits: bank.last4.as_deref(),
            bic: bank.bic.as_deref(),
            bank_code: bank.bank_code.as_deref(),
            bank_name: bank.bank_name.as_deref(),
            country: bank.country.as_deref(),
            parameters,
        }
    }
}

impl<'a> VirtualAccountFields<'a> {
    fn new(account: &'a VirtualSummary, mut parameters: JsonObject<'a>) -> Self {
        parameters.remove_all(&["accountId", "holder"]);
        Self { account_id: &account.account_id, holder: account.holder.as_deref(), parameters }
    }
}
