//! The store for the command line: one connection, which may run beside a server on the same file.
//!
//! The methods are in one file per subject: entities, tokens, webhooks, wallet keys, the vault's keys, sandbox clocks.
//! Each change has its entry in the audit log, in the same transaction.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Params, Transaction, TransactionBehavior};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::EntityId;
use tillgate_domain::refusal::Refusal;
use tillgate_machine::process;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_vault::Vault;

use super::restore_loss::TakenBack;
use super::schema::{VaultAccess, open_sealed_connection};
use super::{Changes, LoadedRecords, RecordKeys, Sources, StoreError, rows, store_path};
use crate::access::token;
use crate::credential::HashKey;
use crate::settlement::ledger;

/// An act of an administrator, for the audit log.
pub(super) struct Act<'a> {
    /// The act, as two words: `token create`.
    pub action: &'static str,
    /// The id of the changed thing.
    pub subject: &'a str,
    /// The entity that it belongs to. `None` if it belongs to the whole gateway.
    pub entity: Option<&'a EntityId>,
    /// The changed values, by name. Never a secret.
    pub details: &'a [(&'a str, &'a str)],
}

/// A store that is open during one command. A running server notices its writes.
pub struct AdminStore {
    pub(super) connection: Connection,
    /// The key of the hashes of tokens. `None` if no server has made one yet, or the vault is not known.
    pub(super) hash_key: Option<HashKey>,
}

impl AdminStore {
    /// Opens the store of a data folder and migrates it. Creates folder and file if they are absent.
    ///
    /// # Errors
    /// If the folder or the file cannot be created, opened or migrated, or a restore was interrupted.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with_vault(folder, None)
    }

    /// Opens the store as [`AdminStore::open`] does, with the vault's keys, which a sealed store needs to be written.
    /// Without the right ones the store can be read only.
    ///
    /// # Errors
    /// Same as [`AdminStore::open`]; also if a sealed store has to be migrated and the key is missing.
    pub fn open_with_vault(folder: &Path, vault: Option<&Vault>) -> Result<Self, StoreError> {
        let access = vault.map_or(VaultAccess::None, VaultAccess::Admin);
        let connection = open_sealed_connection(folder, access)?;
        let hash_key = vault.and_then(|vault| token::find_hash_key(&connection, vault));
        Ok(Self { connection, hash_key })
    }

    /// Opens the store of a data folder and migrates it. Returns `None`, and creates nothing, if there is no store.
    ///
    /// # Errors
    /// Same as [`AdminStore::open_with_vault`].
    pub fn open_existing(folder: &Path, vault: Option<&Vault>) -> Result<Option<Self>, StoreError> {
        if store_path(folder).is_file() { Self::open_with_vault(folder, vault).map(Some) } else { Ok(None) }
    }

    /// Runs several reads and writes as one transaction, which takes the write lock at the start: no other connection
    /// writes in between. Nothing is written if `work` fails. Transactions cannot be nested.
    ///
    /// # Errors
    /// If `work` fails, or the transaction cannot begin or commit.
    pub fn in_transaction<T, E: From<StoreError>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(StoreError::from)?;
        let value = work(self)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(value)
    }

    /// Loads the records with these keys, decides, and writes the changes, as one transaction. A refusal writes
    /// nothing.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn update<T>(
        &self,
        keys: &RecordKeys,
        decide: impl FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        self.in_transaction(|store| store.update_within(keys, decide))
    }

    /// Decides and writes as [`AdminStore::update`] does, as a part of the transaction that is open.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn update_within<T>(
        &self,
        keys: &RecordKeys,
        decide: impl FnOnce(LoadedRecords) -> Result<(Changes, T), Refusal>,
    ) -> Result<Result<T, Refusal>, StoreError> {
        match decide(rows::load_records(&self.connection, keys)?) {
            Ok((changes, value)) => {
                changes.apply(&self.connection, &Sources::system())?;
                Ok(Ok(value))
            }
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// Runs a statement of an administrator, and writes its entry if it changes a row: both or neither. Returns true if
    /// it changes one.
    pub(super) fn execute_act(
        &self,
        act: &Act<'_>,
        statement: &str,
        parameters: impl Params,
    ) -> Result<bool, StoreError> {
        // The statement comes first, because it waits for the write lock. The entry then reads the end of the chain.
        self.in_savepoint(|connection| {
            let is_changed = connection.execute(statement, parameters)? > 0;
            if is_changed {
                write_act(connection, act)?;
            }
            Ok(is_changed)
        })
    }

    /// Runs a change of an administrator and writes its entry: both or neither.
    pub(super) fn record_act(
        &self,
        act: &Act<'_>,
        change: impl FnOnce(&Connection) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.in_savepoint(|connection| {
            change(connection)?;
            write_act(connection, act)
        })
    }

    /// Runs writes as a transaction, or as a part of the one that is open. Nothing of them stays if they fail.
    fn in_savepoint<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.connection.execute_batch("SAVEPOINT act")?;
        let outcome = work(&self.connection);
        let end = if outcome.is_ok() { "RELEASE act" } else { "ROLLBACK TO act; RELEASE act" };
        self.connection.execute_batch(end)?;
        outcome
    }

    /// Writes the entry of a backup to a file, before it is made, so that the copy has it too.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn record_backup(&self, target: &str) -> Result<(), StoreError> {
        let act = Act { action: "backup", subject: &mask_card_numbers(target), entity: None, details: &[] };
        self.record_act(&act, |_| Ok(()))
    }

    /// Writes the entry of a restore: the backup, and what the store had that the backup has not.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn record_restore(&self, from: &str, taken_back: &TakenBack, is_forced: bool) -> Result<(), StoreError> {
        let details = taken_back.describe(is_forced);
        let details: Vec<(&str, &str)> = details.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let act = Act { action: "restore", subject: &mask_card_numbers(from), entity: None, details: &details };
        self.record_act(&act, |_| Ok(()))
    }

    /// Copies the whole store consistently to a new or empty file, even while a server is running on it.
    ///
    /// # Errors
    /// If the target has content or cannot be written.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        self.connection.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
        Ok(())
    }
}

/// Writes the entry of an act of the user who runs this program.
fn write_act(connection: &Connection, act: &Act<'_>) -> Result<(), StoreError> {
    let now = Timestamp::now();
    let entry = AuditEntry::new(now, act.action, act.subject).by(process::describe_user());
    let entry = act.details.iter().fold(entry, |entry, (name, value)| entry.with_detail(name, *value));
    ledger::write_entry(connection, act.entity, &entry, now)
}
