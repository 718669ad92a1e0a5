//! `/reports/v1/transactions`: every payment of a period, oldest first, as CSV or as one JSON object a line.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::report::transaction_csv;
use tillgate_gateway::Failure;
use tillgate_gateway::report::ReportReader;
use tillgate_store::StoreError;
use tillgate_wire::payment::ListedPaymentFields;

use crate::app_state::AppState;
use crate::extract::MerchantRequest;
use crate::line_stream::{LineSource, stream_lines};
use crate::merchant_response::ApiResult;
use crate::report::reports::ReportFormat;
use crate::report::reports::open_reader;

/// The payments of a report as lines.
struct TransactionLines {
    entity: Arc<Entity>,
    format: ReportFormat,
    reader: ReportReader,
}

/// Handles `GET /reports/v1/transactions`.
pub(crate) async fn report_transactions(State(state): State<Arc<AppState>>, merchant: MerchantRequest) -> ApiResult {
    merchant.respond(async |merchant| start_response(state, merchant).await).await
}

/// Opens the payments and starts to send them.
async fn start_response(state: Arc<AppState>, merchant: MerchantRequest) -> Result<Response, Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let period = PaymentRange::require_from(&merchant.parameters)?;
    let reader = open_reader(&state, &merchant.entity, period)?;
    let (header, media_type) = match format {
        ReportFormat::Csv => (transaction_csv::format_header(), "text/csv; charset=utf-8"),
        ReportFormat::Json => (String::new(), "application/x-ndjson"),
    };
    let tenant = merchant.entity.merchant_or_self().clone();
    let lines = TransactionLines { entity: merchant.entity, format, reader };
    stream_lines(state, tenant, header.into_bytes(), lines, media_type).await
}

impl LineSource for TransactionLines {
    fn is_at_end(&self) -> bool {
        self.reader.is_at_end()
    }

    fn read_lines(&mut self) -> Result<Vec<u8>, StoreError> {
        match self.format {
            ReportFormat::Csv => self.reader.read_rows(),
            ReportFormat::Json => Ok(write_objects(&self.entity, &self.reader.read_page()?)),
        }
    }
}

/// Writes payments as JSON objects, one a line, as queries show them.
fn write_objects(entity: &Entity, payments: &[Payment]) -> Vec<u8> {
    let mut lines = Vec::new();
    for payment in payments {
        let _ = serde_json::to_writer(&mut lines, &ListedPaymentFields::new(&entity.id, payment));
        lines.push(b'\n');
    }
    lines
}
