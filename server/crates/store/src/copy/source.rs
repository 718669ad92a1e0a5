//! The place that a store is copied from. It is only read until the switch, which leaves its mark.

use std::fs::File;

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::{ErrorKind, Session, Transaction};
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_vault::Vault;

use super::error::CopyError;
use super::file_rules;
use super::move_mark::MoveMark;
use super::table_shape::TableShape;
use super::table_view::TableView;
use crate::admin::Act;
use crate::cluster::copied_rules;
use crate::keys::table_seal;
use crate::keys::table_seal::copied::SealedSums;
use crate::place::lock;
use crate::place::store_file::{open_marked, store_path};
use crate::read::snapshot::StoreSnapshot;
use crate::{AdminStore, Sources, StoreError, StoreErrorKind, StoreLocation};

/// The source of a copy.
pub(super) struct CopySource {
    location: StoreLocation,
    /// Its name for people, which is the same in every run.
    pub(super) name: String,
    /// Its session for reads.
    pub(super) reader: Box<dyn Session>,
    /// The key of the audit log and of the hashes of rows.
    pub(super) key: AuditKey,
    /// True if the store has this key. Otherwise it is one of this process.
    pub(super) is_keyed: bool,
    /// True if the rows have a seal.
    pub(super) is_sealed: bool,
    /// True if the store has moved to the target, and only the target was not completed.
    pub(super) has_moved: bool,
}

/// A source in which nobody else writes.
pub(super) struct LockedSource {
    pub(super) session: Box<dyn Session>,
    /// Keeps servers of a folder out. `None` for a database, whose tables are locked instead.
    _folder: Option<File>,
}

impl CopySource {
    /// Opens the source of a copy to `to`, and compares its rows with its seal.
    pub(super) fn open(location: &StoreLocation, to: &str, vault: Option<&Vault>) -> Result<Self, CopyError> {
        let name = name_place(location);
        let is_current = match location.database() {
            Some(address) => copied_rules::has_current_schema(&copied_rules::open_for_copy(address)?)?,
            None if !store_path(location.folder()).is_file() => None,
            None => file_rules::has_current_schema(&*location.open_marked_reader()?)?,
        };
        match is_current {
            None => return Err(CopyError::NoStore(name)),
            Some(false) => return Err(CopyError::OtherVersion(name)),
            Some(true) => {}
        }
        let reader: Box<dyn Session> = match location.database() {
            Some(address) => Box::new(copied_rules::open_for_copy(address)?),
            None => location.open_marked_reader()?,
        };
        let has_moved = match MoveMark::load(&*reader)? {
            None => false,
            Some(MoveMark::Moved { to: place }) if place == to => true,
            Some(MoveMark::Moved { to }) => return Err(CopyError::MovedElsewhere { from: name, to }),
            Some(MoveMark::IncompleteCopy { .. }) => return Err(CopyError::HalfCopied(name)),
        };
        let (key, is_sealed) = check_seal(location, &name, vault, has_moved)?;
        let is_keyed = key.is_some();
        let key = match key {
            Some(key) => key,
            // No server has made a key. The hashes are only compared in this process.
            None => AuditKey::new(&Sources::system().random_bytes()?),
        };
        Ok(Self { location: location.clone(), name, reader, key, is_keyed, is_sealed, has_moved })
    }

    /// Returns a number before that of every transaction that a pass may not see. `None` for a file.
    pub(super) fn load_horizon(&self, session: &dyn Session) -> Result<Option<i64>, StoreError> {
        if self.location.is_database() { copied_rules::load_horizon(session).map(Some) } else { Ok(None) }
    }

    /// Views a table as a whole before a pass. `horizon` is the number that was loaded before the last pass.
    pub(super) fn view_table(
        &self,
        session: &dyn Session,
        shape: &TableShape,
        horizon: Option<i64>,
    ) -> Result<TableView, StoreError> {
        if let Some(horizon) = horizon {
            let (rows, changed) = copied_rules::find_written_rows(session, shape, horizon)?;
            return Ok(TableView::Versions { rows, changed });
        }
        if !self.is_sealed || shape.slot.is_none() {
            return Ok(TableView::Unknown);
        }
        let seal = SealedSums::load(session, &self.key)?;
        Ok(seal.map_or(TableView::Unknown, TableView::Sealed))
    }

    /// Locks the source for the switch to the target, after it was written into the audit log. Returns `None` if a
    /// server uses it.
    pub(super) fn lock(&self, to: &str, vault: Option<&Vault>) -> Result<Option<LockedSource>, CopyError> {
        let Some(address) = self.location.database() else {
            let folder = match lock::acquire_exclusive(self.location.folder()) {
                Err(error) if error.kind() == StoreErrorKind::InUse => return Ok(None),
                taken => Some(taken?),
            };
            self.record_move(to, vault)?;
            return Ok(Some(LockedSource { session: Box::new(open_marked(self.location.folder())?), _folder: folder }));
        };
        if !copied_rules::is_unused(&*self.reader)? {
            return Ok(None);
        }
        let session = copied_rules::open_for_copy(address)?;
        self.record_move(to, vault)?;
        Ok(Some(LockedSource { session: Box::new(session), _folder: None }))
    }

