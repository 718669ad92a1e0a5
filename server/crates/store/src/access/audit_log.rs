//! Reads of the audit log for people: newest first, limited to the entities of the reader.
//!
//! An index leads to the entries of each entity in the order of their numbers. The visitor ends the read, so the cost
//! of a page is bounded by its caller.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tillgate_domain::access::audit::{AuditEntry, ChainHash};
use tillgate_domain::id::EntityId;
use tillgate_engine::{Row, Rows, Session, params};
use tillgate_vault::Vault;

use crate::document::decode_document;
use crate::read::snapshot::StoreSnapshot;
use crate::{Cancellation, Store, StoreError};

/// Number of entries that are read in one snapshot. A long snapshot would keep the WAL from being truncated.
const ENTRIES_PER_SNAPSHOT: usize = 500;

/// Stored owner of an entry about the whole gateway.
const GATEWAY: &str = "";

/// The owners of entries: those whose entries a reader may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditOwners {
    /// The entities.
    pub entities: Vec<EntityId>,
    /// True to include the entries about the whole gateway, which belong to no entity.
    pub has_gateway: bool,
}

impl AuditOwners {
    /// Iterates over the owners as they are stored.
    fn stored(&self) -> impl Iterator<Item = &str> {
        self.has_gateway.then_some(GATEWAY).into_iter().chain(self.entities.iter().map(EntityId::as_str))
    }
}

/// An entry of the audit log, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    /// The number in the chain.
    pub number: i64,
    /// The entity that the entry is about. `None` for an entry about the whole gateway.
    pub entity: Option<EntityId>,
    /// The hash of the entry and of all before it.
    pub hash: ChainHash,
    /// The content.
    pub content: AuditEntry,
}

/// The index that leads to the entries of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditIndex {
    /// All entries of an entity.
    All,
    /// Its acts: all entries except those of payments.
    Acts,
    /// Its acts on one thing.
    ActsOn(String),
}

impl AuditIndex {
    /// Returns the query with its last argument.
    fn query(&self) -> (&'static str, &str) {
        match self {
            Self::All => (
                "SELECT number, entity, document, hash FROM audit_entry
                 WHERE entity = ?1 AND number < ?2 AND ?3 = '' ORDER BY number DESC",
                "",
            ),
            Self::Acts => (
                "SELECT number, entity, document, hash FROM audit_entry
                 WHERE entity = ?1 AND number < ?2 AND ?3 = ''
                     AND json_extract(CAST(document AS TEXT), '$.action') <> 'payment' ORDER BY number DESC",
                "",
            ),
            Self::ActsOn(subject) => (
                "SELECT number, entity, document, hash FROM audit_entry
                 WHERE entity = ?1 AND number < ?2 AND json_extract(CAST(document AS TEXT), '$.subject') = ?3
                     AND json_extract(CAST(document AS TEXT), '$.action') <> 'payment' ORDER BY number DESC",
                subject,
            ),
        }
    }
}

