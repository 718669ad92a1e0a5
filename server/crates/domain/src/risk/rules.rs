//! Versions of an entity's risk rules, and changes of its rules and lists.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::EntityId;
use crate::refusal::Refusal;
use crate::risk::list::{ListPosition, MAX_LIST_ENTRIES, RiskListEntry};

/// Largest number of versions that an entity keeps. A further one replaces the oldest that is not in use.
pub const MAX_VERSIONS: usize = 100;

/// Use of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionRole {
    /// It decides.
    Active,
    /// It only records its decisions.
    Shadow,
}

impl VersionRole {
    /// Returns its name, as in the decision log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "activate",
            Self::Shadow => "shadow",
        }
    }
}

/// A version in a list, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleVersionSummary {
    /// The name: 16 hexadecimal digits.
    pub version: String,
    /// The user or token that added it.
    pub author: String,
    /// The time at which it was added.
    pub created: Timestamp,
}

/// Rules and lists of an entity, without the texts of the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RiskState {
    /// The version that decides. `None` if the nearest entity above with one decides.
    pub active: Option<String>,
    /// The version that only records. `None` if that of the nearest entity above with one records.
    pub shadow: Option<String>,
    /// The stored versions, oldest first.
    pub versions: Vec<RuleVersionSummary>,
    /// Number of list entries, expired ones included.
    pub entries: u64,
    /// The requested entry, if it exists.
    pub entry: Option<RiskListEntry>,
}

/// An event in the decision log of an entity: a change of its rules or lists, or a limit that was reached.
#[derive(Debug, Clone)]
pub enum RiskAction {
    /// Stores a version, and deletes others.
    AddVersion {
        /// The name.
        version: String,
        /// The text of the rules file.
        text: String,
        /// The versions to delete.
        replaced: Vec<String>,
    },
    /// Uses a version, or none.
    UseVersion {
        /// The use.
        role: VersionRole,
        /// The version, or `None`.
        version: Option<String>,
    },
    /// Adds an entry, or replaces the one at its place.
    PutEntry(RiskListEntry),
    /// Removes an entry.
    RemoveEntry(ListPosition),
    /// Records that a card-testing limit refused payment attempts. Changes nothing but the decision log.
    ReachLimit {
        /// The name of the limit.
        limit: &'static str,
        /// The masked key that it counts. Empty if it counts the entity.
        key: String,
    },
}

/// An event with its author, for the decision log.
#[derive(Debug, Clone)]
pub struct RiskChange {
    /// The entity whose decision log it belongs to.
    pub entity: EntityId,
    /// The change.
    pub action: RiskAction,
    /// The reason, in the words of the author.
    pub reason: String,
    /// The user or token, or the gateway itself.
    pub author: String,
    /// The time, by the entity's clock.
    pub at: Timestamp,
}

impl RiskState {
    /// Returns the version of the entity in a role. `None` if it has none of its own there.
    pub fn version_in(&self, role: VersionRole) -> Option<&str> {
        match role {
            VersionRole::Active => self.active.as_deref(),
            VersionRole::Shadow => self.shadow.as_deref(),
        }
    }

    /// Returns true if the requested entry can be added.
    pub fn has_room(&self) -> bool {
        self.entry.is_some() || self.entries < MAX_LIST_ENTRIES
    }

    /// Decides how a version is added. Returns `None` if it is stored already.
    pub fn add_version(&self, version: &str, text: String) -> Option<RiskAction> {
        if self.versions.iter().any(|known| known.version == version) {
            return None;
        }
        let is_used = |version: &String| [&self.active, &self.shadow].contains(&&Some(version.clone()));
        let surplus = (self.versions.len() + 1).saturating_sub(MAX_VERSIONS);
        let unused = self.versions.iter().map(|known| &known.version).filter(|version| !is_used(version));
        let replaced = unused.take(surplus).cloned().collect();
        Some(RiskAction::AddVersion { version: version.to_owned(), text, replaced })
    }

