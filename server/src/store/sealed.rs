//! Every column that the vault seals, as one table, and how its records get another key: in short transactions beside a running
//! server, each record by itself, so that it may be interrupted anywhere and begun again.

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params_from_iter};

use super::{AdminStore, DiskFault, StoreError};
use crate::domain::id::EntityId;
use crate::vault::{BlindIndex, KeyId};

/// Records in a transaction. A server that writes meanwhile waits for no more than that.
const BATCH: usize = 50;

/// A column of sealed records.
struct SealedColumn {
    table: &'static str,
    column: &'static str,
    /// Columns of the primary key.
    key: &'static [&'static str],
    /// The record's id in the vault, in SQL.
    record: &'static str,
    /// True if a column `blind` holds the blind index of the account, for the entity in the column `entity`.
    indexed: bool,
}

const COLUMNS: [SealedColumn; 9] = [
    SealedColumn { table: "card", column: "sealed", key: &["purge_at", "payment"], record: "payment", indexed: false },
    SealedColumn {
        table: "registration_account",
        column: "sealed",
        key: &["registration"],
        record: "registration",
        indexed: true,
    },
    SealedColumn {
        table: "promise",
        column: "sealed",
        key: &["payment"],
        record: "json_extract(CAST(document AS TEXT), '$[0].id')",
        indexed: true,
    },
    SealedColumn { table: "promise", column: "card", key: &["payment"], record: "payment", indexed: false },
    SealedColumn {
        table: "wallet_key",
        column: "sealed",
        key: &["entity", "id"],
        record: "'wallet key ' || entity || ' ' || id",
        indexed: false,
    },
    SealedColumn { table: "webhook", column: "sealed", key: &["id"], record: "'webhook ' || id", indexed: false },
    SealedColumn { table: "webhook", column: "next", key: &["id"], record: "'webhook ' || id", indexed: false },
    SealedColumn {
        table: "form_build",
        column: "seal",
        key: &["build"],
        record: "'form build ' || build",
        indexed: false,
    },
    SealedColumn { table: "sealed_key", column: "sealed", key: &["name"], record: "name", indexed: false },
];

/// A record sealed anew, with its blind index if it has one.
pub type Resealed = (Vec<u8>, Option<BlindIndex>);

