//! Reconciliation records: one for each line of a clearing institute's settlement, as a merchant's accountant compares
//! them with payments (specification, document 3, "Reconciliation records").

pub mod columns;
pub mod days;
pub mod file;
mod line_type;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
pub mod totals;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use tillgate_shared::money::Amount;
use tillgate_shared::result::ResultCode;

pub use line_type::{Cashflow, MatchingStatus, RecordType, SettlementStatus, TransactionType};

use crate::access::entity::Entity;
use crate::access::level::Level;
use crate::id::{EntityId, PaymentId, RecordId};
use crate::payment::money;
use crate::payment::result_code;

/// A line of a settlement. It never changes, except that a line without payment may be matched later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReconciliationRecord {
    /// Its id. Records are stored in the order of their ids.
    pub id: RecordId,
    /// The kind of record.
    pub record_type: RecordType,
    /// The kind of transaction that the line settles.
    pub transaction_type: TransactionType,
    /// The clearing institute, and its names for the line.
    pub institute: InstituteReference,
    /// The entities that the line belongs to.
    pub owner: RecordOwner,
    /// The line's part of the settlement.
    pub settlement: SettlementPart,
    /// The payment that the line settles, if exactly one matches. A batch or a monthly fee has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The merchant's `merchantTransactionId` of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_transaction_id: Option<String>,
    /// The merchant's `merchantInvoiceId` of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_invoice_id: Option<String>,
    /// The amount of the transaction, without a sign. `settlement.cashflow` has the direction.
    #[serde(with = "money")]
    pub amount: Amount,
    /// The brand's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// The time of the order by the clock of the clearing institute; the time at which its file was read if the file
    /// has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presented: Option<DateTime>,
    /// The text on the shopper's statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<String>,
    /// The account, as far as it is shown.
    #[serde(default)]
    pub account: RecordAccount,
    /// The reason of a chargeback. `None` for every other record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ChargebackReason>,
    /// The search for the payments that the line settles. `None` for lines that settle no single transaction: batches
    /// and periodic fees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<MatchedPayments>,
    /// The payment of type `CB` (or its reversal) that was created for the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chargeback: Option<PaymentId>,
    /// The line in an institute's file. `None` for a line of the gateway itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportedLine>,
}

/// The line of an institute's file that a record was made of, as far as the record does not show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedLine {
    /// SHA-256 of the file, in hexadecimal digits.
    pub file: String,
    /// Number of the line, from 1.
    pub line: u64,
    /// The entity for which the file was imported. Only payments of it and of entities below match.
    pub entity: EntityId,
    /// The institute's own reference of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The payment that the line names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The merchant's reference that the line names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_transaction_id: Option<String>,
    /// The merchants that the line names, by their ids at the institute or in the gateway. It matches no payment of
    /// another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merchants: Vec<String>,
    /// The reason code of the card scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme_reason: Option<String>,
    /// The day on which the money is on the merchant's account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_date: Option<Date>,
    /// The operator's decision that the line settles no payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<RejectedLine>,
}

/// The decision that a line settles no payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedLine {
    /// The time by the machine's clock.
    pub at: Timestamp,
    /// The user who decided.
    pub actor: String,
    /// The reason.
    pub reason: String,
}

/// Name of the format of settlements that the gateway itself computes, in place of an institute.
pub const SIMULATED_FORMAT: &str = "TILLGATE-1";

impl ReconciliationRecord {
    /// Returns true if the gateway itself has settled the payment, so that no institute's file has the line.
    pub fn is_simulated(&self) -> bool {
        self.settlement.format == SIMULATED_FORMAT
    }

    /// Returns true if a search found no single payment for the line, so that the ledger has none of its money.
    pub fn is_unmatched(&self) -> bool {
        self.matching.as_ref().is_some_and(|matching| matching.status != MatchingStatus::Matched)
    }

    /// Returns the fee that the line takes from the merchant. It is the settled amount of a line that is itself a fee.
    pub fn fee(&self) -> Option<Amount> {
        if self.record_type == RecordType::Fee { Some(self.settlement.amount) } else { self.settlement.fee }
    }
}

