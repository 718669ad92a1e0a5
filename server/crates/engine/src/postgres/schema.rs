//! The schema of a database: its migrations, and what the database must be for them.

use super::session::PostgresSession;
use crate::{Error, ErrorKind, Result, Session};

/// Oldest version of PostgreSQL that takes the statements: 14, which has functions in standard SQL.
const OLDEST: i64 = 140_000;

/// Table with the version of the schema.
const VERSION_TABLE: &str = "schema_version";

/// A step of the schema.
#[derive(Debug, Clone, Copy)]
pub struct ClusterMigration {
    /// The version of the schema after it.
    pub version: i64,
    /// Its statements.
    pub script: &'static str,
}

/// Returns the version of a database's schema, 0 for an empty database.
///
/// # Errors
/// Same as [`migrate`], without its steps.
pub fn load_version(session: &PostgresSession, migrations: &[ClusterMigration]) -> Result<i64> {
    check_database(session)?;
    find_version(session, migrations)
}

/// Brings the schema of a database to the newest version. Of several nodes that start at once, one does it, and the
/// others wait for it. Returns the version before; 0 for an empty database.
///
/// # Errors
/// If the database is of the wrong kind ([`check_database`]), has a later version or tables of another program, or a
/// step fails. The schema stays as it was.
pub fn migrate(session: &PostgresSession, migrations: &[ClusterMigration]) -> Result<i64> {
    check_database(session)?;
    let newest = migrations.last().map_or(0, |migration| migration.version);
    // A database that is up to date takes no lock: every opening of a session would wait for the writers.
    if find_version(session, migrations)? == newest {
        return Ok(newest);
    }
    // A step may take as long as it needs, and so may the wait for the node that takes it.
    session.lift_statement_limit()?;
    session.set_lock_timeout(None)?;
    let transaction = (session as &dyn Session).begin()?;
    // Another node may have migrated the database before this one got the lock.
    let before = find_version(&*transaction, migrations)?;
    transaction.run_script("CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)")?;
    for migration in migrations.iter().filter(|migration| migration.version > before) {
        transaction.run_script(migration.script)?;
        transaction.execute("INSERT INTO schema_version (version) VALUES (?1)", [migration.version])?;
    }
    transaction.commit()?;
    session.restore_limits()?;
    Ok(before)
}

/// Returns the version of a database's schema, 0 for an empty one.
///
/// # Errors
/// If it is later than the newest known, or the tables are those of another program.
fn find_version(session: &dyn Session, migrations: &[ClusterMigration]) -> Result<i64> {
    let query = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()
        ORDER BY tablename::text = ?1 DESC, 1 LIMIT 1";
    let Some(table) = session.query_optional(query, [VERSION_TABLE], |row| row.get::<String>(0))? else { return Ok(0) };
    let foreign = || {
        let text = format!(
            "the database has a table {table} of another program, which is left as it is: make an empty database for Tillgate"
        );
        Err(Error::new(ErrorKind::Other, text))
    };
    let has_column = "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema()
        AND table_name::text = ?1 AND column_name = 'version' AND data_type = 'bigint'";
    // Other tools keep their versions in a table of the same name.
    if table != VERSION_TABLE || !session.has_row(has_column, [VERSION_TABLE])? {
        return foreign();
    }
    let version: i64 =
        session.query_one("SELECT coalesce(max(version), 0) FROM schema_version", (), |row| row.get(0))?;
    let newest = migrations.last().map_or(0, |migration| migration.version);
    if version > newest {
        let text = format!(
            "the database has version {version} of the schema, and this program knows {newest}: start the version of \
             Tillgate that has changed it, or a later one"
        );
        return Err(Error::new(ErrorKind::Other, text));
    }
    if migrations.iter().all(|migration| migration.version != version) {
        return foreign();
    }
    Ok(version)
}

/// Checks what the statements rely on and a migration cannot set.
///
/// # Errors
/// If the server is older than version 14, or the database does not keep texts in UTF-8 or does not compare them by
/// their bytes. The text says how to make a right one.
fn check_database(session: &dyn Session) -> Result<()> {
    let query =
        "SELECT current_setting('server_version_num')::bigint, pg_encoding_to_char(encoding)::text, datcollate::text
        FROM pg_database WHERE datname = current_database()";
    let (version, encoding, collation): (i64, String, String) =
        session.query_one(query, (), |row| Ok::<_, Error>((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if version < OLDEST {
        let text = format!(
            "the server has version {}.{} of PostgreSQL; 14 or later is needed",
            version / 10_000,
            version % 100
        );
        return Err(Error::new(ErrorKind::Other, text));
    }
    if encoding != "UTF8" || !["C", "POSIX", "C.UTF-8", "C.utf8"].contains(&&*collation) {
        // Ids are ordered by their bytes, and ranges of them are read.
        let text = format!(
            "the database has the encoding {encoding} and the collation {collation}; make one with CREATE DATABASE … \
             TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
        );
        return Err(Error::new(ErrorKind::Other, text));
    }
    Ok(())
}