    /// Decides on the use of a version, or of none.
    ///
    /// # Errors
    /// 404 if the entity has no such version.
    pub fn use_version(&self, role: VersionRole, version: Option<&str>) -> Result<RiskAction, Refusal> {
        if let Some(version) = version
            && !self.versions.iter().any(|known| known.version == version)
        {
            return Err(Refusal::not_found("This entity has no such version of rules"));
        }
        Ok(RiskAction::UseVersion { role, version: version.map(str::to_owned) })
    }

    /// Decides how an entry is added.
    ///
    /// # Errors
    /// 400 if it is a new one, and the lists of the entity are full.
    pub fn put_entry(&self, entry: RiskListEntry) -> Result<RiskAction, Refusal> {
        if !self.has_room() {
            let message = format!("cannot be added: the lists of an entity have {MAX_LIST_ENTRIES} entries at most");
            return Err(Refusal::invalid_parameter("list", Some(entry.position.list.as_str()), message));
        }
        Ok(RiskAction::PutEntry(entry))
    }

    /// Decides how the requested entry is removed.
    ///
    /// # Errors
    /// 404 if there is no such entry.
    pub fn remove_entry(&self) -> Result<RiskAction, Refusal> {
        let entry = self.entry.as_ref().ok_or_else(|| Refusal::not_found("The list has no such entry"))?;
        Ok(RiskAction::RemoveEntry(entry.position.clone()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::risk::rules::*;

    fn state_with_versions(count: usize) -> RiskState {
        let summary = |number| RuleVersionSummary {
            version: format!("{number:016x}"),
            author: "jo".to_owned(),
            created: Timestamp::UNIX_EPOCH,
        };
        RiskState { versions: (0..count).map(summary).collect(), ..RiskState::default() }
    }

    #[test]
    fn the_oldest_version_that_is_not_in_use_makes_room() {
        let mut state = state_with_versions(MAX_VERSIONS);
        let versions: Vec<String> = state.versions.iter().map(|known| known.version.clone()).collect();
        (state.active, state.shadow) = (versions.first().cloned(), versions.get(2).cloned());
        let Some(RiskAction::AddVersion { replaced, .. }) = state.add_version("new", String::new()) else { panic!() };
        assert_eq!(replaced, versions[1..2]);
        assert!(state.add_version(&versions[7], String::new()).is_none(), "it is stored already");
        let few = state_with_versions(MAX_VERSIONS - 1);
        let Some(RiskAction::AddVersion { replaced, .. }) = few.add_version("new", String::new()) else { panic!() };
        assert!(replaced.is_empty());
    }

    #[test]
    fn only_a_stored_version_can_be_used() {
        let state = state_with_versions(1);
        assert!(state.use_version(VersionRole::Active, Some("0000000000000000")).is_ok());
        assert!(state.use_version(VersionRole::Shadow, None).is_ok());
        assert_eq!(state.use_version(VersionRole::Active, Some("0000000000000001")).unwrap_err().status, 404);
    }

    #[test]
    fn full_lists_take_no_further_entry() {
        let position = ListPosition { list: crate::risk::list::RiskListKind::Deny, key: "ip", value: "::1".to_owned() };
        let entry = RiskListEntry {
            position,
            source: crate::risk::list::ListSource::Any,
            reason: String::new(),
            author: "jo".to_owned(),
            created: Timestamp::UNIX_EPOCH,
            expires: None,
        };
        let full = RiskState { entries: MAX_LIST_ENTRIES, ..RiskState::default() };
        assert_eq!(full.put_entry(entry.clone()).unwrap_err().status, 400);
        assert!(full.remove_entry().is_err());
        let known = RiskState { entry: Some(entry.clone()), ..full };
        assert!(known.put_entry(entry).is_ok() && known.remove_entry().is_ok());
    }
}
