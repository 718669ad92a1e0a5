//! Lists of the risk check: values whose payments are accepted, reviewed or denied.

use std::borrow::Cow;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use sha2::{Digest as _, Sha256};
use tillgate_shared::format::mask::{Strictness, has_card_number};

use crate::id::{EntityId, to_hex};
use crate::plain_line::PlainLine;

/// Largest number of entries of an entity, in all of its lists.
pub const MAX_LIST_ENTRIES: u64 = 100_000;
/// Largest length of a reason, in characters.
pub const MAX_REASON: usize = 500;
/// Largest length of an author's name, in characters.
pub const MAX_AUTHOR: usize = 100;

/// Checks the name of an author or analyst.
///
/// # Errors
/// The reason, if the name is blank or too long, or has control characters.
pub fn parse_author(text: &str) -> Result<String, String> {
    PlainLine::<MAX_AUTHOR>::parse_filled(text.trim())
        .map(String::from)
        .map_err(|_| format!("a name has 1 to {MAX_AUTHOR} characters, and no control characters"))
}

/// Checks the reason of a change. It may be empty.
///
/// # Errors
/// The fault, phrased to follow the name of the reason, if it is too long, or has control characters or a card number:
/// a reason is stored and shown as it is.
pub fn check_reason(text: &str) -> Result<String, String> {
    let line = PlainLine::<MAX_REASON>::parse(text)
        .map_err(|_| format!("may have {MAX_REASON} characters at most, and no control characters"))?;
    if has_card_number(text, Strictness::Allowed) {
        return Err("may not have a card number".to_owned());
    }
    Ok(line.into())
}

/// Parses the time after which an entry ends: a duration with days of 24 hours, above zero.
///
/// # Errors
/// The fault, phrased to follow the name of the duration.
pub fn parse_lifetime(text: &str) -> Result<SignedDuration, String> {
    let span = text.parse::<Span>().ok();
    let lifetime = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let lifetime = lifetime.filter(|lifetime| lifetime.is_positive());
    lifetime.ok_or_else(|| "must be a duration above zero, such as 30d, 12h or 30m".to_owned())
}

/// A list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RiskListKind {
    /// Payments to accept.
    Allow,
    /// Payments that a person decides.
    Review,
    /// Payments to deny.
    Deny,
}

impl RiskListKind {
    /// Every list.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Review, Self::Deny];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Review => "review",
            Self::Deny => "deny",
        }
    }

    /// Parses the name of a list. Returns `None` if there is no such list.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.as_str() == text)
    }
}

/// The parties whose word about a payment an entry believes. A value that only the shopper's browser states may be
/// anybody's: whoever knows an address on a list can send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListSource {
    /// The merchant's server and the gateway.
    Server,
    /// The shopper's browser as well.
    Any,
}

impl ListSource {
    /// All sources.
    pub const ALL: [Self; 2] = [Self::Server, Self::Any];

    /// Returns the source of an entry that names none. Statements of a browser may harm its payment, but never help it.
    pub fn default_of(list: RiskListKind) -> Self {
        match list {
            RiskListKind::Allow => Self::Server,
            RiskListKind::Review | RiskListKind::Deny => Self::Any,
        }
    }

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Any => "any",
        }
    }

    /// Parses a name. Returns `None` if there is no such source.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}

/// Returns the value of a key as an entity's lists store it. Of a card or account it is a hash of the entity and the
/// account's index, so that the entries of one account on the lists of two entities are unrelated.
pub fn to_list_value<'a>(entity: &EntityId, key: &str, value: &'a str) -> Cow<'a, str> {
    if !matches!(key, "card" | "account") {
        return Cow::Borrowed(value);
    }
    let hash = Sha256::new().chain_update(b"tillgate list entry\n").chain_update(entity.as_str());
    Cow::Owned(to_hex(&hash.chain_update(b"\n").chain_update(value).finalize()))
}

/// An entry's place: its list, the name of its key, and the normalized value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPosition {
    /// The list.
    pub list: RiskListKind,
    /// The name of a velocity key, such as `email`.
    pub key: &'static str,
    /// The normalized value, as [`to_list_value`] returns it.
    pub value: String,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RiskListEntry {
    /// The list, key and value.
    pub position: ListPosition,
    /// The parties whose word it believes.
    pub source: ListSource,
    /// The reason, in the words of the author.
    pub reason: String,
    /// The user or token that added it.
    pub author: String,
    /// The time at which it was added.
    pub created: Timestamp,
    /// The time at which it ends. `None` if it does not.
    pub expires: Option<Timestamp>,
}

/// An entry that applies to a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListHit {
    /// The entity that owns the entry: the payment's own, or one above it.
    pub entity: EntityId,
    /// The list.
    pub list: RiskListKind,
    /// The name of the key.
    pub key: &'static str,
    /// The reason of the entry.
    pub reason: String,
}
