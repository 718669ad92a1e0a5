//! The key of the audit log and of the store's seal.

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::Session;
use tillgate_vault::Vault;

use crate::StoreError;
use crate::access::token;
use crate::error::Cause;
use crate::keys::sealed_key::{SealedKeyError, make_stored_key, open_stored_key};
use crate::ledger::AUDIT_KEY;
use crate::schema::tables::has_table;

/// Opens the key of the audit log. `None` if the store has none, because it is not sealed.
pub(crate) fn open_audit_key(session: &dyn Session, vault: &Vault) -> Result<Option<AuditKey>, SealedKeyError> {
    // A store of an early version has no such table before it is migrated.
    if !has_table(session, "sealed_key")? {
        return Ok(None);
    }
    Ok(open_stored_key(session, AUDIT_KEY, vault)?.map(|key| AuditKey::new(&key)))
}

/// Opens the key of the audit log, and creates it on first use. Keys the hashes of tokens before.
pub(crate) fn make_audit_key(session: &dyn Session, vault: &Vault) -> Result<AuditKey, StoreError> {
    let made = || {
        if let Some(key) = open_audit_key(session, vault)? {
            return Ok(key);
        }
        // The hashes are keyed before the store is sealed. Later, a hash without a key is not the program's.
        token::key_hashes(session, vault)?;
        Ok(AuditKey::new(&*make_stored_key(session, AUDIT_KEY, vault)?))
    };
    made().map_err(|error: SealedKeyError| Cause::SealKey(Box::new(error)).into())
}
