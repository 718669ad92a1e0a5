//! Reconciliation records under the names of the specification (document 3, "Reconciliation records").

use jiff::civil::DateTime;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use tillgate_domain::settlement::reconciliation::{MatchedPayments, ReconciliationRecord, RecordType};

use crate::{AmountText, DayText, ResultFields};

/// A reconciliation record. Optional values are left out if they are missing, except `merchantTransactionId` and
/// `merchantInvoiceId`, which are then null.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReconciliationRecordLine")]
pub struct ReconciliationRecordFields<'a> {
    /// Id of the record.
    id: &'a str,
    /// Kind of record.
    record_type: &'static str,
    /// Kind of transaction.
    transaction_type: &'static str,
    /// The settlement.
    settlement: RecordSettlementFields<'a>,
    /// The clearing institute.
    clearing_institute: InstituteFields<'a>,
    /// The merchant's account at the institute.
    merchant_account: MerchantAccountFields<'a>,
    /// The PSP.
    psp_entity_id: &'a str,
    /// The division.
    #[serde(skip_serializing_if = "Option::is_none")]
    division_entity_id: Option<&'a str>,
    /// The merchant.
    merchant_entity_id: &'a str,
    /// The payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<RecordPaymentFields<'a>>,
    /// Short id of the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    short_id: Option<String>,
    /// The merchant's reference of the payment.
    merchant_transaction_id: Option<&'a str>,
    /// The merchant's invoice.
    merchant_invoice_id: Option<&'a str>,
    /// Amount of the transaction.
    amount: AmountText,
    /// Currency of the amount.
    currency: &'static str,
    /// Brand of the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_brand: Option<&'a str>,
    /// Time of the presentment.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_presentment")]
    #[schemars(with = "Option<String>")]
    presentment_date: Option<DateTime>,
    /// Text on the statement of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    descriptor: Option<&'a str>,
    /// The card.
    #[serde(skip_serializing_if = "Option::is_none")]
    card: Option<RecordAccountFields<'a>>,
    /// The bank account.
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_account: Option<RecordAccountFields<'a>>,
    /// Reason of a chargeback.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ResultFields<'a>>,
    /// The payments of a line of an imported file.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_transactions: Option<MatchedTransactionFields<'a>>,
    /// The chargeback.
    #[serde(skip_serializing_if = "Option::is_none")]
    chargeback_transaction: Option<RecordPaymentFields<'a>>,
}

/// Settlement of a record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RecordSettlement")]
struct RecordSettlementFields<'a> {
    /// Id of the settlement.
    id: &'a str,
    /// Direction of the money.
    cashflow: &'static str,
    /// The settled amount. Exact for a fee.
    amount: String,
    /// Currency of the settled amount.
    currency: &'static str,
    /// The fee.
    #[serde(skip_serializing_if = "Option::is_none")]
    fee: Option<String>,
    /// Rate of exchange.
    fx_rate: String,
    /// Day of the settlement.
    date: DayText,
    /// Result of the settlement.
    status: &'static str,
    /// Format of the settlement.
    format: &'a str,
}

/// The clearing institute of a record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ClearingInstitute")]
struct InstituteFields<'a> {
    /// Name of the institute.
    name: &'a str,
    /// The merchant's id at the institute.
    merchant_id: &'a str,
    /// First id of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_id1: Option<&'a str>,
    /// Second id of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_id2: Option<&'a str>,
    /// Third id of the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_id3: Option<&'a str>,
}

/// The merchant's account at an institute.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MerchantAccount")]
struct MerchantAccountFields<'a> {
    /// Id of the account.
    id: &'a str,
    /// Name of the account.
    name: &'a str,
}

/// A payment of a record.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RecordPayment")]
struct RecordPaymentFields<'a> {
    /// Id of the payment.
    id: &'a str,
}

/// The part of a record's account that may be shown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RecordAccount")]
struct RecordAccountFields<'a> {
    /// Last four digits of the number.
    #[serde(rename = "last4Digits", skip_serializing_if = "Option::is_none")]
    last4_digits: Option<&'a str>,
    /// Holder of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
    /// Bank code of a bank account.
    #[serde(skip_serializing_if = "Option::is_none")]
    bank_code: Option<&'a str>,
}

/// The payments that a line of an imported file was matched with.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MatchedTransactions")]
struct MatchedTransactionFields<'a> {
    /// State of the matching.
    status: &'static str,
    /// The payments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    payment: Vec<RecordPaymentFields<'a>>,
}

