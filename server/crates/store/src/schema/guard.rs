//! Refusal of writes while another program has changed the schema of the store: a trigger in the file runs on our
//! sessions, so the seal would take its writes for ours, and nothing would show them once it is dropped.
//!
//! Both checks run with the write lock held, so the schema cannot change between a check and its commit.

use std::path::Path;

use jiff::Timestamp;
use tillgate_domain::access::audit::AuditEntry;
use tillgate_engine::Session;
use tillgate_engine::sqlite::SqliteSession;

use crate::StoreError;
use crate::error::Cause;
use crate::ledger;
use crate::place::store_file::open_reader;
use crate::schema;

/// The action of the entry about a schema that was refused, written as soon as the schema is in order again.
const SCHEMA_REFUSE: &str = "schema refuse";
/// The detail of that entry with the differences.
const FOUND: &str = "found";

/// Refuses each commit of a session with the store in `folder` while the schema has a hazard for writes.
///
/// Commands write in many places, with and without a transaction. SQLite calls the hook before each commit.
pub(crate) fn check_commits(session: &SqliteSession, folder: &Path) -> Result<(), StoreError> {
    let folder = folder.to_owned();
    let mut reader: Option<SqliteSession> = None;
    let is_refused = move || {
        // The hook must not use its own session. Another one sees the same schema, which nobody else can change now.
        let opened = reader.take().map_or_else(|| open_reader(&folder), Ok);
        let hazards = opened.and_then(|opened| schema::check::find_write_hazards(reader.insert(opened)));
        match hazards {
            Ok(hazards) if hazards.is_empty() => false,
            Ok(hazards) => {
                tracing::error!(
                    found = hazards.join("; "),
                    "writing to the store failed: another program has changed its schema"
                );
                true
            }
            Err(error) => {
                // A schema that cannot be read may have a foreign trigger, so the commit is refused.
                tracing::error!(%error, "reading the schema of the store failed");
                true
            }
        }
    };
    Ok(session.check_commits(is_refused)?)
}

/// The check of the server's writer, which reads the schema only after another session has written.
#[derive(Debug, Default)]
pub(crate) struct SchemaGuard {
    /// SQLite's `data_version` at the last check that found no hazard. In contrast to `schema_version` it cannot be
    /// set, so nobody can add a trigger and put the number back.
    version: Option<i64>,
    /// The hazards of the last check. `None` if there were none, or the audit log has them.
    refused: Option<String>,
}

impl SchemaGuard {
    /// Takes over from [`check_commits`] on the session of the writer, and checks the schema for the first time.
    pub(crate) fn start(session: &SqliteSession) -> Result<Self, StoreError> {
        session.end_commit_checks()?;
        let mut guard = Self::default();
        // A hazard at the start is only logged, so that the store can be read. The first write checks again and is
        // refused.
        guard.find_hazards(session)?;
        Ok(guard)
    }

    /// Checks the schema before a commit, inside the transaction. Logs hazards once. Writes an entry about earlier
    /// hazards into the transaction after they are gone.
    ///
    /// # Errors
    /// If the schema has a hazard for writes or cannot be read: the transaction must be undone.
    pub(crate) fn check_transaction(&mut self, session: &dyn Session) -> Result<(), StoreError> {
        let version: i64 = session.query_one("PRAGMA data_version", (), |row| row.get(0))?;
        if self.version == Some(version) {
            return Ok(());
        }
        if self.find_hazards(session)? {
            return Err(Cause::ForeignSchema.into());
        }
        if let Some(found) = &self.refused {
            let now = Timestamp::now();
            let entry = AuditEntry::new(now, SCHEMA_REFUSE, "store").with_detail(FOUND, found);
            ledger::write_entry(session, None, &entry, now)?;
            tracing::info!("the schema of the store is in order again, and writing continues");
        }
        (self.refused, self.version) = (None, Some(version));
        Ok(())
    }

