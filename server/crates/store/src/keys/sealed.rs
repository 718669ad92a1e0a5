//! All columns sealed by the vault, as one table, and the resealing of their records under another key. Resealing runs
//! in short transactions beside a running server, record by record, so that it can be interrupted and repeated at any
//! point.

use tillgate_engine::{ErrorKind, OwnedValue, Row, Session, Transaction};
use tillgate_vault::{KeyId, Sealed, Vault};

use crate::{AdminStore, StoreError};

/// Number of records in a transaction. A running server waits at most for one transaction.
const BATCH: usize = 50;

/// A column of sealed records.
struct SealedColumn {
    table: &'static str,
    column: &'static str,
    /// Columns of the primary key.
    key: &'static [&'static str],
    /// The record's name in the vault, as an SQL expression.
    record: &'static str,
}

/// Name of the records of a webhook, as [`crate::delivery::webhook::Webhook::record_name`] has it.
const WEBHOOK: &str = "entity || '|' || url || '|webhook ' || id";

/// All columns that the vault seals. The names of their records are those that the gateway seals them under.
const COLUMNS: [SealedColumn; 13] = [
    SealedColumn {
        table: "card",
        column: "sealed",
        key: &["purge_at", "payment"],
        record: "'card|' || coalesce((SELECT entity FROM payment WHERE id = card.payment), '') || '|' || payment",
    },
    SealedColumn {
        table: "registration_account",
        column: "sealed",
        key: &["registration"],
        record: "'account|' || entity || '|' || registration",
    },
    SealedColumn {
        table: "promise",
        column: "sealed",
        key: &["payment"],
        record: "'account|' || json_extract(CAST(document AS TEXT), '$[0].entity') || '|'
            || json_extract(CAST(document AS TEXT), '$[0].id')",
    },
    SealedColumn {
        table: "promise",
        column: "card",
        key: &["payment"],
        record: "'card|' || coalesce((SELECT entity FROM payment WHERE id = promise.payment), '') || '|' || payment",
    },
    SealedColumn {
        table: "wallet_key",
        column: "sealed",
        key: &["entity", "id"],
        record: "'wallet key ' || entity || ' ' || id",
    },
    SealedColumn { table: "webhook", column: "sealed", key: &["id"], record: WEBHOOK },
    SealedColumn { table: "webhook", column: "next", key: &["id"], record: WEBHOOK },
    SealedColumn { table: "form_build", column: "seal", key: &["build"], record: "'form build ' || build" },
    SealedColumn {
        table: "review_callback",
        column: "sealed",
        key: &["entity"],
        record: "'review callback ' || entity",
    },
    SealedColumn {
        table: "evidence_part",
        column: "sealed",
        key: &["evidence", "part"],
        record: "(SELECT dispute FROM evidence WHERE id = evidence_part.evidence) || '|evidence ' || evidence || ' ' || part",
    },
    SealedColumn {
        table: "file_push",
        column: "sealed",
        key: &["entity"],
        record: "url || '|' || coalesce(host_key, '') || '|' || coalesce(ca, '') || '|file push ' || entity",
    },
    SealedColumn { table: "user", column: "sealed", key: &["id"], record: "'one-time code ' || id" },
    SealedColumn { table: "sealed_key", column: "sealed", key: &["name"], record: "name" },
];

/// Reads a column of a row as a sealed record.
pub(crate) fn read_sealed(row: &Row<'_>, column: usize) -> tillgate_engine::Result<Sealed> {
    row.get(column).map(Sealed::from_bytes)
}

/// Same as [`read_sealed`], for a column that may be empty.
pub(crate) fn read_sealed_option(row: &Row<'_>, column: usize) -> tillgate_engine::Result<Option<Sealed>> {
    Ok(row.get::<Option<Vec<u8>>>(column)?.map(Sealed::from_bytes))
}

impl SealedColumn {
    /// Returns true if the table has the column.
    fn is_in_schema(&self, session: &dyn Session) -> Result<bool, StoreError> {
        let query = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
        Ok(session.query_one(query, [self.table, self.column], |row| row.get(0))?)
    }

