//! `/reports/v1/`: totals of a merchant's payments, the authorization rate, and chargebacks, as JSON or CSV.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Number, Value};
use tillgate_shared::result::{ResultCode, codes};

use super::AppState;
use super::error::ApiError;
use super::extract::MerchantRequest;
use super::json_object::JsonObject;
use super::response::{build_response, result_fields};
use crate::domain::query::PaymentRange;
use crate::domain::refusal::Refusal;
use crate::domain::report::{
    AttemptCounts, AuthorizationReport, ChargebackCounts, ChargebackReport, PaymentReport, PaymentTotal, TotalsColumns,
    TotalsKey, TotalsReport,
};
use crate::domain::report_table::ReportTable;
use crate::gateway::Failure;
use crate::store::Cancellation;

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportFormat {
    Json,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
}

impl ReportFormat {
    /// Reads `format`. Without it, a report is JSON.
    ///
    /// # Errors
    /// 400 for an unknown one.
    fn parse(format: Option<&str>) -> Result<Self, Refusal> {
        match format.filter(|text| !text.is_empty()) {
            None | Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some(text) => Err(Refusal::invalid_parameter("format", Some(text), "must be json or csv")),
        }
    }
}

/// Handles `GET /reports/v1/totals`.
pub(super) async fn report_totals(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    match TotalsColumns::parse(merchant.own.get("groupBy")) {
        Ok(columns) => send_report(&state, merchant, TotalsReport::new(columns), totals_fields).await,
        Err(refusal) => Err(ApiError::new(refusal, merchant.ndc)),
    }
}

/// Handles `GET /reports/v1/authorizations`.
pub(super) async fn report_authorizations(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    send_report(&state, merchant, AuthorizationReport::default(), authorization_fields).await
}

/// Handles `GET /reports/v1/chargebacks`.
pub(super) async fn report_chargebacks(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    send_report(&state, merchant, ChargebackReport::default(), chargeback_fields).await
}

/// Fills an empty report, and builds its response: `build_fields` makes the JSON.
async fn send_report<R: PaymentReport + Send + 'static>(
    state: &Arc<AppState>,
    merchant: MerchantRequest,
    report: R,
    build_fields: for<'a> fn(&'a R) -> JsonObject<'a>,
) -> Result<Response, ApiError>
where
    for<'a> ReportTable: From<&'a R>,
{
    let format = ReportFormat::parse(merchant.own.get("format"));
    let filled = match format {
        Ok(format) => fill_report(state, &merchant, report).await.map(|report| (format, report)),
        Err(refusal) => Err(refusal.into()),
    };
    match filled {
        Ok((ReportFormat::Csv, report)) => Ok(build_csv(&ReportTable::from(&report))),
        Ok((ReportFormat::Json, report)) => Ok(build_response(StatusCode::OK, build_fields(&report), &merchant.ndc)),
        Err(failure) => Err(ApiError::new(failure, merchant.ndc)),
    }
}

/// Reads the payments of a request's period in the queue of its merchant's long reads. Ends early if the client
/// disconnects.
///
/// # Errors
/// 400 if a date is missing or wrong, or the report has too many rows; 429 if the queue is full or the wait too long.
async fn fill_report<R: PaymentReport + Send + 'static>(
    state: &Arc<AppState>,
    merchant: &MerchantRequest,
    report: R,
) -> Result<R, Failure> {
    let period = PaymentRange::require_from(&merchant.parameters)?;
    let (shared, entity) = (Arc::clone(state), Arc::clone(&merchant.entity));
    let read = move |cancelled: &Cancellation<'_>| {
        shared.gateway.open_report(&entity, period)?.fill_report(report, &mut |_| match cancelled.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    };
    let tenant = merchant.entity.merchant_or_self();
    let report = state.gateway.store.long_reads.run_read(tenant, read).await??;
    // A report is cancelled if its client disconnects. Then nobody gets the response.
    report.ok_or_else(|| Refusal::no_payment_found().into())
}

