//! Reads of the audit log and of the balances.

use std::collections::BTreeMap;

use tillgate_domain::access::audit::{AuditEntry, ChainedEntry};
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_engine::{Row, params};
use tillgate_shared::money::Currency;

use crate::document::read_document;
use crate::{PaymentHistory, Store, StoreError};

/// Largest number of entries on a page.
const PAGE: u16 = 1000;

/// The balances of an entity: the sums of all its movements by currency.
pub type Balances = BTreeMap<&'static str, LedgerSums>;

/// Reads a row with the columns number, entity, document and hash. Fails if the entity is neither an id nor empty.
pub(crate) fn read_entry(row: &Row<'_>) -> tillgate_engine::Result<ChainedEntry> {
    let entity: String = row.get(1)?;
    let id = EntityId::parse(&entity);
    if id.is_none() && !entity.is_empty() {
        return Err(tillgate_engine::Error::unreadable(1, "entity"));
    }
    Ok(ChainedEntry { number: row.get(0)?, entity: id, document: row.get(2)?, hash: row.get(3)? })
}

impl Store {
    /// Loads the balances of an entity in a currency, and the number of the last entry that they include. `None` if the
    /// entity has none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_account_balances(
        &self,
        entity: &EntityId,
        currency: Currency,
    ) -> Result<Option<(LedgerSums, i64)>, StoreError> {
        // One snapshot, because an entry between two reads would make balances and entries differ.
        self.readers.in_snapshot(|session| {
            let query = "SELECT receivable, payable, fees, reserve, cash,
                     coalesce((SELECT max(number) FROM audit_entry WHERE entity = ?1), 0)
                 FROM balance WHERE entity = ?1 AND currency = ?2";
            session.query_optional(query, [entity.as_str(), currency.code()], |row| {
                let sums = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
                Ok((LedgerSums::from_array(sums), row.get(5)?))
            })
        })
    }
}

impl PaymentHistory {
    /// Loads the first entries of the audit log after a number, at most 1,000.
    pub fn load_audit_entries(&self, after: i64) -> Result<Vec<ChainedEntry>, StoreError> {
        let query = "SELECT number, entity, document, hash FROM audit_entry WHERE number > ?1 ORDER BY number LIMIT ?2";
        // An entry that is written at this moment may get a smaller number than one that is there already.
        let snapshot = self.session().begin_quiet_snapshot()?;
        Ok(snapshot.query_all(query, params![after, PAGE], read_entry)?)
    }

    /// Loads the first entries of an entity after a number, at most `limit`, without their hashes being checked.
    ///
    /// # Errors
    /// If the store cannot be read, or an entry is damaged.
    pub fn load_entity_entries(
        &self,
        entity: &EntityId,
        after: i64,
        limit: u16,
    ) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        let query = "SELECT number, document FROM audit_entry
             WHERE entity = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
        self.session()
            .query_all(query, params![entity.as_str(), after, limit], |row| Ok((row.get(0)?, read_document(row, 1)?)))
    }

    /// Loads the balances of an entity.
    pub fn load_balances(&self, entity: &EntityId) -> Result<Balances, StoreError> {
        let query = "SELECT currency, receivable, payable, fees, reserve, cash FROM balance WHERE entity = ?1";
        let mut rows = self.session().query(query, [entity.as_str()])?;
        let mut balances = Balances::new();
        while let Some(row) = rows.next()? {
            let sums = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
            if let Some(currency) = Currency::parse(&row.get::<String>(0)?) {
                balances.insert(currency.code(), LedgerSums::from_array(sums));
            }
        }
        Ok(balances)
    }
}
