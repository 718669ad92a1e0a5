//! `tillgate review approve`, `cancel` and `pend`: decisions, which a running gateway carries out. The command writes a
//! request into the store and waits for its answer.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use clap::Args;
use serde::Serialize;
use tillgate_domain::id::PaymentId;
use tillgate_domain::review::decision::DecisionType;
use tillgate_domain::review::queue::parse_cancel_reason;
use tillgate_domain::review::request::ReviewAnswer;
use tillgate_gateway::administration::Administration;
use tillgate_gateway::review::administration::DecisionInput;
use tillgate_store::is_served;

use crate::cli::review::{NoteOptions, ReviewTarget};

/// Maximum time to wait for the gateway.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Interval of checks for the answer.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

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
    /// True if the decision waits, because no gateway runs.
    waits: bool,
    /// The result code of the payment.
    result: Option<String>,
    message: String,
}

impl ApprovePayment {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        request_decision(&self.target, DecisionType::Approve, None, self.note.check_note()?)
    }
}

impl CancelPayment {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        request_decision(&self.target, DecisionType::Cancel, Some(self.reason), self.note.check_note()?)
    }
}

impl PendPayment {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        request_decision(&self.target, DecisionType::Pending, None, self.note.check_note()?)
    }
}

/// Requests a decision, waits for its answer and prints it. Without a running gateway it is only requested.
fn request_decision(
    target: &ReviewTarget,
    decision: DecisionType,
    reason: Option<u32>,
    note: Option<String>,
) -> anyhow::Result<()> {
    let ReviewTarget { common, analyst, payment } = target;
    let administration = common.open_administration()?;
    let input = DecisionInput { decision, analyst: analyst.find_analyst(), reason, note };
    administration.request_decision(payment, input)?;
    let answer = match is_served(&common.data)? {
        true => wait_for_answer(&administration, payment)?,
        false => None,
    };
    let output = match answer {
        Some(answer) => {
            ensure!(answer.done, "{}", answer.message);
            DecisionOutput::new(payment, decision, false, answer)
        }
        None => {
            let message = "no gateway is running: the decision is stored, and is executed at the next start if the payment is still held";
            DecisionOutput::new(payment, decision, true, ReviewAnswer::refused(message.to_owned()))
        }
    };
    common.print_output(&output, |output| match &output.result {
        Some(code) => format!("{} {}: {code} {}", output.payment_id, output.decision, output.message),
        None => format!("{} {}: {}", output.payment_id, output.decision, output.message),
    })
}

impl DecisionOutput {
    fn new(payment: &PaymentId, decision: DecisionType, waits: bool, answer: ReviewAnswer) -> Self {
        let ReviewAnswer { message, result, .. } = answer;
        Self { payment_id: payment.to_string(), decision: decision.as_str(), waits, result, message }
    }
}

/// Waits for the answer of the gateway, and deletes the request that has it.
fn wait_for_answer(administration: &Administration, payment: &PaymentId) -> anyhow::Result<Option<ReviewAnswer>> {
    let end = Instant::now() + TIMEOUT;
    while Instant::now() < end {
        if let Some(answer) = administration.take_answer(payment)? {
            return Ok(Some(answer));
        }
        sleep(CHECK_INTERVAL);
    }
    bail!(
        "the gateway has not responded within {} seconds: the decision still waits, and `tillgate review show {payment}` \
         shows its outcome",
        TIMEOUT.as_secs()
    )
}

fn parse_reason(text: &str) -> Result<u32, String> {
    parse_cancel_reason(text).map_err(|message| format!("a reason {message}"))
}
