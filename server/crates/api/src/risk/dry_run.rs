//! `/v2/risk/rules/{version}/dryRun`: replays a merchant's stored payments with a version of its risk rules. The
//! response has one JSON object a line: progress, and at the end the report.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::dry_run::DryRunReport;
use tillgate_gateway::Failure;
use tillgate_gateway::risk::dry_run::{DryRun, DryRunProgress, DryRunSlot};
use tillgate_os::process::{BACKGROUND, lower_priority};
use tillgate_shared::result::codes;
use tillgate_store::StoreError;
use tillgate_wire::risk::{DryRunProgressFields, DryRunProgressLine, DryRunReportLine};
use tokio::runtime::Handle;

use crate::app_state::AppState;
use crate::extract::{MerchantRequest, PathId};
use crate::merchant_response::ApiResult;
use crate::response::{encode_response, request_clock_lead, request_time, with_clock_lead};

/// Time between two lines of progress, after which a client that has disconnected is noticed.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Number of lines that wait for a slow client. Then the dry run waits.
const BUFFERED_LINES: usize = 4;

/// Handles `POST /v2/risk/rules/{version}/dryRun`.
pub(crate) async fn dry_run(
    State(state): State<Arc<AppState>>,
    PathId(version): PathId,
    merchant: MerchantRequest,
) -> ApiResult {
    merchant.respond(async |merchant| start_dry_run(&state, &version, merchant)).await
}

/// Starts a dry run on a thread, and the response with its lines.
fn start_dry_run(state: &AppState, version: &str, merchant: MerchantRequest) -> Result<Response, Failure> {
    let MerchantRequest { entity, parameters, own, ndc, .. } = merchant;
    let (dry_run, slot) = state.gateway.prepare_dry_run(&entity, version, &parameters, &own)?;
    let (sender, body) = Channel::new(BUFFERED_LINES);
    let lines = LineWriter { sender, runtime: Handle::current(), written: Instant::now() };
    let started = thread::Builder::new().name("dry-run".to_owned()).spawn({
        let lead = request_clock_lead();
        move || {
            lower_priority(BACKGROUND);
            with_clock_lead(lead, || stream_dry_run(&dry_run, slot, lines, &ndc));
        }
    });
    if let Err(error) = started {
        tracing::error!(%error, "a thread for a dry run does not start");
        return Err(Refusal::write_queue_full().into());
    }
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}

/// Writes the lines of a response.
struct LineWriter {
    sender: Sender<Bytes, Infallible>,
    runtime: Handle,
    /// The time of the last line.
    written: Instant,
}

impl LineWriter {
    /// Writes a line, and waits if the client is slow. Breaks if the client has disconnected.
    fn write_line(&mut self, mut line: Vec<u8>) -> ControlFlow<()> {
        line.push(b'\n');
        self.written = Instant::now();
        let sent = self.runtime.block_on(self.sender.send_data(line.into()));
        if sent.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Writes the progress, unless that was done a moment ago.
    fn write_progress(&mut self, progress: DryRunProgress) -> ControlFlow<()> {
        if self.written.elapsed() < PROGRESS_INTERVAL {
            return ControlFlow::Continue(());
        }
        let percent = (progress.fraction * 1000.0).round() / 10.0;
        let line = DryRunProgressLine { progress: DryRunProgressFields { payments: progress.payments, percent } };
        self.write_line(serde_json::to_vec(&line).unwrap_or_default())
    }
}

/// Runs a dry run, and writes its progress and its report. Stops if the client disconnects. The slot is free before the
/// last line is sent, so that the client may begin another dry run.
fn stream_dry_run(dry_run: &DryRun, slot: DryRunSlot, mut lines: LineWriter, ndc: &Ndc) {
    let outcome = dry_run.run(&mut |progress| lines.write_progress(progress));
    drop(slot);
    let last = match outcome {
        Ok(Some(report)) => encode_report(&report, ndc),
        Ok(None) => return,
        Err(error) => encode_error(&error, ndc),
    };
    let _ = lines.write_line(last);
}

/// Builds the last line of a dry run: its report, with the envelope of every response.
fn encode_report(report: &DryRunReport, ndc: &Ndc) -> Vec<u8> {
    encode_response(StatusCode::OK, DryRunReportLine::new(report), ndc, request_time()).body
}

/// Builds the last line of a dry run that the store has ended, and logs the error.
fn encode_error(error: &StoreError, ndc: &Ndc) -> Vec<u8> {
    tracing::error!(%ndc, %error, "a dry run cannot read the store");
    encode_response(StatusCode::OK, DryRunReportLine::failed(codes::INTERNAL_ERROR), ndc, request_time()).body
}
