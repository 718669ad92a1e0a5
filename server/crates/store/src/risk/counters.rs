//! Stored velocity counters of risk rules, and first sightings of accounts: loaded and written in the commit of the
//! payment that they count.
//!
//! Rows are found by their key and never all loaded, so their number does not slow a start. An entity has at most
//! 1,000,000 of each kind. Beyond it, the write that adds rows deletes as many others of their kind.

use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_engine::{Error, ErrorKind, Session, params};
use tillgate_risk::{CounterKey, CounterRow};

use crate::write::changes::{Change, Stage, WriteContext};
use crate::{Changes, Store, StoreError};

/// Largest number of rows of an entity and kind.
const MAX_ROWS: i64 = 1_000_000;
/// Largest number of rows that one write deletes. A longer write would delay payments.
const BATCH: u16 = 200;
/// Number of rows that are searched at once for those that have ended.
const PART: i64 = 4_000;

/// Kind of the rows of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskRowKind {
    /// Velocity counters of a channel, or of a merchant that processes payments itself.
    Counter,
    /// First sightings of accounts with a merchant.
    Account,
}

impl RiskRowKind {
    /// Returns the name that is stored.
    fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Account => "account",
        }
    }
}

/// Keys of rows of one owner.
#[derive(Debug, Clone)]
pub struct RiskRowKeys {
    /// The entity that has the rows.
    pub entity: EntityId,
    /// Their kind.
    pub kind: RiskRowKind,
    /// Their keys.
    pub keys: Vec<CounterKey>,
}

/// Rows of an entity to write.
#[derive(Debug)]
struct CounterChange {
    entity: EntityId,
    kind: RiskRowKind,
    rows: Vec<CounterRow>,
}

impl Changes {
    /// Writes counters of an entity that were loaded in the same write, or that were not there. The write fails if a
    /// row was changed since it was loaded.
    #[must_use]
    pub fn with_risk_counters(self, entity: &EntityId, rows: Vec<CounterRow>) -> Self {
        self.with(CounterChange { entity: entity.clone(), kind: RiskRowKind::Counter, rows })
    }

    /// Writes the first sighting of an account with a merchant, under the same conditions.
    #[must_use]
    pub fn with_account_sighting(self, merchant: &EntityId, row: CounterRow) -> Self {
        let (entity, kind) = (merchant.clone(), RiskRowKind::Account);
        self.with(CounterChange { entity, kind, rows: vec![row] })
    }
}

/// Loads the rows with these keys. Those that are not stored are left out.
pub(crate) fn load_rows(session: &dyn Session, wanted: &[RiskRowKeys]) -> Result<Vec<CounterRow>, StoreError> {
    let mut rows = Vec::new();
    for RiskRowKeys { entity, kind, keys } in wanted {
        let Some(owner) = find_owner(session, entity, *kind)? else { continue };
        let query = "SELECT value, purge_at FROM risk_counter WHERE owner = ?1 AND name = ?2";
        for key in keys {
            let found = session.query_optional(query, params![owner, key.as_bytes()], |row| {
                Ok::<_, Error>(CounterRow { key: *key, value: row.get(0)?, purge_at: row.get(1)?, is_stored: true })
            })?;
            rows.extend(found);
        }
    }
    Ok(rows)
}

fn find_owner(session: &dyn Session, entity: &EntityId, kind: RiskRowKind) -> Result<Option<i64>, StoreError> {
    let query = "SELECT id FROM risk_counter_owner WHERE entity = ?1 AND kind = ?2";
    Ok(session.query_optional(query, [entity.as_str(), kind.as_str()], |row| row.get(0))?)
}

impl Change for CounterChange {
    fn stage(&self) -> Stage {
        Stage::RiskCounters
    }

    fn apply(&self, context: &WriteContext<'_>) -> Result<bool, StoreError> {
        self.apply_within(context.session, MAX_ROWS)?;
        Ok(false)
    }
}

impl CounterChange {
    /// Writes the rows, and deletes the entity's rows beyond the largest number.
    fn apply_within(&self, session: &dyn Session, most: i64) -> Result<(), StoreError> {
        let owner = match find_owner(session, &self.entity, self.kind)? {
            Some(owner) => owner,
            None => {
                let insert = "INSERT INTO risk_counter_owner (entity, kind) VALUES (?1, ?2) RETURNING id";
                session.query_one(insert, [self.entity.as_str(), self.kind.as_str()], |row| row.get(0))?
            }
        };
        let mut added = Vec::new();
        for CounterRow { key, value, purge_at, is_stored } in &self.rows {
            let key = key.as_bytes();
            let statement = if *is_stored {
                "UPDATE risk_counter SET purge_at = ?3, value = ?4 WHERE owner = ?1 AND name = ?2"
            } else {
                added.push(*key);
                "INSERT INTO risk_counter (owner, name, purge_at, value) VALUES (?1, ?2, ?3, ?4)"
            };
            let written = session.execute(statement, params![owner, key, purge_at, value])?;
            if written == 0 {
                // The row was deleted since, so this write was not decided on the stored rows.
                return Err(Error::new(ErrorKind::NoRow, "a stored counter is gone").into());
            }
        }
        let Some(first) = added.first() else { return Ok(()) };
        let total = add_to_total(session, owner, i64::try_from(added.len()).unwrap_or(i64::MAX))?;
        if total > most { delete_some(session, owner, *first, total - most) } else { Ok(()) }
    }
}

