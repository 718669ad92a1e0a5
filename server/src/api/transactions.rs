//! `/reports/v1/transactions`: every payment of a period, oldest first, as CSV or as one JSON object a line.
//!
//! The payments are sent page by page while they are read, so the memory stays the same for any period. A page is read
//! in the queue of the merchant's long reads when the client has taken the one before. A slow client holds no thread.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};

use super::AppState;
use super::error::ApiError;
use super::extract::MerchantRequest;
use super::query::list_entry_fields;
use super::reports::{ReportFormat, open_reader};
use super::response::wire_time;
use crate::domain::entity::Entity;
use crate::domain::payment::Payment;
use crate::domain::query::PaymentRange;
use crate::domain::spreadsheet::escape_formula;
use crate::gateway::Failure;
use crate::gateway::report::ReportReader;
use crate::store::{Cancellation, StoreError};

/// Number of pages that wait for a slow client.
const BUFFERED_PAGES: usize = 2;
/// Columns of the CSV.
const COLUMNS: [&str; 13] = [
    "timestamp",
    "id",
    "referencedId",
    "entityId",
    "paymentType",
    "paymentBrand",
    "amount",
    "currency",
    "result.code",
    "merchantTransactionId",
    "merchantInvoiceId",
    "descriptor",
    "checkoutId",
];

/// Sends the payments of a report.
struct TransactionSender {
    state: Arc<AppState>,
    entity: Arc<Entity>,
    format: ReportFormat,
}

/// Handles `GET /reports/v1/transactions`.
pub(super) async fn report_transactions(
    State(state): State<Arc<AppState>>,
    merchant: MerchantRequest,
) -> Result<Response, ApiError> {
    let ndc = merchant.ndc.clone();
    start_response(state, merchant).await.map_err(|failure| ApiError::new(failure, ndc))
}

/// Reads the first page, whose errors are the request's, and leaves the others to a task.
async fn start_response(state: Arc<AppState>, merchant: MerchantRequest) -> Result<Response, Failure> {
    let format = ReportFormat::parse(merchant.own.get("format"))?;
    let period = PaymentRange::require_from(&merchant.parameters)?;
    let reader = open_reader(&state, &merchant.entity, period)?;
    let transactions = TransactionSender { state, entity: merchant.entity, format };
    let (first, reader) = transactions.read_page(reader).await?;
    let (sender, body) = Channel::new(BUFFERED_PAGES);
    let header = if format == ReportFormat::Csv { COLUMNS.join(",") + "\r\n" } else { String::new() };
    tokio::spawn(transactions.send_pages([header.into_bytes(), first].concat(), reader, sender));
    let media_type = match format {
        ReportFormat::Csv => "text/csv; charset=utf-8",
        ReportFormat::Json => "application/x-ndjson",
    };
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok(response)
}

impl TransactionSender {
    /// Reads the next page in the queue of the merchant's long reads. Returns its lines, and the reader.
    async fn read_page(&self, mut reader: ReportReader) -> Result<(Vec<u8>, ReportReader), Failure> {
        let (entity, format) = (Arc::clone(&self.entity), self.format);
        let read = move |_: &Cancellation<'_>| -> Result<_, StoreError> {
            let payments = reader.read_page()?;
            let lines = match format {
                ReportFormat::Csv => write_rows(&payments),
                ReportFormat::Json => write_objects(&entity, &payments),
            };
            Ok((lines, reader))
        };
        Ok(self.state.gateway.store.long_reads.run_read(self.entity.merchant_or_self(), read).await??)
    }

    /// Sends a page and those after it. If one cannot be read, the response ends without its end, so that the client
    /// does not take the part for the whole.
    async fn send_pages(self, first: Vec<u8>, reader: ReportReader, mut sender: Sender<Bytes, Failure>) {
        let (mut lines, mut reader) = (first, reader);
        loop {
            if !lines.is_empty() && sender.send_data(lines.into()).await.is_err() {
                // The client has disconnected.
                return;
            }
            if reader.is_at_end() {
                return;
            }
            match self.read_page(reader).await {
                Ok(page) => (lines, reader) = page,
                Err(failure) => {
                    tracing::warn!(entity = self.entity.id.as_str(), error = %failure, "a report cannot be read to its end");
                    return sender.abort(failure);
                }
            }
        }
    }
}

/// Writes payments as rows of CSV (RFC 4180).
fn write_rows(payments: &[Payment]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for payment in payments {
        let text = |name| escape_formula(payment.parameters.get(name).unwrap_or_default());
        let id = |id: Option<&str>| id.unwrap_or_default().to_owned();
        let row: [String; 13] = [
            wire_time(payment.created),
            payment.id.to_string(),
            id(payment.referenced.as_ref().map(|id| id.as_str())),
            payment.entity.to_string(),
            payment.payment_type.code().to_owned(),
            payment.brand.clone(),
            payment.amount.to_string(),
            payment.amount.currency().code().to_owned(),
            payment.result.code().to_owned(),
            text("merchantTransactionId"),
            text("merchantInvoiceId"),
            escape_formula(&payment.descriptor),
            id(payment.checkout.as_ref().map(|id| id.as_str())),
        ];
        // Writing to memory does not fail.
        let _ = writer.write_record(row);
    }
    writer.into_inner().unwrap_or_default()
}

/// Writes payments as JSON objects, one a line, as queries show them.
fn write_objects(entity: &Entity, payments: &[Payment]) -> Vec<u8> {
    let mut lines = Vec::new();
    for payment in payments {
        let _ = serde_json::to_writer(&mut lines, &list_entry_fields(entity, payment));
        lines.push(b'\n');
    }
    lines
}