/// Builds the response with a report as CSV.
fn build_csv(table: &ReportTable) -> Response {
    let mut response = Response::new(Body::from(table.format_csv()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    response
}

/// Builds the JSON of totals.
fn totals_fields(report: &TotalsReport) -> JsonObject<'_> {
    let rows: Vec<JsonObject<'_>> = report.rows.iter().map(|(key, total)| row_fields(key, *total)).collect();
    JsonObject::default().with("result", result_fields(codes::REQUEST_SUCCEEDED)).with("totals", rows)
}

/// Builds the JSON of a row. It has the requested columns only.
fn row_fields(key: &TotalsKey, total: PaymentTotal) -> JsonObject<'_> {
    let mut fields = JsonObject::default();
    if let Some(day) = key.day {
        fields.set("day", day.to_string());
    }
    if let Some(brand) = &key.brand {
        fields.set("paymentBrand", brand.as_str());
    }
    if let Some(payment_type) = key.payment_type {
        fields.set("paymentType", payment_type);
    }
    if let Some(result) = key.result {
        fields.set("result", result_fields(result));
    }
    fields.with("currency", key.currency).with("count", Value::from(total.count)).with("amount", total.format_amount())
}

/// Builds the JSON of the authorization rate: of all attempts, by brand, and the reasons of declines.
fn authorization_fields(report: &AuthorizationReport) -> JsonObject<'_> {
    let brand_fields = |(brand, counts)| count_fields(JsonObject::default().with("paymentBrand", brand), counts);
    let brands: Vec<JsonObject<'_>> =
        report.brands.iter().map(|(brand, counts)| (brand.as_str(), counts)).map(brand_fields).collect();
    let fields = JsonObject::default().with("result", result_fields(codes::REQUEST_SUCCEEDED));
    count_fields(fields, &report.all_attempts())
        .with("brands", brands)
        .with("declineReasons", reason_fields(report.decline_reasons()))
}

/// Adds the numbers of attempts, and the rate in percent with two decimals, which is left out without an outcome.
fn count_fields<'a>(fields: JsonObject<'a>, counts: &AttemptCounts) -> JsonObject<'a> {
    let number = |count: u64| Value::Number(Number::from(count));
    let mut fields = fields
        .with("approved", number(counts.approved))
        .with("declined", number(counts.declined))
        .with("pending", number(counts.pending));
    if let Some(rate) = counts.format_rate() {
        fields.set("approvalRate", rate);
    }
    fields
}

/// Builds the JSON of chargebacks: by brand and currency, and their reasons.
fn chargeback_fields(report: &ChargebackReport) -> JsonObject<'_> {
    let brand_fields = |((brand, currency), counts): (&'_ (String, &'static str), &ChargebackCounts)| {
        let mut fields = JsonObject::default()
            .with("paymentBrand", brand.clone())
            .with("currency", *currency)
            .with("charged", Value::from(counts.charged.count))
            .with("chargedAmount", counts.charged.format_amount())
            .with("chargebacks", Value::from(counts.charged_back.count))
            .with("chargebackAmount", counts.charged_back.format_amount());
        if let Some(ratio) = counts.format_ratio() {
            fields.set("chargebackRatio", ratio);
        }
        fields
    };
    let brands: Vec<JsonObject<'_>> = report.brands.iter().map(brand_fields).collect();
    JsonObject::default()
        .with("result", result_fields(codes::REQUEST_SUCCEEDED))
        .with("brands", brands)
        .with("reasons", reason_fields(report.sorted_reasons()))
}

/// Builds the JSON of result codes with their numbers.
fn reason_fields(reasons: Vec<(ResultCode, u64)>) -> Vec<JsonObject<'static>> {
    let fields =
        |(code, count)| JsonObject::default().with("result", result_fields(code)).with("count", Value::from(count));
    reasons.into_iter().map(fields).collect()
}
