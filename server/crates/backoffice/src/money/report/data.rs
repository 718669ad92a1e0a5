//! Numbers of a report, read in turns with other long reads.

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

/// Reads a report, and makes something of its table on a thread for long reads, because a table may have 100,000 rows.
/// Without an entity the table is empty.
///
/// # Errors
/// If the report has too many rows, the store cannot be read, or too many reads wait.
pub(super) async fn read_report<T: Send + 'static>(
    office: &Office,
    kind: ReportKind,
    query: &ReportQuery,
    make: impl FnOnce(ReportTable) -> T + Send + 'static,
) -> Result<T, Failure> {
    match kind {
        ReportKind::Totals => {
            let Some(columns) = query.columns.clone() else { return make_empty(office, make).await };
            let report = TotalsReport::in_zone(columns, query.zone.clone());
            let report = fill_report(office, query, report).await?;
            office.read(move |_, _| Ok(make(ReportTable::from(&report)))).await
        }
        ReportKind::Authorizations => {
            let report = fill_report(office, query, AuthorizationReport::default()).await?;
            office.read(move |_, _| Ok(make(ReportTable::from(&report)))).await
        }
        ReportKind::Chargebacks => {
            let report = fill_report(office, query, ChargebackReport::default()).await?;
            office.read(move |_, _| Ok(make(ReportTable::from(&report)))).await
        }
        ReportKind::Settlements => {
            let Some(entity) = query.choice.chosen.clone() else { return make_empty(office, make).await };
            let days = query.days;
            let read = office.read(move |app, _| {
                let history = app.gateway.store.open_history()?;
                let report = read_settlements(&app.gateway.directory, &history, &entity.id, days)?;
                Ok(make(ReportTable::from(&report)))
            });
            read.await
        }
        ReportKind::Fees => {
            let totals = add_up_records(office, query).await?;
            office.read(move |_, _| Ok(make(ReportTable::from(&FeeReport::from(&totals))))).await
        }
        ReportKind::Reconciliations => {
            let totals = add_up_records(office, query).await?;
            office.read(move |_, _| Ok(make(ReportTable::from(&totals)))).await
        }
    }
}

/// Makes something of a table without rows.
async fn make_empty<T: Send + 'static>(
    office: &Office,
    make: impl FnOnce(ReportTable) -> T + Send + 'static,
) -> Result<T, Failure> {
    office.read(move |_, _| Ok(make(ReportTable::from(&RecordTotals::new(None, None))))).await
}

/// Adds the payments of the period to a report.
async fn fill_report<R: PaymentReport + Send + 'static>(
    office: &Office,
    query: &ReportQuery,
    mut report: R,
) -> Result<R, Failure> {
    let Some(entity) = query.choice.chosen.clone() else { return Ok(report) };
    let range = query.payment_range();
    let open = office.read(move |app, _| {
        let history = app.gateway.store.open_history()?;
        Ok(ReportReader::new(&app.gateway.directory, &entity.id, range, history))
    });
    let mut reader = open.await?;
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
    let Some(entity) = query.choice.chosen.clone() else { return Ok(totals) };
    let range = RecordRange::between(query.days.from, query.days.to);
    let open = office.read(move |app, _| {
        let history = app.gateway.store.open_history()?;
        Ok(RecordReader::new(entity, RecordVersion::Latest, range, history))
    });
    let mut reader = open.await?;
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
