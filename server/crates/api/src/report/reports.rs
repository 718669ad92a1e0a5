//! `/reports/v1/`: totals of a merchant's payments, the authorization rate, and chargebacks, as JSON or CSV.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::report::{AuthorizationReport, ChargebackReport, PaymentReport, TotalsColumns, TotalsReport};
use tillgate_gateway::Failure;
use tillgate_gateway::report::ReportReader;
use tillgate_store::{Cancellation, StoreError};
use tillgate_wire::report::{AuthorizationsFields, ChargebacksFields, TotalsFields};

use crate::app_state::AppState;
use crate::extract::MerchantRequest;
use crate::merchant_response::ApiResult;

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
            build_report(&state, merchant, report, build_totals).await
        })
        .await
}

/// Handles `GET /reports/v1/authorizations`.
pub(crate) async fn report_authorizations(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    let report = AuthorizationReport::default();
    merchant.respond(async |merchant| build_report(&state, merchant, report, build_authorizations).await).await
}

/// Handles `GET /reports/v1/chargebacks`.
pub(crate) async fn report_chargebacks(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    let report = ChargebackReport::default();
    merchant.respond(async |merchant| build_report(&state, merchant, report, build_chargebacks).await).await
}

/// Fills an empty report, and builds its response: `build_json` makes the one with JSON.
async fn build_report<R: PaymentReport + Send + 'static>(
    state: &Arc<AppState>,
    merchant: MerchantRequest,
    report: R,
    build_json: fn(&R, &MerchantRequest) -> Response,
) -> Result<Response, Failure>
where
    for<'a> ReportTable: From<&'a R>,
{
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let report = fill_report(state, &merchant, report).await?;
    // A large report takes a while, and other requests do not wait for it.
    let built = tokio::task::spawn_blocking(move || match format {
        ReportFormat::Csv => build_csv(&ReportTable::from(&report)),
        ReportFormat::Json => build_json(&report, &merchant),
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
fn build_totals(report: &TotalsReport, merchant: &MerchantRequest) -> Response {
    merchant.build_response(TotalsFields::from(report))
}

/// Builds the JSON of the authorization rate.
fn build_authorizations(report: &AuthorizationReport, merchant: &MerchantRequest) -> Response {
    merchant.build_response(AuthorizationsFields::from(report))
}

/// Builds the JSON of chargebacks.
fn build_chargebacks(report: &ChargebackReport, merchant: &MerchantRequest) -> Response {
    merchant.build_response(ChargebacksFields::from(report))
}
