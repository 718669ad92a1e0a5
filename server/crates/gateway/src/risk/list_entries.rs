//! The lists of an entity, for administrators.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::list::to_list_value;
use tillgate_domain::risk::list::{ListPosition, ListSource, RiskListEntry, RiskListKind};
use tillgate_domain::risk::rules::{RiskAction, RiskChange, RiskState};
use tillgate_risk::VelocityKey;
use tillgate_store::risk::decision_log::{DecisionLogKind, DecisionLogRow};
use tillgate_store::risk::list::ListSelection;
use tillgate_store::risk::rules::RiskKeys;
use tillgate_vault::AccountIndexKey;
use zeroize::Zeroizing;

use super::listed_account::{is_account_key, normalize_value, parse_listed_account};
use super::versions::{ChangeNote, SHOWN_CHANGES};
use crate::administration::{ActError, Administration};
use crate::{Failure, Gateway};

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
        let entries = self.put_list_entries(entity, vec![place], (source, lifetime), note)?;
        entries.into_iter().next().ok_or_else(|| ActError::refuse("list", "no entry was added"))
    }

    /// Adds entries to lists as [`Administration::put_list_entry`] does, all or none of them.
    ///
    /// # Errors
    /// Same as [`Administration::put_list_entry`].
    pub fn put_list_entries(
        &self,
        entity: &Entity,
        places: Vec<EntryPlace>,
        (source, lifetime): (Option<ListSource>, Option<SignedDuration>),
        note: ChangeNote,
    ) -> Result<Vec<RiskListEntry>, ActError> {
        let positions = places.into_iter().map(|place| self.find_position(entity, place));
        let positions: Vec<_> = positions.collect::<Result<_, _>>()?;
        self.change_list_entries(entity, positions, note, |position, state, at, note| {
            let expires = lifetime.map(|lifetime| at.checked_add(lifetime)).transpose();
            let expires = expires.map_err(|error| ActError::refuse("expires", error.to_string()))?;
            let source = source.unwrap_or_else(|| ListSource::default_of(position.list));
            let ChangeNote { author, reason } = note.clone();
            let entry = RiskListEntry { position: position.clone(), source, reason, author, created: at, expires };
            let refuse = |refusal: Refusal| ActError::from_refusal(&refusal, "list", |_| "list");
            Ok((state.put_entry(entry.clone()).map_err(refuse)?, entry))
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
        self.change_list_entries(entity, vec![position.clone()], note, |_, state, _, _| {
            let refuse = |refusal: Refusal| ActError::from_refusal(&refusal, "value", |_| "value");
            Ok((state.remove_entry().map_err(refuse)?, ()))
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
            EntryValue::Plain(text) => normalize_value(&key, &text).map_err(|message| refuse(&message))?,
        };
        Ok(ListPosition { list, key: name, value })
    }

    /// Loads the state of each entry, decides, and writes the change, all in one transaction. A decision gets the
    /// place, and the time by the entity's clock.
    fn change_list_entries<T>(
        &self,
        entity: &Entity,
        positions: Vec<ListPosition>,
        note: ChangeNote,
        decide: impl Fn(&ListPosition, &RiskState, Timestamp, &ChangeNote) -> Result<(RiskAction, T), ActError>,
    ) -> Result<Vec<T>, ActError> {
        self.store.in_transaction(|store| {
            let mut values = Vec::new();
            for position in positions {
                // The time is read under the write lock, so that the decision log is in the order of its times.
                let at = self.now() + entity.ahead;
                let keys = RiskKeys { entity: entity.id.clone(), position: Some(position.clone()), now: at };
                let (action, value) = decide(&position, &store.load_risk_state(&keys)?, at, &note)?;
                let ChangeNote { author, reason } = note.clone();
                store.apply_risk_change(&RiskChange { entity: entity.id.clone(), action, reason, author, at })?;
                values.push(value);
            }
            Ok(values)
        })
    }
}

impl Gateway {
    /// Returns a value as the lists of an entity store it, for a search or a change: normalized, and of a card or
    /// account its blind index, which may also be given itself. A number counts as a comparison with stored cards.
    ///
    /// # Errors
    /// 400 for `value` if no payment can have the value; 429 after too many similar numbers. The refusal does not
    /// repeat the value.
    pub fn find_list_value(
        &self,
        entity: &Entity,
        (name, key): (&'static str, &VelocityKey),
        text: &str,
    ) -> Result<String, Failure> {
        let refuse = |message: String| Refusal::invalid_parameter("value", None, message);
        if !is_account_key(key) {
            return Ok(normalize_value(key, text).map_err(refuse)?);
        }
        if let Some(EntryValue::Index(index)) = EntryValue::parse_index(key, text) {
            return Ok(index);
        }
        let account = parse_listed_account(key, text).map_err(refuse)?;
        // Stored payments show if they have an entry, so that an entry is a guess of their number.
        self.velocity.count_comparison(entity, &account, self.clock.now())?;
        Ok(to_list_value(&entity.id, name, &self.account_index.index_account(&account)).into_owned())
    }
}
