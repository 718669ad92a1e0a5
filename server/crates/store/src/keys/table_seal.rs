//! The seal of the store: keyed hashes of the rows that decide who may do what or what is owed, added up by table and
//! over all tables. A row that was changed, added or removed by anyone without the vault's key is found, whatever its
//! table and column.
//!
//! A session that has the key keeps the seal by triggers of its own, so that each write is part of the sum in the
//! same transaction, wherever it comes from. A session without the key cannot write to a sealed store.

pub mod acceptance;
pub(crate) mod copied;
mod functions;
mod tables;

pub(crate) use functions::register_functions;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_domain::access::audit_key::finish_code;
use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use crate::StoreError;
use crate::keys::sealed;
use crate::ledger;
use crate::schema;
use crate::schema::migrations::VERSION;
use crate::schema::tables::has_table;
pub use tables::UNSEALED;
use tables::{SEALED, sealed_tables};

/// Length of the sum of all tables, and of its code, in bytes.
const LENGTH: usize = 32;

/// Length of the sum of a table in bytes. It has no code and only tells which table differs, so it is short: the seal
/// is rewritten at every write.
const TABLE_LENGTH: usize = 8;

/// Bytes before the sums of the tables: the version of the schema, the sum of all tables, and the code of both.
const HEAD: usize = 4 + 2 * LENGTH;

/// The action of the entry with which a store is sealed.
pub const SEAL_BEGIN: &str = "seal begin";
/// The detail of that entry with what was wrong before.
pub const UNSOUND: &str = "unsound";

/// A sum of hashes. The order of the rows does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowSum([u128; 2]);

impl RowSum {
    fn from_bytes(bytes: &[u8]) -> Self {
        let half = |at: usize| bytes.get(at..).and_then(|bytes| bytes.first_chunk::<16>()).copied();
        Self([half(0), half(16)].map(|half| half.map_or(0, u128::from_be_bytes)))
    }

    fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..16].copy_from_slice(&self.0[0].to_be_bytes());
        bytes[16..].copy_from_slice(&self.0[1].to_be_bytes());
        bytes
    }

    /// Returns the last eight bytes of the first half, which add up in the same way.
    pub(crate) fn shorten(self) -> u64 {
        let bytes = self.0[0].to_be_bytes();
        bytes.last_chunk().copied().map_or(0, u64::from_be_bytes)
    }

    pub(crate) fn add(self, other: Self) -> Self {
        // The sums wrap around, so that a removed row can be subtracted whatever was added since.
        Self([self.0[0].wrapping_add(other.0[0]), self.0[1].wrapping_add(other.0[1])])
    }

    pub(crate) fn subtract(self, other: Self) -> Self {
        Self([self.0[0].wrapping_sub(other.0[0]), self.0[1].wrapping_sub(other.0[1])])
    }
}

/// The stored seal: the head, then the sums of [`SEALED`]. The latter only tell which table differs.
#[derive(Clone)]
struct Seal(Vec<u8>);

impl Seal {
    /// Makes the seal of the sums of all tables.
    fn from_sums(key: &AuditKey, sums: &[RowSum]) -> Self {
        let total = sums.iter().fold(RowSum::default(), |total, sum| total.add(*sum));
        let mut seal = Self(current_version().to_be_bytes().to_vec());
        seal.0.extend(total.to_bytes());
        seal.0.extend([0; LENGTH]);
        sums.iter().for_each(|sum| seal.0.extend(sum.shorten().to_be_bytes()));
        seal.write_code(key);
        seal
    }

    fn version(&self) -> u32 {
        self.0.first_chunk().copied().map_or(0, u32::from_be_bytes)
    }

    fn total(&self) -> RowSum {
        RowSum::from_bytes(self.0.get(4..).unwrap_or_default())
    }

    fn table_sum(&self, slot: usize) -> u64 {
        let at = HEAD + slot * TABLE_LENGTH;
        self.0.get(at..).and_then(|bytes| bytes.first_chunk()).copied().map_or(0, u64::from_be_bytes)
    }

    fn compute_code(&self, key: &AuditKey) -> [u8; LENGTH] {
        use hmac::Mac as _;
        let mut code = key.begin_code(b"seal");
        code.update(&self.0[..4 + LENGTH]);
        finish_code(code)
    }

    fn write_code(&mut self, key: &AuditKey) {
        let code = self.compute_code(key);
        self.0[4 + LENGTH..HEAD].copy_from_slice(&code);
    }

    /// Returns true if the sum of all tables was written by somebody with the key.
    fn has_code(&self, key: &AuditKey) -> bool {
        self.0.len() >= HEAD && self.compute_code(key) == self.0[4 + LENGTH..HEAD]
    }

