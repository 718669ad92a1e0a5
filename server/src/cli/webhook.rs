//! `tillgate webhook`: where an entity is told what becomes of its payments and registrations.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use ipnet::IpNet;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_shared::format::url;

use super::options::existing;
use super::ports::PortOptions;
use super::serve::runtime;
use super::token::entity_id;
use super::vault_key::VaultKey;
use super::webhook_rotation::Rotate;
use super::{Common, open_existing};
use crate::domain::id::{MessageId, hex};
use crate::gateway::random;
use crate::outgoing::Outgoing;
use crate::store::AdminStore;
use crate::store::webhook::{Delivery, Webhook};
use crate::vault::Vault;
use crate::webhook::{Letter, Secret, test_text};

/// The webhooks of entities.
#[derive(Debug, Subcommand)]
pub(super) enum WebhookCommand {
    /// Create a webhook. Its key is shown this once; nothing is sent before `webhook test` was taken.
    Create(Create),
    /// List webhooks, without their keys.
    List(List),
    /// Send a test event. When the receiver takes it (2xx), the webhook is active from then on.
    Test(Test),
    /// Rotate a webhook's secret: make the next one, and put it in the old one's place once the receiver takes it.
    Rotate(Rotate),
    /// Delete a webhook, with what waits for it.
    Delete(Delete),
    /// Show what was sent, how it was taken, and what waits.
    Log(Log),
    /// Send a message again, taken or not.
    Replay(Replay),
}

/// What a webhook tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Type {
    /// What becomes of payments.
    Payment,
    /// Registrations that are made, changed or deleted.
    Registration,
    /// Nothing is sent yet: no schedules are made.
    Schedule,
    /// Nothing is sent yet: no risk checks are made.
    Risk,
}

/// Which fields it tells.
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
pub(super) struct Create {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
    /// The entity's id; a merchant's webhook tells of its channels too.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Where to, with http or https.
    #[arg(long)]
    url: String,
    #[command(flatten)]
    ports: PortOptions,
    /// What it tells of, with commas between.
    #[arg(long, value_enum, value_delimiter = ',', ignore_case = true, default_value = "PAYMENT,REGISTRATION")]
    types: Vec<Type>,
    /// Whether it tells everything, or nothing of the shopper.
    #[arg(long, value_enum, ignore_case = true, default_value = "ALL")]
    fields: FieldFilter,
    /// Send JSON, {"encryptedBody": …}, in place of plain text.
    #[arg(long)]
    wrapper: bool,
}

/// List webhooks.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook list --data ./tillgate-data --json")]
pub(super) struct List {
    #[command(flatten)]
    common: Common,
    /// Only those of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Send a test event.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook test --data ./tillgate-data --webhook 8a02…")]
pub(super) struct Test {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
    /// A network that it may be in although it is not public, as for `serve`. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',')]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
}

/// Delete a webhook.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook delete --data ./tillgate-data --webhook 8a02…")]
pub(super) struct Delete {
    #[command(flatten)]
    common: Common,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
}

/// Show what was sent in the last 31 days.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook log --data ./tillgate-data --webhook 8a02… --limit 20")]
pub(super) struct Log {
    #[command(flatten)]
    common: Common,
    /// The webhook's id.
    #[arg(long, value_name = "WEBHOOK_ID")]
    webhook: String,
    /// So many lines at most.
    #[arg(long, default_value_t = 100)]
    limit: u32,
}

/// Send a message again.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate webhook replay --data ./tillgate-data --message 8a03…")]
pub(super) struct Replay {
    #[command(flatten)]
    common: Common,
    /// The message's id, as `webhook log` shows it.
    #[arg(long, value_name = "MESSAGE_ID")]
    message: String,
}

/// A webhook as the commands show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    webhook_id: String,
    entity_id: String,
    url: String,
    types: String,
    fields: &'static str,
    wrapper: bool,
    active: bool,
    created: Timestamp,
    /// Shown when it is made, and never again.
    #[serde(flatten)]
    secret: Option<ShownSecret>,
    /// True while the next secret waits to take the place of the one in use.
    rotating: bool,
}

/// A secret, at the one moment when it is shown.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownSecret {
    pub(super) key: String,
    pub(super) signature_key: String,
    pub(super) key_id: String,
}

impl ShownSecret {
    /// Makes a secret and seals it for a webhook.
    pub(super) fn make(vault: &Vault, id: &MessageId) -> anyhow::Result<(Self, Vec<u8>)> {
        let bytes = zeroize::Zeroizing::new(random::<64>()?);
        let secret = Secret::read(&*bytes).context("a secret has two keys")?;
        let shown = Self { key: secret.encryption_hex(), signature_key: secret.signature_hex(), key_id: secret.id() };
        Ok((shown, vault.seal(&Webhook::record(id), &*bytes)?))
    }

    /// The lines for people.
    pub(super) fn lines(&self) -> String {
        format!("key           {}\nsignatureKey  {}\nkeyId         {}", self.key, self.signature_key, self.key_id)
    }
}

