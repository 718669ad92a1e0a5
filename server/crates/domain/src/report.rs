//! Reports about payments: totals by brand, currency, type, result and day, the authorization rate with the reasons of
//! declines, and chargebacks. They are computed from the stored payments, one after the other.

pub mod spreadsheet;
pub mod table;
pub mod transaction_csv;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use tillgate_shared::money::Amount;
use tillgate_shared::result::ResultCode;

use super::payment::{PaymentType, ReportedPayment};
use super::refusal::Refusal;

/// Largest number of rows of a report. A merchant with more has to ask for a shorter period or for fewer columns.
pub const MAX_ROWS: usize = 100_000;

/// A report to which payments are added, one after the other.
pub trait PaymentReport {
    /// Adds a payment of any type and result, if the report counts such payments.
    fn add_payment(&mut self, payment: &ReportedPayment<'_>);

    /// Returns the number of rows so far.
    fn row_count(&self) -> usize;
}

/// A property by which totals are divided. Totals are always divided by currency, because amounts in different
/// currencies cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TotalsColumn {
    /// The day of the payment, in UTC.
    Day,
    /// The brand.
    Brand,
    /// The payment type.
    PaymentType,
    /// The result code.
    Result,
}

impl TotalsColumn {
    /// Every column, in the order of a row.
    pub const ALL: [Self; 4] = [Self::Day, Self::Brand, Self::PaymentType, Self::Result];

    /// Returns the name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Brand => "paymentBrand",
            Self::PaymentType => "paymentType",
            Self::Result => "result",
        }
    }
}

/// The columns by which totals are divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalsColumns(Vec<TotalsColumn>);

impl TotalsColumns {
    /// Reads `groupBy`, a list with commas. Without it, totals are divided by every column.
    ///
    /// # Errors
    /// 400 if it names an unknown column.
    pub fn parse(group_by: Option<&str>) -> Result<Self, Refusal> {
        let Some(text) = group_by.filter(|text| !text.is_empty()) else { return Ok(Self(TotalsColumn::ALL.to_vec())) };
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let is_known = |name: &&str| TotalsColumn::ALL.iter().any(|column| column.as_str() == *name);
        if !names.iter().all(is_known) {
            let message = "must be a list of day, paymentBrand, paymentType and result";
            return Err(Refusal::invalid_parameter("groupBy", Some(text), message));
        }
        Ok(Self(TotalsColumn::ALL.into_iter().filter(|column| names.contains(&column.as_str())).collect()))
    }

    /// Returns true if totals are divided by a column.
    pub fn contains(&self, column: TotalsColumn) -> bool {
        self.0.contains(&column)
    }
}

/// The values of a row, without those of columns that were not requested. Rows are sorted by them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TotalsKey {
    /// The day, in the time zone of the report.
    pub day: Option<String>,
    /// Code of the brand.
    pub brand: Option<String>,
    /// Code of the payment type.
    pub payment_type: Option<&'static str>,
    /// The result code.
    pub result: Option<ResultCode>,
    /// Code of the currency.
    pub currency: &'static str,
}

/// Number and amount of the payments of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaymentTotal {
    /// Number of payments.
    pub count: u64,
    /// Sum of their amounts, in hundredths of the currency.
    pub hundredths: i128,
}

impl PaymentTotal {
    /// Counts a payment with its amount.
    fn add_amount(&mut self, amount: Amount) {
        self.count += 1;
        self.hundredths += i128::from(amount.hundredths());
    }

    /// Returns the amount with two decimals.
    pub fn format_amount(&self) -> String {
        format_hundredths(self.hundredths)
    }
}

/// Formats a sum of hundredths with two decimals.
pub fn format_hundredths(sum: i128) -> String {
    let sign = if sum < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", sum.abs() / 100, sum.abs() % 100)
}

/// Totals of payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalsReport {
    /// The columns by which they are divided.
    pub columns: TotalsColumns,
    /// Time zone of the days. UTC without one.
    pub zone: Option<TimeZone>,
    /// The rows.
    pub rows: BTreeMap<TotalsKey, PaymentTotal>,
}

impl TotalsReport {
    /// Makes a report without payments.
    pub fn new(columns: TotalsColumns) -> Self {
        Self { columns, zone: None, rows: BTreeMap::new() }
    }

    /// Makes a report without payments, whose days are those of a time zone.
    pub fn in_zone(columns: TotalsColumns, zone: TimeZone) -> Self {
        // Days in UTC need no conversion of each time.
        let zone = Some(zone).filter(|zone| *zone != TimeZone::UTC);
        Self { columns, zone, rows: BTreeMap::new() }
    }
}

impl PaymentReport for TotalsReport {
    fn add_payment(&mut self, payment: &ReportedPayment<'_>) {
        let has = |column| self.columns.contains(column);
        let key = TotalsKey {
            currency: payment.amount.currency().code(),
            day: has(TotalsColumn::Day).then(|| day_of(payment, self.zone.as_ref())),
            brand: has(TotalsColumn::Brand).then(|| payment.brand.to_string()),
            payment_type: has(TotalsColumn::PaymentType).then(|| payment.payment_type.code()),
            result: has(TotalsColumn::Result).then_some(payment.result),
        };
        self.rows.entry(key).or_default().add_amount(payment.amount);
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }
}

