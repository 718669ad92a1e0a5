//! A snapshot of the whole store, read row by row: for the verification of the ledger while a server goes on writing.
//!
//! While it is open, the write-ahead log cannot be shortened and grows.

use std::path::Path;

use tillgate_domain::access::audit::ChainedEntry;
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::settlement::SettlementState;
use tillgate_domain::settlement::ledger::{LedgerSums, ReferencedPayment};
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_engine::{Row, Session};
use tillgate_shared::money::Currency;
use tillgate_vault::Vault;

use crate::document::read_document;
use crate::keys::audit_key;
use crate::keys::table_seal;
use crate::ledger;
use crate::payment::shared_parameters;
use crate::settlement::StoredBatch;
use crate::settlement::booking;
use crate::settlement::ledger_reads;
use crate::settlement::record_digest;
use crate::settlement::record_digest::RecordDigest;
use crate::{AdminStore, StoreError, StoreLocation, settlement};

/// A read transaction on the store.
pub struct StoreSnapshot {
    session: Box<dyn Session>,
    audit_key: Option<AuditKey>,
    /// True for a file, whose rows have a seal. A database has none.
    has_seal: bool,
}

/// A stored balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBalance {
    /// The currency.
    pub currency: Currency,
    /// The sums.
    pub sums: LedgerSums,
}

impl AdminStore {
    /// Opens a snapshot of a store, which has to exist and be migrated. `vault` has the keys that open the one of the
    /// audit log.
    pub fn open_snapshot(location: &StoreLocation, vault: Option<&Vault>) -> Result<StoreSnapshot, StoreError> {
        StoreSnapshot::begin_read(location.open_reader()?, vault, !location.is_database())
    }
}

impl StoreSnapshot {
    /// Opens the snapshot of a file of this version that no process changes, such as a copy of a backup.
    pub fn open_file(file: &Path, vault: Option<&Vault>) -> Result<Self, StoreError> {
        Self::begin_read(Box::new(SqliteSession::open_immutable(file)?), vault, true)
    }

    /// Begins a snapshot on a session. `has_seal` is true for the session of a file.
    pub(crate) fn begin_read(
        session: Box<dyn Session>,
        vault: Option<&Vault>,
        has_seal: bool,
    ) -> Result<Self, StoreError> {
        session.begin_quiet_read()?;
        // The snapshot is taken by the first read.
        session.has_row("SELECT 1 FROM audit_entry LIMIT 1", ())?;
        // Without the right key the store can still be read, and the comparison with the seal reports the missing key.
        let audit_key = vault.and_then(|vault| audit_key::open_audit_key(&*session, vault).ok().flatten());
        Ok(Self { session, audit_key, has_seal })
    }

    /// Returns the key of the audit log. `None` if the store is not sealed, or the vault does not open it.
    pub fn audit_key(&self) -> Option<&AuditKey> {
        self.audit_key.as_ref()
    }

    /// Returns true if this place of a store has a seal of its rows. A database has none.
    pub fn has_seal(&self) -> bool {
        self.has_seal
    }

    /// Returns true if the store is sealed, or its audit log at least, so that verifying it needs the vault's key.
    pub fn is_sealed(&self) -> Result<bool, StoreError> {
        match self.has_seal {
            true => table_seal::is_sealed(&*self.session),
            false => ledger::has_key(&*self.session),
        }
    }

    /// Compares the rows of the store with its seal, and its schema with the one of this version. Returns what differs:
    /// nothing for a database, which has no seal.
    pub fn find_seal_differences(&self) -> Result<Vec<String>, StoreError> {
        match self.has_seal {
            true => table_seal::find_differences(&*self.session, self.audit_key.as_ref()),
            false => Ok(Vec::new()),
        }
    }

    /// Runs a comparison of rows with the seal, which gets the key of the audit log if the vault opens it.
    pub(crate) fn find_changes<T>(&self, compare: impl FnOnce(&dyn Session, Option<&AuditKey>) -> T) -> T {
        compare(&*self.session, self.audit_key.as_ref())
    }

    /// Calls a function with each row of a query.
    fn for_each_row(
        &self,
        query: &str,
        parameters: impl tillgate_engine::Params,
        mut visit: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut rows = self.session.query(query, parameters)?;
        while let Some(row) = rows.next()? {
            visit(&row)?;
        }
        Ok(())
    }

    /// Calls a function with each entry of the audit log, in the order of their numbers.
    pub fn for_each_entry(&self, mut visit: impl FnMut(ChainedEntry)) -> Result<(), StoreError> {
        let query = "SELECT number, entity, document, hash FROM audit_entry ORDER BY number";
        self.for_each_row(query, (), |row| {
            visit(ledger_reads::read_entry(row)?);
            Ok(())
        })
    }