    /// Begins the transaction of the switch, from which on nobody else writes. Returns `None` if a server or a command
    /// has come first.
    pub(super) fn begin_switch<'a>(
        &self,
        locked: &'a LockedSource,
        tables: &[TableShape],
    ) -> Result<Option<Transaction<'a>>, CopyError> {
        let transaction = match locked.session.begin() {
            Err(error) if error.kind() == ErrorKind::Busy => return Ok(None),
            begun => begun?,
        };
        if self.location.is_database() {
            copied_rules::lock_tables(&*transaction, tables)?;
            // A server that has started since is counted, or waits for the lock and is refused after it.
            if !copied_rules::is_unused(&*transaction)? {
                return Ok(None);
            }
        }
        Ok(Some(transaction))
    }

    /// Marks the source as moved, and refuses all writes to it, also those of sessions that are open.
    ///
    /// # Errors
    /// If it has moved to another place meanwhile.
    pub(super) fn mark_moved(&self, session: &dyn Session, tables: &[TableShape], to: &str) -> Result<(), CopyError> {
        // Read again, because the mark may have been removed since the source was opened.
        match MoveMark::load(session)? {
            None => {}
            Some(MoveMark::Moved { to: place }) if place == to => return Ok(()),
            Some(MoveMark::Moved { to }) => return Err(CopyError::MovedElsewhere { from: self.name.clone(), to }),
            Some(MoveMark::IncompleteCopy { .. }) => return Err(CopyError::HalfCopied(self.name.clone())),
        }
        let text = format!("the store has moved to {to}");
        match self.location.is_database() {
            true => copied_rules::refuse_writes(session, tables, &text)?,
            false => file_rules::refuse_writes(session, tables, &text)?,
        }
        Ok(MoveMark::Moved { to: to.to_owned() }.write(session)?)
    }

    /// Writes the entry of the move, before the move, so that the copy has it as well.
    fn record_move(&self, to: &str, vault: Option<&Vault>) -> Result<(), StoreError> {
        if self.has_moved {
            return Ok(());
        }
        let store = AdminStore::open_with_vault(&self.location, vault)?;
        // The audit log is kept for ever, so the path must not bring a card number into it.
        let (from, to) = (mask_card_numbers(&self.name), mask_card_numbers(to));
        let act = Act { action: "store move", subject: &to, entity: None, details: &[("from", &from)] };
        store.record_act(&act, |_| Ok(()))
    }
}

/// Returns the name of a place for people, which is the same wherever the command runs.
pub(super) fn name_place(location: &StoreLocation) -> String {
    if location.is_database() {
        return location.describe();
    }
    let folder = location.folder();
    let path = folder.canonicalize().or_else(|_| std::path::absolute(folder)).unwrap_or_else(|_| folder.to_owned());
    path.display().to_string()
}

/// Compares the rows of the source with its seal, and checks their references. Returns the key of its audit log, if it
/// has one, and true if it has a seal.
fn check_seal(
    location: &StoreLocation,
    name: &str,
    vault: Option<&Vault>,
    has_moved: bool,
) -> Result<(Option<AuditKey>, bool), CopyError> {
    let snapshot = StoreSnapshot::begin_read(location.open_marked_reader()?, vault, !location.is_database())?;
    let key = snapshot.audit_key().cloned();
    let is_locked = snapshot.is_sealed()? && key.is_none();
    if is_locked {
        return Err(CopyError::NeedsKey(name.to_owned()));
    }
    // A store that has moved was compared before, and its mark is a difference of its schema.
    if !has_moved && let Some(fault) = snapshot.find_seal_differences()?.into_iter().next() {
        return Err(CopyError::Unsound { place: name.to_owned(), fault });
    }
    if !location.is_database()
        && let Some(table) = file_rules::find_broken_reference(&*location.open_marked_reader()?)?
    {
        // A database would refuse the row at the end, when nothing is served.
        let fault = format!("a row of the table {table} refers to a row that is missing");
        return Err(CopyError::Unsound { place: name.to_owned(), fault });
    }
    let is_sealed = !location.is_database() && table_seal::is_sealed(&*location.open_marked_reader()?)?;
    Ok((key, is_sealed))
}

/// Opens a store again that has moved, as it was before the move.
pub(super) fn reopen_marked(location: &StoreLocation, tables: &[TableShape]) -> Result<String, CopyError> {
    let name = name_place(location);
    let locked = match location.database() {
        Some(address) => {
            let session = copied_rules::open_for_copy(address)?;
            if copied_rules::has_current_schema(&session)? != Some(true) {
                return Err(CopyError::NoStore(name));
            }
            LockedSource { session: Box::new(session), _folder: None }
        }
        None if !store_path(location.folder()).is_file() => return Err(CopyError::NoStore(name)),
        None => {
            let folder = Some(lock::acquire_exclusive(location.folder())?);
            LockedSource { session: Box::new(open_marked(location.folder())?), _folder: folder }
        }
    };
    let transaction = locked.session.begin()?;
    let to = match MoveMark::load(&*transaction)? {
        None => return Err(CopyError::NotMoved(name)),
        Some(MoveMark::IncompleteCopy { .. }) => return Err(CopyError::HalfCopied(name)),
        Some(MoveMark::Moved { to }) => to,
    };
    match location.is_database() {
        true => copied_rules::allow_writes(&*transaction, tables)?,
        false => file_rules::allow_writes(&*transaction, tables)?,
    }
    MoveMark::remove(&*transaction)?;
    transaction.commit()?;
    Ok(to)
}
