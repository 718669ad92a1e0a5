//! `tillgate webhook rotate`: another secret for a webhook, without losing an event.

use anyhow::{Context as _, ensure};
use clap::Args;
use ipnet::IpNet;
use serde::Serialize;

use super::ports::PortOptions;
use super::vault_key::VaultKey;
use super::webhook::{ShownSecret, find, send_test};
use super::{Common, open_existing};
use crate::outgoing::Outgoing;

/// Rotate a webhook's secret. Without --finish and --cancel, the next secret is made and shown; events still come under the old
/// one. The receiver takes both, told apart by the header webhook-key-id.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook rotate --data ./tillgate-data --webhook 8a02…\n  \
    tillgate webhook rotate --data ./tillgate-data --webhook 8a02… --finish")]
pub(super) struct Rotate {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
    /// Send a test event under the next secret. When the receiver takes it (2xx), all events come under that secret, and the
    /// old one is deleted.
    #[arg(long)]
    finish: bool,
    /// Delete the next secret; the old one stays in use.
    #[arg(long, conflicts_with = "finish")]
    cancel: bool,
    /// A network that it may be in although it is not public, as for `serve`. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',')]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
}

/// The outcome of a step.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rotation {
    webhook_id: String,
    rotating: bool,
    /// Shown when it is made, and never again.
    #[serde(flatten)]
    secret: Option<ShownSecret>,
}

impl Rotate {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let found = find(&store, &self.webhook)?;
        let none = || format!("{} has no next secret; make one first: tillgate webhook rotate", found.id);
        let mut rotation = Rotation { webhook_id: found.id.to_string(), rotating: false, secret: None };
        if self.cancel {
            ensure!(store.set_next_webhook_secret(&found.id, None)?, none());
            return self.common.print(&rotation, |done| format!("{} keeps its secret", done.webhook_id));
        }
        let (_, vault) = self.vault.open(&store, &self.common.data)?;
        if self.finish {
            let next = found.next.as_deref().with_context(none)?;
            let outgoing = Outgoing::new(&self.allowed_networks, self.ports.ports())?;
            send_test(&found, next, &vault, &outgoing).context("the old secret stays in use")?;
            ensure!(store.finish_webhook_rotation(&found.id, next)?, "somebody else has rotated {}", found.id);
            return self.common.print(&rotation, |done| format!("{} uses its new secret", done.webhook_id));
        }
        let (secret, sealed) = ShownSecret::make(&vault, &found.id)?;
        let begun = store.set_next_webhook_secret(&found.id, Some(&sealed))?;
        ensure!(begun, "{} has a next secret already; end that rotation with --finish or --cancel", found.id);
        (rotation.rotating, rotation.secret) = (true, Some(secret));
        self.common.print(&rotation, |begun| {
            let secret = begun.secret.as_ref().map(ShownSecret::lines).unwrap_or_default();
            format!(
                "webhookId     {}\n{secret}\n\nThe keys are shown this once. Give them to the receiver beside the old ones, then: \
                 tillgate webhook rotate --finish",
                begun.webhook_id
            )
        })
    }
}
