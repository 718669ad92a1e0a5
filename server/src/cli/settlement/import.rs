//! `tillgate settlement import`: settlement files of clearing institutes.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, ValueEnum};
use tillgate_domain::settlement::file_format::FileMapping;
use tillgate_gateway::settlement::file_import::{FileSource, ImportRequest, ImportSummary, ReportedFault};
use tillgate_os::process;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::input_file::read_input_file;

/// Largest size of a mapping, in bytes.
const MAX_MAPPING: u64 = 1024 * 1024;

/// Import a settlement file of a clearing institute: each line becomes a reconciliation record, is matched with its
/// payment, and moves its money. Importing a file again changes nothing. A server may be running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate settlement import payout.csv --institute 'Acme Clearing' --entity 8a01… \
    --mapping acme.toml --on-error skip")]
pub(in crate::cli) struct ImportFile {
    #[command(flatten)]
    common: CommonOptions,
    /// The file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the institute, which identifies its files and lines.
    #[arg(long, value_name = "NAME")]
    institute: String,
    /// Id of the merchant or division whose payments the file settles.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Mapping of the institute's columns and formats. Default: the documented format.
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Treatment of an invalid line: import nothing, or skip the line.
    #[arg(long, value_name = "ACTION", value_enum, default_value = "stop")]
    on_error: ErrorAction,
    /// Show the result without importing the file.
    #[arg(long)]
    dry_run: bool,
}

/// Treatment of a file with broken lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ErrorAction {
    Stop,
    Skip,
}

impl ImportFile {
    /// Imports the file. Fails after the output if a broken line has stopped the import.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let mapping = match &self.mapping {
            Some(path) => read_mapping(path)?,
            None => FileMapping::documented(),
        };
        let name = self.file.display();
        let file = File::open(&self.file).with_context(|| format!("cannot read {name}"))?;
        // The file is read more than once.
        ensure!(file.metadata()?.is_file(), "{name} is no regular file");
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let request = ImportRequest {
            file: FileSource::File(&file),
            institute: &self.institute,
            entity: &entity,
            mapping: &mapping,
            skips_broken: self.on_error == ErrorAction::Skip,
            is_dry_run: self.dry_run,
            actor: &process::describe_user(),
        };
        let summary = administration.import_settlement_file(&request).map_err(|error| anyhow!("{name}: {error}"))?;
        self.common.print_output(&summary, format_summary)?;
        if summary.stopped {
            bail!("{name}: {} broken lines, so nothing was taken", summary.broken);
        }
        Ok(())
    }
}

/// Reads a mapping.
fn read_mapping(path: &Path) -> anyhow::Result<FileMapping> {
    let name = path.display();
    let text = read_input_file(path, MAX_MAPPING)?;
    FileMapping::parse(&text).map_err(|error| anyhow!("{name}: {error}"))
}

/// Formats the result as text.
fn format_summary(summary: &ImportSummary) -> String {
    if summary.already_imported {
        return format!("the file was imported before, so nothing changes (SHA-256 {})", summary.file);
    }
    let mut lines: Vec<String> = summary.errors.iter().map(format_fault).collect();
    let unlisted = summary.broken.saturating_sub(summary.errors.len() as u64);
    if unlisted > 0 {
        lines.push(format!("{unlisted} more broken lines"));
    }
    if summary.stopped {
        return lines.join("\n");
    }
    for difference in &summary.differences {
        let (amount, whole, currency) = (&difference.amount, &difference.payment_amount, difference.currency);
        let (line, payment) = (difference.line, &difference.payment_id);
        lines.push(format!("line {line}: {amount} {currency} of {whole} {currency}, payment {payment}"));
    }
    for line in &summary.changed_lines {
        lines.push(format!("line {line}: was imported before with different content, and is not changed"));
    }
    let ImportSummary { records, matched, multiple_matches, not_matched, known, broken, .. } = summary;
    let written = if summary.dry_run { "would be written" } else { "written" };
    lines.push(format!(
        "{} lines: {records} records {written}, {known} known before, {broken} broken, {} ignored",
        summary.lines, summary.ignored
    ));
    lines.push(format!("{matched} matched, {multiple_matches} with multiple matches, {not_matched} not matched"));
    if summary.chargebacks + summary.chargeback_reversals > 0 {
        lines.push(format!("{} chargebacks and {} reversals made", summary.chargebacks, summary.chargeback_reversals));
    }
    if summary.double_payouts > 0 {
        lines.push(format!("{} chargebacks are double payouts: they were refunded as well", summary.double_payouts));
    }
    lines.join("\n")
}

fn format_fault(fault: &ReportedFault) -> String {
    let field = fault.field.map(|field| format!("{field} ")).unwrap_or_default();
    format!("line {}: {field}{}", fault.line, fault.message)
}
