//! `tillgate webhook`: events about an entity's payments, registrations and risk checks.

use clap::{Args, Subcommand, ValueEnum};
use ipnet::IpNet;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::ip_text;
use tillgate_gateway::delivery::webhook::{CreatedSecret, EventKind, NewWebhook};
use tillgate_net::outgoing::OutgoingClient;
use tillgate_store::delivery::webhook::{DeliveryLogEntry, Webhook};

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::delivery::webhook_rotation::RotateWebhookSecret;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::serve::create_runtime;
use crate::cli::serve::ports::PortOptions;

/// The webhooks of entities.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum WebhookCommand {
    /// Create a webhook. Its key is shown only once, and nothing is sent until `webhook test` succeeds.
    Create(CreateWebhook),
    /// List webhooks, without their keys.
    List(ListWebhooks),
    /// Send a test event, which activates the webhook if the receiver accepts it (2xx).
    Test(TestWebhook),
    /// Rotate a webhook's secret: create the next one, and use it after the receiver has accepted it.
    Rotate(RotateWebhookSecret),
    /// Delete a webhook with its waiting messages.
    Delete(DeleteWebhook),
    /// Show the delivery attempts with their responses, and the waiting messages.
    Log(ShowWebhookLog),
    /// Resend a message, delivered or not.
    Replay(ReplayMessage),
}

/// An [`EventKind`] in the notation of the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "UPPER")]
enum EventType {
    /// Payments and their follow-up payments.
    Payment,
    /// Registrations that are made, changed or deleted.
    Registration,
    /// Schedules, their runs and their ends.
    Schedule,
    /// Risk checks of payments, and the ends of their reviews.
    Risk,
    /// Disputes, their stages and the reminders of their deadlines.
    Dispute,
}

impl From<EventType> for EventKind {
    fn from(kind: EventType) -> Self {
        match kind {
            EventType::Payment => Self::Payment,
            EventType::Registration => Self::Registration,
            EventType::Schedule => Self::Schedule,
            EventType::Risk => Self::Risk,
            EventType::Dispute => Self::Dispute,
        }
    }
}

/// Fields in the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FieldFilter {
    #[value(name = "ALL")]
    All,
    #[value(name = "NON_CUSTOMER_DATA")]
    NonCustomerData,
}

/// Create a webhook for an entity and its channels.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate webhook create --data ./tillgate-data --entity 8a01… --url https://shop.example/events --json"
)]
pub(in crate::cli) struct CreateWebhook {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The entity's id. A merchant's webhook also gets the events of its channels.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Address of the receiver, with http or https.
    #[arg(long)]
    url: String,
    #[command(flatten)]
    ports: PortOptions,
    /// Types of events that are sent, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', ignore_case = true, default_value = "PAYMENT,REGISTRATION")]
    types: Vec<EventType>,
    /// Fields in the events: ALL, or NON_CUSTOMER_DATA without the shopper's data.
    #[arg(long, value_enum, ignore_case = true, default_value = "ALL")]
    fields: FieldFilter,
    /// Send JSON, {"encryptedBody": …}, instead of plain text.
    #[arg(long)]
    wrapper: bool,
}

/// List webhooks.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook list --data ./tillgate-data --json")]
pub(in crate::cli) struct ListWebhooks {
    #[command(flatten)]
    common: CommonOptions,
    /// Only webhooks of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Send a test event.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook test --data ./tillgate-data --webhook 8a02…")]
pub(in crate::cli) struct TestWebhook {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
    /// Network that is not public but allowed for the receiver, as for `serve`. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
}

/// Delete a webhook.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook delete --data ./tillgate-data --webhook 8a02…")]
pub(in crate::cli) struct DeleteWebhook {
    #[command(flatten)]
    common: CommonOptions,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
}

/// Show the delivery attempts of the last 31 days.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook log --data ./tillgate-data --webhook 8a02… --limit 20")]
pub(in crate::cli) struct ShowWebhookLog {
    #[command(flatten)]
    common: CommonOptions,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
    /// Maximum number of lines.
    #[arg(long, default_value_t = 100)]
    limit: u32,
}

/// Resend a message.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook replay --data ./tillgate-data --message 8a03…")]
pub(in crate::cli) struct ReplayMessage {
    #[command(flatten)]
    common: CommonOptions,
    /// Id of the message, from `webhook log`.
    #[arg(long, value_name = "MESSAGE_ID")]
    message: String,
}

/// A webhook in the output of the commands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WebhookOutput {
    webhook_id: String,
    entity_id: String,
    url: String,
    types: String,
    fields: &'static str,
    wrapper: bool,
    active: bool,
    created: Timestamp,
    /// Shown when it is created, and never again.
    #[serde(flatten)]
    secret: Option<SecretOutput>,
    /// True while a rotation is not finished.
    rotating: bool,
}

/// A secret in the output. It is shown only when it is created.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct SecretOutput {
    pub(in crate::cli) key: String,
    pub(in crate::cli) signature_key: String,
    pub(in crate::cli) key_id: String,
}

impl From<CreatedSecret> for SecretOutput {
    fn from(secret: CreatedSecret) -> Self {
        let CreatedSecret { key, signature_key, key_id } = secret;
        Self { key, signature_key, key_id }
    }
}

