//! Entries of risk lists.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::risk::list::RiskListEntry;

use crate::{ResultFields, WireTime};

/// An entry of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RiskListEntry")]
struct ListEntryFields<'a> {
    /// The list.
    #[schemars(extend("enum" = ["allow", "review", "deny"]))]
    list: &'static str,
    /// Name of the key.
    key: &'static str,
    /// The listed value.
    value: &'a str,
    /// The parties whose word about a payment the entry believes.
    #[schemars(extend("enum" = ["server", "any"]))]
    source: &'static str,
    /// Reason of the entry.
    reason: &'a str,
    /// The token or user that added the entry.
    author: &'a str,
    /// Time of the addition.
    created: WireTime,
    /// Time of the end. Null if the entry has none.
    expires: Option<WireTime>,
}

/// An entry that was added or removed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListEntry")]
pub struct ChangedListEntryFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    #[serde(flatten)]
    entry: ListEntryFields<'a>,
}

/// An entry of a page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListedEntry")]
struct ListedEntryFields<'a> {
    #[serde(flatten)]
    entry: ListEntryFields<'a>,
    /// True if the entry has ended.
    expired: bool,
}

/// A page of entries.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListEntries")]
pub struct ListEntriesFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// Entries of the lists, with expired ones.
    entries: Vec<ListedEntryFields<'a>>,
    /// Position of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl<'a> From<&'a RiskListEntry> for ListEntryFields<'a> {
    fn from(entry: &'a RiskListEntry) -> Self {
        Self {
            list: entry.position.list.as_str(),
            key: entry.position.key,
            value: &entry.position.value,
            source: entry.source.as_str(),
            reason: &entry.reason,
            author: &entry.author,
            created: WireTime(entry.created),
            expires: entry.expires.map(WireTime),
        }
    }
}

impl<'a> From<&'a RiskListEntry> for ChangedListEntryFields<'a> {
    fn from(entry: &'a RiskListEntry) -> Self {
        Self { result: ResultFields::success(), entry: entry.into() }
    }
}

impl<'a> ListEntriesFields<'a> {
    /// Creates the response with a page of entries at this time, and the position of the next page.
    pub fn new(entries: &'a [RiskListEntry], now: Timestamp, cursor: Option<String>) -> Self {
        let listed = entries.iter().map(|entry| ListedEntryFields {
            entry: entry.into(),
            expired: entry.expires.is_some_and(|end| end <= now),
        });
        Self { result: ResultFields::success(), entries: listed.collect(), cursor }
    }
}