/// Writes the time of a presentment.
#[allow(clippy::ref_option)] // serde's signature
fn write_presentment<S: Serializer>(time: &Option<DateTime>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&time.strftime("%Y-%m-%d %H:%M:%S")),
        None => serializer.serialize_none(),
    }
}

impl<'a> From<&'a ReconciliationRecord> for ReconciliationRecordFields<'a> {
    fn from(record: &'a ReconciliationRecord) -> Self {
        let account = RecordAccountFields::of(record);
        let (card, bank_account) = if record.account.is_bank { (None, account) } else { (account, None) };
        Self {
            id: record.id.as_str(),
            record_type: record.record_type.as_str(),
            transaction_type: record.transaction_type.as_str(),
            settlement: record.into(),
            clearing_institute: record.into(),
            merchant_account: MerchantAccountFields {
                id: record.owner.account.as_str(),
                name: &record.owner.account_name,
            },
            psp_entity_id: record.owner.psp.as_str(),
            division_entity_id: record.owner.division.as_ref().map(|id| id.as_str()),
            merchant_entity_id: record.owner.merchant.as_str(),
            payment: record.payment.as_ref().map(|id| RecordPaymentFields { id: id.as_str() }),
            short_id: record.payment.as_ref().map(|id| id.short_id()),
            merchant_transaction_id: record.merchant_transaction_id.as_deref(),
            merchant_invoice_id: record.merchant_invoice_id.as_deref(),
            amount: AmountText(record.amount),
            currency: record.amount.currency().code(),
            payment_brand: record.brand.as_deref(),
            presentment_date: record.presented,
            descriptor: record.descriptor.as_deref(),
            card,
            bank_account,
            result: record
                .reason
                .as_ref()
                .map(|reason| ResultFields::with_description(reason.code, reason.description())),
            matched_transactions: record.matching.as_ref().map(MatchedTransactionFields::from),
            chargeback_transaction: record.chargeback.as_ref().map(|id| RecordPaymentFields { id: id.as_str() }),
        }
    }
}

impl<'a> From<&'a ReconciliationRecord> for RecordSettlementFields<'a> {
    fn from(record: &'a ReconciliationRecord) -> Self {
        let settlement = &record.settlement;
        // Of a record that is a fee, the exact number is that of the amount.
        let is_fee = record.record_type == RecordType::Fee;
        let exact_amount = settlement.exact_fee.filter(|_| is_fee);
        let exact_fee = settlement.exact_fee.filter(|_| !is_fee);
        Self {
            id: settlement.id.as_str(),
            cashflow: settlement.cashflow.as_str(),
            amount: exact_amount.map_or_else(|| settlement.amount.to_string(), |exact| exact.to_string()),
            currency: settlement.amount.currency().code(),
            fee: settlement.fee.map(|fee| exact_fee.map_or_else(|| fee.to_string(), |exact| exact.to_string())),
            fx_rate: settlement.fx_rate.to_string(),
            date: DayText(settlement.date),
            status: settlement.status.as_str(),
            format: settlement.format.as_str(),
        }
    }
}

impl<'a> From<&'a ReconciliationRecord> for InstituteFields<'a> {
    fn from(record: &'a ReconciliationRecord) -> Self {
        let institute = &record.institute;
        let [tx_id1, tx_id2, tx_id3] = institute.tx_ids.each_ref().map(Option::as_deref);
        Self { name: &institute.name, merchant_id: &institute.merchant_id, tx_id1, tx_id2, tx_id3 }
    }
}

impl<'a> RecordAccountFields<'a> {
    /// Returns what is known of a record's account. `None` if that is nothing.
    fn of(record: &'a ReconciliationRecord) -> Option<Self> {
        let account = &record.account;
        let is_known = account.last4.is_some() || account.holder.is_some() || account.bank_code.is_some();
        is_known.then(|| Self {
            last4_digits: account.last4.as_deref(),
            holder: account.holder.as_deref(),
            bank_code: account.bank_code.as_deref().filter(|_| account.is_bank),
        })
    }
}

impl<'a> From<&'a MatchedPayments> for MatchedTransactionFields<'a> {
    fn from(matching: &'a MatchedPayments) -> Self {
        let payment = matching.payments.iter().map(|id| RecordPaymentFields { id: id.as_str() }).collect();
        Self { status: matching.status.as_str(), payment }
    }
}
