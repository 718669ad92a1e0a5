//! The stored versions of an entity's rules, for administrators.

use tillgate_domain::access::approval::act::PendingRuleUse;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::rules::{RiskAction, RiskChange, RiskState, VersionRole};
use tillgate_risk::RuleSet;
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_store::AdminStore;
use tillgate_store::risk::decision_log::{DecisionLogKind, DecisionLogRow};
use tillgate_store::risk::rules::RiskKeys;

use crate::administration::{ActError, Administration, load_known_entity};

/// Number of the latest changes that are loaded with versions or lists.
pub(super) const SHOWN_CHANGES: u32 = 20;

/// A file with rules, which has been parsed.
pub struct RulesFile<'a> {
    /// Name of the file in error texts.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// The rules of the text.
    pub rules: &'a RuleSet,
}

/// The author and the reason of a change, for the decision log.
#[derive(Debug, Clone)]
pub struct ChangeNote {
    /// Name of the person who acts.
    pub author: String,
    /// The reason, checked by [`tillgate_domain::risk::list::check_reason`]. May be empty.
    pub reason: String,
}

impl Administration {
    /// Stores a version of an entity's rules, which decides nothing yet. Returns false if it was stored before.
    ///
    /// # Errors
    /// If the text has a card number, or a rule compares `bin` with more digits than it has.
    pub fn add_rules(&self, entity: &Entity, file: &RulesFile<'_>, author: String) -> Result<bool, ActError> {
        if has_card_number(file.text, Strictness::InUse) {
            return Err(ActError::refuse("file", format!("{} has a card number", file.name)));
        }
        let refuse = |message| ActError::refuse("file", format!("{}: {message}", file.name));
        file.rules.check_bins().map_err(refuse)?;
        let version = file.rules.version().to_string();
        self.store.in_transaction(|store| {
            let keys = self.rule_keys(entity);
            let state = store.load_risk_state(&keys)?;
            let Some(action) = state.add_version(&version, file.text.to_owned()) else { return Ok(false) };
            let (entity, at) = (entity.id.clone(), keys.now);
            store.apply_risk_change(&RiskChange { entity, action, reason: String::new(), author, at })?;
            Ok(true)
        })
    }

    /// Loads the versions of an entity, oldest first, the versions in use, and the latest changes.
    pub fn load_rule_versions(&self, entity: &Entity) -> Result<(RiskState, Vec<DecisionLogRow>), ActError> {
        let state = self.store.load_risk_state(&self.rule_keys(entity))?;
        Ok((state, self.store.load_risk_changes(&entity.id, DecisionLogKind::Rules, SHOWN_CHANGES)?))
    }

    /// Loads the text of a version, as it was added.
    ///
    /// # Errors
    /// If the entity has no such version.
    pub fn load_rules_text(&self, entity: &EntityId, version: &str) -> Result<String, ActError> {
        let text = self.store.load_rules_text(entity, version)?;
        text.ok_or_else(|| ActError::refuse("version", format!("{entity} has no version {version}")))
    }

    /// Loads and reads a version of an entity's rules.
    ///
    /// # Errors
    /// If the entity has no such version, or this release cannot read it.
    pub fn load_rule_set(&self, entity: &EntityId, version: &str) -> Result<RuleSet, ActError> {
        let text = self.store.load_rules_text(entity, version)?.ok_or_else(|| unknown_version(entity, version))?;
        read_version(version, &text)
    }

    /// Loads the latest changes of an entity's rules and lists, and the card-testing limits that it reached.
    pub fn load_decision_log(&self, entity: &EntityId, limit: u32) -> Result<Vec<DecisionLogRow>, ActError> {
        Ok(self.store.load_decision_log(entity, limit)?)
    }

    /// Lets a version of an entity decide or only record. `None` uses the version of the entity above.
    ///
    /// # Errors
    /// If the entity has no such version, or this release cannot read it.
    pub fn use_rules(
        &self,
        entity: &Entity,
        role: VersionRole,
        version: Option<&str>,
        note: ChangeNote,
    ) -> Result<(), ActError> {
        self.store.in_transaction(|store| {
            let keys = self.rule_keys(entity);
            let state = store.load_risk_state(&keys)?;
            apply_rule_use(store, &keys, &state, (role, version), note)
        })
    }

