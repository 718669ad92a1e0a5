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
    AttemptCounts, AuthorizationReport, ChargebackCounts, ChargebackReport, PaymentTotal, TotalsColumns, TotalsKey,
};
use crate::domain::report_table::ReportTable;
use crate::gateway::Failure;
use crate::gateway::report::ReportSource;
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
    let ndc = merchant.ndc.clone();
    build_totals(&state, &merchant).await.map_err(|failure| ApiError::new(failure, ndc))
}

async fn build_totals(state: &Arc<AppState>, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let columns = TotalsColumns::parse(merchant.own.get("groupBy"))?;
    let report = run_report(state, merchant, |source, on_page| source.compute_totals(columns, on_page)).await?;
    if format == ReportFormat::Csv {
        return Ok(build_csv(&ReportTable::from(&report)));
    }
    let rows: Vec<JsonObject<'_>> = report.rows.iter().map(|(key, total)| row_fields(key, *total)).collect();
    let fields = JsonObject::default().with("result", result_fields(codes::REQUEST_SUCCEEDED)).with("totals", rows);
    Ok(build_response(StatusCode::OK, fields, &merchant.ndc))
}

/// Handles `GET /reports/v1/authorizations`.
pub(super) async fn report_authorizations(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    build_authorizations(&state, &merchant).await.map_err(|failure| ApiError::new(failure, ndc))
}

async fn build_authorizations(state: &Arc<AppState>, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let report = run_report(state, merchant, |source, on_page| source.compute_authorizations(on_page)).await?;
    Ok(match format {
        ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
        ReportFormat::Json => build_response(StatusCode::OK, authorization_fields(&report), &merchant.ndc),
    })
}

/// Handles `GET /reports/v1/chargebacks`.
pub(super) async fn report_chargebacks(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    build_chargebacks(&state, &merchant).await.map_err(|failure| ApiError::new(failure, ndc))
}

async fn build_chargebacks(state: &Arc<AppState>, merchant: &MerchantRequest) -> Result<Response, Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let report = run_report(state, merchant, |source, on_page| source.compute_chargebacks(on_page)).await?;
    Ok(match format {
        ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
        ReportFormat::Json => build_response(StatusCode::OK, chargeback_fields(&report), &merchant.ndc),
    })
}

/// Reads the payments of a request's period in the queue of its merchant's long reads. Ends early if the client
/// disconnects.
///
/// # Errors
/// 400 if a date is missing or wrong; those of `compute`; 429 if the queue is full or the wait too long.
async fn run_report<T: Send + 'static>(
    state: &Arc<AppState>,
    merchant: &MerchantRequest,
    compute: impl FnOnce(&ReportSource, &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<Option<T>, Failure>
    + Send
    + 'static,
) -> Result<T, Failure> {
    let period = PaymentRange::require_from(&merchant.parameters)?;
    let (shared, entity) = (Arc::clone(state), Arc::clone(&merchant.entity));
    let read = move |cancelled: &Cancellation<'_>| {
        let source = shared.gateway.open_report(&entity, period)?;
        compute(&source, &mut |_| match cancelled.is_cancelled() {
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
