//! The lists of an entity, for administrators.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::plain_line::PlainLine;
use tillgate_domain::risk::list::to_list_value;
use tillgate_domain::risk::list::{ListPosition, ListSource, MAX_REASON, RiskListEntry, RiskListKind};
use tillgate_domain::risk::rules::{RiskAction, RiskChange, RiskState};
use tillgate_risk::VelocityKey;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_store::risk::decision_log::{DecisionLogKind, DecisionLogRow};
use tillgate_store::risk::list::ListSelection;
use tillgate_store::risk::rules::RiskKeys;
use tillgate_vault::AccountIndexKey;
use zeroize::Zeroizing;

use super::listed_account::{is_account_key, parse_listed_account};
use super::versions::{ChangeNote, SHOWN_CHANGES};
use crate::administration::{ActError, Administration};

/// Number of entries that are loaded at once.
const PAGE: u32 = 1_000;

/// The place of an entry, as a person names it.
pub struct EntryPlace {
    /// The list.
    pub list: RiskListKind,
    /// The key with its name.
    pub key: (&'static str, VelocityKey),
    /// The value.
    pub value: EntryValue,
}

/// The value of an entry.
pub enum EntryValue {
    /// The value itself. Numbers of cards and accounts become blind indexes, and are never stored.
    Plain(Zeroizing<String>),
    /// The blind index of a card or an account, as lists show it.
    Index(String),
}

impl EntryValue {
    /// Returns true if the value of an entry with this key is the number of a card or account, which must not stand on
    /// a command line.
    pub fn is_secret(key: &VelocityKey) -> bool {
        is_account_key(key)
    }

    /// Reads a blind index, as lists show it. Returns `None` if the text is no index of this key.
    pub fn parse_index(key: &VelocityKey, text: &str) -> Option<Self> {
        tillgate_risk::normalize_list_value(key, text).ok().map(Self::Index)
    }
}

impl Administration {
    /// Adds an entry to a list, or replaces the one at its place. It ends after `lifetime`, by the entity's clock.
    /// Without a `source`, the default one of the list holds. Returns the entry.
    ///
    /// # Errors
    /// If the value is wrong for the key, or the lists are full.
    pub fn put_list_entry(
        &self,
        entity: &Entity,
        place: EntryPlace,
        (source, lifetime): (Option<ListSource>, Option<SignedDuration>),
        note: ChangeNote,
    ) -> Result<RiskListEntry, ActError> {
        let position = self.find_position(entity, place)?;
        self.change_list_entry(entity, &position, note, |state, at, note| {
            let expires = lifetime.map(|lifetime| at.checked_add(lifetime)).transpose();
            let expires = expires.map_err(|error| ActError::refuse("expires", error.to_string()))?;
            let source = source.unwrap_or_else(|| ListSource::default_of(position.list));
            let ChangeNote { author, reason } = note.clone();
            let entry = RiskListEntry { position: position.clone(), source, reason, author, created: at, expires };
            let full = |_| ActError::refuse("list", format!("the lists of {} are full", entity.id));
            Ok((state.put_entry(entry.clone()).map_err(full)?, entry))
        })
    }

    /// Removes an entry from a list, with a row in the decision log. Returns its place.
    ///
    /// # Errors
    /// If there is no such entry.
    pub fn remove_list_entry(
        &self,
        entity: &Entity,
        place: EntryPlace,
        note: ChangeNote,
    ) -> Result<ListPosition, ActError> {
        let position = self.find_position(entity, place)?;
        self.change_list_entry(entity, &position, note, |state, _, _| {
            let list = position.list.as_str();
            let unknown = |_| ActError::refuse("value", format!("the list {list} of {} has no such entry", entity.id));
            Ok((state.remove_entry().map_err(unknown)?, ()))
        })?;
        Ok(position)
    }

