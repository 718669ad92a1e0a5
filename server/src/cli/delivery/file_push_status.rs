//! `tillgate file-push list`, `status` and `retry`: the servers, and the deliveries of files to them.

use clap::Args;
use jiff::civil::Date;
use tillgate_store::delivery::file_delivery::DeliveryStatus;
use tillgate_store::delivery::file_push::PushTargetInfo;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;

/// List the servers that files are pushed to.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate file-push list --data ./tillgate-data --json")]
pub(in crate::cli) struct ListPushTargets {
    #[command(flatten)]
    common: CommonOptions,
    /// Only the server of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Show the deliveries of an entity's files, the latest day first.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate file-push status --data ./tillgate-data --entity 8a01… --limit 7")]
pub(in crate::cli) struct ShowPushStatus {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Maximum number of days.
    #[arg(long, default_value_t = 31)]
    limit: u32,
}

/// Resend files at once.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate file-push retry --data ./tillgate-data --entity 8a01… --day 2026-10-01")]
pub(in crate::cli) struct RetryPushes {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Only the file of this day, even if it was sent. Default: all waiting and failed files.
    #[arg(long)]
    day: Option<Date>,
}

impl ListPushTargets {
    /// Prints the servers of an entity, or of all, without passwords and keys.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let targets = administration.load_push_targets(entity.as_ref())?;
        self.common.print_output(&targets, |targets| targets.iter().map(format_target).collect::<Vec<_>>().join("\n"))
    }
}

/// Formats a server as a line of `file-push list`.
fn format_target(target: &PushTargetInfo) -> String {
    let PushTargetInfo { entity_id, url, waiting, failed, .. } = target;
    format!("{entity_id}  {url}  waiting {waiting}  failed {failed}")
}

impl ShowPushStatus {
    /// Prints the latest deliveries.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = parse_entity_id(&self.entity)?;
        let deliveries = administration.load_push_deliveries(&entity, self.limit)?;
        self.common.print_output(&deliveries, |deliveries| {
            deliveries.iter().map(format_delivery).collect::<Vec<_>>().join("\n")
        })
    }
}

/// Formats a delivery as a line of `file-push status`.
fn format_delivery(delivery: &DeliveryStatus) -> String {
    let DeliveryStatus { day, state, failures, sent, next, fault, .. } = delivery;
    let fault = fault.as_deref().unwrap_or_default();
    match (state, sent, next) {
        (&"sent", Some(sent), _) => format!("{day}  {state:<7}  {sent:.0}"),
        (_, _, Some(next)) => format!("{day}  {state:<7}  failures {failures}  next {next:.0}  {fault}"),
        _ => format!("{day}  {state:<7}  failures {failures}  {fault}"),
    }
    .trim_end()
    .to_owned()
}

impl RetryPushes {
    /// Queues files to be sent at once by a running server. Sends nothing itself.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = parse_entity_id(&self.entity)?;
        let files = administration.retry_pushes(&entity, self.day)?;
        let output = serde_json::json!({ "entityId": entity, "files": files });
        self.common.print_output(&output, |_| format!("{files} files are sent again"))
    }
}
