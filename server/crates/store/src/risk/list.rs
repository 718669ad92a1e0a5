//! Lists of the risk check: entries as rows, and the look-up of a payment's values.

use std::borrow::Cow;

use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::list::to_list_value;
use tillgate_domain::risk::list::{ListHit, ListPosition, ListSource, RiskListEntry, RiskListKind};
use tillgate_engine::{Row, Session, params};
use tillgate_risk::{ListedValue, find_list_key};

use crate::{AdminStore, Store, StoreError};

/// Columns of an entry, in the order in which [`read_entry`] reads them.
const COLUMNS: &str = "list, key, value, reason, author, created, expires, source";

/// Reads an entry from a row with [`COLUMNS`].
fn read_entry(row: &Row<'_>) -> tillgate_engine::Result<RiskListEntry> {
    Ok(RiskListEntry {
        position: ListPosition { list: read_list(row, 0)?, key: read_key(row, 1)?, value: row.get(2)? },
        reason: row.get(3)?,
        author: row.get(4)?,
        created: timestamp_from_milliseconds(row.get(5)?),
        expires: row.get::<Option<i64>>(6)?.map(timestamp_from_milliseconds),
        source: read_source(row, 7)?,
    })
}

fn read_list(row: &Row<'_>, column: usize) -> tillgate_engine::Result<RiskListKind> {
    let name: String = row.get(column)?;
    RiskListKind::parse(&name).ok_or_else(|| tillgate_engine::Error::unreadable(column, "list"))
}

fn read_source(row: &Row<'_>, column: usize) -> tillgate_engine::Result<ListSource> {
    let name: String = row.get(column)?;
    ListSource::parse(&name).ok_or_else(|| tillgate_engine::Error::unreadable(column, "source"))
}

fn read_key(row: &Row<'_>, column: usize) -> tillgate_engine::Result<&'static str> {
    let name: String = row.get(column)?;
    find_list_key(&name)
        .map(|(name, _)| name)
        .ok_or_else(|| tillgate_engine::Error::unreadable(column, "key of a list"))
}

/// Loads the entry at a place, also an expired one.
pub(crate) fn load_entry(
    session: &dyn Session,
    entity: &EntityId,
    position: &ListPosition,
) -> Result<Option<RiskListEntry>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM risk_list WHERE entity = ?1 AND key = ?2 AND value = ?3 AND list = ?4");
    let place = params![entity.as_str(), position.key, position.value, position.list.as_str()];
    Ok(session.query_optional(&query, place, read_entry)?)
}

/// Writes an entry, in place of one at the same place.
pub(crate) fn put_entry(session: &dyn Session, entity: &EntityId, entry: &RiskListEntry) -> Result<(), StoreError> {
    let RiskListEntry { position, source, reason, author, created, expires } = entry;
    session.execute(
        &format!(
            "INSERT INTO risk_list (entity, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (entity, key, value, list)
             DO UPDATE SET reason = ?5, author = ?6, created = ?7, expires = ?8, source = ?9"
        ),
        params![
            entity.as_str(),
            position.list.as_str(),
            position.key,
            position.value,
            reason,
            author,
            created.as_millisecond(),
            expires.map(Timestamp::as_millisecond),
            source.as_str()
        ],
    )?;
    Ok(())
}

/// Deletes the entry at a place, if there is one.
pub(crate) fn delete_entry(
    session: &dyn Session,
    entity: &EntityId,
    position: &ListPosition,
) -> Result<(), StoreError> {
    let query = "DELETE FROM risk_list WHERE entity = ?1 AND key = ?2 AND value = ?3 AND list = ?4";
    session.execute(query, params![entity.as_str(), position.key, position.value, position.list.as_str()])?;
    Ok(())
}

/// Deletes the entries of an entity that have expired at `now`.
pub(crate) fn delete_expired_entries(
    session: &dyn Session,
    entity: &EntityId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let query = "DELETE FROM risk_list WHERE entity = ?1 AND expires <= ?2";
    session.execute(query, params![entity.as_str(), now.as_millisecond()])?;
    Ok(())
}

/// Selection of a page of entries.
#[derive(Debug, Clone, Default)]
pub struct ListSelection {
    /// Only this list.
    pub list: Option<RiskListKind>,
    /// Only entries of this key.
    pub key: Option<&'static str>,
    /// Only entries of this value.
    pub value: Option<String>,
    /// The entry after which the page begins.
    pub after: Option<ListPosition>,
    /// Largest number of entries.
    pub limit: u32,
}

