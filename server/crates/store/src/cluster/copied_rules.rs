//! Rules of a database that a copy puts aside and brings back, and those that keep a database that has moved as it is.

use tillgate_engine::postgres::{PostgresAddress, PostgresSession, load_version, migrate};
use tillgate_engine::{OwnedValue, Session};

use super::migrations::MIGRATIONS;
use super::servers::count_servers;
use crate::StoreError;
use crate::copy::table_shape::TableShape;

/// Key of the lock of a copy. Any number that nobody else uses.
const COPY: i64 = 0x7469_6c6c_636f_7079;

/// Puts the foreign keys and the triggers aside: rows come table by table, so references are open until the end, and
/// what the triggers compute is copied as well. The statements that bring the references back are kept in a table.
const PUT_ASIDE: &str = "CREATE TABLE store_move_rule (statement text NOT NULL);
DO $$ DECLARE rule record; BEGIN
    FOR rule IN SELECT conname AS name, conrelid::regclass::text AS of_table, pg_get_constraintdef(oid) AS definition
        FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
    LOOP
        INSERT INTO store_move_rule (statement)
            VALUES (format('ALTER TABLE %s ADD CONSTRAINT %I %s', rule.of_table, rule.name, rule.definition));
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.of_table, rule.name);
    END LOOP;
    FOR rule IN SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() LOOP
        EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', rule.name);
    END LOOP;
END $$";

/// Brings foreign keys and triggers back, and sets the numbers of identity columns behind those of the rows. Foreign
/// keys are checked as they come back.
const BRING_BACK: &str = "DO $$ DECLARE rule record; BEGIN
    FOR rule IN SELECT statement FROM store_move_rule LOOP
        EXECUTE rule.statement;
    END LOOP;
    FOR rule IN SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() LOOP
        EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', rule.name);
    END LOOP;
    FOR rule IN SELECT table_name AS of_table, column_name AS name FROM information_schema.columns
        WHERE table_schema = current_schema() AND is_identity = 'YES'
    LOOP
        EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), (SELECT coalesce(max(%I), 0) + 1 FROM %I), false)',
            quote_ident(rule.of_table), rule.name, rule.name, rule.of_table);
    END LOOP;
END $$;
DROP TABLE store_move_rule";

/// Opens a session for a copy, without the limits of the sessions of servers: a copy waits for one place while it has a
/// transaction in the other one.
pub(crate) fn open_for_copy(address: &PostgresAddress) -> Result<PostgresSession, StoreError> {
    let session = PostgresSession::connect(address)?;
    session.lift_statement_limit()?;
    session.run_script("SET idle_in_transaction_session_timeout = 0")?;
    Ok(session)
}

/// Returns true if a database has the schema of this version. `None` if it has none.
pub(crate) fn has_current_schema(session: &PostgresSession) -> Result<Option<bool>, StoreError> {
    let version = load_version(session, MIGRATIONS)?;
    let newest = MIGRATIONS.last().map_or(0, |migration| migration.version);
    Ok((version > 0).then_some(version == newest))
}

/// Makes the schema of this version.
pub(crate) fn make_schema(session: &PostgresSession) -> Result<(), StoreError> {
    migrate(session, MIGRATIONS)?;
    // A migration sets the limits of the address again.
    Ok(session.lift_statement_limit()?)
}

/// Takes the lock of the one copy into a database, until the session ends. Returns false if another copy has it.
pub(crate) fn take_copy_lock(session: &dyn Session) -> Result<bool, StoreError> {
    Ok(session.query_one("SELECT pg_try_advisory_lock(?1)", [COPY], |row| row.get(0))?)
}

/// Returns true if no server uses the database.
pub(crate) fn is_unused(session: &dyn Session) -> Result<bool, StoreError> {
    Ok(count_servers(session)? == 0)
}

/// Returns true if a database has a table, also without the schema of a store.
pub(crate) fn has_table(session: &dyn Session, table: &str) -> Result<bool, StoreError> {
    let query = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename::text = ?1";
    Ok(session.has_row(query, [table])?)
}

/// Returns a number before that of every transaction that is open or will begin.
pub(crate) fn load_horizon(session: &dyn Session) -> Result<i64, StoreError> {
    // Rows have the lower half of the number only.
    let query = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint % 4294967296";
    Ok(session.query_one(query, (), |row| row.get(0))?)
}

/// Counts the rows of a table, and finds the keys of those that were written by transactions from `horizon` on.
pub(crate) fn find_written_rows(
    session: &dyn Session,
    shape: &TableShape,
    horizon: i64,
) -> Result<(u64, Vec<Vec<OwnedValue>>), StoreError> {
    let (table, key) = (shape.quoted_name(), shape.quoted_key().join(", "));
    // Read before the number, so that a row that is inserted in between is missed by the number and not by both.
    let query = format!("SELECT {key} FROM {table} WHERE age(xmin) <= age((?1)::text::xid)");
    let keys = session.query_all(&query, [horizon.to_string()], |row| {
        (0..row.column_count()).map(|column| row.get(column)).collect::<Result<Vec<OwnedValue>, _>>()
    })?;
    let rows: i64 = session.query_one(&format!("SELECT count(*) FROM {table}"), (), |row| row.get(0))?;
    Ok((rows.unsigned_abs(), keys))
}

/// Puts the rules aside that rows in any order break.
pub(crate) fn put_rules_aside(session: &dyn Session) -> Result<(), StoreError> {
    Ok(session.run_script(PUT_ASIDE)?)
}

/// Brings the rules back.
///
/// # Errors
/// If a row breaks one.
pub(crate) fn bring_rules_back(session: &dyn Session) -> Result<(), StoreError> {
    Ok(session.run_script(BRING_BACK)?)
}

/// Locks tables for everybody who writes, until the end of the transaction.
pub(crate) fn lock_tables(session: &dyn Session, tables: &[TableShape]) -> Result<(), StoreError> {
    let names: Vec<String> = tables.iter().map(TableShape::quoted_name).collect();
    Ok(session.run_script(&format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", names.join(", ")))?)
}

/// Refuses all writes to tables from now on, with a text.
pub(crate) fn refuse_writes(session: &dyn Session, tables: &[TableShape], text: &str) -> Result<(), StoreError> {
    let text = text.replace('\'', "''");
    let create = |shape: &TableShape| {
        format!(
            "CREATE TRIGGER store_moved BEFORE INSERT OR UPDATE OR DELETE ON {} FOR EACH STATEMENT
                 EXECUTE FUNCTION refuse('{text}');",
            shape.quoted_name()
        )
    };
    Ok(session.run_script(&tables.iter().map(create).collect::<String>())?)
}

/// Ends [`refuse_writes`].
pub(crate) fn allow_writes(session: &dyn Session, tables: &[TableShape]) -> Result<(), StoreError> {
    let drop = |shape: &TableShape| format!("DROP TRIGGER store_moved ON {};", shape.quoted_name());
    Ok(session.run_script(&tables.iter().map(drop).collect::<String>())?)
}
