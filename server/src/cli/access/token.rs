//! `tillgate token`: access tokens of entities, with their limits.

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use ipnet::IpNet;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp, civil};
use serde::Serialize;
use tillgate_domain::access::scope::{Scope, Scopes};
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_domain::ip_text;
use tillgate_gateway::random_bytes;
use tillgate_store::AdminStore;
use tillgate_store::access::token::TokenInfo;
use tillgate_store::credential::Credential;
use tillgate_store::directory::bearer_token;

use crate::cli::{CommonOptions, open_existing};

/// Access tokens.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TokenCommand {
    /// Create an access token for an entity. It is shown this once; the store keeps a hash.
    Create(CreateToken),
    /// List the tokens, without their secret half.
    List(ListTokens),
    /// Revoke a token; a running server stops taking it within a second.
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
    /// The time at which it ends: after a time such as 90d or 12h, at the beginning of a day (2027-01-31, UTC), or at
    /// a moment (2027-01-31T12:00:00Z). Never, if not given.
    #[arg(long, value_name = "TIME", value_parser = parse_expiry)]
    expires: Option<Timestamp>,
    /// A network that it may be used from, such as 192.0.2.0/24. May be repeated; every network, if not given.
    #[arg(long = "network", value_name = "CIDR", value_parser = ip_text::parse_network)]
    networks: Vec<IpNet>,
    /// A kind of requests that it may make: read, pay, refund or admin. May be repeated; all of them, if not given.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<Scope>,
}

/// List the tokens.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate token list --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct ListTokens {
    #[command(flatten)]
    common: CommonOptions,
    /// Only those of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Revoke a token.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate token revoke --data ./tillgate-data --user 8a02…")]
pub(in crate::cli) struct RevokeToken {
    #[command(flatten)]
    common: CommonOptions,
    /// The token's user id, as `token list` shows it.
    #[arg(long, value_name = "USER_ID")]
    user: String,
}

/// A user id and password. The password is known only when the pair is created.
pub(in crate::cli) struct IssuedCredentials {
    pub(in crate::cli) user_id: String,
    pub(in crate::cli) password: String,
}

impl IssuedCredentials {
    /// Returns the bearer token of the pair.
    pub(in crate::cli) fn bearer_token(&self) -> String {
        bearer_token(&self.user_id, &self.password)
    }
}

/// Creates and stores random credentials of an entity that never expire and allow all requests from every network.
pub(in crate::cli) fn issue_credentials(
    store: &AdminStore,
    entity: &EntityId,
    label: &str,
    now: Timestamp,
) -> anyhow::Result<IssuedCredentials> {
    issue_limited_credentials(store, entity, label, now, |credential| credential)
}

/// Creates and stores random credentials of an entity, with the limits that `limit` sets.
fn issue_limited_credentials(
    store: &AdminStore,
    entity: &EntityId,
    label: &str,
    now: Timestamp,
    limit: impl FnOnce(Credential) -> Credential,
) -> anyhow::Result<IssuedCredentials> {
    let pair = IssuedCredentials {
        user_id: EntityId::new(now, random_bytes()?).to_string(),
        password: to_hex(&random_bytes::<16>()?),
    };
    let credential = limit(Credential::new(pair.user_id.clone(), &pair.password, entity.clone()));
    store.add_token(&credential, label, now)?;
    Ok(pair)
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
    /// Creates a token with the limits of the options, and prints it. An unknown entity is an error.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = parse_entity_id(&self.entity)?;
        if store.load_entity(&entity)?.is_none() {
            bail!("there is no entity {entity}");
        }
        let scopes = if self.scopes.is_empty() { Scopes::all() } else { self.scopes.iter().copied().collect() };
        let pair = issue_limited_credentials(&store, &entity, &self.label, Timestamp::now(), |credential| {
            Credential { expires: self.expires, networks: self.networks.clone(), scopes, ..credential }
        })?;
        let created = CreatedToken {
            entity_id: entity.to_string(),
            token: pair.bearer_token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print_output(&created, |created| format!("{}\n\nThe token is shown this once.", created.token))
    }
}

impl ListTokens {
    /// Prints the tokens of an entity, or of all, including revoked ones.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let tokens = store.load_tokens(entity.as_ref())?;
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
    /// Revokes a token, and prints its user id. An unknown or revoked token is an error.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        if !store.revoke_token(&self.user, Timestamp::now())? {
            bail!("there is no valid token of user {}", self.user);
        }
        let revoked = RevokedToken { user_id: self.user.clone(), revoked: true };
        self.common.print_output(&revoked, |revoked| format!("{} is revoked", revoked.user_id))
    }
}

/// Reads an entity's id from the command line. The error repeats the text.
pub(in crate::cli) fn parse_entity_id(text: &str) -> anyhow::Result<EntityId> {
    EntityId::parse(text).with_context(|| format!("{text} is not an entity id (32 lowercase hexadecimal characters)"))
}

/// Reads the expiry time of a token: a span from now with days of 24 hours, the beginning of a day in UTC, or a moment.
/// Refuses times that are not in the future.
fn parse_expiry(text: &str) -> Result<Timestamp, String> {
    let now = Timestamp::now();
    let moment = if let Ok(moment) = text.parse::<Timestamp>() {
        moment
    } else if let Ok(day) = text.parse::<civil::Date>() {
        day.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?.timestamp()
    } else {
        let span: Span = text.parse().map_err(|_| "examples: 90d, 12h, 2027-01-31, 2027-01-31T12:00:00Z".to_owned())?;
        let time = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())?;
        now.checked_add(time).map_err(|error| error.to_string())?
    };
    if moment > now { Ok(moment) } else { Err("a token cannot end in the past".to_owned()) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::cli::access::token::*;

    #[test]
    fn the_end_of_a_token_is_a_time_a_day_or_a_moment_that_is_yet_to_come() {
        let now = Timestamp::now().as_second();
        for (text, seconds) in [("90d", 90 * 86_400), ("12h", 43_200), ("1d 1h", 90_000)] {
            assert!((parse_expiry(text).unwrap().as_second() - now - seconds).abs() <= 5, "{text}");
        }
        assert_eq!(parse_expiry("2999-01-31").unwrap().to_string(), "2999-01-31T00:00:00Z");
        assert_eq!(parse_expiry("2999-01-31T12:00:00Z").unwrap().to_string(), "2999-01-31T12:00:00Z");
        for text in ["", "0d", "-1d", "2001-01-31", "2001-01-31T12:00:00Z", "tomorrow", "99999999y"] {
            assert!(parse_expiry(text).is_err(), "{text}");
        }
    }
}