/// Returns the day of a payment in a time zone, or in UTC without one.
fn day_of(payment: &ReportedPayment<'_>, zone: Option<&TimeZone>) -> String {
    let in_zone = zone.and_then(|zone| payment.created.day_in(zone));
    in_zone.unwrap_or_else(|| payment.created.day().to_owned())
}

/// Numbers of attempts to authorize payments, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AttemptCounts {
    /// Attempts that were approved.
    pub approved: u64,
    /// Attempts that were declined.
    pub declined: u64,
    /// Attempts without an outcome so far.
    pub pending: u64,
}

impl AttemptCounts {
    /// Returns the part of the attempts with an outcome that was approved, in percent with two decimals, rounded down:
    /// `93.75`. `None` without such attempts.
    pub fn format_rate(&self) -> Option<String> {
        format_percent(self.approved, u128::from(self.approved) + u128::from(self.declined))
    }
}

/// Formats a part of a whole in percent with two decimals, rounded down. `None` if the whole is 0.
fn format_percent(part: u64, whole: u128) -> Option<String> {
    let rate = (u128::from(part) * 10_000).checked_div(whole)?;
    Some(format!("{}.{:02}", rate / 100, rate % 100))
}

/// The authorization rate: preauthorizations and debits by brand, and the reasons of those that were declined.
/// Captures, refunds and other follow-up payments do not count, nor do credits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorizationReport {
    /// Attempts by the code of the brand.
    pub brands: BTreeMap<String, AttemptCounts>,
    /// Declined attempts by result code.
    pub declines: BTreeMap<ResultCode, u64>,
}

impl PaymentReport for AuthorizationReport {
    fn add_payment(&mut self, payment: &ReportedPayment<'_>) {
        let is_attempt = matches!(
            payment.payment_type,
            PaymentType::Preauthorization | PaymentType::Debit | PaymentType::TwoStepDebit
        );
        if !is_attempt || payment.referenced.is_some() {
            return;
        }
        let counts = self.brands.entry(payment.brand.to_string()).or_default();
        if payment.is_approved() {
            counts.approved += 1;
        } else if payment.result.is_pending() {
            counts.pending += 1;
        } else {
            counts.declined += 1;
            *self.declines.entry(payment.result).or_default() += 1;
        }
    }

    fn row_count(&self) -> usize {
        self.brands.len() + self.declines.len()
    }
}

impl AuthorizationReport {
    /// Returns the attempts of all brands.
    pub fn all_attempts(&self) -> AttemptCounts {
        self.brands.values().fold(AttemptCounts::default(), |sum, counts| AttemptCounts {
            approved: sum.approved + counts.approved,
            declined: sum.declined + counts.declined,
            pending: sum.pending + counts.pending,
        })
    }

    /// Returns the reasons of declines with their numbers, the most frequent first.
    pub fn decline_reasons(&self) -> Vec<(ResultCode, u64)> {
        sort_reasons(&self.declines)
    }
}

/// Returns reasons with their numbers, the most frequent first.
fn sort_reasons(counts: &BTreeMap<ResultCode, u64>) -> Vec<(ResultCode, u64)> {
    let mut reasons: Vec<(ResultCode, u64)> = counts.iter().map(|(code, count)| (*code, *count)).collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reasons
}

/// Charged payments, chargebacks and their reversals of a brand and currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChargebackCounts {
    /// Approved debits and captures.
    pub charged: PaymentTotal,
    /// Chargebacks.
    pub charged_back: PaymentTotal,
    /// Reversals of chargebacks.
    pub reversed: PaymentTotal,
}

impl ChargebackCounts {
    /// Returns the number of chargebacks as a part of the charged payments of the same period, in percent with two
    /// decimals, rounded down. `None` without charged payments.
    pub fn format_ratio(&self) -> Option<String> {
        format_percent(self.charged_back.count, self.charged.count.into())
    }
}

/// Chargebacks beside the payments that were charged in the same period, their reversals, and the reasons. A chargeback
/// and a reversal belong to the period in which they were made, whenever their payment was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChargebackReport {
    /// Counts by the codes of brand and currency.
    pub brands: BTreeMap<(String, &'static str), ChargebackCounts>,
    /// Chargebacks by their result code, which is their reason.
    pub reasons: BTreeMap<ResultCode, u64>,
}

impl PaymentReport for ChargebackReport {
    fn add_payment(&mut self, payment: &ReportedPayment<'_>) {
        if !payment.is_approved() {
            return;
        }
        let is_chargeback = payment.payment_type == PaymentType::Chargeback;
        let is_charge =
            matches!(payment.payment_type, PaymentType::Debit | PaymentType::TwoStepDebit | PaymentType::Capture);
        let is_reversal = payment.payment_type == PaymentType::ChargebackReversal;
        if !is_chargeback && !is_charge && !is_reversal {
            return;
        }
        let counts = self.brands.entry((payment.brand.to_string(), payment.amount.currency().code())).or_default();
        if is_chargeback {
            counts.charged_back.add_amount(payment.amount);
            *self.reasons.entry(payment.result).or_default() += 1;
        } else if is_reversal {
            counts.reversed.add_amount(payment.amount);
        } else {
            counts.charged.add_amount(payment.amount);
        }
    }

    fn row_count(&self) -> usize {
        self.brands.len() + self.reasons.len()
    }
}

impl ChargebackReport {
    /// Returns the reasons with their numbers, the most frequent first.
    pub fn sorted_reasons(&self) -> Vec<(ResultCode, u64)> {
        sort_reasons(&self.reasons)
    }
}