    /// Replaces rows of a table in its sum and in the sum of all tables.
    fn replace_rows(&mut self, slot: usize, removed: RowSum, added: RowSum) {
        let total = self.total().subtract(removed).add(added);
        let table = self.table_sum(slot).wrapping_sub(removed.shorten()).wrapping_add(added.shorten());
        self.write_bytes(4, &total.to_bytes());
        self.write_table_sum(slot, table);
    }

    fn write_table_sum(&mut self, slot: usize, sum: u64) {
        self.write_bytes(HEAD + slot * TABLE_LENGTH, &sum.to_be_bytes());
    }

    fn write_bytes(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}

/// Rights of a session to a store.
#[derive(Clone, Copy)]
pub(crate) enum SealAccess<'a> {
    /// It has no key: it writes only while the store is not sealed.
    Locked,
    /// It has the key of a store that is sealed.
    Unlocked(&'a AuditKey),
    /// The same, and it seals a store that is not.
    Sealing(&'a AuditKey),
}

fn current_version() -> u32 {
    u32::try_from(VERSION).unwrap_or(u32::MAX)
}

/// Loads the seal. `None` if the store has none, or is of a version before there were seals.
fn load_seal(session: &dyn Session) -> Result<Option<Seal>, StoreError> {
    if !has_table(session, "store_seal")? {
        return Ok(None);
    }
    let query = "SELECT sums FROM store_seal WHERE id = 1";
    Ok(session.query_optional(query, (), |row| row.get(0).map(Seal))?)
}

/// Returns true if the store is sealed.
pub(crate) fn is_sealed(session: &dyn Session) -> Result<bool, StoreError> {
    Ok(load_seal(session)?.is_some())
}

/// Returns true if the store was sealed by another version of the schema, so that a migration has to seal it again.
pub(crate) fn needs_resealing(session: &dyn Session) -> Result<bool, StoreError> {
    Ok(load_seal(session)?.is_some_and(|seal| seal.version() != current_version()))
}

/// Lets a session write to the store, as far as it has the key. `unsound` is what was wrong with the seal before a
/// migration; `None` if there was no migration of a sealed store.
pub(crate) fn prepare_session(
    session: &SqliteSession,
    access: SealAccess<'_>,
    unsound: Option<&[String]>,
) -> Result<(), StoreError> {
    let (key, is_sealing) = match access {
        SealAccess::Locked => return create_guards(session),
        SealAccess::Unlocked(key) => (key, false),
        SealAccess::Sealing(key) => (key, true),
    };
    // The triggers call these functions, so the functions come first.
    functions::register_functions(session, key)?;
    create_triggers(session)?;
    match (unsound, is_sealing && !is_sealed(session)?) {
        (None, false) => Ok(()),
        (None, true) => {
            let mut unsound = find_earlier_seal(session)?;
            // The store is sealed as it is, so the audit log has to say what was wrong before.
            unsound.extend(schema::check::find_write_hazards(session)?);
            seal_store(session, key, &unsound)
        }
        (Some(unsound), _) => seal_store(session, key, unsound),
    }
}

/// Seals the store as it is, with an entry in the audit log. Does nothing if another process has sealed it meanwhile.
fn seal_store(session: &dyn Session, key: &AuditKey, unsound: &[String]) -> Result<(), StoreError> {
    let transaction = sealed::begin_immediate(session)?;
    // Checked again under the write lock, because two servers may start at the same time.
    if load_seal(&*transaction)?.is_some_and(|seal| seal.version() == current_version()) {
        return Ok(());
    }
    let sums = SEALED.iter().map(|table| compute_sum(&*transaction, key, table)).collect::<Result<Vec<_>, _>>()?;
    let query = "INSERT INTO store_seal (id, sums) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET sums = excluded.sums";
    transaction.execute(query, [Seal::from_sums(key, &sums).0])?;
    let now = Timestamp::now();
    let mut entry = AuditEntry::new(now, SEAL_BEGIN, key.id());
    if !unsound.is_empty() {
        entry = entry.with_detail(UNSOUND, unsound.join("; "));
    }
    ledger::write_entry(&*transaction, None, &entry, now)?;
    Ok(transaction.commit()?)
}

/// Finds a seal that was removed: the log of a store that was never sealed has no entry with a key.
fn find_earlier_seal(session: &dyn Session) -> Result<Vec<String>, StoreError> {
    let query =
        "SELECT EXISTS (SELECT 1 FROM audit_entry WHERE json_extract(CAST(document AS TEXT), '$.key') IS NOT NULL)";
    let was_sealed: bool = session.query_one(query, (), |row| row.get(0))?;
    Ok(if was_sealed { vec!["the seal of the store was removed".to_owned()] } else { Vec::new() })
}

/// Compares the rows of a store with its seal, and its schema with the one of this version. Returns what differs.
pub(crate) fn find_differences(session: &dyn Session, key: Option<&AuditKey>) -> Result<Vec<String>, StoreError> {
    let mut faults = match (load_seal(session)?, key) {
        (None, _) => find_missing_seal(session)?,
        (Some(_), None) => vec!["the store is sealed with a key that the vault does not open".to_owned()],
        (Some(seal), Some(key)) => compare_rows(session, key, &seal)?,
    };
    faults.extend(schema::check::find_differences(session)?);
    Ok(faults)
}

/// Describes why a store has no seal, if it should have one: every start of a server seals the store.
fn find_missing_seal(session: &dyn Session) -> Result<Vec<String>, StoreError> {
    let is_used = session.query_one("SELECT EXISTS (SELECT 1 FROM audit_entry)", (), |row| row.get(0))?;
    let fault = "the store is not sealed: no server of this version was started, or the seal was removed";
    Ok(if is_used { vec![fault.to_owned()] } else { Vec::new() })
}

/// Compares the rows of a store of an earlier version with its seal. Returns what differs.
pub(crate) fn find_row_differences(session: &dyn Session, key: &AuditKey) -> Result<Vec<String>, StoreError> {
    let seal = load_seal(session)?;
    seal.map_or_else(|| Ok(Vec::new()), |seal| compare_rows(session, key, &seal))
}

/// Compares the rows of a store with its seal. Returns what differs.
fn compare_rows(session: &dyn Session, key: &AuditKey, seal: &Seal) -> Result<Vec<String>, StoreError> {
    let mut faults = Vec::new();
    if !seal.has_code(key) {
        faults.push("the seal of the store was not written with its key".to_owned());
    }
    let mut total = RowSum::default();
    for (slot, table) in sealed_tables(seal.version()).into_iter().enumerate() {
        // A table that somebody has dropped is found by the comparison of the schema.
        if !has_table(session, table)? {
            continue;
        }
        let sum = compute_sum(session, key, table)?;
        total = total.add(sum);
        if sum.shorten() != seal.table_sum(slot) {
            faults.push(format!("a row of the table {table} was changed, added or removed without the store's key"));
        }
    }
    // The sums of single tables have no code and may be forged. The sum of all tables has one.
    if faults.is_empty() && total != seal.total() {
        faults.push("a row of a table was changed, added or removed without the store's key".to_owned());
    }
    Ok(faults)
}

/// Adds up the hashes of the rows of a table.
fn compute_sum(session: &dyn Session, key: &AuditKey, table: &str) -> Result<RowSum, StoreError> {
    let columns = load_columns(session, table)?;
    let query = format!("SELECT {} FROM {table}", columns.join(", "));
    let mut rows = session.query(&query, ())?;
    let mut sum = RowSum::default();
    while let Some(row) = rows.next()? {
        let values = (0..columns.len()).map(|column| row.value(column)).collect::<Result<Vec<_>, _>>()?;
        sum = sum.add(functions::hash_row(key, table, values.into_iter()));
    }
    Ok(sum)
}

/// Loads the names of the columns of a table, quoted.
fn load_columns(session: &dyn Session, table: &str) -> Result<Vec<String>, StoreError> {
    // The hash of a row depends on the order of its columns, so the order is fixed.
    let query = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
    session.query_all(query, [table], |row| Ok(format!("\"{}\"", row.get::<String>(0)?)))
}

/// Creates the triggers of this session that keep the seal. They are not in the file, so nobody else can drop them.
fn create_triggers(session: &dyn Session) -> Result<(), StoreError> {
    let mut script = String::new();
    for (slot, table) in SEALED.iter().enumerate() {
        let columns = load_columns(session, table)?;
        let of = |row: &str| columns.iter().map(|column| format!(", {row}.{column}")).collect::<String>();
        for (event, count, values) in [
            ("INSERT", "0", of("NEW")),
            ("UPDATE", "1", format!("{}{}", of("OLD"), of("NEW"))),
            ("DELETE", "-1", of("OLD")),
        ] {
            script.push_str(&format!(
                "CREATE TEMP TRIGGER seal_{event}_{table} AFTER {event} ON main.{table} BEGIN
                     UPDATE store_seal SET sums = seal_rows(sums, {slot}, {count}{values}) WHERE id = 1;
                 END;"
            ));
        }
    }
    // A row that another one replaces is a row that is deleted.
    session.run_script("PRAGMA recursive_triggers = true")?;
    Ok(session.run_script(&script)?)
}

/// Creates the triggers of this session that refuse to write to a sealed store.
fn create_guards(session: &dyn Session) -> Result<(), StoreError> {
    let mut script = String::new();
    for table in SEALED {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            script.push_str(&format!(
                "CREATE TEMP TRIGGER guard_{event}_{table} BEFORE {event} ON main.{table}
                 WHEN EXISTS (SELECT 1 FROM store_seal) BEGIN
                     SELECT RAISE(ABORT, 'the store is sealed: this needs the vault''s key (--key-file)');
                 END;"
            ));
        }
    }
    Ok(session.run_script(&script)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