/// The clearing institute of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstituteReference {
    /// Its name, at most 64 characters.
    pub name: String,
    /// The merchant's id at the institute, 5 to 64 characters.
    pub merchant_id: String,
    /// The institute's ids of the transaction, each at most 64 characters.
    #[serde(default)]
    pub tx_ids: [Option<String>; 3],
}

/// The entities that a record belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordOwner {
    /// The channel, or the merchant without channels, that made the payment.
    pub account: EntityId,
    /// Its name.
    pub account_name: String,
    /// The merchant.
    pub merchant: EntityId,
    /// The division above the merchant, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<EntityId>,
    /// The PSP at the top of the tree; the topmost entity if there is no PSP.
    pub psp: EntityId,
}

impl RecordOwner {
    /// Returns the owner of the records of an entity. `ancestors` are the entities above it, nearest first.
    pub fn of_entity(entity: &Entity, ancestors: &[Entity]) -> Self {
        let division = ancestors.iter().find(|above| above.level == Level::Division);
        Self {
            account: entity.id.clone(),
            account_name: entity.name.clone(),
            merchant: entity.merchant_or_self().clone(),
            division: division.map(|division| division.id.clone()),
            psp: ancestors.last().map_or_else(|| entity.id.clone(), |top| top.id.clone()),
        }
    }

    /// Returns the entity whose daily file has the record: the division, or the merchant without one.
    pub fn file_owner(&self) -> &EntityId {
        self.division.as_ref().unwrap_or(&self.merchant)
    }
}

/// A record's part of a settlement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettlementPart {
    /// The settlement's id, at most 64 characters. The lines of a batch share it.
    pub id: String,
    /// The direction of the money, seen from the merchant.
    pub cashflow: Cashflow,
    /// The settled amount in the settlement's currency, before the fee and without a sign.
    #[serde(with = "money")]
    pub amount: Amount,
    /// The fee of this line in the settlement's currency, without a sign. Fees are always the merchant's expense.
    #[serde(default, with = "optional_money", skip_serializing_if = "Option::is_none")]
    pub fee: Option<Amount>,
    /// The exact fee, or the exact amount of a record that is a fee, if it is no whole number of the smallest unit.
    /// The other amounts are rounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_fee: Option<Decimal>,
    /// Units of the settlement's currency for one unit of the transaction's currency. Exact; files have two decimals.
    pub fx_rate: Decimal,
    /// The day of the settlement by the calendar of the clearing institute. The record is in the file of this day, or
    /// of the next day whose file is open if that file is complete.
    pub date: Date,
    /// True for success.
    pub status: SettlementStatus,
    /// Name of the format of the institute's file, at most 32 characters.
    pub format: String,
}

/// The account of a record, as far as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordAccount {
    /// True for a bank account, false for a card or another account.
    pub is_bank: bool,
    /// The last four digits or characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
    /// The holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// The bank's national code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bank_code: Option<String>,
}

/// The reason of a chargeback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargebackReason {
    /// The code, `000.100.2` and two digits.
    #[serde(with = "result_code")]
    pub code: ResultCode,
    /// The institute's own text, at most 128 characters. `None` if the code's description is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl ChargebackReason {
    /// Returns the institute's text, or else the description of the code.
    pub fn description(&self) -> &str {
        self.text.as_deref().unwrap_or_else(|| self.code.description())
    }
}

/// The result of the search for the payments that a line settles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedPayments {
    /// The number of matches in words.
    pub status: MatchingStatus,
    /// The payments. At most 100 are kept.
    #[serde(default)]
    pub payments: Vec<PaymentId>,
}

/// Optional amounts in stored documents: `["92.00","EUR"]`.
mod optional_money {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use tillgate_shared::money::Amount;

    use crate::settlement::reconciliation::money;

    #[derive(Serialize, Deserialize)]
    struct Money(#[serde(with = "money")] Amount);

    pub fn serialize<S: Serializer>(amount: &Option<Amount>, serializer: S) -> Result<S::Ok, S::Error> {
        amount.map(Money).serialize(serializer)
    }

    /// Fails if the currency or the amount is not valid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Amount>, D::Error> {
        Ok(Option::<Money>::deserialize(deserializer)?.map(|Money(amount)| amount))
    }
}
