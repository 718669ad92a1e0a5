//! `tillgate report`: payments, chargebacks, settlements, fees and reconciliation records, as a table with a chart, as
//! CSV, as JSON, and as a picture.

pub mod chart;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde_json::{Map, Value};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::report::transaction_csv;
use tillgate_domain::report::{AuthorizationReport, ChargebackReport, PaymentReport, TotalsColumns, TotalsReport};
use tillgate_domain::settlement::reconciliation::days::DayRange;
use tillgate_domain::settlement::reconciliation::totals::RecordTotals;
use tillgate_domain::settlement::report::FeeReport;
use tillgate_gateway::Failure;
use tillgate_gateway::report::ReportReader;
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_gateway::settlement::reconciliation::RecordReader;
use tillgate_gateway::settlement::report::read_settlements;
use tillgate_os::process::{BACKGROUND, lower_priority};
use tillgate_shared::parameter::Parameters;
use tillgate_store::PaymentHistory;
use tillgate_store::entity_directory::Directory;
use tillgate_store::settlement::reconciliation::{RecordRange, RecordVersion};

use super::{CommonOptions, describe_refusal};
use crate::cli::access::token::parse_entity_id;
use crate::cli::report::chart::draw_svg;
use crate::cli::report::chart::format_table;

/// Subcommands of `tillgate report`.
#[derive(Debug, Subcommand)]
pub(super) enum ReportCommand {
    /// Print every payment as comma-separated values, oldest first for each entity.
    #[command(
        after_help = "Example:\n  tillgate report transactions --entity 8a01… --from 2026-10-01 --to 2026-10-31 > october.csv"
    )]
    Transactions(ReportTransactions),
    /// Add up payments by day, brand, payment type and result, for each currency.
    Totals(ReportTotals),
    /// Show the authorization rate by brand, and the reasons of declines.
    #[command(
        after_help = "Example:\n  tillgate report authorizations --entity 8a01… --from 2026-10-01 --to 2026-10-31 --svg authorizations.svg"
    )]
    Authorizations(ReportOptions),
    /// Show the chargeback ratio and the reasons of chargebacks.
    #[command(
        after_help = "Example:\n  tillgate report chargebacks --entity 8a01… --from 2026-10-01 --to 2026-10-31 --svg chargebacks.svg"
    )]
    Chargebacks(ReportOptions),
    /// List the settlement batches with their totals.
    #[command(
        after_help = "Example:\n  tillgate report settlements --entity 8a01… --from 2026-10-01 --to 2026-10-31 --svg settlements.svg"
    )]
    Settlements(DayReportOptions),
    /// Add up the fees of settlements by day, transaction type and brand, for each currency.
    #[command(after_help = "Example:\n  tillgate report fees --entity 8a01… --from 2026-10-01 --to 2026-10-31 --csv")]
    Fees(DayReportOptions),
    /// Add up reconciliation records by the day of their file and their type.
    #[command(
        after_help = "Example:\n  tillgate report reconciliations --entity 8a01… --from 2026-10-01 --to 2026-10-31 --json"
    )]
    Reconciliations(DayReportOptions),
}

/// Options of `tillgate report totals`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate report totals --entity 8a01… --from 2026-10-01 --to 2026-10-31 --group-by day"
)]
pub(super) struct ReportTotals {
    #[command(flatten)]
    report: ReportOptions,
    /// Columns by which totals are grouped: a list of day, paymentBrand, paymentType and result. Default: all.
    #[arg(long, value_name = "COLUMNS")]
    group_by: Option<String>,
}

/// Options of `tillgate report transactions`. With `--json`, it prints a list with an object for each payment.
#[derive(Debug, Args)]
pub(super) struct ReportTransactions {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id. The report includes what is below it.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    #[command(flatten)]
    period: Period,
}

/// Options of a report about the payments of a period.
#[derive(Debug, Args)]
pub(super) struct ReportOptions {
    #[command(flatten)]
    output: ReportOutput,
    #[command(flatten)]
    period: Period,
}

