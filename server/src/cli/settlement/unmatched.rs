//! `tillgate settlement unmatched`, `match` and `reject`: lines of imported files without a payment.

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde::Serialize;
use tillgate_domain::id::{PaymentId, RecordId};
use tillgate_domain::report::format_hundredths;
use tillgate_domain::settlement::reconciliation::{MatchingStatus, ReconciliationRecord};
use tillgate_gateway::settlement::file_import::unmatched::{LineDecision, MatchCandidate};
use tillgate_os::process;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::table::to_printable;

/// Largest number of lines of a list.
const MAX_LINES: usize = 1000;

/// List the unmatched lines, oldest first, with the payments that they name.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate settlement unmatched --entity 8a01…")]
pub(in crate::cli) struct ListUnmatched {
    #[command(flatten)]
    common: CommonOptions,
    /// Id of the merchant or division for which the files were imported, or of an entity above it. Default: all.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
    /// Record after which the list begins: the last record of the previous list.
    #[arg(long, value_name = "RECORD")]
    after: Option<String>,
    /// The maximum number of lines, at most 1000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_limit)]
    limit: usize,
}

/// Match a line with its payment. Several payments are possible if their open amounts add up to the line's amount.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate settlement match --record 8a05… --payment 8a02…")]
pub(in crate::cli) struct MatchLine {
    #[command(flatten)]
    common: CommonOptions,
    /// The id of the record.
    #[arg(long, value_name = "RECORD")]
    record: String,
    /// The id of the payment. Repeat the option for several payments.
    #[arg(long = "payment", value_name = "PAYMENT", required = true, num_args = 1..)]
    payments: Vec<String>,
}

/// Reject a line, so that it settles no payment and moves no money.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate settlement reject --record 8a05… --reason 'Payment of another gateway'")]
pub(in crate::cli) struct RejectLine {
    #[command(flatten)]
    common: CommonOptions,
    /// The id of the record.
    #[arg(long, value_name = "RECORD")]
    record: String,
    /// The reason, for the audit log.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UnmatchedOutput {
    lines: Vec<LineOutput>,
    /// The value of `--after` for the next list.
    next: Option<String>,
}

/// A line of a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineOutput {
    record_id: String,
    status: Option<&'static str>,
    institute: String,
    entity_id: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    reference: Option<String>,
    record_type: &'static str,
    transaction_type: &'static str,
    cashflow: &'static str,
    amount: String,
    currency: &'static str,
    settlement_date: String,
    value_date: Option<String>,
    connector_tx_id: Option<String>,
    payment_id: Option<String>,
    merchant_transaction_id: Option<String>,
    rejected: Option<String>,
    /// The payments with which it is matched.
    payments: Vec<String>,
    candidates: Vec<CandidateOutput>,
}

/// A payment that a line may be about.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CandidateOutput {
    payment_id: String,
    entity_id: String,
    payment_type: &'static str,
    amount: String,
    currency: &'static str,
    /// The part of the amount that no line has settled.
    open: String,
    /// The reason why the line does not settle it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mismatch: Option<&'static str>,
}

fn parse_limit(text: &str) -> Result<usize, String> {
    let limit = text.parse().ok().filter(|limit| (1..=MAX_LINES).contains(limit));
    limit.ok_or_else(|| format!("must be a number from 1 to {MAX_LINES}"))
}

fn parse_record(text: &str) -> anyhow::Result<RecordId> {
    RecordId::parse(text).ok_or_else(|| anyhow!("--record must be the id of a record"))
}

impl ListUnmatched {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = match &self.entity {
            Some(entity) => Some(administration.load_entity(&parse_entity_id(entity)?)?),
            None => None,
        };
        let after = self.after.as_deref().map(|id| RecordId::parse(id).context("--after must be the id of a record"));
        let found = administration.load_unmatched_lines(entity.as_ref(), after.transpose()?.as_ref(), self.limit)?;
        let next = found.last().filter(|_| found.len() == self.limit).map(|(record, _)| record.id.to_string());
        let describe = |(record, candidates): &(ReconciliationRecord, Vec<MatchCandidate>)| LineOutput {
            candidates: candidates.iter().map(describe_candidate).collect(),
            ..describe_line(record)
        };
        let lines = found.iter().map(describe).collect();
        self.common.print_output(&UnmatchedOutput { lines, next }, format_list)
    }
}

