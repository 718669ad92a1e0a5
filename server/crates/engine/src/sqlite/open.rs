//! Opening of files, and the settings that only SQLite has.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::SqliteSession;
use crate::Result;

impl SqliteSession {
    /// Opens a file for reading and writing. Creates it if there is none. An empty path is a private file, which ends
    /// with the session.
    ///
    /// # Errors
    /// If the file cannot be opened or created.
    pub fn open(file: &Path) -> Result<Self> {
        Ok(Self::new(Connection::open(file)?))
    }

    /// Opens a file for reading only.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be opened.
    pub fn open_read_only(file: &Path) -> Result<Self> {
        // A session belongs to one thread at a time, so SQLite's own mutexes are not needed.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Ok(Self::new(Connection::open_with_flags(file, flags)?))
    }

    /// Opens a file that no process changes, for reading only. Creates no other file beside it.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be opened.
    pub fn open_immutable(file: &Path) -> Result<Self> {
        Self::open_read_only(Path::new(&immutable_address(file)))
    }

    /// Opens an empty database in memory, which ends with the session.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn open_in_memory() -> Result<Self> {
        Ok(Self::new(Connection::open_in_memory()?))
    }

    /// Sets the longest time to wait for the lock of another process.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn set_lock_timeout(&self, timeout: Duration) -> Result<()> {
        Ok(self.connection().busy_timeout(timeout)?)
    }

    /// Sets the number of compiled statements that the session keeps.
    pub fn keep_statements(&self, count: usize) {
        self.connection().set_prepared_statement_cache_capacity(count);
    }

    /// Makes the plan of a query independent of its parameters. Otherwise a statement with `LIMIT ?` would be compiled
    /// at every use.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn fix_query_plans(&self) -> Result<()> {
        Ok(self.connection().set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)?)
    }

    /// Keeps triggers and views in the file from calling functions of the session.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn distrust_schema(&self) -> Result<()> {
        Ok(self.connection().set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map(drop)?)
    }

    /// Calls `is_refused` before each commit, which fails with [`crate::ErrorKind::CommitRefused`] if it returns true.
    /// `is_refused` must not use this session.
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn check_commits(&self, is_refused: impl FnMut() -> bool + Send + 'static) -> Result<()> {
        Ok(self.connection().commit_hook(Some(is_refused))?)
    }

    /// Ends the checks of [`Self::check_commits`].
    ///
    /// # Errors
    /// If SQLite refuses.
    pub fn end_commit_checks(&self) -> Result<()> {
        Ok(self.connection().commit_hook(None::<fn() -> bool>)?)
    }
}

/// Returns the address of a file that no process changes, so that SQLite creates no WAL and no index beside it.
pub fn immutable_address(file: &Path) -> String {
    // These characters would end the path in the address, or begin an escape.
    let path = file.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?immutable=1")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Session as _, params};

    #[test]
    fn a_file_is_opened_as_immutable_whatever_its_name_and_gets_no_companions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a ?b#c%3f.db");
        let session = SqliteSession::open(&file).unwrap();
        session.run_script("CREATE TABLE number (n INTEGER)").unwrap();
        drop(session);
        let session = SqliteSession::open_immutable(&file).unwrap();
        assert!(!session.has_row("SELECT 1 FROM number", ()).unwrap());
        assert!(session.execute("INSERT INTO number (n) VALUES (1)", ()).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_statement_is_compiled_once_whatever_is_bound_to_its_limit() {
        let session = SqliteSession::open_in_memory().unwrap();
        session.run_script("CREATE TABLE number (n INTEGER PRIMARY KEY, name TEXT)").unwrap();
        session.fix_query_plans().unwrap();
        let query = "SELECT n FROM number WHERE name = ?1 ORDER BY n LIMIT ?2";
        for limit in [1, 1000] {
            assert!(!session.has_row(query, params!["none", limit]).unwrap());
        }
        let statement = session.connection().prepare_cached(query).unwrap();
        assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
        assert_eq!(statement.get_status(rusqlite::StatementStatus::Run), 2);
    }

    #[test]
    fn a_commit_is_refused_as_long_as_the_check_says_so() {
        let session = SqliteSession::open_in_memory().unwrap();
        session.check_commits(|| true).unwrap();
        let create = "CREATE TABLE number (n INTEGER)";
        assert_eq!(session.run_script(create).unwrap_err().kind(), ErrorKind::CommitRefused);
        session.end_commit_checks().unwrap();
        session.run_script(create).unwrap();
    }
}
