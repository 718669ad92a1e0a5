//! `tillgate line`: the lines of the running gateway to acquirers that speak ISO 8583.

use anyhow::bail;
use clap::{Args, Subcommand};

use super::CommonOptions;
use crate::cli::table::to_printable;
use crate::control::client::send_request;
use crate::control::message::{ControlAnswer, ControlRequest, LineOutput};

/// Lines to acquirers.
#[derive(Debug, Subcommand)]
pub(super) enum LineCommand {
    /// List the lines with their state, and what they have sent since the start of the gateway.
    List(ListLines),
    /// Take a line out: it finishes its requests, and others get the payments.
    TakeOut(TakeLineOut),
    /// Put a line back that was taken out.
    PutBack(PutLineBack),
}

/// List the lines with their state, and what they have sent since the start of the gateway.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate line list --data ./tillgate-data")]
pub(super) struct ListLines {
    #[command(flatten)]
    common: CommonOptions,
}

/// Take a line out: it finishes its requests, and others get the payments.
///
/// A payment that no other line takes is declined. The line is back after a restart of the gateway.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate line take-out first --data ./tillgate-data")]
pub(super) struct TakeLineOut {
    #[command(flatten)]
    common: CommonOptions,
    /// Name of the line.
    #[arg(value_name = "LINE")]
    line: String,
}

/// Put a line back that was taken out.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate line put-back first --data ./tillgate-data")]
pub(super) struct PutLineBack {
    #[command(flatten)]
    common: CommonOptions,
    /// Name of the line.
    #[arg(value_name = "LINE")]
    line: String,
}

impl LineCommand {
    /// Runs the command.
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::List(ListLines { common }) => print_lines(&common, &ControlRequest::ListLines),
            Self::TakeOut(TakeLineOut { common, line }) => {
                record_act(&common, "line take-out", &line)?;
                print_lines(&common, &ControlRequest::TakeLineOut { line })
            }
            Self::PutBack(PutLineBack { common, line }) => {
                record_act(&common, "line put-back", &line)?;
                print_lines(&common, &ControlRequest::PutLineBack { line })
            }
        }
    }
}

/// Writes an act into the audit log, before it is done: the server may end before it answers.
///
/// # Errors
/// If no server is running, or it has no such line.
fn record_act(common: &CommonOptions, action: &'static str, line: &str) -> anyhow::Result<()> {
    let answer = send_request(common.place.folder(), &ControlRequest::ListLines)?;
    let is_known = matches!(answer, ControlAnswer::Lines { lines } if lines.iter().any(|known| known.name == line));
    if !is_known {
        bail!("the gateway has no line {line:?}: `tillgate line list` shows all");
    }
    Ok(common.place.open_existing()?.record_line_act(action, line)?)
}

/// Sends a request to the running gateway, and prints the lines in its answer.
fn print_lines(common: &CommonOptions, request: &ControlRequest) -> anyhow::Result<()> {
    match send_request(common.place.folder(), request)? {
        ControlAnswer::Lines { lines } => common.print_output(&lines, |lines| format_lines(lines)),
        ControlAnswer::Refused { message, .. } | ControlAnswer::Failed { message } => bail!("{message}"),
        ControlAnswer::Done { message, .. } => bail!("the gateway gave another answer: {message}"),
    }
}

fn format_lines(lines: &[LineOutput]) -> String {
    if lines.is_empty() {
        return "no lines: `tillgate serve --acquirer-lines FILE` has some".to_owned();
    }
    lines.iter().map(format_line).collect::<Vec<_>>().join("\n")
}

fn format_line(line: &LineOutput) -> String {
    let LineOutput { name, address, phase, since, in_flight, sent, answered, late, failed, .. } = line;
    let mut text = format!(
        "{}  {}  {phase} since {since:.0}\n  {in_flight} in flight, {sent} sent, {answered} answered, {late} late, {failed} unknown",
        to_printable(name),
        to_printable(address),
    );
    if let Some(time) = line.last_answer {
        text.push_str(&format!("\n  latest answer {time:.0}"));
    }
    if let Some(error) = &line.last_error {
        text.push_str(&format!("\n  latest error: {}", to_printable(error)));
    }
    text
}