impl SecretOutput {
    /// Formats the secret as text.
    pub(in crate::cli) fn format_lines(&self) -> String {
        format!("key           {}\nsignatureKey  {}\nkeyId         {}", self.key, self.signature_key, self.key_id)
    }
}

impl WebhookCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Test(command) => command.run(),
            Self::Rotate(command) => command.run(),
            Self::Delete(command) => command.run(),
            Self::Log(command) => command.run(),
            Self::Replay(command) => command.run(),
        }
    }
}

impl CreateWebhook {
    /// Creates an inactive webhook, and prints it with its secret.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let new = NewWebhook {
            entity: parse_entity_id(&self.entity)?,
            url: self.url,
            kinds: self.types.into_iter().map(EventKind::from).collect(),
            without_customer: self.fields == FieldFilter::NonCustomerData,
            wrapped: self.wrapper,
        };
        let (webhook, secret) = administration.create_webhook(new, &self.ports.allowed_ports())?;
        let created = WebhookOutput { secret: Some(secret.into()), ..describe_webhook(&webhook) };
        self.common.print_output(&created, |created| {
            let secret = created.secret.as_ref().map(SecretOutput::format_lines).unwrap_or_default();
            format!(
                "webhookId     {}\n{secret}\n\nThe keys are shown only once. Give them to the receiver, then: tillgate webhook test",
                created.webhook_id
            )
        })
    }
}

impl ListWebhooks {
    /// Prints the webhooks of an entity, or of all, without their secrets.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let webhooks = administration.load_webhooks(entity.as_ref())?;
        let webhooks: Vec<WebhookOutput> = webhooks.iter().map(describe_webhook).collect();
        self.common.print_output(&webhooks, |webhooks| {
            let lines = webhooks.iter().map(|webhook| {
                let state = match (webhook.active, webhook.rotating) {
                    (true, false) => "active",
                    (true, true) => "active, rotating",
                    (false, _) => "inactive",
                };
                format!("{}  {}  {state:<8}  {}  {}", webhook.webhook_id, webhook.entity_id, webhook.types, webhook.url)
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

impl TestWebhook {
    /// Sends a test event, and activates the webhook if the receiver accepts it. Otherwise the webhook keeps its state.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let outgoing = OutgoingClient::new(&self.allowed_networks, self.ports.allowed_ports())?;
        let event = administration.prepare_webhook_test(&self.webhook, tillgate_api::BUILD_NUMBER)?;
        let accepted = create_runtime()?.block_on(event.send(&outgoing))?;
        let active = administration.activate_webhook(accepted)?;
        self.common.print_output(&describe_webhook(&active), |active| format!("{} is active", active.webhook_id))
    }
}

impl DeleteWebhook {
    /// Deletes a webhook with its secret, its messages and its log.
    fn run(self) -> anyhow::Result<()> {
        let deleted = describe_webhook(&self.common.open_administration()?.delete_webhook(&self.webhook)?);
        self.common.print_output(&deleted, |deleted| format!("{} is deleted", deleted.webhook_id))
    }
}

impl ShowWebhookLog {
    /// Prints the latest attempts and pending messages of a webhook, the latest message first.
    fn run(self) -> anyhow::Result<()> {
        let lines = self.common.open_administration()?.load_webhook_log(&self.webhook, self.limit)?;
        self.common.print_output(&lines, |lines| lines.iter().map(format_delivery).collect::<Vec<_>>().join("\n"))
    }
}

impl ReplayMessage {
    /// Queues a message of a webhook to be sent again at once by a running server, whatever became of it. Sends nothing
    /// itself.
    fn run(self) -> anyhow::Result<()> {
        self.common.open_administration()?.replay_message(None, &self.message)?;
        let replayed = serde_json::json!({ "messageId": self.message });
        self.common.print_output(&replayed, |_| format!("{} is sent again", self.message))
    }
}

/// Returns a webhook for the output, without its secret.
fn describe_webhook(webhook: &Webhook) -> WebhookOutput {
    WebhookOutput {
        webhook_id: webhook.id.to_string(),
        entity_id: webhook.entity.to_string(),
        url: webhook.url.clone(),
        types: webhook.types.clone(),
        fields: if webhook.without_customer { "NON_CUSTOMER_DATA" } else { "ALL" },
        wrapper: webhook.wrapped,
        active: webhook.active,
        created: webhook.created,
        secret: None,
        rotating: webhook.next_secret.is_some(),
    }
}

/// Formats an attempt, or a message that waits, as a line of `webhook log`: the status or the fault, and the next
/// attempt.
pub(in crate::cli) fn format_delivery(delivery: &DeliveryLogEntry) -> String {
    let at = delivery.at.map_or_else(|| "waits".to_owned(), |at| format!("{at:.0}"));
    let outcome = match (delivery.status, &delivery.fault) {
        (Some(status), _) => status.to_string(),
        (None, Some(fault)) => fault.clone(),
        (None, None) => "not tried yet".to_owned(),
    };
    let next = delivery.next.map(|next| format!("  next {next:.0}")).unwrap_or_default();
    format!("{}  {:<20}  {at:<20}  {outcome}{next}", delivery.message_id, delivery.what)
}