impl WebhookCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
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

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = existing(&store, &entity_id(&self.entity)?)?;
        ensure!(url::check(&self.url).is_ok(), "{} is no address of http or https", self.url);
        if let Err(message) = self.ports.ports().check(&self.url) {
            bail!("{} {message}; an operator may allow it: --allow-port", self.url);
        }
        let (_, vault) = self.vault.open(&store, &self.common.data)?;
        let now = Timestamp::now();
        let id = MessageId::new(now, random()?);
        let (secret, sealed) = ShownSecret::make(&vault, &id)?;
        let types: BTreeSet<Type> = self.types.iter().copied().collect();
        let types: Vec<String> =
            types.iter().filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned())).collect();
        let made = Webhook {
            sealed,
            next: None,
            id,
            entity: entity.id,
            url: self.url,
            types: types.join(","),
            without_customer: self.fields == FieldFilter::NonCustomerData,
            wrapped: self.wrapper,
            active: false,
            created: now,
        };
        store.add_webhook(&made)?;
        let made = Shown { secret: Some(secret), ..shown(&made) };
        self.common.print(&made, |made| {
            let secret = made.secret.as_ref().map(ShownSecret::lines).unwrap_or_default();
            format!(
                "webhookId     {}\n{secret}\n\nThe keys are shown this once. Give them to the receiver, then: tillgate webhook test",
                made.webhook_id
            )
        })
    }
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = self.entity.as_deref().map(entity_id).transpose()?;
        let webhooks: Vec<Shown> = store.webhooks(entity.as_ref())?.iter().map(shown).collect();
        self.common.print(&webhooks, |webhooks| {
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

impl Test {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let found = find(&store, &self.webhook)?;
        let (_, vault) = self.vault.open(&store, &self.common.data)?;
        let outgoing = Outgoing::new(&self.allowed_networks, self.ports.ports())?;
        send_test(&found, &found.sealed, &vault, &outgoing)
            .with_context(|| format!("the webhook stays {}", state(&found)))?;
        store.activate_webhook(&found.id)?;
        let active = shown(&Webhook { active: true, ..found });
        self.common.print(&active, |active| format!("{} is active", active.webhook_id))
    }
}

/// Sends a test event under a sealed secret of a webhook.
///
/// # Errors
/// When the receiver does not take it.
pub(super) fn send_test(found: &Webhook, sealed: &[u8], vault: &Vault, outgoing: &Outgoing) -> anyhow::Result<()> {
    let secret = vault.open(&Webhook::record(&found.id), sealed)?;
    let secret = Secret::read(&secret).context("the stored key is damaged")?;
    let now = Timestamp::now();
    let id = MessageId::new(now, random()?);
    let time = now.strftime("%Y-%m-%d %H:%M:%S+0000").to_string();
    let ndc = format!("{}_{}", found.entity, hex(&random::<16>()?));
    let text = test_text(crate::BUILD_NUMBER, &time, &ndc);
    let letter = Letter { url: &found.url, id: id.as_str(), now, text: &text, wrapped: found.wrapped };
    let request = letter.request(&secret, &random()?).with_context(|| format!("{} is no address", found.url))?;
    let answered = runtime()?.block_on(outgoing.send(request)).with_context(|| found.url.clone())?;
    ensure!(answered.status.is_success(), "{} answered {}", found.url, answered.status);
    Ok(())
}

impl Delete {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let found = store.in_transaction(|store| {
            let found = find(store, &self.webhook)?;
            store.delete_webhook(&found.id)?;
            anyhow::Ok(found)
        })?;
        let gone = shown(&Webhook { active: false, ..found });
        self.common.print(&gone, |gone| format!("{} is deleted", gone.webhook_id))
    }
}

impl Log {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let found = find(&store, &self.webhook)?;
        let lines = store.webhook_log(&found.id, self.limit)?;
        self.common.print(&lines, |lines| lines.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl Replay {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let known = store.replay_message(&self.message, Timestamp::now())?;
        ensure!(known, "there is no message {} of a webhook; see: tillgate webhook log", self.message);
        let again = serde_json::json!({ "messageId": self.message });
        self.common.print(&again, |_| format!("{} is sent again", self.message))
    }
}

pub(super) fn find(store: &AdminStore, id: &str) -> anyhow::Result<Webhook> {
    store.webhook(id)?.with_context(|| format!("there is no webhook {id}; see: tillgate webhook list"))
}

fn state(webhook: &Webhook) -> &'static str {
    if webhook.active { "active" } else { "inactive" }
}

fn shown(webhook: &Webhook) -> Shown {
    Shown {
        webhook_id: webhook.id.to_string(),
        entity_id: webhook.entity.to_string(),
        url: webhook.url.clone(),
        types: webhook.types.clone(),
        fields: if webhook.without_customer { "NON_CUSTOMER_DATA" } else { "ALL" },
        wrapper: webhook.wrapped,
        active: webhook.active,
        created: webhook.created,
        secret: None,
        rotating: webhook.next.is_some(),
    }
}

fn line(delivery: &Delivery) -> String {
    let at = delivery.at.map_or_else(|| "waits".to_owned(), |at| format!("{at:.0}"));
    let taken = match (delivery.status, &delivery.fault) {
        (Some(status), _) => status.to_string(),
        (None, Some(fault)) => fault.clone(),
        (None, None) => "not tried yet".to_owned(),
    };
    let next = delivery.next.map(|next| format!("  next {next:.0}")).unwrap_or_default();
    format!("{}  {:<20}  {at:<20}  {taken}{next}", delivery.message_id, delivery.what)
}
