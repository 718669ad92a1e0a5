//! The names of the data.

use serde::Deserialize;

/// A datum of a payment. Its key in a dialect is the name in lowercase with underscores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Datum {
    /// Card number.
    Pan,
    /// Expiry date of the card, YYMM.
    Expiry,
    /// Amount in minor units.
    Amount,
    /// Currency, three digits of ISO 4217.
    Currency,
    /// Time of transmission, UTC.
    Transmitted,
    /// System trace audit number.
    TraceNumber,
    /// Local time, or local date and time.
    LocalTime,
    /// Local date.
    LocalDate,
    /// Merchant category code.
    MerchantCategory,
    /// Entry mode of the card number.
    EntryMode,
    /// Condition code.
    Condition,
    /// Retrieval reference number.
    Reference,
    /// Authorization code of the issuer.
    AuthorizationCode,
    /// Terminal identifier.
    Terminal,
    /// The acquirer's identifier of the merchant.
    MerchantId,
    /// Name of the merchant.
    MerchantName,
    /// City of the merchant.
    MerchantCity,
    /// Country of the merchant.
    MerchantCountry,
    /// Identifier of the acquirer.
    Acquirer,
    /// Security code of the card.
    SecurityCode,
    /// Electronic commerce indicator.
    Eci,
    /// Authentication value of 3-D Secure or of a wallet, in base64.
    Cavv,
    /// Transaction id of the 3-D Secure directory server.
    DsTransactionId,
    /// Version of 3-D Secure.
    ThreeDsVersion,
    /// Category of the transaction.
    Category,
    /// Standing instruction: type, mode, source and industry practice.
    Instruction,
    /// Scheme's id of the first payment of a standing instruction.
    InitialTransactionId,
    /// Scheme's id of this payment, in responses.
    SchemeTransactionId,
    /// Text on the cardholder's statement.
    Descriptor,
    /// Submerchant of a payment facilitator.
    Submerchant,
    /// Street of the billing address.
    Address,
    /// Postcode of the billing address.
    Postcode,
    /// Result of the address check, in responses.
    AvsResult,
    /// Result of the check of the security code, in responses.
    CvvResult,
    /// The scheme's advice code about another attempt, in responses.
    AdviceCode,
    /// Indicator that a part of the amount may be approved.
    PartialApproval,
    /// Original data elements of a reversal.
    Original,
}

impl Datum {
    /// Data without which no payment can be made, matched with its response, or reversed.
    pub(in crate::iso8583) const REQUIRED: [Self; 9] = [
        Self::Pan,
        Self::Expiry,
        Self::Amount,
        Self::Currency,
        Self::TraceNumber,
        Self::Reference,
        Self::Terminal,
        Self::MerchantId,
        Self::Original,
    ];

    /// Returns the key in a dialect's table `data`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Pan => "pan",
            Self::Expiry => "expiry",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::Transmitted => "transmitted",
            Self::TraceNumber => "trace_number",
            Self::LocalTime => "local_time",
            Self::LocalDate => "local_date",
            Self::MerchantCategory => "merchant_category",
            Self::EntryMode => "entry_mode",
            Self::Condition => "condition",
            Self::Reference => "reference",
            Self::AuthorizationCode => "authorization_code",
            Self::Terminal => "terminal",
            Self::MerchantId => "merchant_id",
            Self::MerchantName => "merchant_name",
            Self::MerchantCity => "merchant_city",
            Self::MerchantCountry => "merchant_country",
            Self::Acquirer => "acquirer",
            Self::SecurityCode => "security_code",
            Self::Eci => "eci",
            Self::Cavv => "cavv",
            Self::DsTransactionId => "ds_transaction_id",
            Self::ThreeDsVersion => "three_ds_version",
            Self::Category => "category",
            Self::Instruction => "instruction",
            Self::InitialTransactionId => "initial_transaction_id",
            Self::SchemeTransactionId => "scheme_transaction_id",
            Self::Descriptor => "descriptor",
            Self::Submerchant => "submerchant",
            Self::Address => "address",
            Self::Postcode => "postcode",
            Self::AvsResult => "avs_result",
            Self::CvvResult => "cvv_result",
            Self::AdviceCode => "advice_code",
            Self::PartialApproval => "partial_approval",
            Self::Original => "original",
        }
    }

    /// Returns true if the datum is a number, which is written with zeros on its left in a fixed field of digits.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Amount | Self::Currency | Self::TraceNumber | Self::Acquirer)
    }

    /// Returns the lengths in digits of a time, if the datum is one.
    pub(in crate::iso8583) fn time_lengths(self) -> Option<&'static [usize]> {
        match self {
            Self::Transmitted => Some(&[10, 14]),
            Self::LocalTime => Some(&[6, 12, 14]),
            Self::LocalDate => Some(&[4, 6, 8]),
            _ => None,
        }
    }
}