    /// Loads the entries of an entity, with expired ones, and the latest changes. `None` selects every list and key.
    pub fn load_list_entries(
        &self,
        entity: &Entity,
        list: Option<RiskListKind>,
        key: Option<&'static str>,
    ) -> Result<(Vec<RiskListEntry>, Vec<DecisionLogRow>), ActError> {
        let mut selection = ListSelection { list, key, limit: PAGE, ..ListSelection::default() };
        let mut entries = Vec::new();
        loop {
            let page = self.store.load_list_entries(&entity.id, &selection)?;
            let last = page.last().filter(|_| page.len() == PAGE as usize).map(|entry| entry.position.clone());
            entries.extend(page);
            let Some(last) = last else { break };
            selection.after = Some(last);
        }
        Ok((entries, self.store.load_risk_changes(&entity.id, DecisionLogKind::List, SHOWN_CHANGES)?))
    }

    /// Opens the key of the blind indexes of cards and accounts.
    ///
    /// # Errors
    /// If the vault cannot be opened, or has another key than the one that sealed the index key.
    pub fn load_account_index_key(&self) -> Result<AccountIndexKey, ActError> {
        let vault = self.open_vault()?;
        self.store.load_account_index_key(&vault).map_err(|error| ActError::NoVault(error.into()))
    }

    /// Finds the stored place of an entry.
    fn find_position(&self, entity: &Entity, place: EntryPlace) -> Result<ListPosition, ActError> {
        let EntryPlace { list, key: (name, key), value } = place;
        let refuse = |message: &str| ActError::refuse("value", format!("the value for {name} {message}"));
        let value = match value {
            EntryValue::Index(index) => index,
            EntryValue::Plain(text) if is_account_key(&key) => {
                let account = parse_listed_account(&key, &text).map_err(|message| refuse(&message))?;
                let index = self.load_account_index_key()?.index_account(&account);
                to_list_value(&entity.id, name, &index).into_owned()
            }
            EntryValue::Plain(text) => {
                if mask_card_numbers(&text).as_ref() != text.as_str() {
                    return Err(refuse("looks like a card number, which is stored under the key card only"));
                }
                tillgate_risk::normalize_list_value(&key, &text).map_err(|message| refuse(&message))?
            }
        };
        Ok(ListPosition { list, key: name, value })
    }

    /// Loads the state of an entry, decides, and writes the change, in one transaction. The decision gets the time by
    /// the entity's clock.
    fn change_list_entry<T>(
        &self,
        entity: &Entity,
        position: &ListPosition,
        note: ChangeNote,
        decide: impl FnOnce(&RiskState, Timestamp, &ChangeNote) -> Result<(RiskAction, T), ActError>,
    ) -> Result<T, ActError> {
        self.store.in_transaction(|store| {
            // The time is read under the write lock, so that the decision log is in the order of its times.
            let at = self.now() + entity.ahead;
            let keys = RiskKeys { entity: entity.id.clone(), position: Some(position.clone()), now: at };
            let (action, value) = decide(&store.load_risk_state(&keys)?, at, &note)?;
            let ChangeNote { author, reason } = note;
            store.apply_risk_change(&RiskChange { entity: entity.id.clone(), action, reason, author, at })?;
            Ok(value)
        })
    }
}

/// Checks a reason: it may not have control characters or card numbers, because it is stored and shown as it is.
///
/// # Errors
/// A message about the reason.
pub fn parse_reason(text: &str) -> Result<String, String> {
    let line = PlainLine::<MAX_REASON>::parse(text)
        .map_err(|_| format!("a reason has at most {MAX_REASON} characters and no control characters"))?;
    if mask_card_numbers(text).as_ref() != text {
        return Err("a reason may not have a card number".to_owned());
    }
    Ok(line.into())
}

/// Reads the time after which an entry ends: a duration with days of 24 hours, above zero.
///
/// # Errors
/// A message about the duration.
pub fn parse_lifetime(text: &str) -> Result<SignedDuration, String> {
    let span: Span = text.parse().map_err(|_| "a duration looks like 30d, 12h or 30m".to_owned())?;
    let lifetime = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())?;
    if lifetime.is_positive() { Ok(lifetime) } else { Err("an entry cannot end in the past".to_owned()) }
}