/// Loads a page of an entity's entries, sorted by key, value and list, with expired ones.
fn load_entries(
    session: &dyn Session,
    entity: &EntityId,
    selection: &ListSelection,
) -> Result<Vec<RiskListEntry>, StoreError> {
    let query = format!(
        "SELECT {COLUMNS} FROM risk_list
         WHERE entity = ?1 AND (CAST(?2 AS TEXT) IS NULL OR list = ?2)
             AND key = coalesce(?3, key) AND value = coalesce(?4, value)
         AND (key, value, list) > (?5, ?6, ?7) ORDER BY key, value, list LIMIT ?8"
    );
    let after = selection.after.as_ref();
    Ok(session.query_all(
        &query,
        params![
            entity.as_str(),
            selection.list.map(RiskListKind::as_str),
            selection.key,
            selection.value,
            after.map_or("", |after| after.key),
            after.map_or("", |after| after.value.as_str()),
            after.map_or("", |after| after.list.as_str()),
            selection.limit
        ],
        read_entry,
    )?)
}

/// Counts an entity's entries by list and key, expired ones included.
fn count_entries(
    session: &dyn Session,
    entity: &EntityId,
) -> Result<Vec<(RiskListKind, &'static str, u64)>, StoreError> {
    let query = "SELECT list, key, count(*) FROM risk_list WHERE entity = ?1 GROUP BY list, key ORDER BY list, key";
    session.query_all(query, [entity.as_str()], |row| {
        Ok((read_list(row, 0)?, read_key(row, 1)?, row.get::<i64>(2)?.unsigned_abs()))
    })
}

/// Finds the entries of a payment's values. The argument of the statement is a JSON array of entity, key, value, and
/// 1 if only the browser states the value, else 0, so that the statement is compiled once. The order of the tables is
/// fixed, so that each is one look-up in the primary key.
pub(crate) const FIND_HITS: &str = "
    SELECT hit.entity, hit.list, hit.key, hit.reason
    FROM json_each(?1) AS wanted CROSS JOIN risk_list AS hit
    WHERE hit.entity = json_extract(wanted.value, '$[0]') AND hit.key = json_extract(wanted.value, '$[1]')
    AND hit.value = json_extract(wanted.value, '$[2]')
    AND (hit.source = 'any' OR CAST(json_extract(wanted.value, '$[3]') AS BIGINT) = 0)
        AND (hit.expires IS NULL OR hit.expires > ?2)";

/// Finds the entries for a payment's values, as [`Store::find_list_hits`] describes.
pub(crate) fn find_hits(
    session: &dyn Session,
    entities: &[EntityId],
    values: &[ListedValue],
    now: Timestamp,
) -> Result<Vec<ListHit>, StoreError> {
    let wanted: Vec<(&str, &str, Cow<'_, str>, u8)> = entities
        .iter()
        .flat_map(|entity| {
            values.iter().map(move |ListedValue { key, value, is_from_browser }| {
                (entity.as_str(), *key, to_list_value(entity, key, value), u8::from(*is_from_browser))
            })
        })
        .collect();
    session.query_all(FIND_HITS, params![serde_json::to_string(&wanted)?, now.as_millisecond()], |row| {
        let entity: String = row.get(0)?;
        Ok(ListHit {
            entity: EntityId::parse(&entity).ok_or_else(|| tillgate_engine::Error::unreadable(0, "id of an entity"))?,
            list: read_list(row, 1)?,
            key: read_key(row, 2)?,
            reason: row.get(3)?,
        })
    })
}

impl Store {
    /// Finds the entries for a payment's values that have not expired at `now`. `entities` are the payment's entity and
    /// those above it (`ActiveRules::list_owners`), `values` those of [`tillgate_risk::read_listed_values`]. One query,
    /// a look-up of the primary key for each entity and value. The hits of the first entity come first.
    pub fn find_list_hits(
        &self,
        entities: &[EntityId],
        values: &[ListedValue],
        now: Timestamp,
    ) -> Result<Vec<ListHit>, StoreError> {
        self.run_read(|session| find_hits(session, entities, values, now))
    }

    /// Loads a page of an entity's entries, sorted by key, value and list, with expired ones.
    pub fn load_list_entries(
        &self,
        entity: &EntityId,
        selection: &ListSelection,
    ) -> Result<Vec<RiskListEntry>, StoreError> {
        self.run_read(|session| load_entries(session, entity, selection))
    }

    /// Counts an entity's entries by list and key, expired ones included. Reads all of them, at most 100,000.
    pub fn count_list_entries(&self, entity: &EntityId) -> Result<Vec<(RiskListKind, &'static str, u64)>, StoreError> {
        self.run_read(|session| count_entries(session, entity))
    }
}

impl AdminStore {
    /// Loads a page of an entity's entries, sorted by key, value and list, with expired ones.
    pub fn load_list_entries(
        &self,
        entity: &EntityId,
        selection: &ListSelection,
    ) -> Result<Vec<RiskListEntry>, StoreError> {
        load_entries(&*self.session, entity, selection)
    }
}

/// Returns the time of a column in milliseconds since 1970, or 1970 if it is out of range.
fn timestamp_from_milliseconds(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
