//! `tillgate token`: access tokens of entities, with their limits.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use ipnet::IpNet;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::access::scope::Scope;
use tillgate_domain::id::EntityId;
use tillgate_domain::ip_text;
use tillgate_gateway::access::token::{self, NewToken};
use tillgate_store::access::token::TokenInfo;

use crate::cli::CommonOptions;

/// Access tokens.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TokenCommand {
    /// Create an access token for an entity. It is shown only once; the store keeps a hash.
    Create(CreateToken),
    /// List the tokens, without their secret half.
    List(ListTokens),
    /// Revoke a token. A running server refuses it within a second.
    Revoke(RevokeToken),
}

/// Create an access token.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate token create --data ./tillgate-data --entity 8a01… --label 'web shop' \\\n      \
    --scope read --scope pay --network 192.0.2.0/24 --expires 90d --json"
)]
pub(in crate::cli) struct CreateToken {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The purpose of the token.
    #[arg(long, default_value = "")]
    label: String,
    /// Expiry time of the token: a duration such as 90d or 12h, a day (2027-01-31, at its beginning in UTC), or a time
    /// (2027-01-31T12:00:00Z). Default: the token never expires.
    #[arg(long, value_name = "TIME", value_parser = parse_expiry)]
    expires: Option<Timestamp>,
    /// Network from which the token may be used, such as 192.0.2.0/24. May be repeated. Default: every network.
    #[arg(long = "network", value_name = "CIDR", value_parser = ip_text::parse_network)]
    networks: Vec<IpNet>,
    /// Scope of the token: read, pay, refund, review or admin. May be repeated. Default: all scopes.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<Scope>,
}

/// List the tokens.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate token list --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct ListTokens {
    #[command(flatten)]
    common: CommonOptions,
    /// Only tokens of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Revoke a token.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate token revoke --data ./tillgate-data --user 8a02…")]
pub(in crate::cli) struct RevokeToken {
    #[command(flatten)]
    common: CommonOptions,
    /// User id of the token, from `token list`.
    #[arg(long, value_name = "USER_ID")]
    user: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreatedToken {
    entity_id: String,
    user_id: String,
    password: String,
    token: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RevokedToken {
    user_id: String,
    revoked: bool,
}

impl TokenCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Revoke(command) => command.run(),
        }
    }
}

impl CreateToken {
    /// Creates a token with the limits of the options, and prints it.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = parse_entity_id(&self.entity)?;
        let new = NewToken { label: self.label, expires: self.expires, networks: self.networks, scopes: self.scopes };
        let pair = administration.create_token(&entity, new)?;
        let created = CreatedToken {
            entity_id: entity.to_string(),
            token: pair.bearer_token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print_output(&created, |created| format!("{}\n\nThe token is shown only once.", created.token))
    }
}

impl ListTokens {
    /// Prints the tokens of an entity, or of all, including revoked ones.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let tokens = administration.load_tokens(entity.as_ref())?;
        self.common.print_output(&tokens, |tokens| {
            let lines = tokens.iter().map(format_token);
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

/// Formats a token as a line of `token list`: ids, creation, state, last use, scopes, networks, label.
fn format_token(token: &TokenInfo) -> String {
    let state = match (token.revoked, token.expires) {
        (Some(since), _) => format!("revoked {since:.0}"),
        (None, Some(expires)) if expires <= Timestamp::now() => format!("expired {expires:.0}"),
        (None, Some(expires)) => format!("valid until {expires:.0}"),
        (None, None) => "valid".to_owned(),
    };
    let used = token.last_used.map_or("never used".to_owned(), |used| format!("last used {used:.0}"));
    let networks = if token.networks.is_empty() { "any network".to_owned() } else { token.networks.join(",") };
    let (user, entity, scopes) = (&token.user_id, &token.entity_id, token.scopes.join(","));
    format!("{user}  {entity}  {:.0}  {state}  {used}  {scopes}  {networks}  {}", token.created, token.label)
}

impl RevokeToken {
    /// Revokes a token, and prints its user id.
    fn run(self) -> anyhow::Result<()> {
        self.common.open_administration()?.revoke_token(&self.user)?;
        let revoked = RevokedToken { user_id: self.user.clone(), revoked: true };
        self.common.print_output(&revoked, |revoked| format!("{} is revoked", revoked.user_id))
    }
}

/// Reads an entity's id from the command line. The error repeats the text.
pub(in crate::cli) fn parse_entity_id(text: &str) -> anyhow::Result<EntityId> {
    EntityId::parse(text).with_context(|| format!("{text} is not an entity id (32 lowercase hexadecimal characters)"))
}

/// Reads the expiry time of a token, from now.
fn parse_expiry(text: &str) -> Result<Timestamp, String> {
    token::parse_expiry(text, Timestamp::now())
}
