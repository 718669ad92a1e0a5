//! Migrations of a file's schema: scripts that are run in their order, each once.

use crate::{Error, ErrorKind, Result, Session};

/// A change that statements alone cannot make, inside the transaction of the migrations.
pub type Finish<E> = fn(&dyn Session) -> Result<(), E>;

/// One version of the schema.
pub struct Migration<E> {
    /// The statements that make it of the version before.
    pub script: &'static str,
    /// Runs after the script. `None` if the script makes the whole change.
    pub finish: Option<Finish<E>>,
}

/// Brings a file to the version of the last of these migrations, of which the first makes version 1. All that are
/// missing are one transaction. Does nothing if none is missing. An empty file gets `whole` instead, if that is given:
/// the statements that make what all migrations together make, in a fraction of their time.
///
/// # Errors
/// That of a migration, or of a file that has a later version. The file stays as it was.
pub fn migrate<E: From<Error>>(
    session: &dyn Session,
    migrations: &[Migration<E>],
    whole: Option<&str>,
) -> Result<(), E> {
    // A file that is up to date takes no lock, because a writer of another process would delay each opening.
    if find_missing(session, migrations)?.is_empty() {
        return Ok(());
    }
    let transaction = session.begin()?;
    // Another process may have migrated the file before this one got the lock.
    let missing = find_missing(session, migrations)?;
    match whole {
        Some(script) if missing.len() == migrations.len() && is_empty(session)? => transaction.run_script(script)?,
        _ => run_migrations(&*transaction, missing)?,
    }
    // A pragma takes no parameters.
    transaction.run_script(&format!("PRAGMA user_version = {}", migrations.len()))?;
    Ok(transaction.commit()?)
}

/// Runs migrations in their order.
fn run_migrations<E: From<Error>>(session: &dyn Session, migrations: &[Migration<E>]) -> Result<(), E> {
    for migration in migrations {
        session.run_script(migration.script)?;
        if let Some(finish) = migration.finish {
            finish(session)?;
        }
    }
    Ok(())
}

/// Returns true if a file has nothing in it.
fn is_empty(session: &dyn Session) -> Result<bool> {
    Ok(!session.has_row("SELECT 1 FROM sqlite_schema LIMIT 1", ())?)
}

/// Returns the migrations after the file's version.
fn find_missing<'a, E>(session: &dyn Session, migrations: &'a [Migration<E>]) -> Result<&'a [Migration<E>]> {
    let version: usize = session.query_one("PRAGMA user_version", (), |row| row.get(0))?;
    migrations.get(version..).ok_or_else(|| {
        let last = migrations.len();
        Error::new(
            ErrorKind::Other,
            format!("the schema has version {version}, and this program knows it up to version {last}"),
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteSession;

    fn insert(session: &dyn Session) -> Result<()> {
        session.execute("INSERT INTO number (n) VALUES (1)", ()).map(drop)
    }

    fn first() -> Migration<Error> {
        Migration { script: "CREATE TABLE number (n INTEGER PRIMARY KEY)", finish: Some(insert) }
    }

    fn count(session: &dyn Session) -> i64 {
        session.query_one("SELECT count(*) FROM number", (), |row| row.get(0)).unwrap()
    }

    #[test]
    fn each_migration_runs_once_and_a_later_version_is_refused() {
        let session = SqliteSession::open_in_memory().unwrap();
        let second = || Migration { script: "INSERT INTO number (n) VALUES (2)", finish: None };
        migrate(&session, &[first()], None).unwrap();
        migrate(&session, &[first()], None).unwrap();
        assert_eq!(count(&session), 1);
        migrate(&session, &[first(), second()], None).unwrap();
        assert_eq!(count(&session), 2);
        let error = migrate(&session, &[first()], None).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let session = SqliteSession::open_in_memory().unwrap();
        migrate(&session, &[first()], None).unwrap();
        let script = "INSERT INTO number (n) VALUES (2)";
        let failing = || Migration { script, finish: Some(insert) };
        assert_eq!(migrate(&session, &[first(), failing()], None).unwrap_err().kind(), ErrorKind::Constraint);
        assert_eq!(count(&session), 1);
        assert!(!session.is_in_transaction());
        let mend = Migration { script, finish: None };
        migrate(&session, &[first(), mend], None).unwrap();
        assert_eq!(count(&session), 2);
    }
}
