//! The place that a store is copied to. Until the copy is complete, it has a mark, and is opened for the copy only.

use std::fs::File;
use std::path::PathBuf;

use tillgate_domain::access::audit_key::AuditKey;
use tillgate_engine::Session;

use super::error::CopyError;
use super::file_rules;
use super::move_mark::MoveMark;
use super::source::name_place;
use super::table_shape::TableShape;
use crate::cluster::copied_rules;
use crate::error::Cause;
use crate::keys::table_seal::RowSum;
use crate::keys::table_seal::copied::seal_copy;
use crate::place::lock;
use crate::place::store_file::{make_folder, open_marked};
use crate::schema::migrations;
use crate::schema::tables::has_table;
use crate::{StoreError, StoreErrorKind, StoreLocation};

/// A table that every new store has rows of.
const FILLED: &str = "entity_level";

/// The target of a copy.
pub(super) struct CopyTarget {
    /// Its name for people.
    pub(super) name: String,
    pub(super) session: Box<dyn Session>,
    is_database: bool,
    /// The data folder, of a file.
    folder: PathBuf,
    /// Keeps servers and other copies out of a folder. A database has a lock of the session.
    _lock: Option<File>,
}

impl CopyTarget {
    /// Opens the target of a copy of `from`: an empty place, which becomes a store without rows and is marked, or one
    /// that has the mark of an earlier run.
    pub(super) fn open(location: &StoreLocation, from: &str, tables: &[TableShape]) -> Result<Self, CopyError> {
        let target = match location.database() {
            Some(_) => Self::open_database(location)?,
            None => Self::open_folder(location)?,
        };
        match MoveMark::load_if_made(&*target.session, location.is_database())? {
            Some(MoveMark::IncompleteCopy { from: place }) if place == from => {}
            Some(MoveMark::IncompleteCopy { from }) => {
                return Err(CopyError::OtherCopy { place: target.name, from });
            }
            Some(MoveMark::Moved { .. }) => return Err(CopyError::NotEmpty(target.name)),
            None => target.begin(location, from, tables)?,
        }
        // The mark is there, so no server gets further than this from now on. An earlier one is counted.
        if target.is_database && !copied_rules::is_unused(&*target.session)? {
            return Err(CopyError::TargetInUse(target.name));
        }
        if !target.is_database {
            // References are checked at the end. A crash of the machine takes back the latest pieces
            // only, and the same command copies them again.
            target.session.run_script("PRAGMA foreign_keys = false; PRAGMA synchronous = NORMAL")?;
        }
        Ok(target)
    }

    fn open_database(location: &StoreLocation) -> Result<Self, CopyError> {
        let name = name_place(location);
        let Some(address) = location.database() else { return Err(CopyError::NoStore(name)) };
        let session = copied_rules::open_for_copy(address)?;
        if !copied_rules::take_copy_lock(&session)? {
            return Err(CopyError::TargetInUse(name));
        }
        // Refuses the database of another program, and one of the wrong kind.
        copied_rules::has_current_schema(&session)?;
        Ok(Self { name, session: Box::new(session), is_database: true, folder: PathBuf::new(), _lock: None })
    }

    fn open_folder(location: &StoreLocation) -> Result<Self, CopyError> {
        make_folder(location.folder())?;
        let name = name_place(location);
        let lock = match lock::acquire_exclusive(location.folder()) {
            Err(error) if error.kind() == StoreErrorKind::InUse => return Err(CopyError::TargetInUse(name)),
            taken => Some(taken?),
        };
        let session = open_marked(location.folder())?;
        Ok(Self {
            name,
            session: Box::new(session),
            is_database: false,
            folder: location.folder().to_owned(),
            _lock: lock,
        })
    }

    /// Makes a store without rows, and marks it.
    fn begin(&self, location: &StoreLocation, from: &str, tables: &[TableShape]) -> Result<(), CopyError> {
        // Before the migration, which must not change a store that is not empty.
        if self.has_rows(tables)? {
            return Err(CopyError::NotEmpty(self.name.clone()));
        }
        match location.database() {
            Some(address) => copied_rules::make_schema(&copied_rules::open_for_copy(address)?)?,
            None => migrations::migrate(&*self.session)?,
        }
        let transaction = self.session.begin()?;
        // Under the lock, because a command may have written since.
        if self.has_rows(tables)? {
            return Err(CopyError::NotEmpty(self.name.clone()));
        }
        MoveMark::IncompleteCopy { from: from.to_owned() }.write(&*transaction)?;
        match self.is_database {
            true => copied_rules::put_rules_aside(&*transaction)?,
            false => file_rules::put_rules_aside(&*transaction)?,
        }
        Ok(transaction.commit()?)
    }

    /// Returns true if a table that is copied has a row.
    fn has_rows(&self, tables: &[TableShape]) -> Result<bool, StoreError> {
        for shape in tables.iter().filter(|shape| shape.name != FILLED) {
            let is_there = match self.is_database {
                true => copied_rules::has_table(&*self.session, &shape.name)?,
                false => has_table(&*self.session, &shape.name)?,
            };
            let query = format!("SELECT 1 FROM {} LIMIT 1", shape.quoted_name());
            if is_there && self.session.has_row(&query, ())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets the database count its rows, so that the first queries of a server find their indexes.
    pub(super) fn analyze(&self) -> Result<(), StoreError> {
        if self.is_database { Ok(self.session.run_script("ANALYZE")?) } else { Ok(()) }
    }

    /// Makes the last commit durable before its answer, and with it the file's place in its folder: the source is
    /// closed before, and must not be the only store that outlives a power failure.
    pub(super) fn prepare_completion(&self) -> Result<(), StoreError> {
        if self.is_database {
            return Ok(());
        }
        for folder in self.folder.ancestors().take(2).filter(|folder| !folder.as_os_str().is_empty()) {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(|error| Cause::File(folder.to_owned(), error))?;
        }
        Ok(self.session.run_script("PRAGMA synchronous = FULL")?)
    }

    /// Makes a store of the copy, in a transaction of its session: brings the rules back, seals a file with these sums,
    /// and removes the mark.
    pub(super) fn complete(
        &self,
        session: &dyn Session,
        seal: Option<(&AuditKey, &[RowSum])>,
    ) -> Result<(), CopyError> {
        if self.is_database {
            copied_rules::bring_rules_back(session)?;
        } else {
            file_rules::bring_rules_back(session)?;
            if let Some(table) = file_rules::find_broken_reference(session)? {
                return Err(CopyError::Differs(table));
            }
            if let Some((key, sums)) = seal {
                seal_copy(session, key, sums)?;
            }
        }
        Ok(MoveMark::remove(session)?)
    }
}
