//! Numbers of a report, read in turns with other long reads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tillgate_domain::report::table::ReportTable;
use tillgate_domain::report::{AuthorizationReport, ChargebackReport, PaymentReport, TotalsReport};
use tillgate_domain::settlement::reconciliation::totals::RecordTotals;
use tillgate_domain::settlement::report::FeeReport;
use tillgate_gateway::Failure;
use tillgate_gateway::report::ReportReader;
use tillgate_gateway::settlement::reconciliation::RecordReader;
use tillgate_gateway::settlement::report::read_settlements;
use tillgate_store::settlement::reconciliation::{RecordRange, RecordVersion};

use super::ReportKind;
use super::query::ReportQuery;
use crate::office::Office;

/// Time for which a report is read before other reads have their turn.
const TURN: Duration = Duration::from_millis(200);

/// Reads a report. Without an entity it is empty.
///
/// # Errors
/// If the report has too many rows, the store cannot be read, or too many reads wait.
pub(super) async fn read_table(office: &Office, kind: ReportKind, query: &ReportQuery) -> Result<ReportTable, Failure> {
    match kind {
        ReportKind::Totals => {
            let Some(columns) = query.columns.clone() else { return Ok(empty_table()) };
            let report = TotalsReport::in_zone(columns, query.zone.clone());
            Ok(ReportTable::from(&fill_report(office, query, report).await?))
        }
        ReportKind::Authorizations => {
            Ok(ReportTable::from(&fill_report(office, query, AuthorizationReport::default()).await?))
        }
        ReportKind::Chargebacks => {
            Ok(ReportTable::from(&fill_report(office, query, ChargebackReport::default()).await?))
        }
        ReportKind::Settlements => {
            let Some(entity) = query.choice.chosen.clone() else { return Ok(empty_table()) };
            let days = query.days;
            let read = office.read(move |app, _| {
                let history = app.gateway.store.open_history()?;
                read_settlements(&app.gateway.directory, &history, &entity.id, days)
            });
            Ok(ReportTable::from(&read.await?))
        }
        ReportKind::Fees => Ok(ReportTable::from(&FeeReport::from(&add_up_records(office, query).await?))),
        ReportKind::Reconciliations => Ok(ReportTable::from(&add_up_records(office, query).await?)),
    }
}

fn empty_table() -> ReportTable {
    ReportTable::from(&RecordTotals::new(None, None))
}

/// Adds the payments of the period to a report.
async fn fill_report<R: PaymentReport + Send + 'static>(
    office: &Office,
    query: &ReportQuery,
    mut report: R,
) -> Result<R, Failure> {
    let Some(entity) = &query.choice.chosen else { return Ok(report) };
    let gateway = &office.app().gateway;
    let history = gateway.store.open_history()?;
    let mut reader = ReportReader::new(&gateway.directory, &entity.id, query.payment_range(), history);
    while !reader.is_at_end() {
        let read = office.read(move |_, cancelled| {
            let started = Instant::now();
            reader.fill_report(&mut report, &mut |_| !cancelled.is_cancelled() && started.elapsed() < TURN)?;
            Ok((reader, report))
        });
        (reader, report) = read.await?;
    }
    Ok(report)
}

/// Adds up the reconciliation records of the days as they are now.
async fn add_up_records(office: &Office, query: &ReportQuery) -> Result<RecordTotals, Failure> {
    let mut totals = RecordTotals::new(None, None);
    let Some(entity) = &query.choice.chosen else { return Ok(totals) };
    let history = office.app().gateway.store.open_history()?;
    let range = RecordRange::between(query.days.from, query.days.to);
    let mut reader = RecordReader::new(Arc::clone(entity), RecordVersion::Latest, range, history);
    while !reader.is_at_end() {
        let read = office.read(move |_, cancelled| {
            let started = Instant::now();
            reader.fill_totals(&mut totals, &mut |_| !cancelled.is_cancelled() && started.elapsed() < TURN)?;
            Ok((reader, totals))
        });
        (reader, totals) = read.await?;
    }
    Ok(totals)
}
