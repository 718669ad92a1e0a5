//! Risk rules and lists of a merchant, changed by its own requests.

use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::list::{ListPosition, ListSource, RiskListEntry, RiskListKind};
use tillgate_domain::risk::list::{check_reason, parse_lifetime, to_list_value};
use tillgate_domain::risk::rules::{RiskAction, RiskChange, RiskState, VersionRole};
use tillgate_risk::{RuleSet, TextError, VelocityKey, find_list_key};
use tillgate_shared::format::mask::{Strictness, has_card_number};
use tillgate_shared::parameter::{ParameterError, Parameters};
use tillgate_store::risk::rules::RiskKeys;
use tillgate_store::{Changes, RecordKeys};

use crate::payment::response_recorder::ResponseRecorder;
use crate::risk::listed_account::{is_account_key, normalize_value, read_listed_account};
use crate::{Failure, Gateway};

/// The name for no version.
const NONE: &str = "none";

/// A version that was added.
#[derive(Debug, Clone)]
pub struct AddedVersion {
    /// The name.
    pub version: String,
    /// False if it was stored before.
    pub added: bool,
    /// The time, by the entity's clock.
    pub at: Timestamp,
}

/// The versions that an entity uses after a change.
#[derive(Debug, Clone)]
pub struct UsedVersions {
    /// The version of its own that decides.
    pub active: Option<String>,
    /// The version of its own that only records.
    pub shadow: Option<String>,
    /// The time, by the entity's clock.
    pub at: Timestamp,
}

/// An entry that was added or removed.
#[derive(Debug, Clone)]
pub struct ChangedEntry {
    /// The entry.
    pub entry: RiskListEntry,
    /// The time, by the entity's clock.
    pub at: Timestamp,
}

/// Reads a rules file of a request.
///
/// # Errors
/// 400 with each error of the file, as line and column, under `rules`.
pub fn parse_rules(text: Option<&str>) -> Result<RuleSet, Refusal> {
    let text = text.ok_or_else(|| Refusal::invalid_parameter("rules", None, "may not be missing"))?;
    if has_card_number(text, Strictness::InUse) {
        return Err(Refusal::invalid_parameter("rules", None, "may not have a card number"));
    }
    RuleSet::parse(text).map_err(|errors| {
        let describe = |error: &tillgate_risk::TextError| ParameterError::new("rules", None, error.to_string());
        Refusal::invalid_parameters(errors.iter().map(describe).collect())
    })
}

/// Checks a rules file in an editor, with everything for which it would not be stored.
///
/// # Errors
/// The errors with their places, at most 100.
pub fn check_rules_text(text: &str) -> Result<RuleSet, Vec<TextError>> {
    let at_line = |line: usize, message: String| vec![TextError { line, column: 1, message }];
    if has_card_number(text, Strictness::InUse) {
        // A number may be divided by a line break, so perhaps no line has it.
        let line = text.lines().position(|line| has_card_number(line, Strictness::InUse)).unwrap_or(0) + 1;
        return Err(at_line(line, "a rules file may not have a card number".to_owned()));
    }
    let rules = RuleSet::parse(text)?;
    rules.check_bins().map_err(|message| at_line(1, message))?;
    Ok(rules)
}

/// Reads the list that a request names.
///
/// # Errors
/// 400 if it is missing or none of the lists.
pub fn parse_list_kind(own: &Parameters) -> Result<RiskListKind, Refusal> {
    let name = own.get("list").unwrap_or_default();
    let names = RiskListKind::ALL.map(RiskListKind::as_str);
    RiskListKind::parse(name).ok_or_else(|| Refusal::invalid_choice("list", name, &names))
}

/// Reads the key that a request names.
///
/// # Errors
/// 400 if it is missing or none of the keys.
pub fn parse_list_key(own: &Parameters) -> Result<(&'static str, VelocityKey), Refusal> {
    let name = own.get("key").unwrap_or_default();
    let names = VelocityKey::NAMED.map(|(name, _)| name);
    find_list_key(name).ok_or_else(|| Refusal::invalid_choice("key", name, &names))
}

