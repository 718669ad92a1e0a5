//! Lists of the fraud check: values whose payments are accepted, reviewed or denied.

use jiff::Timestamp;

use super::id::EntityId;
use crate::risk::VelocityKey;

/// Largest number of entries of an entity, in all of its lists.
pub const MAX_LIST_ENTRIES: u64 = 100_000;
/// Largest length of a reason, in characters.
pub const MAX_REASON: usize = 500;
/// Largest length of an author's name, in characters.
pub const MAX_AUTHOR: usize = 100;

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

/// Finds the key of lists with a name. Returns `None` if there is none.
pub fn find_list_key(name: &str) -> Option<(&'static str, VelocityKey)> {
    VelocityKey::NAMED.into_iter().find(|(known, _)| *known == name)
}

/// An entry's place: its list, the name of its key, and the normalized value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPosition {
    /// The list.
    pub list: RiskListKind,
    /// The name of a velocity key, such as `email`.
    pub key: &'static str,
    /// The normalized value; of a card or account its blind index.
    pub value: String,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RiskListEntry {
    /// The list, key and value.
    pub position: ListPosition,
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
