//! Acceptance of rows that another program has changed, such as a repair by hand: an administrator's act, after which
//! the seal is the one of the rows as they are.

use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::Session;

use crate::keys::table_seal::{RowSum, SEALED, Seal, compute_sum, load_seal};
use crate::ledger;
use crate::read::snapshot::StoreSnapshot;
use crate::{AdminStore, StoreError};

/// The action of the entry about accepted rows.
pub const SEAL_ACCEPT: &str = "seal accept";
/// The detail of that entry with the administrator's reason.
pub const REASON: &str = "reason";

/// The table whose changes cannot be accepted.
const AUDIT_LOG: &str = "audit_entry";

/// Reason why rows cannot be accepted.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store has no seal.
    #[error("the store is not sealed: the first start of `tillgate serve` seals it")]
    NotSealed,
    /// The vault does not open the key of the seal.
    #[error("the store is sealed: accepting rows needs the vault's key (--key-file)")]
    NeedsKey,
    /// The seal has no valid code, or its sums contradict each other.
    #[error("the seal itself was changed, so the rows cannot be verified: restore a backup")]
    ForgedSeal,
    /// The seal covers no table of this name.
    #[error("the seal covers no table {0}")]
    NotCovered(String),
    /// The rows are the ones of the audit log.
    #[error("changes of the audit log cannot be accepted: restore a backup")]
    AuditLog,
    /// The rows of a named table are sealed already.
    #[error("the rows of the table {0} agree with the seal: there is nothing to accept")]
    Unchanged(String),
    /// A table that was not named has changed as well.
    #[error("rows of the table {0} were changed as well: look at them, and name that table too or undo the change")]
    NotNamed(String),
}

/// A table whose rows differ from the seal.
#[derive(Debug, Clone, Copy)]
struct ChangedTable {
    /// Its place in [`SEALED`].
    slot: usize,
    /// Number of rows.
    rows: u64,
    /// The sum of its rows less the sealed sum.
    difference: u64,
}

/// The tables whose rows differ from the seal, as of a snapshot.
pub struct ChangedTables {
    key: AuditKey,
    tables: Vec<ChangedTable>,
    /// The sum of all rows less the sealed sum.
    difference: RowSum,
}

/// A table whose rows were accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedTable {
    /// The name.
    pub table: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// The sealed sum before, in hexadecimal digits.
    pub old_sum: String,
    /// The sealed sum from now on, in hexadecimal digits.
    pub new_sum: String,
}

impl Seal {
    /// Adds the difference of all rows, and the ones of tables by slot, to the sums.
    fn add_differences(&mut self, all: RowSum, tables: &[ChangedTable]) {
        let total = self.total().add(all);
        self.write_bytes(4, &total.to_bytes());
        for ChangedTable { slot, difference, .. } in tables {
            let sum = self.table_sum(*slot).wrapping_add(*difference);
            self.write_table_sum(*slot, sum);
        }
    }
}

impl ChangedTables {
    /// Compares the rows of every sealed table with the seal.
    fn find(session: &dyn Session, key: &AuditKey) -> Result<Self, AcceptError> {
        let seal = load_seal(session)?.ok_or(AcceptError::NotSealed)?;
        let (mut tables, mut total, mut short) = (Vec::new(), RowSum::default(), 0_u64);
        for (slot, table) in SEALED.iter().enumerate() {
            let sum = compute_sum(session, key, table)?;
            total = total.add(sum);
            let difference = sum.shorten().wrapping_sub(seal.table_sum(slot));
            short = short.wrapping_add(difference);
            if difference != 0 {
                let query = format!("SELECT count(*) FROM {table}");
                let rows: i64 = session.query_one(&query, (), |row| row.get(0)).map_err(StoreError::from)?;
                tables.push(ChangedTable { slot, rows: rows.unsigned_abs(), difference });
            }
        }
        let difference = total.subtract(seal.total());
        // The sums of tables have no code. Changed ones could hide a table among those that are accepted.
        let is_forged = !seal.has_code(key)
            || difference.shorten() != short
            || (tables.is_empty() && difference != RowSum::default());
        if is_forged { Err(AcceptError::ForgedSeal) } else { Ok(Self { key: key.clone(), tables, difference }) }
    }