/// Reads the source of an entry in a list: the parties whose word it believes.
///
/// # Errors
/// 400 if it is none of them.
fn parse_list_source(own: &Parameters, list: RiskListKind) -> Result<ListSource, Refusal> {
    let names = ListSource::ALL.map(ListSource::as_str);
    match own.get("source").filter(|name| !name.is_empty()) {
        None => Ok(ListSource::default_of(list)),
        Some(name) => ListSource::parse(name).ok_or_else(|| Refusal::invalid_choice("source", name, &names)),
    }
}

/// Reads the value that a request names: normalized, of a card or account its blind index.
///
/// # Errors
/// 400 if no payment can have it. The refusal does not repeat it.
pub fn parse_list_value(key: &VelocityKey, own: &Parameters) -> Result<String, Refusal> {
    let value = normalize_value(key, own.get("value").unwrap_or_default());
    value.map_err(|message| Refusal::invalid_parameter("value", None, message))
}

/// Reads the reason of a change. It is empty if it is missing.
///
/// # Errors
/// 400 if it is too long, or has control characters or a card number.
fn parse_reason(own: &Parameters) -> Result<String, Refusal> {
    let reason = check_reason(own.get("reason").unwrap_or_default());
    reason.map_err(|message| Refusal::invalid_parameter("reason", None, message))
}

/// Reads the end of an entry: `expires` from now. `None` if it is missing.
///
/// # Errors
/// 400 if it is no duration, or does not end in the future.
fn parse_expiry(own: &Parameters, now: Timestamp) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = own.get("expires").filter(|text| !text.is_empty()) else { return Ok(None) };
    let refuse = |message| Refusal::invalid_parameter("expires", Some(text), message);
    let end = now.checked_add(parse_lifetime(text).map_err(refuse)?);
    end.map(Some).map_err(|error| refuse(error.to_string()))
}

impl Gateway {
    /// Stores a version of an entity's rules. A stored version stays as it is.
    ///
    /// # Errors
    /// 400 with each error of the file; if the store fails.
    pub async fn add_rules(
        &self,
        entity: &Entity,
        own: &Parameters,
        author: String,
        recorder: ResponseRecorder<AddedVersion>,
    ) -> Result<AddedVersion, Failure> {
        let rules = parse_rules(own.get("rules"))?;
        rules.check_bins().map_err(|message| Refusal::invalid_parameter("rules", None, message))?;
        let (text, version) = (own.get("rules").unwrap_or_default().to_owned(), rules.version().to_string());
        let (id, at) = (entity.id.clone(), self.now_of(entity));
        let keys = RiskKeys { entity: id.clone(), position: None, now: at };
        let decided = self.store.update(RecordKeys::for_risk(keys), move |loaded| {
            let action = loaded.risk.add_version(&version, text);
            let outcome = AddedVersion { version, added: action.is_some(), at };
            let changes = match action {
                Some(action) => {
                    let change = RiskChange { entity: id, action, reason: String::new(), author, at };
                    Changes::default().with_risk_change(change)
                }
                None => Changes::default(),
            };
            Ok((recorder.record_response(changes, &outcome, at), outcome))
        });
        Ok(decided.await??)
    }

    /// Lets a version of an entity decide or only record, or none for the name `none`. Requests that begin after the
    /// response use it.
    ///
    /// # Errors
    /// 404 if there is no such version; 400 if this release cannot read it; if the store fails.
    pub async fn use_rules(
        &self,
        entity: &Entity,
        role: VersionRole,
        version: &str,
        (own, author): (&Parameters, String),
        recorder: ResponseRecorder<UsedVersions>,
    ) -> Result<UsedVersions, Failure> {
        let reason = parse_reason(own)?;
        let version = Some(version).filter(|version| *version != NONE).map(str::to_owned);
        if let Some(version) = &version
            && let Some(text) = self.store.load_rules_text(&entity.id, version)?
        {
            // Compiled here, and not on the writer's thread.
            self.directory.risk.keep_compiled(&entity.id, version, Arc::new(parse_rules(Some(&text))?));
        }
        let (id, at) = (entity.id.clone(), self.now_of(entity));
        let keys = RiskKeys { entity: id.clone(), position: None, now: at };
        let decided = self.store.update(RecordKeys::for_risk(keys), move |loaded| {
            let RiskState { mut active, mut shadow, .. } = loaded.risk.clone();
            let action = loaded.risk.use_version(role, version.as_deref())?;
            match role {
                VersionRole::Active => active = version,
                VersionRole::Shadow => shadow = version,
            }
            let outcome = UsedVersions { active, shadow, at };
            let change = RiskChange { entity: id, action, reason, author, at };
            Ok((recorder.record_response(Changes::default().with_risk_change(change), &outcome, at), outcome))
        });
        let used = decided.await??;
        self.store.fill_rules().await?;
        Ok(used)
    }

