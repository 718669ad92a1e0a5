//! The location of a store, to open it.

use std::path::{Path, PathBuf};

use tillgate_engine::Session;
use tillgate_engine::postgres::{AddressError, PostgresAddress, PostgresSession, SessionLimits};

use crate::StoreError;
use crate::copy::move_mark::MoveMark;
use crate::place::store_file::open_reader;

/// Name of this program's sessions in the lists of a database.
const APPLICATION: &str = "tillgate";

/// The location of a store: the file in a data folder, or a database. With a database, the folder contains only what
/// belongs to one node, such as the socket for commands.
#[derive(Clone)]
pub struct StoreLocation {
    folder: PathBuf,
    database: Option<PostgresAddress>,
}

/// Reason why a database cannot be the location of a store. The texts never contain a password.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// The address cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The address has a password, and another one was given as well.
    #[error("the address has a password as well: leave one of them out")]
    TwoPasswords,
}

impl StoreLocation {
    /// The file in a data folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), database: None }
    }

    /// A database, with the folder of a node. The password is that of the address, unless another one is given.
    ///
    /// # Errors
    /// If the address cannot be used, or there are two passwords.
    pub fn in_database(folder: &Path, address: &str, password: Option<&str>) -> Result<Self, LocationError> {
        let address = PostgresAddress::parse(address, APPLICATION, SessionLimits::default())?;
        let address = match password {
            Some(_) if address.has_password() => return Err(LocationError::TwoPasswords),
            Some(password) => address.with_password(password),
            None => address,
        };
        Ok(Self { folder: folder.to_owned(), database: Some(address) })
    }

    /// Returns the data folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the address of the database. `None` if the store is the file in the folder.
    pub(crate) fn database(&self) -> Option<&PostgresAddress> {
        self.database.as_ref()
    }

    /// Opens a session for reads.
    ///
    /// # Errors
    /// If the file or the database cannot be opened, or the store moves to another place.
    pub(crate) fn open_reader(&self) -> Result<Box<dyn Session>, StoreError> {
        let session = self.open_marked_reader()?;
        MoveMark::refuse_marked(&*session)?;
        Ok(session)
    }

    /// Opens a session for reads as [`Self::open_reader`] does, also if the store has the mark of one that moves.
    pub(crate) fn open_marked_reader(&self) -> Result<Box<dyn Session>, StoreError> {
        Ok(match &self.database {
            Some(address) => Box::new(PostgresSession::connect(address)?),
            None => Box::new(open_reader(&self.folder)?),
        })
    }

    /// Returns true if the store is in a database.
    pub fn is_database(&self) -> bool {
        self.database.is_some()
    }

    /// Returns true if the address of the database has a password.
    pub fn has_password(&self) -> bool {
        self.database.as_ref().is_some_and(PostgresAddress::has_password)
    }

    /// Describes the location for people, without a password.
    pub fn describe(&self) -> String {
        match &self.database {
            Some(address) => address.describe(),
            None => self.folder.display().to_string(),
        }
    }
}