/// Adds to the number of rows of an owner, and returns it.
fn add_to_total(session: &dyn Session, owner: i64, added: i64) -> Result<i64, StoreError> {
    let update = "UPDATE risk_counter_owner SET counters = counters + ?2 WHERE id = ?1 RETURNING counters";
    Ok(session.query_one(update, [owner, added], |row| row.get(0))?)
}

/// Deletes this many rows of an owner. They are chosen by chance, which the hash in `name` provides: whoever wants to
/// have a certain counter deleted needs as many payments as there are rows. The rows that end first would be those of
/// the shortest windows.
fn delete_some(session: &dyn Session, owner: i64, mut name: [u8; 16], count: i64) -> Result<(), StoreError> {
    // The row itself stays, so those after another hash are deleted.
    name.reverse();
    let delete = "DELETE FROM risk_counter WHERE owner = ?1 AND name IN
         (SELECT name FROM risk_counter WHERE owner = ?1 AND name > ?2 ORDER BY name LIMIT ?3)";
    let deleted = session.execute(delete, params![owner, name, count])?;
    subtract_deleted(session, owner, deleted)
}

fn subtract_deleted(session: &dyn Session, owner: i64, deleted: usize) -> Result<(), StoreError> {
    let deleted = i64::try_from(deleted).unwrap_or(i64::MAX);
    add_to_total(session, owner, -deleted).map(drop)
}

impl Store {
    /// Loads the rows with these keys, as they are now. Those that are not stored are left out.
    pub fn load_risk_counters(&self, keys: &[RiskRowKeys]) -> Result<Vec<CounterRow>, StoreError> {
        self.run_read(|session| load_rows(session, keys))
    }

    /// Deletes the counters and sightings that end by `now`, in small writes. Returns their number. It reads every row,
    /// so an index on their ends need not be written with each payment.
    pub async fn delete_expired_risk_counters(&self, now: Timestamp) -> Result<usize, StoreError> {
        let now = now.as_millisecond();
        let parts = self.run_read(list_table_parts)?;
        let mut total = 0;
        for part in parts {
            // A reader looks first, so that the writer waits only for parts with expired rows.
            while self.run_read(|session| has_expired_rows(session, part, now))? {
                total += self.run_write(move |session| delete_expired_rows(session, part, now)).await?;
            }
            // Other background tasks do not wait for the whole walk.
            tokio::task::yield_now().await;
        }
        Ok(total)
    }
}

/// Part of the rows of an owner, which is read at once.
#[derive(Debug, Clone, Copy)]
struct TablePart {
    owner: i64,
    /// First byte of the first and of the last name.
    names: (u8, u8),
}

impl TablePart {
    /// Returns the smallest and the largest possible name.
    fn bounds(&self) -> ([u8; 16], [u8; 16]) {
        let (mut first, mut last) = ([0; 16], [u8::MAX; 16]);
        (first[0], last[0]) = self.names;
        (first, last)
    }
}

/// Lists the parts of all rows. Names are hashes, so the parts of one owner have about the same size.
fn list_table_parts(session: &dyn Session) -> Result<Vec<TablePart>, StoreError> {
    let query = "SELECT id, counters FROM risk_counter_owner WHERE counters > 0";
    let mut owners = session.query(query, ())?;
    let mut parts = Vec::new();
    while let Some(row) = owners.next()? {
        let (owner, rows): (i64, i64) = row.read()?;
        // The first byte of a name divides the rows into 256 parts at most.
        let length = u8::try_from(256 * PART / rows.max(1)).unwrap_or(u8::MAX).max(1);
        let firsts = (0..=u8::MAX).step_by(usize::from(length));
        parts.extend(firsts.map(|first| TablePart { owner, names: (first, first.saturating_add(length - 1)) }));
    }
    Ok(parts)
}

/// Returns true if a part has rows that end by `now`, in milliseconds.
fn has_expired_rows(session: &dyn Session, part: TablePart, now: i64) -> Result<bool, StoreError> {
    let query = "SELECT EXISTS (SELECT 1 FROM risk_counter
         WHERE owner = ?1 AND name BETWEEN ?2 AND ?3 AND purge_at <= ?4)";
    let (first, last) = part.bounds();
    Ok(session.query_one(query, params![part.owner, first, last, now], |row| row.get(0))?)
}