    /// Adds an entry to a list, or replaces the one with the same value. A card or account is named by the parameters
    /// of a payment; only its blind index is stored.
    ///
    /// # Errors
    /// 400 if a parameter is missing or wrong, or the lists are full; 429 after too many similar numbers; if the store
    /// fails.
    pub async fn put_list_entry(
        &self,
        entity: &Entity,
        (parameters, own): (&Parameters, &Parameters),
        author: String,
        recorder: ResponseRecorder<ChangedEntry>,
    ) -> Result<ChangedEntry, Failure> {
        let at = self.now_of(entity);
        let (list, (key, velocity_key)) = (parse_list_kind(own)?, parse_list_key(own)?);
        let value = if is_account_key(&velocity_key) {
            let name = if velocity_key == VelocityKey::Card { "card.number" } else { "bankAccount.iban" };
            let account = read_listed_account(&velocity_key, parameters)
                .ok_or_else(|| Refusal::invalid_parameter(name, None, "may not be empty for this key"))?;
            // Stored payments show if they have an entry, so that an entry is a guess of their number.
            self.velocity.count_comparison(entity, &account, self.now())?;
            to_list_value(&entity.id, key, &self.account_index.index_account(&account)).into_owned()
        } else {
            parse_list_value(&velocity_key, own)?
        };
        let position = ListPosition { list, key, value };
        let (reason, expires) = (parse_reason(own)?, parse_expiry(own, at)?);
        let source = parse_list_source(own, list)?;
        let entry = RiskListEntry { position, source, reason, author, created: at, expires };
        let changed = self.change_entry(entity, entry, recorder, RiskState::put_entry).await?;
        let rules = self.directory.risk.find_rules(&entity.id);
        if rules.is_none_or(|rules| !rules.list_owners.contains(&entity.id)) {
            self.store.fill_rules().await?;
        }
        Ok(changed)
    }

    /// Removes an entry from a list, with a row in the decision log.
    ///
    /// # Errors
    /// 400 if a parameter is missing or wrong; 404 if there is no such entry; if the store fails.
    pub async fn remove_list_entry(
        &self,
        entity: &Entity,
        own: &Parameters,
        author: String,
        recorder: ResponseRecorder<ChangedEntry>,
    ) -> Result<ChangedEntry, Failure> {
        let (list, (key, velocity_key)) = (parse_list_kind(own)?, parse_list_key(own)?);
        let position = ListPosition { list, key, value: parse_list_value(&velocity_key, own)? };
        let (reason, source) = (parse_reason(own)?, ListSource::default_of(list));
        let entry = RiskListEntry { position, source, reason, author, created: self.now_of(entity), expires: None };
        self.change_entry(entity, entry, recorder, |state, _| state.remove_entry()).await
    }

    /// Changes the entry at a place, with the author, reason and time of `entry` in the decision log. Returns the
    /// removed entry, or `entry` itself if it was put.
    async fn change_entry(
        &self,
        entity: &Entity,
        entry: RiskListEntry,
        recorder: ResponseRecorder<ChangedEntry>,
        decide: impl FnOnce(&RiskState, RiskListEntry) -> Result<RiskAction, Refusal> + Clone + Send + 'static,
    ) -> Result<ChangedEntry, Failure> {
        let (id, at) = (entity.id.clone(), entry.created);
        let keys = RiskKeys { entity: id.clone(), position: Some(entry.position.clone()), now: at };
        let decided = self.store.update(RecordKeys::for_risk(keys), move |loaded| {
            let action = decide(&loaded.risk, entry.clone())?;
            let (reason, author) = (entry.reason.clone(), entry.author.clone());
            let shown = match (&action, loaded.risk.entry) {
                (RiskAction::RemoveEntry(_), Some(removed)) => removed,
                _ => entry,
            };
            let outcome = ChangedEntry { entry: shown, at };
            let change = RiskChange { entity: id, action, reason, author, at };
            Ok((recorder.record_response(Changes::default().with_risk_change(change), &outcome, at), outcome))
        });
        Ok(decided.await??)
    }
}
