//! `tillgate risk dry-run`: replays stored payments with a version of risk rules, or with a file that is not stored.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::risk::dry_run::DEFAULT_EXAMPLES;
use tillgate_gateway::administration::Administration;
use tillgate_gateway::risk::dry_run::{DryRun, DryRunProgress, DryRunRequest};
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_os::process::{BACKGROUND, lower_priority};
use tillgate_risk::RuleSet;
use tillgate_shared::parameter::Parameters;
use tillgate_store::entity_directory::Directory;

use crate::cli::access::token::parse_entity_id;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::risk::dry_run_output::format_report;
use crate::cli::risk::fact_files::RiskFileOptions;
use crate::cli::risk::rules_file::load_rules;
use crate::cli::{CommonOptions, describe_refusal};

/// Length of the progress bar: tenths of a percent.
const BAR_LENGTH: u32 = 1_000;

/// Replay stored payments with a version, and report its decisions. Nothing is changed.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate risk dry-run --entity 8a01… 0123456789abcdef --from 2026-10-01 --to 2026-10-31\n  \
    tillgate risk dry-run --entity 8a01… rules.toml --from 2026-10-31T18:00:00 --to 2026-10-31T23:59:59 --json\n\n\
    It covers the entity and the entities below it, except entities with an active version.\n\
    It pauses for seven eighths of the time, so that it does not slow down a running server."
)]
pub(in crate::cli) struct DryRunRules {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    #[command(flatten)]
    files: RiskFileOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Version, from `risk versions`, or a rules file.
    #[arg(value_name = "VERSION|FILE")]
    rules: String,
    /// First day or time in UTC: 2026-10-01 or 2026-10-01T12:00:00.
    #[arg(long, value_name = "DATE|TIME")]
    from: String,
    /// Last day or time in UTC, inclusive.
    #[arg(long, value_name = "DATE|TIME")]
    to: String,
    /// Number of example payments for each kind of change, 0 to 20.
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_EXAMPLES)]
    examples: usize,
    /// Run without pauses, which may slow down the payments of a running server.
    #[arg(long)]
    full_speed: bool,
}

impl DryRunRules {
    /// Replays the payments and prints the report. Shows a progress bar if the standard error stream is a terminal.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let request = self.parse_request()?;
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let rules = self.load_rules(&administration, &entity)?;
        let directory = Directory::new(compile_stored_rules);
        directory.risk.set_operator_lists(self.files.load_lists()?);
        administration.fill_directory(&directory)?;
        let account_index = administration.load_account_index_key()?;
        drop(administration);
        let dry_run = DryRun {
            entity: entity.id,
            rules: Arc::new(rules),
            request,
            directory: Arc::new(directory),
            history: self.common.place.open_history()?,
            account_index,
            full_speed: self.full_speed,
        };
        if !self.full_speed {
            lower_priority(BACKGROUND);
        }
        // It draws nothing if the standard error stream is no terminal.
        let bar = ProgressBar::new(BAR_LENGTH.into())
            .with_style(ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {elapsed_precise}")?);
        let report = dry_run.run(&mut |progress| show_progress(&bar, progress));
        bar.finish_and_clear();
        let report = report?.context("the dry run was cancelled")?;
        self.common.print_output(&report, format_report)
    }

    /// Reads the period and the number of examples. An error names the option.
    fn parse_request(&self) -> anyhow::Result<DryRunRequest> {
        let parameters: Parameters = [("date.from", &*self.from), ("date.to", &*self.to)].into_iter().collect();
        let examples = self.examples.to_string();
        let own: Parameters = [("examples", &*examples)].into_iter().collect();
        DryRunRequest::from_parameters(&parameters, &own).map_err(|refusal| describe_refusal(&refusal))
    }

    /// Loads the version of the entity, or the file.
    fn load_rules(&self, administration: &Administration, entity: &Entity) -> anyhow::Result<RuleSet> {
        let is_version = self.rules.len() == 16 && self.rules.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_version {
            return Ok(load_rules(&self.common, Path::new(&self.rules))?.1);
        }
        Ok(administration.load_rule_set(&entity.id, &self.rules)?)
    }
}

fn show_progress(bar: &ProgressBar, progress: DryRunProgress) -> ControlFlow<()> {
    // The fraction is between 0 and 1, so the position fits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let position = (progress.fraction * f64::from(BAR_LENGTH)) as u64;
    bar.set_position(position);
    bar.set_message(format!("{} payments", progress.payments));
    ControlFlow::Continue(())
}