/// Options of a report about days of settlements.
#[derive(Debug, Args)]
pub(super) struct DayReportOptions {
    #[command(flatten)]
    output: ReportOutput,
    /// First day, for example 2026-10-01.
    #[arg(long, value_name = "DATE")]
    from: String,
    /// Last day, inclusive.
    #[arg(long, value_name = "DATE")]
    to: String,
}

/// A period of days or of times.
#[derive(Debug, Args)]
struct Period {
    /// First day or time in UTC: 2026-10-01 or 2026-10-01T12:00:00.
    #[arg(long, value_name = "DATE|TIME")]
    from: String,
    /// Last day or time in UTC, inclusive.
    #[arg(long, value_name = "DATE|TIME")]
    to: String,
}

/// The entity of a report, and the form of the output.
#[derive(Debug, Args)]
struct ReportOutput {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id. The report includes what is below it.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Print comma-separated values with a header (RFC 4180).
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Also write the chart as an SVG image to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The source of a report.
struct ReportSource {
    directory: Directory,
    entity: Arc<Entity>,
    history: PaymentHistory,
}

impl ReportCommand {
    /// Reads the payments and prints the report. Shows the progress if the standard error stream is a terminal.
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Transactions(options) => options.run(),
            Self::Totals(ReportTotals { report, group_by }) => {
                let columns = TotalsColumns::parse(group_by.as_deref());
                let columns = columns.map_err(|refusal| describe_refusal(&refusal))?;
                report.run(TotalsReport::new(columns))
            }
            Self::Authorizations(options) => options.run(AuthorizationReport::default()),
            Self::Chargebacks(options) => options.run(ChargebackReport::default()),
            Self::Settlements(options) => options.run(|source, days, _| {
                let report = read_settlements(&source.directory, &source.history, &source.entity.id, days)?;
                Ok(ReportTable::from(&report))
            }),
            Self::Fees(options) => options
                .run(|source, days, progress| Ok((&FeeReport::from(&add_up_records(source, days, progress)?)).into())),
            Self::Reconciliations(options) => {
                options.run(|source, days, progress| Ok((&add_up_records(source, days, progress)?).into()))
            }
        }
    }
}

impl Period {
    fn parse_range(&self) -> anyhow::Result<PaymentRange> {
        let range = PaymentRange::require_from(&period_parameters(&self.from, &self.to));
        range.map_err(|refusal| describe_refusal(&refusal))
    }
}

impl ReportSource {
    /// Opens the data folder for a report of an entity. The command yields to other programs from then on.
    fn open(common: &CommonOptions, entity: &str) -> anyhow::Result<Self> {
        let administration = common.open_administration()?;
        let entity = Arc::new(administration.load_entity(&parse_entity_id(entity)?)?);
        let directory = Directory::new(compile_stored_rules);
        administration.fill_directory(&directory)?;
        drop(administration);
        let history = common.place.open_history()?;
        lower_priority(BACKGROUND);
        Ok(Self { directory, entity, history })
    }
}

impl ReportTransactions {
    /// Prints the payments while they are read.
    fn run(self) -> anyhow::Result<()> {
        let period = self.period.parse_range()?;
        let source = ReportSource::open(&self.common, &self.entity)?;
        let mut reader = ReportReader::new(&source.directory, &source.entity.id, period, source.history);
        let mut output = BufWriter::new(std::io::stdout().lock());
        let printed =
            if self.common.json { print_list(&mut output, &mut reader) } else { print_rows(&mut output, &mut reader) };
        match printed.and_then(|()| Ok(output.flush()?)) {
            // A closed pipe ends the report and is not an error.
            Err(error) if is_closed_pipe(&error) => Ok(()),
            printed => printed,
        }
    }
}

/// Prints payments as CSV with a header.
fn print_rows(output: &mut impl Write, reader: &mut ReportReader) -> anyhow::Result<()> {
    output.write_all(transaction_csv::format_header().as_bytes())?;
    while !reader.is_at_end() {
        output.write_all(&reader.read_rows()?)?;
    }
    Ok(())
}