    /// Loads the next records, at most [`BATCH`], that have to be sealed again, in the order of the primary key.
    /// `after` is the key of the last record before them, empty at the beginning. Leaves out empty columns.
    fn load_batch(
        &self,
        session: &dyn Session,
        stale: Stale,
        after: &[OwnedValue],
    ) -> Result<Vec<SealedRecord>, StoreError> {
        let (condition, value) = match stale {
            Stale::OtherKey(id) => (format!("substr({}, 2, 4) <> ?1", self.column), id.0.to_vec()),
            Stale::FirstFormat => (format!("substr({}, 1, 1) = ?1", self.column), vec![1]),
        };
        let Self { table, column, key, record } = self;
        let keys = key.join(", ");
        let placeholders: Vec<String> = (0..after.len()).map(|index| format!("?{}", index + 2)).collect();
        let after_condition =
            if after.is_empty() { String::new() } else { format!("AND ({keys}) > ({})", placeholders.join(", ")) };
        let query = format!(
            "SELECT {column}, {record}, {keys} FROM {table}
             WHERE length({column}) > 0 AND {condition} {after_condition} ORDER BY {keys} LIMIT {BATCH}"
        );
        let values: Vec<OwnedValue> = std::iter::once(OwnedValue::Blob(value)).chain(after.iter().cloned()).collect();
        session.query_all(&query, values, |row| {
            let key_values = (0..key.len()).map(|index| row.get(index + 2)).collect::<Result<_, _>>()?;
            Ok(SealedRecord { sealed: read_sealed(row, 0)?, record: row.get(1)?, key_values })
        })
    }

    /// Writes a resealed record. Does nothing if the sealed bytes have changed meanwhile.
    fn write_resealed(&self, session: &dyn Session, found: &SealedRecord, resealed: &Sealed) -> Result<(), StoreError> {
        let Self { table, column, key, .. } = self;
        let conditions: Vec<String> =
            key.iter().enumerate().map(|(index, key)| format!("{key} = ?{}", index + 3)).collect();
        // The record was read without the lock, so a server may have replaced it by a newer one.
        let query = format!("UPDATE {table} SET {column} = ?1 WHERE {column} = ?2 AND {}", conditions.join(" AND "));
        let blob = |sealed: &Sealed| OwnedValue::Blob(sealed.as_bytes().to_vec());
        let values: Vec<OwnedValue> =
            [blob(resealed), blob(&found.sealed)].into_iter().chain(found.key_values.clone()).collect();
        session.execute(&query, values)?;
        Ok(())
    }
}

/// Records that have to be sealed again.
#[derive(Clone, Copy)]
enum Stale {
    /// Those that are not sealed under this key.
    OtherKey(KeyId),
    /// Those of the first format, which are not bound to their owner.
    FirstFormat,
}

/// A record that has to be sealed again.
struct SealedRecord {
    sealed: Sealed,
    /// The record's id in the vault.
    record: String,
    /// The values of the primary key.
    key_values: Vec<OwnedValue>,
}

