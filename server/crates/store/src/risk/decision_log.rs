//! The decision log: changes of rules and lists with their authors, and reached card-testing limits.

use std::net::IpAddr;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::list::ListPosition;
use tillgate_domain::risk::rules::{RiskAction, RiskChange};
use tillgate_engine::{Row, Session, params};

use crate::ledger;
use crate::{AdminStore, Store, StoreError};

/// Largest number of rows of one kind that an entity keeps. Older ones are deleted.
const MAX_ROWS: i64 = 10_000;

/// Kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionLogKind {
    /// Versions of rules.
    Rules,
    /// Entries of lists.
    List,
    /// Card-testing limits.
    Limit,
}

impl DecisionLogKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::List => "list",
            Self::Limit => "limit",
        }
    }
}

/// A row of the decision log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DecisionLogRow {
    /// Its number, which grows with every row of any entity.
    #[serde(skip)]
    pub number: i64,
    /// `rules`, `list` or `limit`.
    pub kind: String,
    /// `add`, `activate` or `shadow`; `put` or `remove`; `reach`.
    pub action: String,
    /// The version; the list, key and value; or the limit and the masked key that it counts.
    pub subject: String,
    /// The reason, in the words of the author. Of a limit, its cap.
    pub reason: String,
    /// The user or token. Of a limit, `gateway`.
    pub author: String,
    /// The time, by the entity's clock.
    pub at: Timestamp,
}

impl DecisionLogRow {
    /// Reads a row with the columns of [`load_rows`].
    fn read_row(row: &Row<'_>) -> tillgate_engine::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            kind: row.get(1)?,
            action: row.get(2)?,
            subject: row.get(3)?,
            reason: row.get(4)?,
            author: row.get(5)?,
            at: Timestamp::from_millisecond(row.get(6)?).unwrap_or(Timestamp::UNIX_EPOCH),
        })
    }

    /// Formats the row as a line without its kind.
    pub fn format_line(&self) -> String {
        let Self { at, author, action, subject, reason, .. } = self;
        format!("{at:.0}  {author}  {action} {subject}  {reason}").trim_end().to_owned()
    }
}

/// A user of the back office who changes rules or lists, for the audit log: name and client's address.
pub(crate) type OfficeUser<'a> = (&'a str, IpAddr);

/// Writes the row of an event, and deletes the oldest ones above 10,000 of its entity and kind. Without a user of the
/// back office the audit log names the author.
pub(crate) fn insert_row(
    session: &dyn Session,
    change: &RiskChange,
    user: Option<OfficeUser<'_>>,
) -> Result<(), StoreError> {
    let RiskChange { entity, action, reason, author, at } = change;
    let (kind, action, subject) = match action {
        RiskAction::AddVersion { version, .. } => (DecisionLogKind::Rules, "add", version.clone()),
        RiskAction::UseVersion { role, version } => {
            (DecisionLogKind::Rules, role.as_str(), version.clone().unwrap_or_else(|| "none".to_owned()))
        }
        RiskAction::PutEntry(entry) => (DecisionLogKind::List, "put", describe_position(&entry.position)),
        RiskAction::RemoveEntry(position) => (DecisionLogKind::List, "remove", describe_position(position)),
        RiskAction::ReachLimit { limit, key } => {
            (DecisionLogKind::Limit, "reach", format!("{limit} {key}").trim_end().to_owned())
        }
    };
    record_act(session, change, (kind, action), user)?;
    let (entity, kind) = (entity.as_str(), kind.as_str());
    session.send(
        "INSERT INTO risk_change (entity, kind, action, subject, reason, author, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![entity, kind, action, subject, reason, author, at.as_millisecond()],
    )?;
    session.send(
        "DELETE FROM risk_change WHERE entity = ?1 AND kind = ?2 AND id <= (
                 SELECT id FROM risk_change WHERE entity = ?1 AND kind = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)",
        params![entity, kind, MAX_ROWS],
    )?;
    Ok(())
}

