//! The fields of a line in a clearing institute's file, by the names that a mapping uses.

use serde::Deserialize;

/// Creates the enum of fields, with their names in mappings and in the documented format.
macro_rules! fields {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $column:literal;)+) => {
        /// A field of a line.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum SettlementField {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl SettlementField {
            /// Every field.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name in mappings and in messages.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the name of the column in the documented format.
            pub fn column_name(self) -> &'static str {
                match self {
                    $(Self::$variant => $column,)+
                }
            }
        }
    };
}

fields!(
    /// The institute's own reference of the line, unique among its lines.
    Reference = "reference", "LineReference";
    /// The kind of record.
    RecordType = "record_type", "ReconciliationType";
    /// The kind of transaction.
    TransactionType = "transaction_type", "PaymentType";
    /// The direction of the money.
    Cashflow = "cashflow", "Cashflow";
    /// The result of the settlement.
    Status = "status", "SettlementStatus";
    /// The acquirer's id of the transaction, `connectorTxId1`.
    ConnectorId = "connector_id", "ConnectorTxId1";
    /// A second id of the acquirer.
    ConnectorId2 = "connector_id_2", "ConnectorTxId2";
    /// A third id of the acquirer.
    ConnectorId3 = "connector_id_3", "ConnectorTxId3";
    /// The gateway's id of the payment.
    PaymentId = "payment_id", "UniqueID";
    /// The merchant's reference of the payment.
    MerchantTransactionId = "merchant_transaction_id", "MerchantTransactionId";
    /// The amount in the currency of the payment.
    Amount = "amount", "Amount";
    /// The currency of the payment.
    Currency = "currency", "Currency";
    /// The settled amount before the fee.
    SettlementAmount = "settlement_amount", "SettlementAmount";
    /// The currency of the settlement.
    SettlementCurrency = "settlement_currency", "SettlementCurrency";
    /// The fee of the line, in the currency of the settlement.
    Fee = "fee", "SettlementFee";
    /// Units of the settlement's currency for one unit of the payment's currency.
    FxRate = "fx_rate", "SettlementFxRate";
    /// The day of the settlement.
    SettlementDate = "settlement_date", "SettlementDate";
    /// The day on which the money is on the merchant's account.
    ValueDate = "value_date", "ValueDate";
    /// The id of the batch, which its lines share.
    BatchId = "batch_id", "SettlementTxId";
    /// The merchant's id at the institute.
    InstituteMerchantId = "institute_merchant_id", "ClearingInstituteMerchantId";
    /// The gateway's id of the merchant.
    MerchantId = "merchant_id", "MerchantId";
    /// The gateway's id of the channel, or of the merchant without channels.
    MerchantAccountId = "merchant_account_id", "MerchantAccountId";
    /// The time of the order.
    TransactionTime = "transaction_time", "TxRequestTime";
    /// The brand's code.
    Brand = "brand", "Brand";
    /// The account's number, masked or its last four digits.
    AccountDigits = "account_digits", "AccountNumberLast4";
    /// The bank's national code.
    BankCode = "bank_code", "BankCode";
    /// The account's holder.
    AccountHolder = "account_holder", "AccountHolder";
    /// The text on the shopper's statement.
    Descriptor = "descriptor", "Descriptor";
    /// The reason of a chargeback.
    Reason = "reason", "ReasonCode";
    /// The institute's text for the reason.
    ReasonText = "reason_text", "ReasonDesc";
);

impl SettlementField {
    /// Returns true if this field and another one may be read from one column: a word such as `Refund` often tells
    /// several things, and many files have one time only.
    pub(super) fn shares_columns_with(self, other: Self) -> bool {
        let is_word = |field| matches!(field, Self::RecordType | Self::TransactionType | Self::Cashflow | Self::Status);
        let is_time = |field| matches!(field, Self::SettlementDate | Self::ValueDate | Self::TransactionTime);
        (is_word(self) && is_word(other)) || (is_time(self) && is_time(other))
    }

    /// Returns true if the value may be computed from several columns: an amount or a fee.
    pub(super) fn is_amount(self) -> bool {
        matches!(self, Self::Amount | Self::SettlementAmount | Self::Fee)
    }

    /// Returns true if the value is text for people, which may have line breaks.
    pub(super) fn is_free_text(self) -> bool {
        matches!(self, Self::AccountHolder | Self::Descriptor | Self::ReasonText)
    }

    /// Returns the maximum number of characters of a value.
    pub(super) fn max_length(self) -> usize {
        match self {
            Self::BankCode => 12,
            Self::Amount | Self::SettlementAmount | Self::Fee | Self::FxRate | Self::AccountDigits => 32,
            Self::Currency | Self::SettlementCurrency => 32,
            Self::Brand | Self::PaymentId | Self::MerchantId | Self::MerchantAccountId => 32,
            Self::ConnectorId | Self::ConnectorId2 | Self::ConnectorId3 | Self::BatchId | Self::InstituteMerchantId => {
                64
            }
            Self::MerchantTransactionId => 255,
            _ => 128,
        }
    }
}
