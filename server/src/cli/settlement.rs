//! `tillgate settlement` and `tillgate fx-rate`: the terms by which sandboxes are settled, and rates of exchange. The
//! files of clearing institutes are in [`crate::cli::settlement::import`] and [`crate::cli::settlement::unmatched`].

pub mod import;
pub mod unmatched;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_domain::settlement::SettlementTerms;
use tillgate_gateway::settlement::terms::parse_fx_rates;
use tillgate_store::settlement::StoredBatch;

use super::CommonOptions;
use super::input_file::read_input_file;
use crate::cli::access::token::parse_entity_id;
use crate::cli::settlement::import::ImportFile;
use crate::cli::settlement::unmatched::{ListUnmatched, MatchLine, RejectLine};

/// Largest size of a file with terms, in bytes.
const MAX_TERMS: u64 = 1024 * 1024;
/// Largest size of a file with rates, in bytes.
const MAX_RATES: u64 = 128 * 1024 * 1024;

/// The settlements of sandboxes, and the files of clearing institutes.
#[derive(Debug, Subcommand)]
pub(super) enum SettlementCommand {
    /// Set the terms of an entity from a TOML file: settlement cut-off, currency, fees and reserve.
    Set(SetTerms),
    /// Show the terms of an entity and its latest batches.
    Show(ShowSettlements),
    /// Import a settlement file of a clearing institute.
    Import(ImportFile),
    /// List the lines of imported files that have no payment yet.
    Unmatched(ListUnmatched),
    /// Match a line of an imported file with one or more payments.
    Match(MatchLine),
    /// Reject a line of an imported file, so that it settles no payment.
    Reject(RejectLine),
}

/// Exchange rates.
#[derive(Debug, Subcommand)]
pub(super) enum FxRateCommand {
    /// Add rates from a CSV file with the columns date, from, to and rate.
    Import(ImportRates),
}

/// Set the terms of an entity. They also apply to the entities below it that have no terms.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate settlement set --entity 8a01… --file terms.toml\n\n\
    Example of a file:\n  cut_off = \"18:00\"\n  currency = \"EUR\"\n  reserve = { percent = \"5\", days = 90 }\n\n  \
    [[fee]]\n  on = \"charge\"\n  percent = \"1.4\"\n  fixed = \"0.10\"")]
pub(super) struct SetTerms {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The file.
    #[arg(long, value_name = "FILE", required_unless_present = "default", conflicts_with = "default")]
    file: Option<PathBuf>,
    /// Remove the terms of the entity, so that the terms of the entity above apply.
    #[arg(long)]
    default: bool,
}

/// Show the terms of an entity and its latest batches.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate settlement show --entity 8a01…")]
pub(super) struct ShowSettlements {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Add exchange rates. A rate is the number of units of `to` for one unit of `from`, and applies from its date until
/// the next rate.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate fx-rate import rates.csv\n\n\
    Example of a file:\n  date,from,to,rate\n  2026-11-01,USD,EUR,0.8641")]
pub(super) struct ImportRates {
    #[command(flatten)]
    common: CommonOptions,
    /// The file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SettlementsOutput {
    entity_id: String,
    terms: Option<SettlementTerms>,
    batches: Vec<StoredBatch>,
}

impl SettlementCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Set(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Import(command) => command.run(),
            Self::Unmatched(command) => command.run(),
            Self::Match(command) => command.run(),
            Self::Reject(command) => command.run(),
        }
    }
}

impl FxRateCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Import(command) => command.run(),
        }
    }
}

impl SetTerms {
    /// Stores the terms. They apply from the next batch.
    fn run(self) -> anyhow::Result<()> {
        let terms = match &self.file {
            Some(file) => {
                let text = read_input_file(file, MAX_TERMS)?;
                Some(SettlementTerms::parse(&text).map_err(|error| anyhow!("{}: {error}", file.display()))?)
            }
            None => None,
        };
        let administration = self.common.open_administration()?;
        let entity = administration.set_settlement_terms(&parse_entity_id(&self.entity)?, terms.as_ref())?;
        let output = SettlementsOutput { entity_id: entity.id.to_string(), terms, batches: Vec::new() };
        self.common.print_output(&output, |output| match output.terms {
            Some(_) => format!("{} is settled by these terms from the next batch", output.entity_id),
            None => format!("{} has no terms", output.entity_id),
        })
    }
}

/// Number of batches that are shown.
const SHOWN_BATCHES: u64 = 31;

impl ShowSettlements {
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let history = self.common.place.open_history()?;
        let mut batches = history.load_latest_batches(&entity.id, SHOWN_BATCHES)?;
        batches.reverse();
        let terms = administration.load_settlement_terms(&entity.id)?;
        let output = SettlementsOutput { entity_id: entity.id.to_string(), terms, batches };
        self.common.print_output(&output, format_settlements)
    }
}

/// Formats terms and batches as text.
fn format_settlements(output: &SettlementsOutput) -> String {
    let mut lines = Vec::new();
    match output.terms.as_ref().map(toml::to_string) {
        Some(Ok(terms)) => lines.push(terms),
        _ => lines.push("It has no terms.".to_owned()),
    }
    for batch in &output.batches {
        let net = batch.totals.net();
        let (sign, amount) = (if net < 0 { "-" } else { "" }, net.unsigned_abs());
        let state = if batch.complete { "" } else { "  in progress" };
        let (lines_count, failed) = (batch.totals.lines, batch.totals.failed);
        let failed = if failed == 0 { String::new() } else { format!("  {failed} failed") };
        lines.push(format!(
            "{}  {sign}{}.{:02} {}  {lines_count} lines{failed}{state}",
            batch.day,
            amount / 100,
            amount % 100,
            batch.currency
        ));
    }
    lines.join("\n")
}

impl ImportRates {
    /// Stores all rates of the file, or none if a line is wrong.
    fn run(self) -> anyhow::Result<()> {
        let text = read_input_file(&self.file, MAX_RATES)?;
        let rates = parse_fx_rates(&text, &self.file.display().to_string())?;
        self.common.open_administration()?.save_fx_rates(&rates)?;
        let output = serde_json::json!({ "rates": rates.len() });
        self.common.print_output(&output, |_| format!("{} rates are stored", rates.len()))
    }
}
