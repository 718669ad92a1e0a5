//! The audit log for people: a list with filters, one entry with the values before and after it, and the check of the
//! chain.
//!
//! The cost of a page is bounded. A filter that few entries match ends the page early, and the next page continues
//! where this one stopped reading.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use tillgate_domain::access::audit::{AuditEntry, BINDING, RECORD_DIGEST};
use tillgate_store::Cancellation;
use tillgate_store::access::audit_log::{AuditIndex, AuditOwners, StoredEntry};

use crate::settlement::verification::Verification;
use crate::{Failure, Gateway};

/// Maximum number of entries that a page reads, including those that the filter rejects.
const MAX_READ: usize = 5000;
/// Time after which a page ends, on a busy machine before it has read that many.
const MAX_TIME: Duration = Duration::from_millis(50);
/// Number of entries that every page reads, however long they take. The time is looked at after as many again.
const TIMED_READS: usize = 500;
/// Maximum number of earlier acts among which the values before an act are looked for.
const MAX_EARLIER: usize = 100;

/// The detail with the address of the person who acts.
const ADDRESS: &str = "address";
/// The last word of acts that replace values, such as `entity set`.
const SET: &str = "set";

/// Filter of a list. The default matches every entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// True to leave out payments, which are most of the entries, and those that bind the ends of the chains.
    pub acts_only: bool,
    /// The act, such as `token create`, or its first word.
    pub act: Option<String>,
    /// The person, program or token that acted, such as `user 8a01…`, or its id alone.
    pub actor: Option<String>,
    /// The id of the thing that the act is about.
    pub subject: Option<String>,
    /// The earliest time.
    pub from: Option<Timestamp>,
    /// The time before which the entries are.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// Returns true if the filter matches an entry.
    fn matches(&self, entry: &AuditEntry) -> bool {
        let is_act = |wanted: &str| entry.action == wanted || entry.action.split(' ').next() == Some(wanted);
        let is_actor = |wanted: &str| {
            let actor = entry.actor.as_deref().unwrap_or_default();
            actor == wanted || actor.split_once(' ').is_some_and(|(_, id)| id == wanted)
        };
        // A minute has one, and nobody has done it.
        let is_shown = entry.action != BINDING || self.act.is_some() || !self.acts_only;
        is_shown
            && self.act.as_deref().is_none_or(is_act)
            && self.actor.as_deref().is_none_or(is_actor)
            && self.subject.as_deref().is_none_or(|wanted| entry.subject == wanted)
            && self.from.is_none_or(|from| entry.time >= from)
            && self.until.is_none_or(|until| entry.time < until)
    }

    /// Returns the index that leads to the fewest entries.
    fn choose_index(&self) -> AuditIndex {
        match &self.subject {
            Some(subject) if self.acts_only => AuditIndex::ActsOn(subject.clone()),
            _ if self.acts_only => AuditIndex::Acts,
            _ => AuditIndex::All,
        }
    }
}

/// A value that an act has set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedValue {
    /// The name. Parts of a structured value have names such as `settings.strict`.
    pub name: String,
    /// The value before. `None` if there was none, or no entry has it.
    pub before: Option<String>,
    /// The value after. `None` if the act has removed it.
    pub after: Option<String>,
}

/// An entry with the values that it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedAct {
    /// The entry.
    pub entry: StoredEntry,
    /// The changed values. Those that an act has set again as they were are left out.
    pub values: Vec<AuditedValue>,
}

impl AuditedAct {
    /// Returns the address from which the person has acted.
    pub fn address(&self) -> Option<&str> {
        self.entry.content.details.get(ADDRESS).map(String::as_str)
    }
}

/// A page of a list.
#[derive(Debug, Default)]
pub struct AuditPage {
    /// The entries, newest first.
    pub acts: Vec<AuditedAct>,
    /// The number before which the next page begins, if there may be older entries.
    pub before: Option<i64>,
    /// The time of the last entry that was read.
    pub last_time: Option<Timestamp>,
    /// True if the page ended because too many entries did not match.
    pub is_cut: bool,
}

impl Gateway {
    /// Lists the newest entries of some owners before a number that a filter matches, at most `limit`.
    ///
    /// # Errors
    /// If the store cannot be read, or an entry is damaged.
    pub fn list_audit_entries(
        &self,
        owners: &AuditOwners,
        filter: &AuditFilter,
        before: i64,
        limit: usize,
        cancelled: &Cancellation<'_>,
    ) -> Result<AuditPage, Failure> {
        let (mut page, mut found) = (AuditPage::default(), Vec::new());
        let (mut read, mut last) = (0_usize, None);
        let started = Instant::now();
        self.store.visit_latest_entries(owners, &filter.choose_index(), before, cancelled, |entry| {
            let is_late = || read > 0 && read.is_multiple_of(TIMED_READS) && started.elapsed() > MAX_TIME;
            if found.len() == limit || read == MAX_READ || is_late() {
                // This entry is one more, so the list continues before the last one that was read.
                page.is_cut = found.len() < limit;
                page.before = last;
                return ControlFlow::Break(());
            }
            read += 1;
            last = Some(entry.number);
            page.last_time = Some(entry.content.time);
            if filter.matches(&entry.content) {
                found.push(entry);
            }
            ControlFlow::Continue(())
        })?;
        page.acts = found.into_iter().map(|entry| self.compare_act(entry)).collect::<Result<_, _>>()?;
        Ok(page)
    }