    /// Same as [`Self::use_rules`], but only in place of the version that the person has seen in this role. Changes
    /// nothing if the version has the role already, because a form may be sent twice.
    ///
    /// # Errors
    /// Also if another version has the role by now, or a second person is needed.
    pub fn replace_rules_in_use(
        &self,
        entity: &Entity,
        role: VersionRole,
        version: Option<&str>,
        seen: Option<&str>,
        note: ChangeNote,
    ) -> Result<(), ActError> {
        self.store.in_transaction(|store| {
            let keys = self.rule_keys(entity);
            let state = store.load_risk_state(&keys)?;
            let used = state.version_in(role);
            if used == version {
                return Ok(());
            }
            if seen != used {
                let now = used.unwrap_or("none");
                let message = format!("somebody else has changed the version in use meanwhile; it is {now} now");
                return Err(ActError::refuse("version", message));
            }
            check_rule_use(store, &keys, &state, (role, version))?;
            let change = PendingRuleUse {
                role,
                version: version.map(str::to_owned),
                seen: used.map(str::to_owned),
                author: note.author.clone(),
                reason: note.reason.clone(),
            };
            self.check_rule_approval(store, entity, &change)?;
            apply_rule_use(store, &keys, &state, (role, version), note)
        })
    }

    /// Makes a change of the rules in use that a second person has approved. The caller holds the write lock.
    ///
    /// # Errors
    /// If the version in use is not the one of the request any more, or the version is gone.
    pub(crate) fn apply_approved_rules(
        &self,
        store: &AdminStore,
        entity: &EntityId,
        change: &PendingRuleUse,
    ) -> Result<(), ActError> {
        let keys = self.rule_keys(&load_known_entity(store, entity)?);
        let state = store.load_risk_state(&keys)?;
        let used = state.version_in(change.role);
        if used != change.seen.as_deref() {
            let now = used.unwrap_or("none");
            let message = format!(
                "the version in use has changed since the request; it is {now} now: decline this request, and \
                 have a new one made"
            );
            return Err(ActError::refuse("version", message));
        }
        let note = ChangeNote { author: change.author.clone(), reason: change.reason.clone() };
        apply_rule_use(store, &keys, &state, (change.role, change.version.as_deref()), note)
    }

    /// Returns the keys of an entity's rules, at its time.
    fn rule_keys(&self, entity: &Entity) -> RiskKeys {
        RiskKeys { entity: entity.id.clone(), position: None, now: self.now() + entity.ahead }
    }
}

/// Checks that a version can be used, and returns the change.
fn check_rule_use(
    store: &AdminStore,
    keys: &RiskKeys,
    state: &RiskState,
    (role, version): (VersionRole, Option<&str>),
) -> Result<RiskAction, ActError> {
    let Ok(action) = state.use_version(role, version) else {
        return Err(unknown_version(&keys.entity, version.unwrap_or_default()));
    };
    if let Some(version) = version {
        let text = store.load_rules_text(&keys.entity, version)?.unwrap_or_default();
        read_version(version, &text)?;
    }
    Ok(action)
}

/// Checks and writes a change of the rules in use.
fn apply_rule_use(
    store: &AdminStore,
    keys: &RiskKeys,
    state: &RiskState,
    used: (VersionRole, Option<&str>),
    note: ChangeNote,
) -> Result<(), ActError> {
    let action = check_rule_use(store, keys, state, used)?;
    let ChangeNote { author, reason } = note;
    Ok(store.apply_risk_change(&RiskChange { entity: keys.entity.clone(), action, reason, author, at: keys.now })?)
}

fn unknown_version(entity: &EntityId, version: &str) -> ActError {
    ActError::refuse("version", format!("{entity} has no version {version}"))
}

/// Reads the stored text of a version.
fn read_version(version: &str, text: &str) -> Result<RuleSet, ActError> {
    RuleSet::parse_stored(text).map_err(|errors| {
        let error = errors.first().map(ToString::to_string).unwrap_or_default();
        ActError::refuse("version", format!("{version} cannot be read: {error}"))
    })
}