/// Deletes some rows that end by `now`, in milliseconds. Returns their number, at most [`BATCH`].
fn delete_expired_rows(session: &dyn Session, part: TablePart, now: i64) -> Result<usize, StoreError> {
    let delete = "DELETE FROM risk_counter WHERE owner = ?1 AND name IN
         (SELECT name FROM risk_counter
          WHERE owner = ?1 AND name BETWEEN ?2 AND ?3 AND purge_at <= ?4 LIMIT ?5)";
    let (first, last) = part.bounds();
    let deleted = session.execute(delete, params![part.owner, first, last, now, BATCH])?;
    subtract_deleted(session, part.owner, deleted)?;
    Ok(deleted)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::risk::counters::*;
    use crate::schema::migrations;
    use tillgate_engine::sqlite::SqliteSession;

    #[test]
    fn an_entity_has_a_bounded_number_of_rows_of_a_kind_and_takes_none_from_others() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrations::migrate(&session).unwrap();
        let entity = |number| EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]);
        let row = |number: u8| CounterRow {
            key: CounterKey::from([number; 16]),
            value: vec![1],
            purge_at: i64::from(number),
            is_stored: false,
        };
        let write = |number, kind, rows: &[u8]| {
            let rows = rows.iter().map(|number| row(*number)).collect();
            CounterChange { entity: entity(number), kind, rows }.apply_within(&session, 5).unwrap();
        };
        write(1, RiskRowKind::Counter, &[1, 2, 3]);
        write(2, RiskRowKind::Account, &[1, 2, 3, 4]);
        write(2, RiskRowKind::Counter, &[3, 4, 5, 6, 7, 8, 9]);
        write(2, RiskRowKind::Counter, &[1]);
        let names = |number, kind| -> Vec<u8> {
            let keys = (0..20).map(|name| CounterKey::from([name; 16])).collect();
            let rows = load_rows(&session, &[RiskRowKeys { entity: entity(number), kind, keys }]).unwrap();
            rows.iter().map(|row| row.key.as_bytes()[0]).collect()
        };
        assert_eq!(names(1, RiskRowKind::Counter), [1, 2, 3]);
        assert_eq!(names(2, RiskRowKind::Counter), [1, 6, 7, 8, 9]);
        assert_eq!(names(2, RiskRowKind::Account), [1, 2, 3, 4]);
        let owner = find_owner(&session, &entity(2), RiskRowKind::Counter).unwrap().unwrap();
        assert_eq!(add_to_total(&session, owner, 0).unwrap(), 5);
        let whole = TablePart { owner, names: (0, u8::MAX) };
        assert_eq!(delete_expired_rows(&session, whole, 7).unwrap(), 3);
        assert_eq!(add_to_total(&session, owner, 0).unwrap(), 2);
    }

    #[test]
    fn the_parts_of_an_owner_have_each_name_once() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrations::migrate(&session).unwrap();
        for rows in [1, 3_999, 4_001, 70_000, 1_000_000, i64::MAX] {
            let insert = "INSERT INTO risk_counter_owner (id, entity, kind, counters) VALUES (1, 'e', 'counter', ?1)
                 ON CONFLICT (id) DO UPDATE SET counters = ?1";
            session.execute(insert, [rows]).unwrap();
            let parts = list_table_parts(&session).unwrap();
            let names: Vec<u8> = parts.iter().flat_map(|part| part.names.0..=part.names.1).collect();
            assert_eq!(names, (0..=u8::MAX).collect::<Vec<u8>>(), "{rows} rows");
        }
    }

    #[test]
    fn a_part_with_more_expired_rows_than_a_write_deletes_is_emptied() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrations::migrate(&session).unwrap();
        let row = |number: u16, purge_at| {
            let mut name = [7; 16];
            name[1..3].copy_from_slice(&number.to_be_bytes());
            CounterRow { key: CounterKey::from(name), value: vec![1], purge_at, is_stored: false }
        };
        let rows = (0..2 * BATCH + 5).map(|number| row(number, i64::from(number % 2))).collect();
        let entity = EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]);
        CounterChange { entity, kind: RiskRowKind::Counter, rows }.apply_within(&session, MAX_ROWS).unwrap();
        let parts = list_table_parts(&session).unwrap();
        let delete_at = |now| {
            let mut deleted = Vec::new();
            for part in &parts {
                while has_expired_rows(&session, *part, now).unwrap() {
                    deleted.push(delete_expired_rows(&session, *part, now).unwrap());
                }
            }
            deleted
        };
        assert_eq!(delete_at(-1), Vec::<usize>::new());
        assert_eq!(delete_at(0), [usize::from(BATCH), 3]);
        assert_eq!(delete_at(1), [usize::from(BATCH), 2]);
        assert!(list_table_parts(&session).unwrap().is_empty());
    }
}