    /// Checks that exactly these tables differ from the seal, and that they can be accepted.
    fn check_names(&self, names: &[String]) -> Result<(), AcceptError> {
        for name in names {
            let slot = SEALED.iter().position(|table| table == name);
            let slot = slot.ok_or_else(|| AcceptError::NotCovered(name.clone()))?;
            if !self.tables.iter().any(|changed| changed.slot == slot) {
                return Err(AcceptError::Unchanged(name.clone()));
            }
        }
        let changed = self.tables.iter().map(|changed| SEALED[changed.slot]);
        if let Some(other) = changed.clone().find(|table| !names.iter().any(|name| name == table)) {
            return Err(AcceptError::NotNamed(other.to_owned()));
        }
        // The hashes of its entries would not agree, whatever the seal says.
        if changed.clone().any(|table| table == AUDIT_LOG) { Err(AcceptError::AuditLog) } else { Ok(()) }
    }
}

impl StoreSnapshot {
    /// Finds the tables whose rows differ from the seal. Reads every sealed row.
    ///
    /// # Errors
    /// If the store cannot be read, is not sealed, or its seal was not written with the key of the vault.
    pub fn find_changed_tables(&self) -> Result<ChangedTables, AcceptError> {
        self.find_changes(|session, key| ChangedTables::find(session, key.ok_or(AcceptError::NeedsKey)?))
    }
}

impl AdminStore {
    /// Accepts the rows of these tables, as the snapshot of `changed` has them, and seals them. The audit log names the
    /// tables with their old and new sums, and the reason.
    ///
    /// Later changes by other programs are not accepted. A server may go on writing.
    ///
    /// # Errors
    /// If the named tables are not exactly those that differ from the seal, the audit log is among them, or the store
    /// cannot be written.
    pub fn accept_rows(
        &self,
        changed: &ChangedTables,
        names: &[String],
        reason: &str,
    ) -> Result<Vec<AcceptedTable>, AcceptError> {
        changed.check_names(names)?;
        self.in_transaction(|store| {
            // Adding up all rows takes long, so it was done without the write lock. Writes of the program since then
            // have changed rows and seal alike, so the differences are still the same.
            let mut seal = load_seal(&*store.session)?.ok_or(AcceptError::NotSealed)?;
            if !seal.has_code(&changed.key) {
                return Err(AcceptError::ForgedSeal);
            }
            let old = seal.clone();
            seal.add_differences(changed.difference, &changed.tables);
            seal.write_code(&changed.key);
            let accepted: Vec<AcceptedTable> =
                changed.tables.iter().map(|table| table.describe_acceptance(&old, &seal)).collect();
            let update = "UPDATE store_seal SET sums = ?1 WHERE id = 1";
            store.session.execute(update, [&seal.0]).map_err(StoreError::from)?;
            write_acceptance(store, &accepted, reason)?;
            Ok(accepted)
        })
    }
}

impl ChangedTable {
    fn describe_acceptance(self, old: &Seal, new: &Seal) -> AcceptedTable {
        let sum = |seal: &Seal| format!("{:016x}", seal.table_sum(self.slot));
        AcceptedTable { table: SEALED[self.slot], rows: self.rows, old_sum: sum(old), new_sum: sum(new) }
    }
}

/// Writes the entry about accepted rows.
fn write_acceptance(store: &AdminStore, accepted: &[AcceptedTable], reason: &str) -> Result<(), StoreError> {
    let now = Timestamp::now();
    let subject: Vec<&str> = accepted.iter().map(|accepted| accepted.table).collect();
    let entry = AuditEntry::new(now, SEAL_ACCEPT, subject.join(", ")).by(store.actor());
    let entry = accepted.iter().fold(entry.with_detail(REASON, reason), |entry, accepted| {
        let AcceptedTable { table, rows, old_sum, new_sum } = accepted;
        entry.with_detail(table, format!("{rows} rows, the sum {old_sum} became {new_sum}"))
    });
    ledger::write_entry(&*store.session, None, &entry, now)
}
