//! `/reports/v1/`: totals of a merchant's payments, the authorization rate, and chargebacks, as JSON or CSV.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::{Number, Value};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::report::{
    AttemptCounts, AuthorizationReport, ChargebackCounts, ChargebackReport, PaymentReport, PaymentTotal, TotalsColumns,
    TotalsKey, TotalsReport,
};
use tillgate_gateway::Failure;
use tillgate_gateway::report::ReportReader;
use tillgate_shared::result::ResultCode;
use tillgate_store::{Cancellation, StoreError};

use crate::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;
use crate::response::{result_fields, success_fields};
use tillgate_wire::json_object::JsonObject;

/// Time for which a report reads payments before others have their turn.
const TURN: Duration = Duration::from_millis(200);

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    /// JSON.
    Json,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
}

impl ReportFormat {
    /// Reads `format`. Without it, a report is JSON.
    ///
    /// # Errors
    /// 400 for an unknown one.
    pub(crate) fn parse(format: Option<&str>) -> Result<Self, Refusal> {
        match format.filter(|text| !text.is_empty()) {
            None | Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            Some(text) => Err(Refusal::invalid_parameter("format", Some(text), "must be json or csv")),
        }
    }
}

/// Handles `GET /reports/v1/totals`.
pub(crate) async fn report_totals(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let report = TotalsReport::new(TotalsColumns::parse(merchant.own.get("groupBy"))?);
            build_report(&state, merchant, report, totals_fields).await
        })
        .await
}

/// Handles `GET /reports/v1/authorizations`.
pub(crate) async fn report_authorizations(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    let report = AuthorizationReport::default();
    merchant.respond(async |merchant| build_report(&state, merchant, report, authorization_fields).await).await
}

/// Handles `GET /reports/v1/chargebacks`.
pub(crate) async fn report_chargebacks(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    let report = ChargebackReport::default();
    merchant.respond(async |merchant| build_report(&state, merchant, report, chargeback_fields).await).await
}

/// Fills an empty report, and builds its response: `build_fields` makes the JSON.
async fn build_report<R: PaymentReport + Send + 'static>(
    state: &Arc<AppState>,
    merchant: MerchantRequest,
    report: R,
    build_fields: for<'a> fn(&'a R) -> JsonObject<'a>,
) -> Result<Response, Failure>
where
    for<'a> ReportTable: From<&'a R>,
{
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let report = fill_report(state, &merchant, report).await?;
    // A large report takes a while, and other requests do not wait for it.
    let built = tokio::task::spawn_blocking(move || match format {
        ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
        ReportFormat::Json => merchant.build_response(build_fields(&report)),
    });
    built.await.map_err(|error| {
        tracing::error!(%error, "building a report failed");
        Refusal::write_queue_full().into()
    })
}

/// Reads the payments of a request's period in the queue of its merchant's long reads. After each [`TURN`] it goes back
/// to the end of the queue, so that queries and other merchants do not wait for a long report. Ends early if the client
/// disconnects.
///
/// # Errors
/// 400 if a date is missing or wrong, or the report has too many rows; 429 if the queue is full or a wait too long.
async fn fill_report<R: PaymentReport + Send + 'static>(
    state: &Arc<AppState>,
    merchant: &MerchantRequest,
    mut report: R,
) -> Result<R, Failure> {
    let period = PaymentRange::require_from(&merchant.parameters)?;
    let mut reader = open_reader(state, &merchant.entity, period)?;
    while !reader.is_at_end() {
        let read = move |cancelled: &Cancellation<'_>| -> Result<_, Failure> {
            let started = Instant::now();
            reader.fill_report(&mut report, &mut |_| !cancelled.is_cancelled() && started.elapsed() < TURN)?;
            Ok((reader, report))
        };
        let tenant = merchant.entity.merchant_or_self();
        (reader, report) = state.gateway.store.long_reads.run_read(tenant, read).await??;
    }
    Ok(report)
}

/// Opens the payments of an entity and of those below it.
pub(crate) fn open_reader(state: &AppState, entity: &Entity, period: PaymentRange) -> Result<ReportReader, StoreError> {
    Ok(ReportReader::new(&state.gateway.directory, &entity.id, period, state.gateway.store.open_history()?))
}

/// Builds the response with a report as CSV.
pub(crate) fn build_csv(table: &ReportTable) -> Response {
    let mut response = Response::new(Body::from(table.format_csv()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    response
}

/// Builds the JSON of totals.
fn totals_fields(report: &TotalsReport) -> JsonObject<'_> {
    let rows: Vec<JsonObject<'_>> = report.rows.iter().map(|(key, total)| row_fields(key, *total)).collect();
    success_fields().with("totals", rows)
}

/// Builds the JSON of a row. It has the requested columns only.
fn row_fields(key: &TotalsKey, total: PaymentTotal) -> JsonObject<'_> {
    let mut fields = JsonObject::default();
    if let Some(day) = &key.day {
        fields.set("day", day.as_str());
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
    let fields = success_fields();
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
        fields.set("authorizationRate", rate);
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
            .with("chargebackAmount", counts.charged_back.format_amount())
            .with("reversals", Value::from(counts.reversed.count))
            .with("reversalAmount", counts.reversed.format_amount());
        if let Some(ratio) = counts.format_ratio() {
            fields.set("chargebackRatio", ratio);
        }
        fields
    };
    let brands: Vec<JsonObject<'_>> = report.brands.iter().map(brand_fields).collect();
    success_fields().with("brands", brands).with("reasons", reason_fields(report.sorted_reasons()))
}

/// Builds the JSON of result codes with their numbers.
fn reason_fields(reasons: Vec<(ResultCode, u64)>) -> Vec<JsonObject<'static>> {
    let fields =
        |(code, count)| JsonObject::default().with("result", result_fields(code)).with("count", Value::from(count));
    reasons.into_iter().map(fields).collect()
}