/// Writes the entry of a change of rules or lists in the audit log. The entry is kept for ever, so it does not contain
/// the value of a list's entry, which may be an address.
fn record_act(
    session: &dyn Session,
    change: &RiskChange,
    (kind, action): (DecisionLogKind, &str),
    user: Option<OfficeUser<'_>>,
) -> Result<(), StoreError> {
    let RiskChange { entity, action: act, author, at, .. } = change;
    let subject = match act {
        RiskAction::AddVersion { version, .. } => version.clone(),
        RiskAction::UseVersion { version, .. } => version.clone().unwrap_or_else(|| "none".to_owned()),
        RiskAction::PutEntry(entry) => format!("{} {}", entry.position.list.as_str(), entry.position.key),
        RiskAction::RemoveEntry(position) => format!("{} {}", position.list.as_str(), position.key),
        // The gateway itself has reached it.
        RiskAction::ReachLimit { .. } => return Ok(()),
    };
    let entry = AuditEntry::new(*at, &format!("risk-{} {action}", kind.as_str()), subject);
    // The author in the decision log is a mail address, which must not stay in the audit log for ever.
    let entry = match user {
        Some((user, address)) => entry.by(user).with_detail("address", address.to_string()),
        None => entry.by(author.as_str()),
    };
    ledger::write_entry(session, Some(entity), &entry, *at)
}

fn describe_position(position: &ListPosition) -> String {
    format!("{} {} {}", position.list.as_str(), position.key, position.value)
}

/// Loads the latest rows of an entity and kind, the latest first, with numbers below `before`.
fn load_rows(
    session: &dyn Session,
    entity: &EntityId,
    kind: DecisionLogKind,
    before: i64,
    limit: u32,
) -> Result<Vec<DecisionLogRow>, StoreError> {
    let query = "SELECT id, kind, action, subject, reason, author, at FROM risk_change
         WHERE entity = ?1 AND kind = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4";
    Ok(session.query_all(query, params![entity.as_str(), kind.as_str(), before, limit], DecisionLogRow::read_row)?)
}

/// Loads a page of an entity's rows of all kinds, the latest first. The rows of a kind are in the order of the index.
fn load_page(
    session: &dyn Session,
    entity: &EntityId,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<DecisionLogRow>, StoreError> {
    let mut rows = Vec::new();
    for kind in [DecisionLogKind::Rules, DecisionLogKind::List, DecisionLogKind::Limit] {
        rows.extend(load_rows(session, entity, kind, before.unwrap_or(i64::MAX), limit)?);
    }
    rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.number));
    rows.truncate(limit as usize);
    Ok(rows)
}

impl Store {
    /// Loads the latest rows of an entity and kind, the latest first.
    pub fn load_risk_changes(
        &self,
        entity: &EntityId,
        kind: DecisionLogKind,
        limit: u32,
    ) -> Result<Vec<DecisionLogRow>, StoreError> {
        self.run_read(|session| load_rows(session, entity, kind, i64::MAX, limit))
    }

    /// Loads a page of an entity's rows of all kinds, the latest first, with numbers below `before`.
    pub fn load_decision_log(
        &self,
        entity: &EntityId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<DecisionLogRow>, StoreError> {
        self.readers.in_snapshot(|session| load_page(session, entity, before, limit))
    }
}

impl AdminStore {
    /// Loads the latest rows of an entity and kind, the latest first.
    pub fn load_risk_changes(
        &self,
        entity: &EntityId,
        kind: DecisionLogKind,
        limit: u32,
    ) -> Result<Vec<DecisionLogRow>, StoreError> {
        load_rows(&*self.session, entity, kind, i64::MAX, limit)
    }

    /// Loads the latest rows of an entity of all kinds, the latest first.
    pub fn load_decision_log(&self, entity: &EntityId, limit: u32) -> Result<Vec<DecisionLogRow>, StoreError> {
        load_page(&*self.session, entity, None, limit)
    }
}
