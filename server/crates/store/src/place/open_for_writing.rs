//! Opening of the store's file for writing: its migration and its seal.

use std::path::Path;

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;
use tillgate_vault::Vault;

use crate::StoreError;
use crate::copy::move_mark::MoveMark;
use crate::error::Cause;
use crate::keys::audit_key;
use crate::keys::sealed;
use crate::keys::table_seal;
use crate::keys::table_seal::SealAccess;
use crate::place::store_file::open_marked;
use crate::schema;

use crate::schema::migrations;

/// The vault's keys of a process, from which the key of the store's seal is opened.
#[derive(Clone, Copy)]
pub(crate) enum VaultAccess<'a> {
    /// None, or they are not known.
    None,
    /// Those of a command. If they do not open the seal's key, a sealed store can only be read.
    Admin(&'a Vault),
    /// Those of a server, which seals a store that is not sealed. They have to open the seal's key.
    Server(&'a Vault),
}

impl VaultAccess<'_> {
    /// Opens the key of the seal, if the store has one. A server makes one.
    pub(crate) fn open_audit_key(self, session: &dyn Session) -> Result<Option<AuditKey>, StoreError> {
        match self {
            Self::None => Ok(None),
            Self::Admin(vault) => Ok(audit_key::open_audit_key(session, vault).ok().flatten()),
            Self::Server(vault) => audit_key::make_audit_key(session, vault).map(Some),
        }
    }
}

/// Opens the store's file for writing, at the version that it has. Fails if the store moves to another place.
pub(crate) fn open_unmigrated(folder: &Path) -> Result<SqliteSession, StoreError> {
    let session = open_marked(folder)?;
    MoveMark::refuse_marked(&session)?;
    Ok(session)
}

/// Opens the store's file for writing, as [`open_session`] does, keeps its seal, and seals it again after a
/// migration.
pub(crate) fn open_sealed_session(folder: &Path, access: VaultAccess<'_>) -> Result<SqliteSession, StoreError> {
    let session = open_unmigrated(folder)?;
    let mut unsound = None;
    if table_seal::needs_resealing(&session)? {
        let key = access.open_audit_key(&session)?.ok_or(Cause::NeedsKey)?;
        // Compared before the migration, because the migration changes rows that the old seal covers.
        unsound = Some(table_seal::find_row_differences(&session, &key)?);
        // A migration may write entries of the audit log, whose hashes need the key.
        table_seal::register_functions(&session, &key)?;
    }
    migrations::migrate(&session)?;
    if let Some(unsound) = &mut unsound {
        // A foreign trigger may have written during the migration, as part of what is sealed now.
        unsound.extend(schema::check::find_differences(&session)?);
    }
    if let VaultAccess::Server(vault) = access {
        // Once, because it reads every sealed record: in a sealed store each is bound to its owner.
        if !table_seal::is_sealed(&session)? {
            sealed::bind_owners(&session, vault)?;
        }
        vault.refuse_first_format();
    }
    let key = access.open_audit_key(&session)?;
    let access = match (&key, access) {
        (Some(key), VaultAccess::Server(_)) => SealAccess::Sealing(key),
        (Some(key), _) => SealAccess::Unlocked(key),
        (None, _) => SealAccess::Locked,
    };
    table_seal::prepare_session(&session, access, unsound.as_deref())?;
    // Not earlier: the hook would refuse the session's own temporary triggers, and commands that only read.
    schema::guard::check_commits(&session, folder)?;
    Ok(session)
}

/// Opens the store's file for writing and migrates it. Creates folder (mode 0700) and file (mode 0600) if absent. Fails
/// if a restore was interrupted. The session must not change rows that are sealed.
pub(crate) fn open_session(folder: &Path) -> Result<SqliteSession, StoreError> {
    let session = open_unmigrated(folder)?;
    // A migration changes sealed rows, and this session has no key to seal them again.
    if !table_seal::needs_resealing(&session)? {
        migrations::migrate(&session)?;
    }
    Ok(session)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::place::store_file::open_reader;

    #[test]
    fn a_statement_is_compiled_once_whatever_is_bound_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        drop(open_session(folder.path()).unwrap());
        let session = open_reader(folder.path()).unwrap();
        let mut statement = session
            .connection()
            .prepare_cached("SELECT id FROM payment_link WHERE referenced = ?1 ORDER BY id LIMIT ?2")
            .unwrap();
        for limit in [1, 1000] {
            assert!(statement.query(rusqlite::params!["none", limit]).unwrap().next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
    }
}