/// Prints payments as a list of JSON objects.
fn print_list(output: &mut impl Write, reader: &mut ReportReader) -> anyhow::Result<()> {
    output.write_all(b"[")?;
    let mut separator = "";
    while !reader.is_at_end() {
        let mut objects = Vec::new();
        reader.visit_page(&mut |payment| objects.push(transaction_csv::to_object(payment)))?;
        for object in objects {
            write!(output, "{separator}{object}")?;
            separator = ",\n";
        }
    }
    writeln!(output, "]")?;
    Ok(())
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

impl ReportOptions {
    /// Fills an empty report and prints it.
    fn run<R: PaymentReport>(self, mut report: R) -> anyhow::Result<()>
    where
        for<'a> ReportTable: From<&'a R>,
    {
        let period = self.period.parse_range()?;
        self.output.print_report(|source, progress| {
            let mut reader = ReportReader::new(&source.directory, &source.entity.id, period, source.history);
            reader.fill_report(&mut report, &mut |payments| show_progress(progress, payments, "payments"))?;
            Ok(ReportTable::from(&report))
        })
    }
}

impl DayReportOptions {
    /// Makes a report of the days with `read`, and prints it.
    fn run(
        self,
        read: impl FnOnce(ReportSource, DayRange, &ProgressBar) -> Result<ReportTable, Failure>,
    ) -> anyhow::Result<()> {
        let days = DayRange::require_from(&period_parameters(&self.from, &self.to));
        let days = days.map_err(|refusal| describe_refusal(&refusal))?;
        self.output.print_report(|source, progress| read(source, days, progress))
    }
}

impl ReportOutput {
    /// Makes a report with `read`, and prints it.
    fn print_report(
        self,
        read: impl FnOnce(ReportSource, &ProgressBar) -> Result<ReportTable, Failure>,
    ) -> anyhow::Result<()> {
        let source = ReportSource::open(&self.common, &self.entity)?;
        // It draws nothing if the standard error stream is no terminal.
        let progress = ProgressBar::new_spinner();
        let table = read(source, &progress);
        progress.finish_and_clear();
        let table = table.map_err(describe_failure)?;
        if let Some(file) = &self.svg {
            fs::write(file, draw_svg(&table)).with_context(|| format!("cannot write {}", file.display()))?;
        }
        if self.csv {
            // A closed pipe is not an error.
            let _ = std::io::stdout().write_all(table.format_csv().as_bytes());
            return Ok(());
        }
        let rows: Vec<Value> = table.rows.iter().map(|row| row_value(&table, row)).collect();
        self.common.print_output(&rows, |_| format_table(&table))
    }
}

/// Returns the parameters that the same report has over HTTP.
fn period_parameters(from: &str, to: &str) -> Parameters {
    [("date.from", from), ("date.to", to)].into_iter().collect()
}

/// Adds up the records of some days as they are now.
fn add_up_records(source: ReportSource, days: DayRange, progress: &ProgressBar) -> Result<RecordTotals, Failure> {
    let range = RecordRange::between(days.from, days.to);
    let mut reader = RecordReader::new(source.entity, RecordVersion::Latest, range, source.history);
    let mut totals = RecordTotals::new(None, None);
    reader.fill_totals(&mut totals, &mut |records| show_progress(progress, records, "records"))?;
    Ok(totals)
}

/// Shows how much of a report was read. Always returns true: the report goes on.
fn show_progress(progress: &ProgressBar, count: u64, unit: &str) -> bool {
    progress.set_position(count);
    progress.set_message(format!("{count} {unit}"));
    true
}

/// Returns the JSON of a row, without its empty cells. Whole numbers are numbers.
fn row_value(table: &ReportTable, row: &[String]) -> Value {
    let value = |cell: &str| cell.parse::<u64>().map_or_else(|_| Value::from(cell), Value::from);
    let cells = table.header.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
    Value::Object(cells.map(|(name, cell)| ((*name).to_owned(), value(cell))).collect::<Map<_, _>>())
}

/// Returns the error of a report that could not be made.
fn describe_failure(failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Refused(refusal) => describe_refusal(&refusal),
        other => other.into(),
    }
}
