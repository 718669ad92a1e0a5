//! The columns of a reconciliation file: names, order, lengths and formats of the specification (document 3,
//! "Reconciliation records").

use std::borrow::Cow;

use rust_decimal::{Decimal, RoundingStrategy};
use tillgate_shared::money::Amount;

use crate::id::PaymentId;
use crate::settlement::reconciliation::ReconciliationRecord;

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnFormat {
    /// Text from outside the gateway, of at most so many characters. Longer values are cut.
    Text(usize),
    /// A word, id, number or time that the gateway itself writes.
    Own,
}

/// A column of a reconciliation file.
pub struct FileColumn {
    /// The name in the header, spelled as in the specification.
    pub name: &'static str,
    /// The kind of its values.
    pub format: ColumnFormat,
    /// Reads its value from a record. An empty value is a missing one.
    pub(super) value: for<'a> fn(&'a ReconciliationRecord) -> Cow<'a, str>,
}

const fn text(
    name: &'static str,
    limit: usize,
    value: for<'a> fn(&'a ReconciliationRecord) -> Cow<'a, str>,
) -> FileColumn {
    FileColumn { name, format: ColumnFormat::Text(limit), value }
}

const fn own(name: &'static str, value: for<'a> fn(&'a ReconciliationRecord) -> Cow<'a, str>) -> FileColumn {
    FileColumn { name, format: ColumnFormat::Own, value }
}

/// Every column, in the order of a line. `ClearingInsitituteName` is spelled like this in the specification.
pub const FILE_COLUMNS: [FileColumn; 36] = [
    own("ReconciliationType", |record| record.record_type.as_str().into()),
    own("PaymentType", |record| record.transaction_type.as_str().into()),
    own("Cashflow", |record| record.settlement.cashflow.as_str().into()),
    text("ClearingInstituteMerchantId", 64, |record| record.institute.merchant_id.as_str().into()),
    own("MerchantAccountId", |record| record.owner.account.as_str().into()),
    text("MerchantAccountName", 32, |record| record.owner.account_name.as_str().into()),
    own("PspId", |record| record.owner.psp.as_str().into()),
    own("DivisionId", |record| record.owner.division.as_ref().map_or("", |id| id.as_str()).into()),
    own("MerchantId", |record| record.owner.merchant.as_str().into()),
    text("SettlementTxId", 64, |record| record.settlement.id.as_str().into()),
    own("UniqueID", |record| record.payment.as_ref().map_or("", PaymentId::as_str).into()),
    own("ShortId", |record| record.payment.as_ref().map(PaymentId::short_id).unwrap_or_default().into()),
    text("ConnectorTxId1", 64, |record| connector_tx_id(record, 0)),
    text("ConnectorTxId2", 64, |record| connector_tx_id(record, 1)),
    text("ConnectorTxId3", 64, |record| connector_tx_id(record, 2)),
    own("Amount", |record| format_amount(record.amount)),
    own("Currency", |record| record.amount.currency().code().into()),
    text("Brand", 16, |record| optional_text(&record.brand)),
    own("TxRequestTime", |record| {
        record.presented.map(|time| time.strftime("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default().into()
    }),
    own("SettlementAmount", |record| format_amount(record.settlement.amount)),
    own("SettlementCurrency", |record| record.settlement.amount.currency().code().into()),
    own("SettlementFee", |record| record.settlement.fee.map_or("".into(), format_amount)),
    own("SettlementFxRate", |record| format_rate(record.settlement.fx_rate).into()),
    own("SettlementDate", |record| record.settlement.date.to_string().into()),
    own("SettlementStatus", |record| record.settlement.status.as_str().into()),
    text("Descriptor", 128, |record| optional_text(&record.descriptor)),
    text("AccountNumberLast4", 4, |record| optional_text(&record.account.last4)),
    text("BankCode", 12, |record| optional_text(&record.account.bank_code)),
    text("AccountHolder", 128, |record| optional_text(&record.account.holder)),
    own("ReasonCode", |record| record.reason.as_ref().map_or("", |reason| reason.code.code()).into()),
    text("ReasonDesc", 128, |record| record.reason.as_ref().map_or("", |reason| reason.description()).into()),
    text("SettlementFileFormat", 32, |record| record.settlement.format.as_str().into()),
    text("ClearingInsitituteName", 64, |record| record.institute.name.as_str().into()),
    own("MatchingStatus", |record| record.matching.as_ref().map_or("", |matching| matching.status.as_str()).into()),
    own("MatchedTransactions", join_matched_payments),
    own("ChargebackId", |record| record.chargeback.as_ref().map_or("", PaymentId::as_str).into()),
];

fn optional_text(text: &Option<String>) -> Cow<'_, str> {
    text.as_deref().unwrap_or_default().into()
}

fn connector_tx_id(record: &ReconciliationRecord, index: usize) -> Cow<'_, str> {
    record.institute.tx_ids.get(index).and_then(Option::as_deref).unwrap_or_default().into()
}

/// Formats an amount with two decimals and a dot, in every currency.
fn format_amount(amount: Amount) -> Cow<'static, str> {
    amount.to_string().into()
}

/// Formats a rate with two decimals, rounded to the nearest, the half away from zero.
pub fn format_rate(rate: Decimal) -> String {
    format!("{:.2}", rate.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero))
}

/// Joins the ids of matched payments with spaces.
fn join_matched_payments(record: &ReconciliationRecord) -> Cow<'_, str> {
    let payments = record.matching.as_ref().map(|matching| matching.payments.as_slice()).unwrap_or_default();
    match payments {
        [] => "".into(),
        [payment] => payment.as_str().into(),
        payments => payments.iter().map(PaymentId::as_str).collect::<Vec<_>>().join(" ").into(),
    }
}
