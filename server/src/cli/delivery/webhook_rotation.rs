//! `tillgate webhook rotate`: replaces the secret of a webhook without losing an event.

use anyhow::{Context as _, ensure};
use clap::Args;
use ipnet::IpNet;
use serde::Serialize;
use tillgate_domain::ip_text;
use tillgate_net::outgoing::OutgoingClient;
use tillgate_store::delivery::webhook::Webhook;

use crate::cli::delivery::webhook::SecretOutput;
use crate::cli::delivery::webhook::find_webhook;
use crate::cli::delivery::webhook::send_test_event;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::serve::ports::PortOptions;
use crate::cli::{CommonOptions, open_existing};

/// Rotate a webhook's secret. Without --finish and --cancel, the next secret is made and shown; events still come
/// under the old one. The receiver takes both, told apart by the header webhook-key-id.
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
    /// Send a test event under the next secret. When the receiver takes it (2xx), all events come under that secret,
    /// and the old one is deleted.
    #[arg(long)]
    finish: bool,
    /// Delete the next secret; the old one stays in use.
    #[arg(long, conflicts_with = "finish")]
    cancel: bool,
    /// A network that it may be in although it is not public, as for `serve`. May be repeated.
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
    /// replaces the old one after the receiver has accepted a test event. Refuses to begin twice, and to end none.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let webhook = find_webhook(&store, &self.webhook)?;
        let no_next_secret = || format!("{} has no next secret; make one first: tillgate webhook rotate", webhook.id);
        let mut rotation = SecretRotation { webhook_id: webhook.id.to_string(), rotating: false, secret: None };
        if self.cancel {
            ensure!(store.set_next_webhook_secret(&webhook.id, None)?, no_next_secret());
            return self.common.print_output(&rotation, |done| format!("{} keeps its secret", done.webhook_id));
        }
        let (_, vault) = self.vault.open_vault(&store, &self.common.data)?;
        if self.finish {
            let next = webhook.next_secret.as_ref().with_context(no_next_secret)?;
            let outgoing = OutgoingClient::new(&self.allowed_networks, self.ports.allowed_ports())?;
            send_test_event(&webhook, next, &vault, &outgoing).context("the old secret stays in use")?;
            ensure!(store.finish_webhook_rotation(&webhook.id, next)?, "somebody else has rotated {}", webhook.id);
            return self.common.print_output(&rotation, |done| format!("{} uses its new secret", done.webhook_id));
        }
        let record = Webhook::record_name(&webhook.entity, &webhook.url, &webhook.id);
        let (secret, sealed) = SecretOutput::create_sealed(&vault, &record)?;
        let begun = store.set_next_webhook_secret(&webhook.id, Some(&sealed))?;
        ensure!(begun, "{} has a next secret already; end that rotation with --finish or --cancel", webhook.id);
        (rotation.rotating, rotation.secret) = (true, Some(secret));
        self.common.print_output(&rotation, |begun| {
            let secret = begun.secret.as_ref().map(SecretOutput::format_lines).unwrap_or_default();
            format!(
                "webhookId     {}\n{secret}\n\nThe keys are shown this once. Give them to the receiver beside the old ones, then: \
                 tillgate webhook rotate --finish",
                begun.webhook_id
            )
        })
    }
}