impl MatchLine {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let record = parse_record(&self.record)?;
        let parse = |id: &String| PaymentId::parse(id).context("--payment must be the id of a payment");
        let payments: Vec<PaymentId> = self.payments.iter().map(parse).collect::<Result<_, _>>()?;
        let administration = self.common.open_administration()?;
        let decision = administration.match_line(&record, &payments, &process::describe_user())?;
        print_decision(&self.common, &decision)
    }
}

impl RejectLine {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let record = parse_record(&self.record)?;
        let administration = self.common.open_administration()?;
        let decision = administration.reject_line(&record, &self.reason, &process::describe_user())?;
        print_decision(&self.common, &decision)
    }
}

fn print_decision(common: &CommonOptions, decision: &LineDecision) -> anyhow::Result<()> {
    common.print_output(&describe_line(&decision.record), |line| {
        let state = match (&line.rejected, line.payments.as_slice()) {
            (Some(reason), _) => format!("is rejected: {reason}"),
            (None, payments) => format!("is matched with {}", payments.join(", ")),
        };
        let repeated = if decision.is_new { "" } else { " (nothing changes)" };
        format!("{} {state}{repeated}", line.record_id)
    })
}

fn describe_line(record: &ReconciliationRecord) -> LineOutput {
    let import = record.import.as_ref();
    let matched = record.matching.as_ref().filter(|matching| matching.status == MatchingStatus::Matched);
    LineOutput {
        record_id: record.id.to_string(),
        status: record.matching.as_ref().map(|matching| matching.status.as_str()),
        institute: record.institute.name.clone(),
        entity_id: import.map(|import| import.entity.to_string()),
        file: import.map(|import| import.file.clone()),
        line: import.map(|import| import.line),
        reference: import.and_then(|import| import.reference.clone()),
        record_type: record.record_type.as_str(),
        transaction_type: record.transaction_type.as_str(),
        cashflow: record.settlement.cashflow.as_str(),
        amount: record.amount.to_string(),
        currency: record.amount.currency().code(),
        settlement_date: record.settlement.date.to_string(),
        value_date: import.and_then(|import| import.value_date).map(|day| day.to_string()),
        connector_tx_id: record.institute.tx_ids.first().cloned().flatten(),
        payment_id: import.and_then(|import| import.payment.as_ref()).map(ToString::to_string),
        merchant_transaction_id: record.merchant_transaction_id.clone(),
        rejected: import.and_then(|import| import.rejected.as_ref()).map(|rejected| rejected.reason.clone()),
        payments: matched.iter().flat_map(|matching| &matching.payments).map(ToString::to_string).collect(),
        candidates: Vec::new(),
    }
}

fn describe_candidate(candidate: &MatchCandidate) -> CandidateOutput {
    let payment = &candidate.payment;
    CandidateOutput {
        payment_id: payment.id.to_string(),
        entity_id: payment.entity.to_string(),
        payment_type: payment.payment_type.code(),
        amount: payment.amount.to_string(),
        currency: payment.amount.currency().code(),
        open: format_hundredths(i128::from(candidate.open)),
        mismatch: candidate.mismatch,
    }
}

/// Formats the unmatched lines as text.
fn format_list(output: &UnmatchedOutput) -> String {
    if output.lines.is_empty() {
        return "no unmatched lines".to_owned();
    }
    let mut lines = Vec::new();
    for line in &output.lines {
        let names = [&line.connector_tx_id, &line.payment_id, &line.merchant_transaction_id];
        let names = names.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        lines.push(to_printable(&format!(
            "{}  {}  {} {} {}  {} {}  {}, line {}  {names}",
            line.record_id,
            line.status.unwrap_or_default(),
            line.record_type,
            line.transaction_type,
            line.settlement_date,
            line.amount,
            line.currency,
            line.institute,
            line.line.unwrap_or_default()
        )));
        for candidate in &line.candidates {
            let mismatch = candidate.mismatch.map(|mismatch| format!("  {mismatch}")).unwrap_or_default();
            lines.push(format!(
                "    {}  {} {} {}, open {}{mismatch}",
                candidate.payment_id, candidate.payment_type, candidate.amount, candidate.currency, candidate.open
            ));
        }
    }
    lines.extend(output.next.as_ref().map(|next| format!("more: --after {next}")));
    lines.join("\n")
}
