//! `tillgate wallet-key` and `tillgate wallet-token`: what wallets encrypt for, and tokens to try it out with.

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::vault_key::VaultKey;
use super::{Common, open_existing};
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, hex};
use crate::gateway::random;
use crate::gateway::wallet::{fresh_key, seal_key};
use crate::store::AdminStore;
use crate::store::wallet::KeptKey;
use crate::vault::Vault;
use crate::wallet::{Content, Derivation, PublicWalletKey, Token};

/// The keys that wallets encrypt for.
#[derive(Debug, Subcommand)]
pub(super) enum WalletKeyCommand {
    /// Create a key pair for an entity. The secret half is sealed in the vault and never shown.
    Create(CreateKey),
    /// List an entity's keys, public halves only, and which of them are active.
    List(ListKeys),
    /// Retire a key: its tokens are refused from now on, and its secret half is deleted for good.
    Retire(RetireKey),
}

/// Tokens to try out a sandbox entity with.
#[derive(Debug, Subcommand)]
pub(super) enum WalletTokenCommand {
    /// Make a token as a wallet would. Test cards only: what stands on a command line is no secret.
    Make(MakeToken),
}

/// Create a key pair.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate wallet-key create --data ./tillgate-data --entity 8a01… --json")]
pub(super) struct CreateKey {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    vault: VaultKey,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// List keys.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate wallet-key list --data ./tillgate-data --entity 8a01…")]
pub(super) struct ListKeys {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Retire a key.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate wallet-key retire --data ./tillgate-data --entity 8a01… --key 256b1be32745d1d1"
)]
pub(super) struct RetireKey {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The key's id, as `list` shows it.
    #[arg(long, value_name = "KEY_ID")]
    key: String,
}

/// Make a token.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate wallet-token make --data ./tillgate-data --entity 8a01… --number 4200000000000000"
)]
pub(super) struct MakeToken {
    #[command(flatten)]
    common: Common,
    /// The entity's id. It must be a sandbox entity with a key.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Which of the entity's active keys; the newest one by default.
    #[arg(long, value_name = "KEY_ID")]
    key: Option<String>,
    /// How the token's key is derived.
    #[arg(long, value_enum, default_value_t = Derivation::Hkdf)]
    kdf: Derivation,
    /// The card number.
    #[arg(long, default_value = "4200000000000000")]
    number: String,
    /// The month in which the card expires, two digits.
    #[arg(long, default_value = "05")]
    expiry_month: String,
    /// The year in which the card expires, four digits.
    #[arg(long, default_value = "2034")]
    expiry_year: String,
    /// The name on the card.
    #[arg(long)]
    holder: Option<String>,
    /// The electronic commerce indicator.
    #[arg(long, default_value = "05")]
    eci: String,
    /// How long the token is valid; at most 24h is accepted, and a negative time gives an expired token.
    #[arg(long, default_value = "10m", allow_hyphen_values = true)]
    valid: SignedDuration,
}

/// A key as the commands show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    entity_id: String,
    key_id: String,
    /// The uncompressed point in base64.
    public_key: String,
    created: Timestamp,
    /// Since when its tokens are refused; null of an active key.
    retired: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    payment_token: String,
}

impl WalletKeyCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Retire(command) => command.run(),
        }
    }
}

impl WalletTokenCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Make(command) => command.run(),
        }
    }
}

impl CreateKey {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = entity(&store, &self.entity)?;
        let (id, level) = (&entity.id, entity.level);
        ensure!(level.takes_payments(), "{id} is a {}: each merchant or channel below it has keys", level.title());
        let (_, vault) = self.vault.open(&store, &self.common.data)?;
        let kept = create(&store, &vault, entity.id)?;
        self.common.print(&shown(&kept), |key| format!("keyId      {}\npublicKey  {}", key.key_id, key.public_key))
    }
}

/// Makes a key and keeps it.
pub(super) fn create(store: &AdminStore, vault: &Vault, entity: EntityId) -> anyhow::Result<KeptKey> {
    let key = fresh_key()?;
    let kept = KeptKey {
        sealed: seal_key(vault, &entity, &key)?,
        entity,
        id: key.public().id(),
        public: key.public().bytes(),
        created: Timestamp::now(),
        retired: None,
    };
    store.add_wallet_key(&kept)?;
    Ok(kept)
}

impl ListKeys {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = entity(&store, &self.entity)?;
        let shown: Vec<Shown> = store.wallet_keys(&entity.id)?.iter().map(shown).collect();
        self.common.print(&shown, |keys| {
            let lines = keys.iter().map(|key| {
                let state = key.retired.map_or_else(|| "active".to_owned(), |since| format!("retired {since:.0}"));
                format!("{}  {}  {state}", key.key_id, key.public_key)
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

impl RetireKey {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = entity(&store, &self.entity)?;
        let retired = store.retire_wallet_key(&entity.id, &self.key, Timestamp::now())?;
        ensure!(retired, "entity {} has no active key {}; see: tillgate wallet-key list", entity.id, self.key);
        let key = store.wallet_keys(&entity.id)?.into_iter().find(|key| key.id == self.key);
        let key = key.context("the key is gone")?;
        self.common.print(&shown(&key), |key| format!("{} is retired", key.key_id))
    }
}

impl MakeToken {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = entity(&store, &self.entity)?;
        ensure!(!entity.live, "entity {} is live: its tokens come from wallets only", entity.id);
        let wanted = |key: &KeptKey| key.retired.is_none() && self.key.as_ref().is_none_or(|id| *id == key.id);
        let key = store.wallet_keys(&entity.id)?.into_iter().rfind(wanted);
        let key = key.with_context(|| format!("entity {} has no such key; see: tillgate wallet-key", entity.id))?;
        let public = PublicWalletKey::from_bytes(&key.public).context("the stored key is damaged")?;
        let content = Content {
            token_id: hex(&random::<16>()?),
            expires: Timestamp::now() + self.valid,
            number: self.number,
            expiry_month: self.expiry_month,
            expiry_year: self.expiry_year,
            holder: self.holder,
            cryptogram: STANDARD.encode(random::<20>()?),
            eci: self.eci,
        };
        let token = Token::seal(&content, &entity.id, &public, self.kdf, &fresh_key()?, random()?);
        let token = token.context("the token cannot be encrypted")?;
        let made = Made { payment_token: serde_json::to_string(&token)? };
        self.common.print(&made, |made| made.payment_token.clone())
    }
}

fn entity(store: &AdminStore, id: &str) -> anyhow::Result<Entity> {
    let id = EntityId::parse(id).context("an entity id has 32 lowercase hexadecimal digits")?;
    store.entity(&id)?.with_context(|| format!("there is no entity {id}"))
}

fn shown(key: &KeptKey) -> Shown {
    Shown {
        entity_id: key.entity.to_string(),
        key_id: key.id.clone(),
        public_key: STANDARD.encode(&key.public),
        created: key.created,
        retired: key.retired,
    }
}
