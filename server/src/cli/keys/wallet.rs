//! `tillgate wallet-key` and `tillgate wallet-token`: the keys for which wallets encrypt, and tokens to test them.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, Subcommand, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_gateway::keys::wallet_key::TestTokenRequest;
use tillgate_store::keys::wallet::StoredWalletKey;
use tillgate_vault::wallet::Derivation;

use crate::cli::CommonOptions;
use crate::cli::keys::vault_key::VaultKeyOptions;

/// Key pairs for which wallets encrypt their tokens.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum WalletKeyCommand {
    /// Create a key pair for an entity. The secret half is sealed in the vault and never shown.
    Create(CreateWalletKey),
    /// List the public halves of an entity's keys, with their state.
    List(ListWalletKeys),
    /// Retire a key, which refuses its tokens and deletes its secret half permanently.
    Retire(RetireWalletKey),
}

/// Wallet tokens for tests with a sandbox entity.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum WalletTokenCommand {
    /// Create a token like a wallet does. Use test cards only, because other users can read a command line.
    Make(MakeWalletToken),
}

/// Create a key pair.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate wallet-key create --data ./tillgate-data --entity 8a01… --json")]
pub(in crate::cli) struct CreateWalletKey {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// List keys.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate wallet-key list --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct ListWalletKeys {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Retire a key.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate wallet-key retire --data ./tillgate-data --entity 8a01… --key 256b1be32745d1d1"
)]
pub(in crate::cli) struct RetireWalletKey {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Id of the key, from `wallet-key list`.
    #[arg(long, value_name = "KEY_ID")]
    key: String,
}

/// A [`Derivation`] in the notation of the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KeyDerivation {
    /// HKDF without salt (RFC 5869).
    Hkdf,
    /// The key derivation function of ANSI X9.63 (SEC 1, 3.6.1).
    X963,
}

impl From<KeyDerivation> for Derivation {
    fn from(derivation: KeyDerivation) -> Self {
        match derivation {
            KeyDerivation::Hkdf => Self::Hkdf,
            KeyDerivation::X963 => Self::X963,
        }
    }
}

/// Create a token like a wallet does.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate wallet-token make --data ./tillgate-data --entity 8a01… --number 4200000000000000"
)]
pub(in crate::cli) struct MakeWalletToken {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id. It must be a sandbox entity with a key.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Id of an active key of the entity. Default: the newest key.
    #[arg(long, value_name = "KEY_ID")]
    key: Option<String>,
    /// Key derivation of the token.
    #[arg(long, value_enum, default_value_t = KeyDerivation::Hkdf)]
    kdf: KeyDerivation,
    /// The card number.
    #[arg(long, default_value = "4200000000000000")]
    number: String,
    /// Month of expiry, two digits.
    #[arg(long, default_value = "05")]
    expiry_month: String,
    /// Year of expiry, four digits.
    #[arg(long, default_value = "2034")]
    expiry_year: String,
    /// Cardholder's name.
    #[arg(long)]
    holder: Option<String>,
    /// Electronic commerce indicator (ECI).
    #[arg(long, default_value = "05")]
    eci: String,
    /// Time for which the token is valid, at most 24h. A negative time creates an expired token.
    #[arg(long, default_value = "10m", allow_hyphen_values = true)]
    valid: SignedDuration,
}

/// A key in the output of the commands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WalletKeyOutput {
    entity_id: String,
    key_id: String,
    /// The uncompressed point in base64.
    public_key: String,
    created: Timestamp,
    /// Time since which the key's tokens are refused; null for an active key.
    retired: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WalletTokenOutput {
    payment_token: String,
}

impl WalletKeyCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Retire(command) => command.run(),
        }
    }
}

impl WalletTokenCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Make(command) => command.run(),
        }
    }
}

impl CreateWalletKey {
    /// Creates a key pair for a merchant or channel, and prints its public half.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let key = administration.create_wallet_key(&parse_entity(&self.entity)?)?;
        self.common.print_output(&describe_key(&key), |key| {
            format!("keyId      {}\npublicKey  {}", key.key_id, key.public_key)
        })
    }
}

impl ListWalletKeys {
    /// Prints the public halves of an entity's keys, active and retired ones.
    fn run(self) -> anyhow::Result<()> {
        let keys = self.common.open_administration()?.load_wallet_keys(&parse_entity(&self.entity)?)?;
        let keys: Vec<WalletKeyOutput> = keys.iter().map(describe_key).collect();
        self.common.print_output(&keys, |keys| {
            let lines = keys.iter().map(|key| {
                let state = key.retired.map_or_else(|| "active".to_owned(), |since| format!("retired {since:.0}"));
                format!("{}  {}  {state}", key.key_id, key.public_key)
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

impl RetireWalletKey {
    /// Retires an active key of an entity, which deletes its secret half.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let key = administration.retire_wallet_key(&parse_entity(&self.entity)?, &self.key)?;
        self.common.print_output(&describe_key(&key), |key| format!("{} is retired", key.key_id))
    }
}

impl MakeWalletToken {
    /// Prints a token for an active key of a sandbox entity, by default its newest one. Stores nothing.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let request = TestTokenRequest {
            key: self.key,
            derivation: self.kdf.into(),
            number: self.number,
            expiry_month: self.expiry_month,
            expiry_year: self.expiry_year,
            holder: self.holder,
            eci: self.eci,
            valid: self.valid,
        };
        let token = administration.make_wallet_token(&parse_entity(&self.entity)?, request)?;
        let output = WalletTokenOutput { payment_token: serde_json::to_string(&token)? };
        self.common.print_output(&output, |output| output.payment_token.clone())
    }
}

/// Reads an entity's id.
fn parse_entity(id: &str) -> anyhow::Result<EntityId> {
    EntityId::parse(id).context("an entity id has 32 lowercase hexadecimal digits")
}

/// Returns a key for the output: its public half, and its state.
fn describe_key(key: &StoredWalletKey) -> WalletKeyOutput {
    WalletKeyOutput {
        entity_id: key.entity.to_string(),
        key_id: key.id.clone(),
        public_key: STANDARD.encode(&key.public),
        created: key.created,
        retired: key.retired,
    }
}
