//! `tillgate review-callback failed, resubmit, delete and log`: callbacks that were not delivered, and the log.

use clap::Args;
use serde::Serialize;
use tillgate_store::review::failed_callbacks::{CallbackAuditEntry, FailedCallback};

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::delivery::webhook::format_delivery;
use crate::cli::review::callback::ActorOptions;

/// List the callbacks whose delivery failed, oldest first.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback failed --data ./tillgate-data --entity 8a01… --json")]
pub(in crate::cli) struct ListFailedCallbacks {
    #[command(flatten)]
    common: CommonOptions,
    /// Only callbacks of this entity's configuration.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Resend a callback of the failed list, with all its retries. If it fails again, it can only be deleted.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback resubmit --data ./tillgate-data --message 8a03…")]
pub(in crate::cli) struct ResubmitCallback {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    actor: ActorOptions,
    /// The message's id, as `review-callback failed` shows it.
    #[arg(long, value_name = "MESSAGE_ID")]
    message: String,
}

/// Delete a callback of the failed list. The callback log keeps its transaction id.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback delete --data ./tillgate-data --message 8a03…")]
pub(in crate::cli) struct DeleteCallback {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    actor: ActorOptions,
    /// The message's id, as `review-callback failed` shows it.
    #[arg(long, value_name = "MESSAGE_ID")]
    message: String,
}

/// Show the delivery attempts of the last 31 days and the waiting callbacks, or the callback log with --audit.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review-callback log --data ./tillgate-data --entity 8a01… --limit 20")]
pub(in crate::cli) struct ShowCallbackLog {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity that has the configuration.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Show the callback log: changes of the configuration and of the failed list, with their authors.
    #[arg(long)]
    audit: bool,
    /// Maximum number of lines.
    #[arg(long, default_value_t = 100)]
    limit: u32,
}

/// A changed message in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageOutput {
    message_id: String,
}

impl ListFailedCallbacks {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let failed = administration.load_failed_callbacks(entity.as_ref())?;
        self.common.print_output(&failed, |failed| failed.iter().map(format_failed).collect::<Vec<_>>().join("\n"))
    }
}

impl ResubmitCallback {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        self.common.open_administration()?.resubmit_callback(&self.message, self.actor.name())?;
        let output = MessageOutput { message_id: self.message };
        self.common.print_output(&output, |output| format!("{} is sent again", output.message_id))
    }
}

impl DeleteCallback {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        self.common.open_administration()?.delete_failed_callback(&self.message, self.actor.name())?;
        let output = MessageOutput { message_id: self.message };
        self.common.print_output(&output, |output| format!("{} is deleted", output.message_id))
    }
}

impl ShowCallbackLog {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = parse_entity_id(&self.entity)?;
        if self.audit {
            let lines = administration.load_callback_audit(&entity, self.limit)?;
            return self
                .common
                .print_output(&lines, |lines| lines.iter().map(format_audit).collect::<Vec<_>>().join("\n"));
        }
        let lines = administration.load_callback_log(&entity, self.limit)?;
        self.common.print_output(&lines, |lines| lines.iter().map(format_delivery).collect::<Vec<_>>().join("\n"))
    }
}

fn format_failed(failed: &FailedCallback) -> String {
    let outcome = match (failed.status, &failed.fault) {
        (Some(status), _) => status.to_string(),
        (None, Some(fault)) => fault.clone(),
        (None, None) => "no delivery attempt".to_owned(),
    };
    let resubmitted = if failed.resubmitted { "  sent again already" } else { "" };
    format!(
        "{}  {:.0}  {}  {:<7}  {outcome}{resubmitted}",
        failed.message_id, failed.failed, failed.transaction_id, failed.decision
    )
}

fn format_audit(entry: &CallbackAuditEntry) -> String {
    let about = [&entry.message_id, &entry.detail].into_iter().flatten().cloned().collect::<Vec<_>>().join("  ");
    format!("{:.0}  {:<8}  {}  {about}", entry.at, entry.action, entry.actor).trim_end().to_owned()
}
