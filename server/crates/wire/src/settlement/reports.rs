//! Settlements, their fees, and the balances of the ledger.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_domain::report::format_hundredths;
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_domain::settlement::reconciliation::MatchingStatus;
use tillgate_domain::settlement::report::{FeeKey, FeeReport, SettlementReport, SettlementRow};

use crate::{DayText, ResultFields, SumText};

/// Batches of settlements.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Settlements")]
pub struct SettlementsFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// The batches.
    settlements: Vec<SettlementFields<'a>>,
}

/// A batch of settlements.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Settlement")]
struct SettlementFields<'a> {
    /// Day of the batch.
    day: DayText,
    /// Entity whose payments the batch settles.
    entity_id: &'a str,
    /// Currency of the settlement.
    currency: &'a str,
    /// `COMPLETE`, or `IN_PROGRESS` while parts are missing.
    status: &'static str,
    /// Number of lines.
    lines: u64,
    /// Number of lines that failed.
    failed_lines: u64,
    /// Sum of the charges.
    charged: SumText,
    /// Sum of the refunds.
    refunded: SumText,
    /// Sum of the credits.
    credited: SumText,
    /// Sum of the chargebacks.
    charged_back: SumText,
    /// Sum of the reversed chargebacks.
    chargebacks_reversed: SumText,
    /// Sum of the fees.
    fees: SumText,
    /// Amount that was put into the reserve.
    reserved: SumText,
    /// Amount that was released from the reserve.
    released: SumText,
    /// Amount that is paid out. Negative if the merchant owes it.
    paid_out: SumText,
}

/// Fees of settlements.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Fees")]
pub struct FeesFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// The fees.
    fees: Vec<FeeFields<'a>>,
}

/// Fees of the lines with the same values.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Fee")]
struct FeeFields<'a> {
    /// Day of the lines.
    day: DayText,
    /// Kind of transaction.
    transaction_type: &'static str,
    /// Brand of the payments. Absent for lines without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_brand: Option<&'a str>,
    /// Currency of the fees.
    currency: &'static str,
    /// `NOT_MATCHED` for lines of an institute's file that are not matched with a payment, because none or several fit.
    /// The ledger has no fee of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    matching_status: Option<&'static str>,
    /// Number of lines with a fee.
    count: u64,
    /// Sum of the fees.
    fee: SumText,
}

/// Balances of the ledger.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Balances")]
pub struct BalancesFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// Balances of each entity and currency.
    pub balances: Vec<BalanceFields<'a>>,
}

/// Balances of an entity's accounts in a currency. Debits are positive and credits negative.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Balance")]
pub struct BalanceFields<'a> {
    /// The entity.
    entity_id: &'a str,
    /// The currency.
    currency: &'a str,
    /// Amount that acquirers owe.
    receivable: SumText,
    /// Amount that the merchant is owed.
    payable: SumText,
    /// Fees.
    fees: SumText,
    /// The reserve.
    reserve: SumText,
    /// Cash.
    cash: SumText,
}

impl<'a> From<&'a SettlementReport> for SettlementsFields<'a> {
    fn from(report: &'a SettlementReport) -> Self {
        Self { result: ResultFields::success(), settlements: report.rows.iter().map(SettlementFields::from).collect() }
    }
}

impl<'a> From<&'a SettlementRow> for SettlementFields<'a> {
    fn from(row: &'a SettlementRow) -> Self {
        let amounts = row.amounts().map(SumText);
        let [charged, refunded, credited, charged_back, chargebacks_reversed, fees, reserved, released, paid_out] =
            amounts;
        Self {
            day: DayText(row.day),
            entity_id: row.entity.as_str(),
            currency: &row.currency,
            status: row.status(),
            lines: row.totals.lines,
            failed_lines: row.totals.failed,
            charged,
            refunded,
            credited,
            charged_back,
            chargebacks_reversed,
            fees,
            reserved,
            released,
            paid_out,
        }
    }
}

impl<'a> From<&'a FeeReport> for FeesFields<'a> {
    fn from(report: &'a FeeReport) -> Self {
        let fees = report.rows.iter().map(|(key, (count, fee))| FeeFields::new(key, *count, *fee)).collect();
        Self { result: ResultFields::success(), fees }
    }
}

impl<'a> FeeFields<'a> {
    fn new((day, transaction_type, brand, currency, is_unmatched): &'a FeeKey, count: u64, fee: i128) -> Self {
        Self {
            day: DayText(*day),
            transaction_type: transaction_type.as_str(),
            payment_brand: Some(&**brand).filter(|brand| !brand.is_empty()),
            currency,
            matching_status: is_unmatched.then(|| MatchingStatus::NotMatched.as_str()),
            count,
            fee: SumText(format_hundredths(fee)),
        }
    }
}

impl<'a> BalanceFields<'a> {
    /// Creates the balances of an entity in a currency.
    pub fn new(entity: &'a EntityId, currency: &'a str, sums: LedgerSums) -> Self {
        let texts = sums.to_array().map(|sum| SumText(format_hundredths(i128::from(sum))));
        let [receivable, payable, fees, reserve, cash] = texts;
        Self { entity_id: entity.as_str(), currency, receivable, payable, fees, reserve, cash }
    }
}