/// Name of a table, for the operator, and the number of records in one of its columns. The number is at least one.
pub type SealedCount = (&'static str, u64);

/// Counts the records sealed under a key, for each column that has any.
pub(crate) fn count_by_key(session: &dyn Session, id: KeyId) -> Result<Vec<SealedCount>, StoreError> {
    count_records(session, id, "=")
}

impl AdminStore {
    /// Counts the records sealed under a key, for each column that has any.
    pub fn count_sealed_by(&self, id: KeyId) -> Result<Vec<SealedCount>, StoreError> {
        count_by_key(&*self.session, id)
    }

    /// Counts the records sealed under keys other than `id`, for each column that has any.
    pub fn count_sealed_by_others(&self, id: KeyId) -> Result<Vec<SealedCount>, StoreError> {
        count_records(&*self.session, id, "<>")
    }

    /// Reseals every record that is not sealed under `id`. `reseal` receives the record's id in the vault and the
    /// sealed bytes; `progress` receives the number of records resealed so far, after each
    /// batch. Returns the number of records for which `reseal` failed; they stay as they are.
    ///
    /// # Errors
    /// If the store cannot be read or written. Records resealed before the error stay resealed.
    pub fn reseal_all<E>(
        &self,
        id: KeyId,
        reseal: impl Fn(&str, &Sealed) -> Result<Sealed, E>,
        progress: impl FnMut(u64),
    ) -> Result<u64, StoreError> {
        reseal_all(&*self.session, Stale::OtherKey(id), reseal, progress)
    }
}

/// Seals every record of the first format again, bound to its owner and use. Those that the vault does not open stay as
/// they are.
pub(crate) fn bind_owners(session: &dyn Session, vault: &Vault) -> Result<(), StoreError> {
    let reseal = |record: &str, sealed: &Sealed| vault.seal(record, &vault.open(record, sealed)?);
    let failed = reseal_all(session, Stale::FirstFormat, reseal, |_| {})?;
    if failed > 0 {
        tracing::error!(failed, "sealed records cannot be opened, and stay as they are");
    }
    Ok(())
}

/// Counts the records of each column whose key compares with `id` by the SQL operator `compare`. Leaves out columns
/// without such records, and empty values.
fn count_records(session: &dyn Session, id: KeyId, compare: &str) -> Result<Vec<SealedCount>, StoreError> {
    let mut counts = Vec::new();
    for sealed in &COLUMNS {
        let SealedColumn { table, column, .. } = sealed;
        if sealed.is_in_schema(session)? {
            let query = format!(
                "SELECT count(*) FROM {table} WHERE length({column}) > 0 AND substr({column}, 2, 4) {compare} ?1"
            );
            let count: i64 = session.query_one(&query, [id.0], |row| row.get(0))?;
            if count > 0 {
                counts.push((*table, count.unsigned_abs()));
            }
        }
    }
    Ok(counts)
}

/// Reseals every record, as described at [`AdminStore::reseal_all`]. Repeats until a round reseals nothing.
fn reseal_all<E>(
    session: &dyn Session,
    stale: Stale,
    reseal: impl Fn(&str, &Sealed) -> Result<Sealed, E>,
    mut progress: impl FnMut(u64),
) -> Result<u64, StoreError> {
    let mut done = 0;
    loop {
        let (done_before, mut failed) = (done, 0);
        for sealed in &COLUMNS {
            if !sealed.is_in_schema(session)? {
                continue;
            }
            let mut after = Vec::new();
            loop {
                // Loaded before the transaction, so that a server waits only for the writes.
                let batch = sealed.load_batch(session, stale, &after)?;
                let Some(last) = batch.last() else { break };
                // The next batch begins after this one. Otherwise records that cannot be opened would be loaded for
                // ever.
                after.clone_from(&last.key_values);
                let began = std::time::Instant::now();
                let transaction = begin_immediate(session)?;
                for found in &batch {
                    match reseal(&found.record, &found.sealed) {
                        Ok(resealed) => {
                            sealed.write_resealed(&*transaction, found, &resealed)?;
                            done += 1;
                        }
                        // A damaged record must not keep the others from getting the new key.
                        Err(_) => failed += 1,
                    }
                }
                transaction.commit()?;
                progress(done);
                // Pause as long as the transaction took, so that a waiting server gets the lock.
                std::thread::sleep(began.elapsed());
            }
        }
        // A server may have sealed records under the previous key meanwhile. Another round finds them.
        if done == done_before {
            return Ok(failed);
        }
    }
}

/// Begins a transaction with the write lock. Waits for the lock without a limit, because a server under load may take
/// it first many times.
pub(crate) fn begin_immediate(session: &dyn Session) -> Result<Transaction<'_>, StoreError> {
    loop {
        match session.begin() {
            Err(error) if error.kind() == ErrorKind::Busy => {}
            begun => return Ok(begun?),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::keys::sealed::*;
    use crate::place::open_for_writing::open_session;

    #[test]
    fn every_column_that_is_sealed_gets_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let session = open_session(folder.path()).unwrap();
        let query =
            "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND columns.name LIKE '%seal%'";
        let columns: Vec<(String, String)> = session.query_all(query, (), |row| row.read()).unwrap();
        for (table, column) in columns {
            let known = COLUMNS.iter().any(|sealed| sealed.table == table && sealed.column == column);
            assert!(known, "add {table}.{column} to the columns of store/keys/sealed.rs");
        }
        for sealed in &COLUMNS {
            assert!(sealed.is_in_schema(&session).unwrap(), "{}.{}", sealed.table, sealed.column);
        }
    }
}