impl Store {
    /// Visits the entries of some owners before a number, newest first, until the visitor breaks or the read is
    /// cancelled.
    ///
    /// # Errors
    /// If the store cannot be read, or an entry is damaged.
    pub fn visit_latest_entries(
        &self,
        owners: &AuditOwners,
        index: &AuditIndex,
        before: i64,
        cancelled: &Cancellation<'_>,
        mut visit: impl FnMut(StoredEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut before = before;
        while !cancelled.is_cancelled() {
            let read = |session: &dyn Session| visit_snapshot(session, owners, index, before, &mut visit);
            let Some(last) = self.readers.in_snapshot(read)? else { break };
            before = last;
            // Threads of payments may take the processor between two snapshots.
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Loads an entry of some owners. Returns `None` if there is none with this number, or another owner has it.
    ///
    /// # Errors
    /// If the store cannot be read, or the entry is damaged.
    pub fn load_audit_entry(&self, owners: &AuditOwners, number: i64) -> Result<Option<StoredEntry>, StoreError> {
        self.run_read(|session| {
            let query = "SELECT number, entity, document, hash FROM audit_entry WHERE number = ?1";
            let found = session.query_optional(query, [number], read_entry)?;
            Ok(found.filter(|entry| {
                let owner = entry.entity.as_ref().map_or(GATEWAY, EntityId::as_str);
                owners.stored().any(|known| known == owner)
            }))
        })
    }

    /// Finds the latest act on the same thing of the same owner before an entry that a function accepts, among the last
    /// `limit` acts.
    ///
    /// # Errors
    /// If the store cannot be read, or an entry is damaged.
    pub fn find_earlier_act(
        &self,
        entry: &StoredEntry,
        limit: usize,
        accepts: impl Fn(&AuditEntry) -> bool,
    ) -> Result<Option<AuditEntry>, StoreError> {
        let index = AuditIndex::ActsOn(entry.content.subject.clone());
        let owner = entry.entity.as_ref().map_or(GATEWAY, EntityId::as_str);
        self.readers.in_snapshot(|session| {
            let (query, argument) = index.query();
            let mut rows = session.query(query, params![owner, entry.number, argument])?;
            for _ in 0..limit {
                let Some(row) = rows.next()? else { break };
                let content = read_entry(&row)?.content;
                if accepts(&content) {
                    return Ok(Some(content));
                }
            }
            Ok(None)
        })
    }

    /// Opens a snapshot of this running store, for a verification of the audit log.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open_snapshot(&self, vault: &Vault) -> Result<StoreSnapshot, StoreError> {
        StoreSnapshot::begin_read(self.place.open_reader()?, Some(vault), self.place.folder().is_some())
    }
}

/// Reads a row with the columns number, entity, document and hash.
fn read_entry(row: &Row<'_>) -> Result<StoredEntry, StoreError> {
    let owner: String = row.get(1)?;
    let entity = EntityId::parse(&owner);
    if entity.is_none() && owner != GATEWAY {
        return Err(tillgate_engine::Error::unreadable(1, "entity").into());
    }
    let document = row.value(2)?.as_blob()?;
    Ok(StoredEntry { number: row.get(0)?, entity, content: decode_document(document)?, hash: row.get(3)? })
}

/// Visits the newest entries before a number, at most [`ENTRIES_PER_SNAPSHOT`]. Returns the number of the last one if
/// that maximum was reached, and `None` if there are no more or the visitor broke.
fn visit_snapshot(
    session: &dyn Session,
    owners: &AuditOwners,
    index: &AuditIndex,
    before: i64,
    visit: &mut impl FnMut(StoredEntry) -> ControlFlow<()>,
) -> Result<Option<i64>, StoreError> {
    let (query, argument) = index.query();
    // Each owner has its own cursor, and the cursors are merged. One query for all would sort all their rows.
    let begin = |owner| session.query(query, params![owner, before, argument]);
    let mut cursors: Vec<Rows<'_>> = owners.stored().map(begin).collect::<Result<_, _>>()?;
    let mut heads: BTreeMap<i64, (usize, StoredEntry)> = BTreeMap::new();
    for (position, cursor) in cursors.iter_mut().enumerate() {
        advance(&mut heads, cursor, position)?;
    }
    let mut visited = 0;
    while let Some((number, (position, entry))) = heads.pop_last() {
        if visit(entry).is_break() {
            return Ok(None);
        }
        visited += 1;
        if visited == ENTRIES_PER_SNAPSHOT {
            return Ok(Some(number));
        }
        let Some(cursor) = cursors.get_mut(position) else { break };
        advance(&mut heads, cursor, position)?;
    }
    Ok(None)
}

/// Moves a cursor to its next row and adds its entry to the heads.
fn advance(
    heads: &mut BTreeMap<i64, (usize, StoredEntry)>,
    cursor: &mut Rows<'_>,
    position: usize,
) -> Result<(), StoreError> {
    if let Some(row) = cursor.next()? {
        let entry = read_entry(&row)?;
        heads.insert(entry.number, (position, entry));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Sources;
    use crate::conformance::samples::{empty_directory, sample_entity, sample_time};
    use crate::ledger::write_entry;

    /// Opens a store with entries: one about each owner in turn, of whom 0 is the gateway. Each second is a payment.
    async fn open_store(owners: &[u8]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        let owners = owners.to_vec();
        let write = move |session: &dyn Session| {
            for (number, owner) in owners.iter().enumerate() {
                let action = if number % 2 == 0 { "entity set" } else { "payment" };
                let entry = AuditEntry::new(sample_time(0), action, format!("thing-{owner}"))
                    .with_detail("value", number.to_string());
                let entity = (*owner != 0).then(|| sample_entity(*owner).id);
                write_entry(session, entity.as_ref(), &entry, sample_time(0))?;
            }
            Ok(())
        };
        store.run_write(write).await.unwrap();
        (folder, store)
    }

    fn owners(entities: &[u8], has_gateway: bool) -> AuditOwners {
        AuditOwners { entities: entities.iter().map(|number| sample_entity(*number).id).collect(), has_gateway }
    }

    /// Returns the numbers of the entries that a list visits.
    fn list(store: &Store, owners: &AuditOwners, index: &AuditIndex, before: i64, limit: usize) -> Vec<i64> {
        let mut found = Vec::new();
        let never = || false;
        store
            .visit_latest_entries(owners, index, before, &Cancellation::new(&never), |entry| {
                found.push(entry.number);
                if found.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        found
    }

    #[tokio::test]
    async fn entries_come_newest_first_and_never_from_another_owner() {
        let (_folder, store) = open_store(&[1, 1, 2, 2, 0, 0, 1, 1]).await;
        let all = AuditIndex::All;
        assert_eq!(list(&store, &owners(&[1], false), &all, i64::MAX, 100), [8, 7, 2, 1]);
        assert_eq!(list(&store, &owners(&[1, 2], true), &all, i64::MAX, 100), [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(list(&store, &owners(&[1, 2], false), &all, 8, 3), [7, 4, 3]);
        assert_eq!(list(&store, &owners(&[1, 2], false), &AuditIndex::Acts, i64::MAX, 100), [7, 3, 1]);
        let subject = AuditIndex::ActsOn("thing-1".to_owned());
        assert_eq!(list(&store, &owners(&[1, 2], true), &subject, i64::MAX, 100), [7, 1]);
        assert_eq!(list(&store, &owners(&[2], true), &subject, i64::MAX, 100), [0_i64; 0]);
        assert_eq!(list(&store, &AuditOwners::default(), &all, i64::MAX, 100), [0_i64; 0]);
    }

    #[tokio::test]
    async fn one_entry_is_found_by_its_number_only_for_its_owner() {
        let (_folder, store) = open_store(&[1, 2, 0]).await;
        let number_of = |owners: &AuditOwners, number| {
            store.load_audit_entry(owners, number).unwrap().map(|entry| entry.content.details["value"].clone())
        };
        assert_eq!(number_of(&owners(&[1], false), 1).as_deref(), Some("0"));
        assert_eq!(number_of(&owners(&[1], false), 2), None);
        assert_eq!(number_of(&owners(&[1, 2], false), 3), None, "an entry about the gateway");
        assert_eq!(number_of(&owners(&[], true), 3).as_deref(), Some("2"));
        assert_eq!(number_of(&owners(&[1, 2], true), 4), None);
    }

    #[tokio::test]
    async fn the_act_before_another_one_is_about_the_same_thing_of_the_same_owner() {
        let (_folder, store) = open_store(&[1, 1, 2, 2, 1, 1]).await;
        let entry = store.load_audit_entry(&owners(&[1], false), 5).unwrap().unwrap();
        let earlier = store.find_earlier_act(&entry, 10, |_| true).unwrap().unwrap();
        assert_eq!(earlier.details["value"], "0");
        assert_eq!(store.find_earlier_act(&entry, 10, |_| false).unwrap(), None);
        let other = StoredEntry { entity: Some(sample_entity(2).id), ..entry };
        assert_eq!(store.find_earlier_act(&other, 10, |_| true).unwrap(), None);
    }

    #[tokio::test]
    async fn a_list_goes_on_after_a_snapshot_without_a_gap() {
        let many = [1_u8, 2].repeat(ENTRIES_PER_SNAPSHOT);
        let (_folder, store) = open_store(&many).await;
        let numbers = list(&store, &owners(&[1, 2], false), &AuditIndex::All, i64::MAX, usize::MAX);
        let all: Vec<i64> = (1..=i64::try_from(many.len()).unwrap()).rev().collect();
        assert_eq!(numbers, all);
    }

    #[tokio::test]
    async fn a_list_steps_through_indexes_without_sorting() {
        let (_folder, store) = open_store(&[]).await;
        for (index, name) in [
            (AuditIndex::All, "audit_entry_entity"),
            (AuditIndex::Acts, "audit_entry_act"),
            (AuditIndex::ActsOn(String::new()), "audit_entry_subject"),
        ] {
            let read = |session: &dyn Session| {
                let plan = format!("EXPLAIN QUERY PLAN {}", index.query().0);
                let steps: Vec<String> = session.query_all(&plan, params!["a", 1, ""], |row| row.get(3))?;
                assert!(steps.len() == 1 && steps[0].starts_with("SEARCH") && steps[0].contains(name), "{steps:?}");
                Ok(())
            };
            store.run_read(read).unwrap();
        }
    }
}