    /// Calls a function with each entry of an entity, in the order of their numbers.
    pub fn for_each_entry_of(&self, entity: &EntityId, mut visit: impl FnMut(ChainedEntry)) -> Result<(), StoreError> {
        let query = "SELECT number, entity, document, hash FROM audit_entry WHERE entity = ?1 ORDER BY number";
        self.for_each_row(query, [entity.as_str()], |row| {
            visit(ledger_reads::read_entry(row)?);
            Ok(())
        })
    }

    /// Loads the part of a payment that the bookings of its follow-up payments depend on. `None` if it is not stored.
    ///
    /// # Errors
    /// If the store cannot be read, or the payment is damaged.
    pub fn load_referenced(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<ReferencedPayment>, StoreError> {
        booking::load_referenced(&*self.session, entity, id)
    }

    /// Loads a payment of an entity. `None` if it is not stored.
    ///
    /// # Errors
    /// If the store cannot be read, or the payment is damaged.
    pub fn load_payment(&self, entity: &EntityId, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        shared_parameters::load_payment(&*self.session, [entity.as_str(), id.as_str()])
    }

    /// Calls a function with each payment of an entity.
    ///
    /// # Errors
    /// If the store cannot be read, or a payment is damaged.
    pub fn for_each_payment(
        &self,
        entity: &EntityId,
        mut visit: impl FnMut(Payment) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let query = "SELECT document FROM payment WHERE entity = ?1 ORDER BY id";
        self.for_each_row(query, [entity.as_str()], |row| {
            visit(shared_parameters::decode_payment(&*self.session, &row.get::<Vec<u8>>(0)?)?)
        })
    }

    /// Calls a function with each reconciliation record of an entity's own payments.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn for_each_record(
        &self,
        entity: &EntityId,
        mut visit: impl FnMut(ReconciliationRecord),
    ) -> Result<(), StoreError> {
        let query = "SELECT document FROM reconciliation_record WHERE account = ?1";
        self.for_each_row(query, [entity.as_str()], |row| {
            visit(read_document(row, 0)?);
            Ok(())
        })
    }

    /// Calls a function with each batch of an entity.
    ///
    /// # Errors
    /// If the store cannot be read, or a batch is damaged.
    pub fn for_each_batch(&self, entity: &EntityId, mut visit: impl FnMut(StoredBatch)) -> Result<(), StoreError> {
        let query = "SELECT document FROM settlement_batch WHERE entity = ?1";
        self.for_each_row(query, [entity.as_str()], |row| {
            visit(read_document(row, 0)?);
            Ok(())
        })
    }

    /// Computes the digest of the stored reconciliation records.
    pub fn compute_record_digest(&self) -> Result<RecordDigest, StoreError> {
        record_digest::compute_digest(&*self.session)
    }

    /// Loads the state of an entity's settlements. `None` before the first one.
    ///
    /// # Errors
    /// If the store cannot be read, or the state is damaged.
    pub fn load_settlement_state(&self, entity: &EntityId) -> Result<Option<SettlementState>, StoreError> {
        settlement::load_state(&*self.session, entity)
    }

    /// Loads the entities that have payments, in the order of their ids.
    pub fn load_paying_entities(&self) -> Result<Vec<EntityId>, StoreError> {
        let mut found = Vec::new();
        let query = "SELECT id FROM entity
             WHERE EXISTS (SELECT 1 FROM payment WHERE payment.entity = entity.id)
                 OR EXISTS (SELECT 1 FROM balance WHERE balance.entity = entity.id) ORDER BY id";
        self.for_each_row(query, (), |row| {
            found.extend(EntityId::parse(&row.get::<String>(0)?));
            Ok(())
        })?;
        Ok(found)
    }

    /// Loads every balance with its entity.
    pub fn load_all_balances(&self) -> Result<Vec<(EntityId, StoredBalance)>, StoreError> {
        let mut found = Vec::new();
        let query = "SELECT entity, currency, receivable, payable, fees, reserve, cash FROM balance";
        self.for_each_row(query, (), |row| {
            let (entity, currency): (String, String) = (row.get(0)?, row.get(1)?);
            let sums = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?];
            if let (Some(entity), Some(currency)) = (EntityId::parse(&entity), Currency::parse(&currency)) {
                found.push((entity, StoredBalance { currency, sums: LedgerSums::from_array(sums) }));
            }
            Ok(())
        })?;
        Ok(found)
    }
}
