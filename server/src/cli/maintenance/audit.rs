//! `tillgate audit` and `tillgate verify`: the audit log, and the ledger that it contains.

use std::io::Write as _;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};
use serde_json::Value;
use tillgate_domain::access::audit::LogHead;
use tillgate_domain::id::{decode_hex, to_hex};
use tillgate_gateway::settlement::verification::Verification;
use tillgate_store::read::snapshot::StoreSnapshot;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;

/// The audit log: every movement of money and every act of an administrator.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum AuditCommand {
    /// Verify that no entry was changed, removed or inserted.
    #[command(after_help = "Example:\n  tillgate audit verify --head 51244:9f3c…")]
    Verify(VerifyOptions),
    /// Print the entries, oldest first, as one JSON object per line.
    Export(ExportAudit),
}

/// Verify the ledger of the whole store: payments, ledger, settlement lines and balances have to agree to the cent, and
/// no entry of the audit log may have changed. A server may be running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate verify --data ./tillgate-data")]
pub(in crate::cli) struct Verify {
    #[command(flatten)]
    options: VerifyOptions,
}

/// Options of both verifications.
#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyOptions {
    #[command(flatten)]
    common: CommonOptions,
    /// Earlier head of the audit log, from a verification or the log of the server: number of the newest entry at that
    /// time, and digest of all entries up to there. The verification fails if these entries are others, for example
    /// because the whole audit log was rewritten or cut.
    #[arg(long, alias = "entry", value_name = "NUMBER:HASH", value_parser = parse_head)]
    head: Option<LogHead>,
}

/// Print entries of the audit log.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate audit export --entity 8a01… > audit.jsonl")]
pub(in crate::cli) struct ExportAudit {
    #[command(flatten)]
    common: CommonOptions,
    /// Only entries about this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
    /// Only entries after this number.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: i64,
}

/// Parses a head, such as `12:9f3c…`.
fn parse_head(text: &str) -> Result<LogHead, String> {
    let parts = text
        .split_once(':')
        .and_then(|(number, hash)| Some(LogHead { number: number.parse().ok()?, hash: decode_hex(hash)? }));
    parts.ok_or_else(|| "must be a number, a colon and 64 hexadecimal digits".to_owned())
}

impl AuditCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Verify(options) => {
                let snapshot = options.open_snapshot()?;
                options.print_result(&Verification::verify_chains(&snapshot, options.head)?)
            }
            Self::Export(command) => command.run(),
        }
    }
}

impl Verify {
    /// Verifies the ledger, and fails if something is wrong.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let options = self.options;
        let snapshot = options.open_snapshot()?;
        options.print_result(&Verification::verify_ledger(&snapshot, options.head)?)
    }
}

impl VerifyOptions {
    /// Opens a snapshot of the store, after a migration if it needs one. A sealed store needs the vault's key.
    fn open_snapshot(&self) -> anyhow::Result<StoreSnapshot> {
        drop(self.common.place.open_existing()?);
        let snapshot = self.common.place.open_snapshot()?;
        if snapshot.is_sealed()? && snapshot.audit_key().is_none() {
            bail!("the store is sealed: verifying it needs the vault's key (--key-file)");
        }
        Ok(snapshot)
    }

    /// Prints a result. Fails if something is wrong, so that the exit code tells.
    fn print_result(&self, result: &Verification) -> anyhow::Result<()> {
        self.common.print_output(result, format_result)?;
        if !result.is_sound() {
            bail!("{} faults were found", result.fault_count);
        }
        Ok(())
    }
}

impl ExportAudit {
    fn run(self) -> anyhow::Result<()> {
        drop(self.common.place.open_existing()?);
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let history = self.common.place.open_history()?;
        let mut output = std::io::BufWriter::new(std::io::stdout().lock());
        let mut after = self.after;
        loop {
            let entries = history.load_audit_entries(after)?;
            let Some(last) = entries.last() else { break };
            after = last.number;
            for entry in entries.iter().filter(|entry| entity.is_none() || entry.entity == entity) {
                let mut line: Value = serde_json::from_slice(&entry.document)
                    .with_context(|| format!("entry {} is damaged", entry.number))?;
                let fields = line.as_object_mut().ok_or_else(|| anyhow!("entry {} is damaged", entry.number))?;
                fields.insert("number".to_owned(), entry.number.into());
                fields.insert("entityId".to_owned(), entry.entity.as_ref().map(|id| id.as_str()).into());
                fields.insert("hash".to_owned(), to_hex(&entry.hash).into());
                // A closed pipe is not an error.
                if writeln!(output, "{line}").is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Formats a result as text.
fn format_result(result: &Verification) -> String {
    let mut lines = result.faults.clone();
    if result.payments + result.records > 0 {
        lines.push(format!("{} payments and {} settlement lines", result.payments, result.records));
    }
    for (entity, open) in &result.open {
        for (currency, hundredths) in open {
            let (sign, amount) = (if *hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
            lines.push(format!("{entity}  not settled: {sign}{}.{:02} {currency}", amount / 100, amount % 100));
        }
    }
    if !result.not_verified.is_empty() {
        let tables: Vec<&str> = result.not_verified.keys().copied().collect();
        lines.push(format!("not verified, because nothing lasting depends on them: {}", tables.join(", ")));
    }
    lines.extend(result.without_seal.map(str::to_owned));
    lines.extend(result.accepted.iter().cloned());
    if result.without_key > 0 {
        lines.push(format!("{} entries are from before the store was sealed", result.without_key));
    }
    let verdict = if result.is_sound() { "sound" } else { "not sound" };
    lines.push(format!("{} entries, {verdict}; the head is {}:{}", result.entries, result.last, result.hash));
    lines.join("\n")
}