    /// Returns true if the schema has hazards for writes. Logs them unless the last check found the same.
    fn find_hazards(&mut self, session: &dyn Session) -> Result<bool, StoreError> {
        let hazards = schema::check::find_write_hazards(session)?;
        if hazards.is_empty() {
            return Ok(false);
        }
        let found = hazards.join("; ");
        if self.refused.as_ref() != Some(&found) {
            tracing::error!(
                found,
                "writing to the store failed: another program has changed its schema. Undo that change"
            );
            self.refused = Some(found);
        }
        Ok(true)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {

    use super::*;
    use crate::DiskFault;
    use crate::place::open_for_writing::open_session;
    use crate::place::store_file::store_path;

    const WRITE: &str = "INSERT INTO fx_rate (source, target, day, rate) VALUES ('USD', 'EUR', ?1, '0.9')";
    const TRIGGER: &str = "CREATE TRIGGER helper AFTER INSERT ON fx_rate BEGIN
        INSERT OR IGNORE INTO entity_level (level, parent) VALUES ('forged', 'psp'); END";

    /// Opens a new store twice: for the program, and for somebody else.
    fn open_twice() -> (tempfile::TempDir, SqliteSession, SqliteSession) {
        let folder = tempfile::tempdir().unwrap();
        let own = open_session(folder.path()).unwrap();
        let other = SqliteSession::open(&store_path(folder.path())).unwrap();
        (folder, own, other)
    }

    #[test]
    fn every_commit_beside_a_foreign_trigger_is_refused_and_nothing_of_it_stays() {
        let (folder, own, other) = open_twice();
        check_commits(&own, folder.path()).unwrap();
        own.execute(WRITE, ["2020-01-01"]).unwrap();
        other.run_script(TRIGGER).unwrap();
        let error = StoreError::from(own.execute(WRITE, ["2020-01-02"]).unwrap_err());
        assert_eq!(error.disk_fault(), Some(DiskFault::SchemaChanged), "{error}");
        other.run_script("DROP TRIGGER helper").unwrap();
        own.execute(WRITE, ["2020-01-03"]).unwrap();
        let days: String = own.query_one("SELECT group_concat(day) FROM fx_rate", (), |row| row.get(0)).unwrap();
        assert_eq!(days, "2020-01-01,2020-01-03");
    }

    #[test]
    fn what_can_change_a_write_is_a_hazard_and_what_only_reads_is_none() {
        for (edit, expected) in [
            (TRIGGER, 1),
            ("CREATE TEMP TRIGGER own AFTER INSERT ON fx_rate BEGIN SELECT 1; END", 0),
            ("DROP TRIGGER audit_entry_stays", 1),
            // A row that collides in a foreign index is replaced, or makes a write fail.
            ("CREATE UNIQUE INDEX helper ON fx_rate (rate)", 1),
            ("CREATE INDEX helper ON fx_rate (rate)", 0),
            ("DROP INDEX audit_entry_entity", 0),
            ("CREATE TABLE note (text TEXT)", 0),
            ("ALTER TABLE fx_rate ADD COLUMN note TEXT", 1),
        ] {
            let (_folder, own, _) = open_twice();
            own.run_script(edit).unwrap();
            assert_eq!(schema::check::find_write_hazards(&own).unwrap().len(), expected, "{edit}");
        }
    }

    #[test]
    fn a_schema_version_that_was_put_back_hides_no_trigger_and_the_audit_log_names_it_later() {
        let (_folder, own, other) = open_twice();
        let mut guard = SchemaGuard::start(&own).unwrap();
        let mut write = |day: &str| {
            own.run_script("BEGIN IMMEDIATE").unwrap();
            own.execute(WRITE, [day]).unwrap();
            let checked = guard.check_transaction(&own);
            own.run_script(if checked.is_ok() { "COMMIT" } else { "ROLLBACK" }).unwrap();
            checked
        };
        write("2020-01-01").unwrap();
        let version: i64 = other.query_one("PRAGMA schema_version", (), |row| row.get(0)).unwrap();
        other.run_script(TRIGGER).unwrap();
        // Our session reads the new schema before the number is put back.
        assert!(own.has_row("SELECT count(*) FROM fx_rate", ()).unwrap());
        other.run_script(&format!("PRAGMA schema_version = {version}")).unwrap();
        for _ in 0..2 {
            let error = write("2020-01-02").unwrap_err();
            assert_eq!(error.disk_fault(), Some(DiskFault::SchemaChanged), "{error}");
        }
        other.run_script("DROP TRIGGER helper").unwrap();
        write("2020-01-03").unwrap();
        write("2020-01-04").unwrap();
        let query = "SELECT CAST(document AS TEXT) FROM audit_entry";
        let entries: Vec<String> = own.query_all(query, (), |row| row.get(0)).unwrap();
        assert!(entries.len() == 1 && entries[0].contains("a foreign trigger: helper"), "{entries:?}");
        let forged: i64 =
            own.query_one("SELECT count(*) FROM entity_level WHERE level = 'forged'", (), |row| row.get(0)).unwrap();
        assert_eq!(forged, 0);
    }
}
