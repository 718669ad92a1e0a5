//! Access tokens: creation with limits, and revocation.

use ipnet::IpNet;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp, civil};
use tillgate_domain::access::approval::act::KeyAct;
use tillgate_domain::access::scope::{Scope, Scopes};
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_store::AdminStore;
use tillgate_store::access::credential::Credential;
use tillgate_store::access::token::TokenInfo;
use tillgate_store::entity_directory::bearer_token;

use crate::administration::{ActError, Administration, load_known_entity};
use crate::random_bytes;

/// A user id and password. The password is known only when the pair is created.
pub struct IssuedCredentials {
    /// The public half of the pair.
    pub user_id: String,
    /// The secret half of the pair.
    pub password: String,
}

impl IssuedCredentials {
    /// Returns the bearer token of the pair.
    pub fn bearer_token(&self) -> String {
        bearer_token(&self.user_id, &self.password)
    }
}

/// A token to create. By default it never expires, and allows all requests from every network.
#[derive(Debug, Default)]
pub struct NewToken {
    /// Its purpose, in the operator's words.
    pub label: String,
    /// The time from which it is refused.
    pub expires: Option<Timestamp>,
    /// Networks from which it may be used. Empty allows all.
    pub networks: Vec<IpNet>,
    /// The kinds of requests that it may make. Empty allows all.
    pub scopes: Vec<Scope>,
}

impl NewToken {
    /// Returns its creation as an act that a second person may have to approve.
    fn as_key_act(&self) -> KeyAct {
        KeyAct::Token {
            label: self.label.clone(),
            expires: self.expires,
            scopes: self.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            networks: self.networks.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Administration {
    /// Creates a token of an entity. Only its hash is stored.
    ///
    /// # Errors
    /// If there is no such entity, or a second person is needed.
    pub fn create_token(&self, entity: &EntityId, new: NewToken) -> Result<IssuedCredentials, ActError> {
        let owner = load_known_entity(&self.store, entity)?;
        self.check_key_approval(&owner, new.as_key_act())?;
        issue_credentials(&self.store, entity, new, self.now())
    }

    /// Loads the tokens of an entity, or of all, oldest first, including revoked ones.
    pub fn load_tokens(&self, entity: Option<&EntityId>) -> Result<Vec<TokenInfo>, ActError> {
        Ok(self.store.load_tokens(entity)?)
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// If no valid token has this user id.
    pub fn revoke_token(&self, user_id: &str) -> Result<(), ActError> {
        if self.store.revoke_token(user_id, self.now())? {
            return Ok(());
        }
        Err(ActError::refuse("user", format!("there is no valid token of user {user_id}")))
    }
}

/// Creates and stores random credentials of an entity, with the limits of the token.
pub(super) fn issue_credentials(
    store: &AdminStore,
    entity: &EntityId,
    new: NewToken,
    now: Timestamp,
) -> Result<IssuedCredentials, ActError> {
    let pair = IssuedCredentials {
        user_id: EntityId::new(now, random_bytes()?).to_string(),
        password: to_hex(&random_bytes::<16>()?),
    };
    let NewToken { label, expires, networks, scopes } = new;
    let scopes = if scopes.is_empty() { Scopes::all() } else { scopes.into_iter().collect() };
    let credential = Credential::new(pair.user_id.clone(), &pair.password, entity.clone());
    store.add_token(&Credential { expires, networks, scopes, ..credential }, &label, now)?;
    Ok(pair)
}

/// Reads the expiry time of a token: a span from `now` with days of 24 hours, the beginning of a day in UTC, or a
/// moment. Refuses times that are not in the future.
///
/// # Errors
/// A message that follows the name of the parameter.
pub fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, String> {
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
    use super::*;

    #[test]
    fn the_end_of_a_token_is_a_time_a_day_or_a_moment_that_is_yet_to_come() {
        let now = Timestamp::now();
        for (text, seconds) in [("90d", 90 * 86_400), ("12h", 43_200), ("1d 1h", 90_000)] {
            assert_eq!(parse_expiry(text, now).unwrap().as_second() - now.as_second(), seconds, "{text}");
        }
        assert_eq!(parse_expiry("2999-01-31", now).unwrap().to_string(), "2999-01-31T00:00:00Z");
        assert_eq!(parse_expiry("2999-01-31T12:00:00Z", now).unwrap().to_string(), "2999-01-31T12:00:00Z");
        for text in ["", "0d", "-1d", "2001-01-31", "2001-01-31T12:00:00Z", "tomorrow", "99999999y"] {
            assert!(parse_expiry(text, now).is_err(), "{text}");
        }
    }
}