impl SealedColumn {
    fn exists(&self, connection: &Connection) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
        Ok(connection.query_row(query, [self.table, self.column], |row| row.get(0))?)
    }

    /// The next records, behind `after`, that are not sealed under `id`.
    fn batch(&self, connection: &Connection, id: KeyId, after: &[Value]) -> Result<Vec<Found>, StoreError> {
        let Self { table, column, key, record, indexed } = self;
        let keys = key.join(", ");
        let entity = if *indexed { "entity" } else { "NULL" };
        let places: Vec<String> = (0..after.len()).map(|at| format!("?{}", at + 2)).collect();
        let behind = if after.is_empty() { String::new() } else { format!("AND ({keys}) > ({})", places.join(", ")) };
        let query = format!(
            "SELECT {column}, {record}, {entity}, {keys} FROM {table}
             WHERE length({column}) > 0 AND substr({column}, 2, 4) <> ?1 {behind} ORDER BY {keys} LIMIT {BATCH}"
        );
        let mut statement = connection.prepare(&query)?;
        let given = std::iter::once(Value::Blob(id.0.to_vec())).chain(after.iter().cloned());
        let rows = statement.query_map(params_from_iter(given), |row| {
            let entity: Option<String> = row.get(2)?;
            let place = (0..key.len()).map(|at| row.get(at + 3)).collect::<Result<_, _>>()?;
            let entity = entity.as_deref().and_then(EntityId::parse);
            Ok(Found { sealed: row.get(0)?, record: row.get(1)?, entity, place })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Writes a record that was sealed anew, unless it has changed meanwhile.
    fn write(&self, connection: &Connection, found: &Found, resealed: Resealed) -> Result<(), StoreError> {
        let Self { table, column, key, .. } = self;
        let (sealed, blind) = resealed;
        let at: Vec<String> = key.iter().enumerate().map(|(at, key)| format!("{key} = ?{}", at + 3)).collect();
        let blind_set = if blind.is_some() { format!(", blind = ?{}", key.len() + 3) } else { String::new() };
        let query = format!("UPDATE {table} SET {column} = ?1{blind_set} WHERE {column} = ?2 AND {}", at.join(" AND "));
        let values = [Value::Blob(sealed), Value::Blob(found.sealed.clone())].into_iter().chain(found.place.clone());
        let values = values.chain(blind.map(|blind| Value::Blob(blind.as_bytes().to_vec())));
        connection.prepare_cached(&query)?.execute(params_from_iter(values))?;
        Ok(())
    }
}

/// A record that is sealed under another key.
struct Found {
    sealed: Vec<u8>,
    record: String,
    entity: Option<EntityId>,
    place: Vec<Value>,
}

/// A table, in the operator's words, and how many of its records a key has sealed; at least one.
pub type SealedCount = (&'static str, u64);

/// Counts the records that a key has sealed.
pub(super) fn count_by_key(connection: &Connection, id: KeyId) -> Result<Vec<SealedCount>, StoreError> {
    count(connection, id, "=")
}

impl AdminStore {
    /// Counts the records that a key has sealed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_sealed_by(&self, id: KeyId) -> Result<Vec<SealedCount>, StoreError> {
        count_by_key(&self.connection, id)
    }

    /// Counts the records that any other key has sealed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_sealed_by_others(&self, id: KeyId) -> Result<Vec<SealedCount>, StoreError> {
        count(&self.connection, id, "<>")
    }

    /// Seals every record that is not sealed under `id` anew. `reseal` gets the record's id in the vault, the entity of an
    /// account and the sealed bytes; `progress` the number of records so far. Returns the number of records that could not be
    /// opened.
    ///
    /// # Errors
    /// When the store cannot be read or written. What was sealed anew before stays so.
    pub fn reseal_all<E>(
        &self,
        id: KeyId,
        reseal: impl Fn(&str, Option<&EntityId>, &[u8]) -> Result<Resealed, E>,
        progress: impl FnMut(u64),
    ) -> Result<u64, StoreError> {
        reseal_all(&self.connection, id, reseal, progress)
    }
}

fn count(connection: &Connection, id: KeyId, compare: &str) -> Result<Vec<SealedCount>, StoreError> {
    let mut counts = Vec::new();
    for sealed in &COLUMNS {
        let SealedColumn { table, column, .. } = sealed;
        if sealed.exists(connection)? {
            let query = format!(
                "SELECT count(*) FROM {table} WHERE length({column}) > 0 AND substr({column}, 2, 4) {compare} ?1"
            );
            let count: i64 = connection.query_row(&query, [id.0], |row| row.get(0))?;
            if count > 0 {
                counts.push((*table, count.unsigned_abs()));
            }
        }
    }
    Ok(counts)
}

/// Seals every record anew, as [`AdminStore::reseal_all`] does.
fn reseal_all<E>(
    connection: &Connection,
    id: KeyId,
    reseal: impl Fn(&str, Option<&EntityId>, &[u8]) -> Result<Resealed, E>,
    mut progress: impl FnMut(u64),
) -> Result<u64, StoreError> {
    let mut done = 0;
    loop {
        let (before, mut failed) = (done, 0);
        for sealed in &COLUMNS {
            if !sealed.exists(connection)? {
                continue;
            }
            let mut after = Vec::new();
            loop {
                let batch = sealed.batch(connection, id, &after)?;
                let Some(last) = batch.last() else { break };
                after.clone_from(&last.place);
                let began = std::time::Instant::now();
                let transaction = begin(connection)?;
                for found in &batch {
                    match reseal(&found.record, found.entity.as_ref(), &found.sealed) {
                        Ok(resealed) => {
                            sealed.write(&transaction, found, resealed)?;
                            done += 1;
                        }
                        Err(_) => failed += 1,
                    }
                }
                transaction.commit()?;
                progress(done);
                // As long a pause: a server that waits for the lock gets it.
                std::thread::sleep(began.elapsed());
            }
        }
        // Whoever sealed while this ran may have done so with the key of before; another round finds that.
        if done == before {
            return Ok(failed);
        }
    }
}

/// Waits for the write lock for as long as it takes: a server under load may be faster many times.
fn begin(connection: &Connection) -> Result<Transaction<'_>, StoreError> {
    loop {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Err(error) if DiskFault::of(&error) == Some(DiskFault::Busy) => {}
            begun => return Ok(begun?),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::open_connection;

    #[test]
    fn every_column_that_is_sealed_gets_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_connection(folder.path()).unwrap();
        let query =
            "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND columns.name LIKE '%seal%'";
        let mut statement = connection.prepare(query).unwrap();
        let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        for (table, column) in columns.collect::<Result<Vec<(String, String)>, _>>().unwrap() {
            let known = COLUMNS.iter().any(|sealed| sealed.table == table && sealed.column == column);
            assert!(known, "add {table}.{column} to the columns of store/sealed.rs");
        }
        for sealed in &COLUMNS {
            assert!(sealed.exists(&connection).unwrap(), "{}.{}", sealed.table, sealed.column);
        }
    }
}
