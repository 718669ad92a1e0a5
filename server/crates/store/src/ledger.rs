//! The audit log as rows, and the balances of its movements. An entry is written in the commit of its cause.

use jiff::Timestamp;
use tillgate_domain::access::audit::compute_hash;
use tillgate_domain::access::audit::{AuditEntry, ChainHash, FIRST_HASH, PAYMENT, RECORD_DIGEST};
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::ledger::LedgerSums;
use tillgate_engine::{Error, ErrorKind, Session, params};

use crate::StoreError;
use crate::document::encode_document;
use crate::error::Cause;
use crate::schema::tables::has_table;
use crate::settlement::record_digest;
use crate::timer::start_settlement_timer;

/// The name of the key of the audit log, both of its row and of its record in the vault.
pub(crate) const AUDIT_KEY: &str = "audit key";

/// Appends an entry to the audit log, and adds its movements to the balances of the entity. `now` is the machine's
/// time; the first movement of an entity starts the timer of its settlements then. An entry that follows changes of
/// reconciliation records binds their digest.
pub(crate) fn write_entry(
    session: &dyn Session,
    entity: Option<&EntityId>,
    entry: &AuditEntry,
    now: Timestamp,
) -> Result<(), StoreError> {
    // A payment changes no reconciliation record, so its entry skips the look-up of the digest.
    let bound = if entry.action == PAYMENT { None } else { record_digest::bind_digest(session)? };
    let key = load_key_id(session)?;
    let is_keyed = key.is_some();
    let owner = entity.map_or("", EntityId::as_str);
    // Read under the write lock, so that two entries cannot follow the same one.
    let (last, previous) = load_chain_end(session, owner)?;
    let mut entry = AuditEntry { key, follows: Some(last), ..entry.clone() };
    if let Some(digest) = bound {
        entry = entry.with_detail(RECORD_DIGEST, digest.to_hex());
    }
    let document = encode_document(&entry);
    // The number is part of the hash, so it is known before the entry is written.
    let number = session.next_number("audit_entry")?;
    let hash = match is_keyed {
        true => compute_keyed_hash(session, &previous, number, owner, &document)?,
        false => compute_hash(&previous, number, owner, &document),
    };
    session.send(
        "INSERT INTO audit_entry (number, entity, document, hash) VALUES (?1, ?2, ?3, ?4)",
        params![number, owner, document, hash],
    )?;
    let Some(entity) = entity else { return Ok(()) };
    for (currency, sums) in &entry.money {
        add_to_balance(session, entity, currency, *sums, now)?;
    }
    Ok(())
}

/// Returns the id of the key that this session has. `None` if the log has no key yet.
///
/// # Errors
/// If the log has a key and the session has not.
fn load_key_id(session: &dyn Session) -> Result<Option<String>, StoreError> {
    let id = session.call("audit_key_id", ())?;
    // An entry without a key in a chain with keys could be anybody's.
    if id.is_none() && has_key(session)? {
        return Err(Cause::NeedsAuditKey.into());
    }
    Ok(id)
}

/// Returns true if the audit log has a key.
pub(crate) fn has_key(session: &dyn Session) -> Result<bool, StoreError> {
    Ok(has_table(session, "sealed_key")? && session.has_row("SELECT 1 FROM sealed_key WHERE name = ?1", [AUDIT_KEY])?)
}

/// Computes the hash of an entry with the key of this session.
fn compute_keyed_hash(
    session: &dyn Session,
    previous: &ChainHash,
    number: i64,
    owner: &str,
    document: &[u8],
) -> Result<ChainHash, StoreError> {
    // Only the function of the session has the key, so callers need not pass it around.
    let hash: Option<ChainHash> = session.call("audit_hash", params![previous, number, owner, document])?;
    Ok(hash.ok_or_else(|| Error::new(ErrorKind::InvalidStatement, "the session has no function audit_hash"))?)
}

/// Loads the number and the hash of the last entry of a chain: 0 and [`FIRST_HASH`] if there is none.
fn load_chain_end(session: &dyn Session, chain: &str) -> Result<(i64, ChainHash), StoreError> {
    let query = "SELECT number, hash FROM audit_entry WHERE entity = ?1 ORDER BY number DESC LIMIT 1";
    let end = session.query_optional(query, [chain], |row| row.read())?;
    Ok(end.unwrap_or((0, FIRST_HASH)))
}

/// Adds a movement to the balances of an entity.
fn add_to_balance(
    session: &dyn Session,
    entity: &EntityId,
    currency: &str,
    sums: LedgerSums,
    now: Timestamp,
) -> Result<(), StoreError> {
    let [receivable, payable, fees, reserve, cash] = sums.to_array();
    let parameters = params![entity.as_str(), currency, receivable, payable, fees, reserve, cash];
    let updated = session.execute(
        "UPDATE balance SET receivable = receivable + ?3, payable = payable + ?4, fees = fees + ?5,
                 reserve = reserve + ?6, cash = cash + ?7 WHERE entity = ?1 AND currency = ?2",
        parameters,
    )?;
    // Only the first movement in a currency inserts a row, so that is the only one that has to start the timer.
    if updated == 0 {
        session.send(
            "INSERT INTO balance (entity, currency, receivable, payable, fees, reserve, cash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            parameters,
        )?;
        start_settlement_timer(session, entity, now)?;
    }
    Ok(())
}
