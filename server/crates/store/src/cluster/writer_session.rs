//! Sessions that write into a database of PostgreSQL.

use std::time::Duration;

use tillgate_domain::access::audit::ChainHash;
use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::postgres::{PostgresAddress, PostgresSession, migrate};
use tillgate_engine::{FromValue as _, OwnedValue};

use super::migrations::MIGRATIONS;
use crate::StoreError;
use crate::copy::move_mark::MoveMark;
use crate::place::open_for_writing::VaultAccess;

/// Opens a session that writes, with the schema of this version, and with the key of the audit log as far as `access`
/// opens it.
pub(crate) fn open_writer(
    address: &PostgresAddress,
    access: VaultAccess<'_>,
    lock_timeout: Duration,
) -> Result<PostgresSession, StoreError> {
    let mut session = PostgresSession::connect(address)?;
    migrate(&session, MIGRATIONS)?;
    MoveMark::refuse_marked(&session)?;
    session.set_lock_timeout(Some(lock_timeout))?;
    if let Some(key) = access.open_audit_key(&session)? {
        add_audit_functions(&mut session, &key);
    }
    Ok(session)
}

/// Gives a session the functions that hash entries of the audit log. The database never has the key.
fn add_audit_functions(session: &mut PostgresSession, key: &AuditKey) {
    let id = key.id().to_owned();
    session.add_function("audit_key_id", move |_| Ok(OwnedValue::Text(id.clone())));
    let key = key.clone();
    session.add_function("audit_hash", move |values| {
        let [previous, number, entity, document] = values else {
            return Ok(OwnedValue::Null);
        };
        let previous = ChainHash::from_value(*previous)?;
        let hash = key.hash_entry(&previous, number.as_integer()?, entity.as_str()?, document.as_blob()?);
        Ok(OwnedValue::Blob(hash.to_vec()))
    });
}
