//! `tillgate webhook rotate`: replaces the secret of a webhook without losing an event.

use clap::Args;
use ipnet::IpNet;
use serde::Serialize;
use tillgate_domain::ip_text;
use tillgate_net::outgoing::OutgoingClient;
use tillgate_store::delivery::webhook::Webhook;

use crate::cli::CommonOptions;
use crate::cli::delivery::webhook::SecretOutput;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::serve::create_runtime;
use crate::cli::serve::ports::PortOptions;

/// Rotate a webhook's secret. Without --finish and --cancel, the next secret is created and shown, and events still
/// use the old secret. The receiver has to accept both; the header webhook-key-id names the secret of an event.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook rotate --data ./tillgate-data --webhook 8a02…\n  \
    tillgate webhook rotate --data ./tillgate-data --webhook 8a02… --finish")]
pub(in crate::cli) struct RotateWebhookSecret {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
    /// Send a test event with the next secret. If the receiver accepts it (2xx), all events use the next secret, and
    /// the old one is deleted.
    #[arg(long)]
    finish: bool,
    /// Delete the next secret and keep the old one in use.
    #[arg(long, conflicts_with = "finish")]
    cancel: bool,
    /// Network that is not public but allowed for the receiver, as for `serve`. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
}

/// The outcome of a step.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SecretRotation {
    webhook_id: String,
    rotating: bool,
    /// Shown when it is created, and never again.
    #[serde(flatten)]
    secret: Option<SecretOutput>,
}

impl RotateWebhookSecret {
    /// Begins a rotation with a new secret, which it prints; or ends it: `--cancel` deletes the next secret, `--finish`
    /// replaces the old one after the receiver has accepted a test event.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let describe = |webhook: Webhook, secret: Option<SecretOutput>| SecretRotation {
            webhook_id: webhook.id.to_string(),
            rotating: secret.is_some(),
            secret,
        };
        if self.cancel {
            let kept = describe(administration.cancel_webhook_rotation(&self.webhook)?, None);
            return self.common.print_output(&kept, |done| format!("{} keeps its secret", done.webhook_id));
        }
        if self.finish {
            let outgoing = OutgoingClient::new(&self.allowed_networks, self.ports.allowed_ports())?;
            let event = administration.prepare_rotation_test(&self.webhook, tillgate_api::BUILD_NUMBER)?;
            let accepted = create_runtime()?.block_on(event.send(&outgoing))?;
            let rotated = describe(administration.finish_webhook_rotation(accepted)?, None);
            return self.common.print_output(&rotated, |done| format!("{} uses its new secret", done.webhook_id));
        }
        let (webhook, secret) = administration.begin_webhook_rotation(&self.webhook)?;
        let rotation = describe(webhook, Some(secret.into()));
        self.common.print_output(&rotation, |begun| {
            let secret = begun.secret.as_ref().map(SecretOutput::format_lines).unwrap_or_default();
            format!(
                "webhookId     {}\n{secret}\n\nThe keys are shown only once. Give them to the receiver in addition to the old ones, then: \
                 tillgate webhook rotate --finish",
                begun.webhook_id
            )
        })
    }
}
