//! `tillgate payment`: the messages between the gateway and external connectors about a payment.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::connector_message::{ConnectorMessage, MessageFault};
use tillgate_store::NumberedMessage;

use super::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::table::to_printable;

/// Payments.
#[derive(Debug, Subcommand)]
pub(super) enum PaymentCommand {
    /// List the requests to an external connector about a payment and its follow-up payments, with their answers.
    Messages(ListMessages),
}

/// List the requests to an external connector about a payment and its follow-up payments, with their answers.
///
/// Card numbers and account numbers are masked. Security codes, expiry dates and proofs of authentication are not
/// stored. The first 20 and the latest 30 messages of each payment are kept.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate payment messages --entity 8a01… 8a02… --data ./tillgate-data")]
pub(super) struct ListMessages {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    place: PaymentPlace,
}

/// A payment, and the entity that has it.
#[derive(Debug, Args)]
pub(super) struct PaymentPlace {
    /// The id of the entity that processed the payment.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The payment's id.
    #[arg(value_name = "PAYMENT")]
    payment: String,
}

impl PaymentPlace {
    /// Parses both ids.
    ///
    /// # Errors
    /// If one of them is none.
    pub(super) fn parse(&self) -> anyhow::Result<(EntityId, PaymentId)> {
        let payment = PaymentId::parse(&self.payment).with_context(|| format!("{} is no payment id", self.payment));
        Ok((parse_entity_id(&self.entity)?, payment?))
    }
}

/// A message of a payment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConnectorMessageOutput {
    payment_id: String,
    number: u32,
    #[serde(flatten)]
    message: ConnectorMessage,
}

impl PaymentCommand {
    /// Runs the command.
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Messages(command) => command.run(),
        }
    }
}

impl ListMessages {
    /// Prints the messages, oldest first.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let (entity, id) = self.place.parse()?;
        let messages = administration.load_connector_messages(&entity, &id)?;
        let output: Vec<_> = messages.into_iter().map(describe_message).collect();
        self.common.print_output(&output, |output| format_messages(output))
    }
}

fn describe_message(found: NumberedMessage) -> ConnectorMessageOutput {
    let NumberedMessage { payment, number, message } = found;
    ConnectorMessageOutput { payment_id: payment.to_string(), number, message }
}

/// Formats messages with their fields, each on a line of its own.
fn format_messages(messages: &[ConnectorMessageOutput]) -> String {
    if messages.is_empty() {
        return "no message to an external connector".to_owned();
    }
    messages.iter().map(format_message).collect::<Vec<_>>().join("\n")
}

fn format_message(output: &ConnectorMessageOutput) -> String {
    let ConnectorMessageOutput { payment_id, number, message } = output;
    let fault = message.fault.as_ref().map(|fault| format!(", {}", describe_fault(fault))).unwrap_or_default();
    let (operation, outcome) = (message.operation.as_str(), message.outcome.as_str());
    let mut lines = vec![
        format!("{:.0}  {payment_id} {number}  {operation}: {outcome}{fault}", message.sent),
        format!("  {} ms, idempotency key {}", message.milliseconds, message.reference),
    ];
    let fields = |name: &str, fields: &[(String, String)]| {
        let fields = fields.iter().map(|(field, value)| format!("  {name}  {field} {value}"));
        fields.collect::<Vec<_>>()
    };
    lines.extend(fields("request", &message.request));
    lines.extend(fields("answer ", &message.answer));
    lines.iter().map(|line| to_printable(line)).collect::<Vec<_>>().join("\n")
}

/// Describes a fault by its name and its detail.
fn describe_fault(fault: &MessageFault) -> String {
    let detail = if fault.detail.is_empty() { String::new() } else { format!(" ({})", fault.detail) };
    format!("{}{detail}", fault.kind.as_str())
}
