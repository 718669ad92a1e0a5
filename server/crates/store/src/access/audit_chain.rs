//! The chains of the audit log, and the entries that bind their ends.

use jiff::Timestamp;
use tillgate_domain::access::audit::{AuditEntry, ChainEnds, LogHead};
use tillgate_engine::Session;

use crate::document::read_document;
use crate::ledger::write_entry;
use crate::{Store, StoreError};

impl Store {
    /// Writes an entry that binds the ends of all chains, so that no chain can lose its end without a trace. Does
    /// nothing if nothing was written since the last one. Returns the head of the log that is bound, `None` if the log
    /// is empty.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub async fn bind_audit_chains(&self, now: Timestamp) -> Result<Option<LogHead>, StoreError> {
        if let Some(bound) = self.run_read(load_newest_binding)? {
            return Ok(Some(bound));
        }
        // No other entry is written meanwhile, also not by another node.
        self.run_write(move |session| {
            let ends = load_ends(session)?;
            if ends.is_empty() {
                return Ok(None);
            }
            write_entry(session, None, &AuditEntry::binding(now, &ends), now)?;
            Ok(Some(ends.head()))
        })
        .await
    }
}

/// Loads the head that the newest entry binds. `None` if that is another entry.
fn load_newest_binding(session: &dyn Session) -> Result<Option<LogHead>, StoreError> {
    let query = "SELECT document FROM audit_entry ORDER BY number DESC LIMIT 1";
    let newest = session.query_optional(query, (), |row| read_document::<AuditEntry>(row, 0))?;
    Ok(newest.and_then(|entry| entry.bound_head()))
}

/// Loads the last entry of each chain.
pub(crate) fn load_ends(session: &dyn Session) -> Result<ChainEnds, StoreError> {
    // From one chain to the next by the index: a grouping would read every entry.
    let query = "WITH RECURSIVE chain (entity) AS (
             SELECT min(entity) FROM audit_entry
             UNION ALL
             SELECT (SELECT min(later.entity) FROM audit_entry AS later WHERE later.entity > chain.entity)
             FROM chain WHERE chain.entity IS NOT NULL)
         SELECT entry.entity, entry.number, entry.hash FROM chain JOIN audit_entry AS entry
         ON entry.number = (SELECT max(number) FROM audit_entry AS own WHERE own.entity = chain.entity)";
    let mut ends = ChainEnds::default();
    let mut rows = session.query(query, ())?;
    while let Some(row) = rows.next()? {
        ends.add_entry(&row.get::<String>(0)?, row.get(1)?, row.get(2)?);
    }
    Ok(ends)
}
