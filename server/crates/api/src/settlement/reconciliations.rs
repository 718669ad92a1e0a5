//! `/reconciliations/v1/`: files of reconciliation records, and the records themselves.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::settlement::reconciliation::days::DayRange;
use tillgate_domain::settlement::reconciliation::file::format_header;
use tillgate_domain::settlement::reconciliation::totals::RecordTotals;
use tillgate_gateway::Failure;
use tillgate_gateway::settlement::reconciliation::RecordReader;
use tillgate_store::StoreError;
use tillgate_store::settlement::reconciliation::{RecordRange, RecordVersion};
use tillgate_wire::ResultFields;
use tillgate_wire::settlement::{
    AggregationsFields, ReconciliationFileFields, ReconciliationFilesFields, ReconciliationRecordFields,
};

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::line_stream::{LineSource, stream_lines};
use crate::merchant_response::ApiResult;
use crate::report::reports::ReportFormat;
use crate::report::reports::build_csv;

/// The lines of a file.
struct FileBody(RecordReader);

/// Records as JSON objects, one a line.
struct RecordLines(RecordReader);

impl LineSource for FileBody {
    fn is_at_end(&self) -> bool {
        self.0.is_at_end()
    }

    fn read_lines(&mut self) -> Result<Vec<u8>, StoreError> {
        Ok(self.0.read_lines()?.bytes)
    }
}

impl LineSource for RecordLines {
    fn is_at_end(&self) -> bool {
        self.0.is_at_end()
    }

    fn read_lines(&mut self) -> Result<Vec<u8>, StoreError> {
        let mut lines = Vec::new();
        for (_, record) in self.0.read_page()? {
            // Writing to memory does not fail, and the fields are texts.
            let _ = serde_json::to_writer(&mut lines, &ReconciliationRecordFields::from(&record));
            lines.push(b'\n');
        }
        Ok(lines)
    }
}

/// Handles `GET /reconciliations/v1/files`.
pub(crate) async fn list_files(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let entity = &merchant.entity;
            let days = DayRange::require_from(&merchant.parameters)?;
            let files = state.gateway.list_files(entity, days.from, days.to)?;
            let files = files
                .iter()
                .map(|file| ReconciliationFileFields::new(entity.id.clone(), file.day, file.bytes, file.records));
            let files = files.collect();
            Ok(merchant.build_response(ReconciliationFilesFields { result: ResultFields::success(), files }))
        })
        .await
}

/// Handles `GET /reconciliations/v1/files/{name}`.
pub(crate) async fn send_file(
    State(state): State<Arc<AppState>>,
    PathId(name): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant.respond(async |merchant| start_file(state, &name, merchant).await).await
}

/// Opens a file and starts to send it. `Content-Length` tells a client whose connection ends early.
async fn start_file(state: Arc<AppState>, name: &str, merchant: MerchantRequest) -> Result<Response, Failure> {
    let file = state.gateway.find_file(&merchant.entity, name)?;
    let file = file.ok_or_else(|| Refusal::not_found("There is no such reconciliation file"))?;
    let body = FileBody(state.gateway.open_file(&merchant.entity, file.day)?);
    let tenant = merchant.entity.merchant_or_self().clone();
    let mut response = stream_lines(state, tenant, format_header(), body, "text/csv; charset=utf-8").await?;
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(file.bytes));
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

/// Handles `GET /reconciliations/v1/records`.
pub(crate) async fn list_records(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let reader = open_records(&state, &merchant)?;
            let tenant = merchant.entity.merchant_or_self().clone();
            stream_lines(state, tenant, Vec::new(), RecordLines(reader), "application/x-ndjson").await
        })
        .await
}

/// Opens the latest version of the records in the days of a request.
pub(crate) fn open_records(state: &AppState, merchant: &MerchantRequest) -> Result<RecordReader, Failure> {
    let days = DayRange::require_from(&merchant.parameters)?;
    let range = RecordRange::between(days.from, days.to);
    Ok(state.gateway.open_records(&merchant.entity, RecordVersion::Latest, range)?)
}

/// Handles `GET /reports/v1/reconciliations/aggregations`.
pub(crate) async fn report_aggregations(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant
        .respond(async |merchant| {
            let (format, totals) = fill_totals(&state, &merchant).await?;
            Ok(match format {
                ReportFormat::Csv => build_csv(&ReportTable::from(&totals)),
                ReportFormat::Json => merchant.build_response(AggregationsFields::from(&totals)),
            })
        })
        .await
}

/// Adds up the records of a request.
async fn fill_totals(state: &AppState, merchant: &MerchantRequest) -> Result<(ReportFormat, RecordTotals), Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    // Also refuses a mode for a live entity.
    let mode = ProcessingMode::from_parameters(merchant.entity.live, &merchant.parameters)?;
    let mode = merchant.parameters.contains("testMode").then_some(mode);
    let totals = RecordTotals::new(merchant.parameters.get("currency"), mode);
    let reader = open_records(state, merchant)?;
    Ok((format, state.gateway.add_up_records(reader, totals).await?))
}
