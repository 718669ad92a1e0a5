//! Read-only connections. A point read of a recent row takes a few microseconds, less than handing it to another
//! thread, so readers run where they are called and a connection is taken from the pool for its duration.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

use super::schema::open_reader;
use super::{Damage, StoreError};

/// The pool: idle connections, opened on demand, as many as are ever used at once.
pub(super) struct Readers {
    folder: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// Told when a read meets a damaged page.
    damage: Arc<Damage>,
}

impl Readers {
    pub(super) fn new(folder: &Path, damage: Arc<Damage>) -> Self {
        Self { folder: folder.to_owned(), idle: Mutex::new(Vec::new()), damage }
    }

    pub(super) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_reader(&self.folder)?,
        };
        let outcome = read(&connection);
        self.damage.note(&outcome);
        self.lock().push(connection);
        outcome
    }

    /// As [`Readers::with`], everything that is read being of one moment.
    pub(super) fn at_one_moment<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with(|connection| {
            connection.prepare_cached("BEGIN")?.execute([])?;
            let outcome = read(connection);
            let ended = connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]));
            let value = outcome?;
            ended?;
            Ok(value)
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
