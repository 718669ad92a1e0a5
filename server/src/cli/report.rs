//! `tillgate report`: totals of payments, the authorization rate, and chargebacks, as a table with a chart, as CSV, as
//! JSON, and as a picture.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde_json::{Map, Value};
use tillgate_shared::parameter::Parameters;

use super::report_chart::{draw_svg, format_table};
use super::risk_versions::load_entity_argument;
use super::{CommonOptions, describe_refusal, open_existing};
use crate::directory::Directory;
use crate::domain::query::PaymentRange;
use crate::domain::report::{AuthorizationReport, ChargebackReport, PaymentReport, TotalsColumns, TotalsReport};
use crate::domain::report_table::ReportTable;
use crate::gateway::Failure;
use crate::gateway::report::ReportReader;
use crate::store::{AdminStore, lower_priority};

/// Subcommands of `tillgate report`.
#[derive(Debug, Subcommand)]
pub(super) enum ReportCommand {
    /// Add up payments by day, brand, payment type and result, for each currency.
    Totals(ReportTotals),
    /// Show the authorization rate by brand, and the reasons of declines.
    #[command(
        after_help = "Example:\n  tillgate report authorizations 8a01… --from 2026-10-01 --to 2026-10-31 --svg authorizations.svg"
    )]
    Authorizations(ReportOptions),
    /// Show chargebacks beside the payments that were charged, and their reasons.
    #[command(
        after_help = "Example:\n  tillgate report chargebacks 8a01… --from 2026-10-01 --to 2026-10-31 --svg chargebacks.svg"
    )]
    Chargebacks(ReportOptions),
}

/// Options of `tillgate report totals`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate report totals 8a01… --from 2026-10-01 --to 2026-10-31 --group-by day")]
pub(super) struct ReportTotals {
    #[command(flatten)]
    report: ReportOptions,
    /// The columns by which totals are divided: a list of day, paymentBrand, paymentType and result. All without it.
    #[arg(long, value_name = "COLUMNS")]
    group_by: Option<String>,
}

/// Options of every report.
#[derive(Debug, Args)]
pub(super) struct ReportOptions {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id. The report includes what is below it.
    #[arg(value_name = "ENTITY")]
    entity: String,
    /// The first day, or a time, in UTC: 2026-10-01 or 2026-10-01T12:00:00.
    #[arg(long, value_name = "DATE|TIME")]
    from: String,
    /// The last day, or a time, in UTC. It is included.
    #[arg(long, value_name = "DATE|TIME")]
    to: String,
    /// Print comma-separated values with a header (RFC 4180).
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Also draw the chart as a picture (SVG) in this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl ReportCommand {
    /// Reads the payments and prints the report. Shows the progress if the standard error stream is a terminal.
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Totals(ReportTotals { report, group_by }) => {
                let columns = TotalsColumns::parse(group_by.as_deref());
                let columns = columns.map_err(|refusal| describe_refusal(&refusal))?;
                report.run(TotalsReport::new(columns))
            }
            Self::Authorizations(options) => options.run(AuthorizationReport::default()),
            Self::Chargebacks(options) => options.run(ChargebackReport::default()),
        }
    }
}

impl ReportOptions {
    /// Fills an empty report and prints it.
    fn run<R: PaymentReport>(self, mut report: R) -> anyhow::Result<()>
    where
        for<'a> ReportTable: From<&'a R>,
    {
        let parameters: Parameters = [("date.from", &*self.from), ("date.to", &*self.to)].into_iter().collect();
        let period = PaymentRange::require_from(&parameters).map_err(|refusal| describe_refusal(&refusal))?;
        let store = open_existing(&self.common.data)?;
        let entity = load_entity_argument(&store, &self.entity)?;
        let directory = Directory::default();
        store.fill_directory(&directory)?;
        drop(store);
        let history = AdminStore::open_history(&self.common.data)?;
        let mut reader = ReportReader::new(&directory, &entity.id, period, history);
        lower_priority();
        // It draws nothing if the standard error stream is no terminal.
        let progress = ProgressBar::new_spinner();
        let filled = reader.fill_report(&mut report, &mut |payments| {
            progress.set_position(payments);
            progress.set_message(format!("{payments} payments"));
            true
        });
        progress.finish_and_clear();
        filled.map_err(describe_failure)?;
        let table = ReportTable::from(&report);
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