    /// Loads an entry with the values before and after it. Returns `None` if there is none with this number, or another
    /// owner has it.
    ///
    /// # Errors
    /// If the store cannot be read, or an entry is damaged.
    pub fn load_audited_act(&self, owners: &AuditOwners, number: i64) -> Result<Option<AuditedAct>, Failure> {
        self.store.load_audit_entry(owners, number)?.map(|entry| self.compare_act(entry)).transpose()
    }

    /// Verifies the chain of the whole audit log with its key.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn verify_audit_chain(&self) -> Result<Verification, Failure> {
        let snapshot = self.store.open_snapshot(&self.vault)?;
        Ok(Verification::verify_chains(&snapshot, None)?)
    }

    /// Compares the values of an act with those of the act on the same thing before it. Entries have only the values
    /// after an act.
    fn compare_act(&self, entry: StoredEntry) -> Result<AuditedAct, Failure> {
        let before = match entry.content.action.rsplit_once(' ') {
            Some((kind, SET)) => {
                let (set, create) = (format!("{kind} {SET}"), format!("{kind} create"));
                let has_values = |earlier: &AuditEntry| earlier.action == set || earlier.action == create;
                self.store.find_earlier_act(&entry, MAX_EARLIER, has_values)?
            }
            _ => None,
        };
        let before = before.map(|earlier| flatten_details(&earlier)).unwrap_or_default();
        let values = compare_values(&before, &flatten_details(&entry.content));
        Ok(AuditedAct { entry, values })
    }
}

/// Returns the values that differ, in the order of their names.
fn compare_values(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<AuditedValue> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let values = names.into_iter().map(|name| AuditedValue {
        name: name.clone(),
        before: before.get(name).cloned(),
        after: after.get(name).cloned(),
    });
    values.filter(|value| value.before != value.after).collect()
}

/// Returns the details of an entry by name, with the parts of structured values. An empty text counts as no value. The
/// address and the digest of the chain are no values of the act.
fn flatten_details(entry: &AuditEntry) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (name, text) in entry.details.iter().filter(|(name, _)| ![ADDRESS, RECORD_DIGEST].contains(&name.as_str())) {
        match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => flatten_value(name, &value, &mut values),
            _ if text.is_empty() => {}
            _ => {
                values.insert(name.clone(), text.clone());
            }
        }
    }
    values
}

/// Adds a structured value. Lists of plain values are one value.
fn flatten_value(name: &str, value: &Value, values: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                flatten_value(&format!("{name}.{part}"), value, values);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (number, item) in (1..).zip(items) {
                flatten_value(&format!("{name}.{number}"), item, values);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(describe_plain).collect();
            values.insert(name.to_owned(), items.join(", "));
        }
        plain => {
            values.insert(name.to_owned(), describe_plain(plain));
        }
    }
}

/// Describes a value without parts.
fn describe_plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(action: &str, details: &[(&str, &str)]) -> AuditEntry {
        let entry = AuditEntry::new(Timestamp::UNIX_EPOCH, action, "thing").by("user 8a01");
        details.iter().fold(entry, |entry, (name, value)| entry.with_detail(name, *value))
    }

    #[test]
    fn an_act_is_found_by_its_words_and_its_actor_by_the_id() {
        let sample = entry("risk-list add", &[]);
        let filter = |act: &str, actor: &str| AuditFilter {
            act: Some(act.to_owned()),
            actor: Some(actor.to_owned()),
            ..AuditFilter::default()
        };
        for (act, actor, expected) in [
            ("risk-list add", "user 8a01", true),
            ("risk-list", "8a01", true),
            ("risk", "8a01", false),
            ("add", "8a01", false),
            ("risk-list add", "user", false),
            ("risk-list add", "8a0", false),
        ] {
            assert_eq!(filter(act, actor).matches(&sample), expected, "{act} {actor}");
        }
        let from = AuditFilter { from: Some(Timestamp::UNIX_EPOCH), ..AuditFilter::default() };
        let until = AuditFilter { until: Some(Timestamp::UNIX_EPOCH), ..AuditFilter::default() };
        assert!(from.matches(&sample) && !until.matches(&sample), "the first moment counts and the last one does not");
    }

    #[test]
    fn structured_values_are_compared_by_their_parts() {
        let settings =
            r#"{"strict":true,"origins":["https://a.example","https://b.example"],"channel":{"risk":false}}"#;
        let before = entry("entity set", &[("name", "Bakery"), ("settings", r#"{"channel":{"risk":true}}"#)]);
        let after =
            entry("entity set", &[("name", "Bakery"), ("settings", settings), ("address", "127.0.0.1"), ("x", "")]);
        let values = compare_values(&flatten_details(&before), &flatten_details(&after));
        let found = values.iter().map(|value| (&*value.name, value.before.as_deref(), value.after.as_deref()));
        let found: Vec<_> = found.collect();
        let expected = [
            ("settings.channel.risk", Some("true"), Some("false")),
            ("settings.origins", None, Some("https://a.example, https://b.example")),
            ("settings.strict", None, Some("true")),
        ];
        assert_eq!(found, expected);
    }
}
