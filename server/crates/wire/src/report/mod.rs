//! Reports about payments.

use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::report::{
    AttemptCounts, AuthorizationReport, ChargebackCounts, ChargebackReport, PaymentTotal, TotalsKey, TotalsReport,
};
use tillgate_shared::result::ResultCode;

use crate::{ResultFields, SumText};

/// Totals of payments.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Totals")]
pub struct TotalsFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// Totals of the payments with the same values.
    totals: Vec<TotalFields<'a>>,
}

/// A total. It has the requested columns only.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Total")]
struct TotalFields<'a> {
    /// Day of the payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date"))]
    day: Option<&'a str>,
    /// Brand of the payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_brand: Option<&'a str>,
    /// Type of the payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_type: Option<&'a str>,
    /// Result of the payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ResultFields<'a>>,
    /// Currency of the payments.
    currency: &'static str,
    /// Number of payments.
    count: u64,
    /// Sum of their amounts.
    amount: SumText,
}

/// The authorization rate: of all attempts, by brand, and the reasons of declines.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Authorizations")]
pub struct AuthorizationsFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    #[serde(flatten)]
    counts: AttemptCountFields,
    /// Attempts by brand.
    brands: Vec<BrandAttemptFields<'a>>,
    /// Declines by reason.
    decline_reasons: Vec<ReasonFields>,
}

/// Numbers of payment attempts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AttemptCounts")]
struct AttemptCountFields {
    /// Number of approved attempts.
    approved: u64,
    /// Number of declined attempts.
    declined: u64,
    /// Number of attempts without an outcome.
    pending: u64,
    /// Rate of approvals in percent. Absent without an outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d+\.\d\d$"))]
    authorization_rate: Option<String>,
}

/// Numbers of payment attempts with a brand.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BrandAttempts")]
struct BrandAttemptFields<'a> {
    /// The brand.
    payment_brand: &'a str,
    #[serde(flatten)]
    counts: AttemptCountFields,
}

/// Number of payments with a result code.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reason")]
struct ReasonFields {
    /// The result code.
    result: ResultFields<'static>,
    /// Number of payments.
    count: u64,
}

/// Chargebacks beside charged payments, and their reasons.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Chargebacks")]
pub struct ChargebacksFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// Chargebacks by brand and currency.
    brands: Vec<BrandChargebackFields<'a>>,
    /// Chargebacks by reason.
    reasons: Vec<ReasonFields>,
}

/// Chargebacks of payments with a brand in a currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BrandChargebacks")]
struct BrandChargebackFields<'a> {
    /// The brand.
    payment_brand: &'a str,
    /// The currency.
    currency: &'static str,
    /// Number of charged payments.
    charged: u64,
    /// Sum of the charged payments.
    charged_amount: SumText,
    /// Number of chargebacks.
    chargebacks: u64,
    /// Sum of the chargebacks.
    chargeback_amount: SumText,
    /// Number of reversed chargebacks.
    reversals: u64,
    /// Sum of the reversed chargebacks.
    reversal_amount: SumText,
    /// Chargebacks in percent of the charged payments. Absent without a charged payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d+\.\d\d$"))]
    chargeback_ratio: Option<String>,
}

impl<'a> From<&'a TotalsReport> for TotalsFields<'a> {
    fn from(report: &'a TotalsReport) -> Self {
        let totals = report.rows.iter().map(|(key, total)| TotalFields::new(key, *total)).collect();
        Self { result: ResultFields::success(), totals }
    }
}

impl<'a> TotalFields<'a> {
    fn new(key: &'a TotalsKey, total: PaymentTotal) -> Self {
        Self {
            day: key.day.as_deref(),
            payment_brand: key.brand.as_deref(),
            payment_type: key.payment_type,
            result: key.result.map(ResultFields::from),
            currency: key.currency,
            count: total.count,
            amount: SumText(total.format_amount()),
        }
    }
}

impl<'a> From<&'a AuthorizationReport> for AuthorizationsFields<'a> {
    fn from(report: &'a AuthorizationReport) -> Self {
        let brands = report
            .brands
            .iter()
            .map(|(brand, counts)| BrandAttemptFields { payment_brand: brand, counts: counts.into() });
        Self {
            result: ResultFields::success(),
            counts: (&report.all_attempts()).into(),
            brands: brands.collect(),
            decline_reasons: list_reasons(report.decline_reasons()),
        }
    }
}

impl From<&AttemptCounts> for AttemptCountFields {
    fn from(counts: &AttemptCounts) -> Self {
        Self {
            approved: counts.approved,
            declined: counts.declined,
            pending: counts.pending,
            authorization_rate: counts.format_rate(),
        }
    }
}

impl<'a> From<&'a ChargebackReport> for ChargebacksFields<'a> {
    fn from(report: &'a ChargebackReport) -> Self {
        let brands =
            report.brands.iter().map(|((brand, currency), counts)| BrandChargebackFields::new(brand, currency, counts));
        Self {
            result: ResultFields::success(),
            brands: brands.collect(),
            reasons: list_reasons(report.sorted_reasons()),
        }
    }
}

impl<'a> BrandChargebackFields<'a> {
    fn new(brand: &'a str, currency: &'static str, counts: &ChargebackCounts) -> Self {
        Self {
            payment_brand: brand,
            currency,
            charged: counts.charged.count,
            charged_amount: SumText(counts.charged.format_amount()),
            chargebacks: counts.charged_back.count,
            chargeback_amount: SumText(counts.charged_back.format_amount()),
            reversals: counts.reversed.count,
            reversal_amount: SumText(counts.reversed.format_amount()),
            chargeback_ratio: counts.format_ratio(),
        }
    }
}

/// Lists result codes with their numbers.
fn list_reasons(reasons: Vec<(ResultCode, u64)>) -> Vec<ReasonFields> {
    reasons.into_iter().map(|(code, count)| ReasonFields { result: code.into(), count }).collect()
}
