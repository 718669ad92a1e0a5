//! `tillgate review approve`, `cancel` and `pend`: decisions, which the running gateway carries out. The command sends
//! them to its socket.

use anyhow::bail;
use clap::Args;
use serde::Serialize;
use tillgate_domain::review::decision::DecisionType;
use tillgate_domain::review::queue::parse_cancel_reason;
use tillgate_os::process;

use crate::cli::review::{NoteOptions, ReviewTarget};
use crate::control::client::send_request;
use crate::control::message::{ControlAnswer, ControlRequest};

/// Approve a held payment, which executes or captures it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review approve 8a02… --note 'Known customer' --data ./tillgate-data")]
pub(in crate::cli) struct ApprovePayment {
    #[command(flatten)]
    target: ReviewTarget,
    #[command(flatten)]
    note: NoteOptions,
}

/// Cancel a held payment, which declines or reverses it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review cancel 8a02… --reason 7 --data ./tillgate-data")]
pub(in crate::cli) struct CancelPayment {
    #[command(flatten)]
    target: ReviewTarget,
    #[command(flatten)]
    note: NoteOptions,
    /// Numeric reason, of at most nine digits.
    #[arg(long, value_name = "NUMBER", value_parser = parse_reason)]
    reason: u32,
}

/// Keep a payment held, and notify the merchant. The deadline of the review does not change.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review pend 8a02… --note 'Asked the bank' --data ./tillgate-data")]
pub(in crate::cli) struct PendPayment {
    #[command(flatten)]
    target: ReviewTarget,
    #[command(flatten)]
    note: NoteOptions,
}

/// The outcome of a decision.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DecisionOutput {
    payment_id: String,
    decision: &'static str,
    /// The result code of the payment.
    result: String,
    message: String,
}

impl ApprovePayment {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        send_decision(&self.target, DecisionType::Approve, None, self.note.check_note()?)
    }
}

impl CancelPayment {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        send_decision(&self.target, DecisionType::Cancel, Some(self.reason), self.note.check_note()?)
    }
}

impl PendPayment {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        send_decision(&self.target, DecisionType::Pending, None, self.note.check_note()?)
    }
}

/// Sends a decision to the running gateway, and prints the outcome.
fn send_decision(
    target: &ReviewTarget,
    decision: DecisionType,
    reason: Option<u32>,
    note: Option<String>,
) -> anyhow::Result<()> {
    let ReviewTarget { common, analyst, payment } = target;
    let (payment_id, analyst) = (payment.to_string(), analyst.find_analyst());
    let (payment, user) = (payment_id.clone(), process::find_user());
    let request = ControlRequest::DecideReview { payment, decision, analyst, reason, note, user };
    let (result, message) = match send_request(common.place.folder(), &request)? {
        ControlAnswer::Done { result, message } => (result, message),
        ControlAnswer::Refused { message, .. } | ControlAnswer::Failed { message } => bail!("{message}"),
        ControlAnswer::Lines { .. } => bail!("the gateway answered another request"),
    };
    let output = DecisionOutput { payment_id, decision: decision.as_str(), result, message };
    common.print_output(&output, |output| {
        format!("{} {}: {} {}", output.payment_id, output.decision, output.result, output.message)
    })
}

fn parse_reason(text: &str) -> Result<u32, String> {
    parse_cancel_reason(text).map_err(|message| format!("a reason {message}"))
}
