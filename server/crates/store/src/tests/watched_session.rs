//! A session that writes beside another node, and whose rows the database watches.

use std::sync::{Arc, Mutex, PoisonError};

use tillgate_engine::postgres::{PostgresAddress, PostgresSession};
use tillgate_engine::{Error, ErrorKind, OwnedValue, ReadExtent, Result, Rows, Session, ValueRef, WriteScope};

use super::other_node::{MARK, OtherNode};
use crate::StoreError;

/// The user whose rights the statements of a decision have. All tests of a cluster share it.
pub(super) const ROLE: &str = "decision";

/// Lets the transaction see only rows that pass the policies. A table that is read as a whole, or hashed for a join,
/// shows more rows than the statement asks for, so tables are read by their indexes.
const WATCH: &str = "SET LOCAL ROLE decision; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off";

/// Beginnings of the statements that may meet rows of the other merchant.
const SHARED: [&str; 5] = [
    // Ids of messages rise with every message. They order nothing but the deletion of old ones.
    "SELECT max(id) FROM message",
    // If nobody has a webhook, those of the merchant are not searched for.
    "SELECT EXISTS (SELECT 1 FROM webhook)",
    // A sandbox's clock is moved while nobody else writes. There is no index for it, so it passes by all rows.
    "UPDATE timer SET since = since - ",
    "UPDATE message SET due = due - ",
    // Housekeeping, which decides nothing: counts of card-testing limits have no merchant.
    "DELETE FROM velocity WHERE",
];

/// Gives each table a policy by which a statement fails that meets a row of the other merchant: one that it reads,
/// changes, deletes, or would write.
pub(super) fn watch_rows(address: &PostgresAddress) {
    let session = PostgresSession::connect(address).unwrap();
    let script = format!(
        "CREATE FUNCTION is_own(met text, stored text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
            IF lower(stored) LIKE '%{MARK}%' THEN
                RAISE insufficient_privilege USING MESSAGE = 'a row of another merchant is met in ' || met;
            END IF;
            RETURN true;
        END $$;
        GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE};
        GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {ROLE};
        DO $$ DECLARE
            name text;
        BEGIN
            FOR name IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' LOOP
                EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
                EXECUTE format('CREATE POLICY own ON %1$s USING (is_own(%1$L, %1$s::text))', name);
            END LOOP;
            FOR name IN SELECT quote_ident(viewname) FROM pg_views WHERE schemaname = 'public' LOOP
                EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', name);
            END LOOP;
        END $$"
    );
    session.run_script(&script).unwrap();
}

/// A session of a node whose merchants are all but one. Its transactions lock one owner, also where the node would
/// lock everything because a test names no owner: what concerns everything is not tested here.
pub(super) struct WatchedSession {
    session: Box<dyn Session>,
    other: Arc<Mutex<OtherNode>>,
}

impl WatchedSession {
    pub(super) fn new(session: Box<dyn Session>, other: Arc<Mutex<OtherNode>>) -> Self {
        Self { session, other }
    }

    /// Lets the other node commit and begin to write again, which it has not committed while the statement runs.
    fn run_beside<'a, T>(&'a self, statement: &str, run: impl FnOnce(&'a dyn Session) -> Result<T>) -> Result<T> {
        if !self.session.is_in_transaction() {
            return run(&*self.session);
        }
        self.tell_other(OtherNode::write_more)?;
        if !SHARED.iter().any(|shared| statement.starts_with(shared)) {
            return run(&*self.session);
        }
        self.session.run_script("RESET ROLE")?;
        let outcome = run(&*self.session)?;
        self.session.run_script(&format!("SET LOCAL ROLE {ROLE}"))?;
        Ok(outcome)
    }

    fn tell_other(&self, act: impl FnOnce(&mut OtherNode) -> Result<(), StoreError>) -> Result<()> {
        let mut other = self.other.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut other).map_err(|error| Error::new(ErrorKind::Other, format!("the other node: {error}")))
    }
}

impl Session for WatchedSession {
    fn execute_values(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<usize> {
        self.run_beside(statement, |session| session.execute_values(statement, values))
    }

    fn query_values(&self, statement: &str, values: &[ValueRef<'_>], extent: ReadExtent) -> Result<Rows<'_>> {
        self.run_beside(statement, |session| session.query_values(statement, values, extent))
    }

    fn run_script(&self, script: &str) -> Result<()> {
        self.run_beside(script, |session| session.run_script(script))
    }

    fn call_function(&self, name: &str, values: &[ValueRef<'_>]) -> Result<Option<OwnedValue>> {
        self.session.call_function(name, values)
    }

    fn begin_write(&self) -> Result<()> {
        self.begin_write_within(WriteScope::Everything)
    }

    fn begin_write_within(&self, scope: WriteScope<'_>) -> Result<()> {
        let scope = if scope == WriteScope::Everything { WriteScope::Owner("all but one") } else { scope };
        self.session.begin_write_within(scope)?;
        self.session.run_script(WATCH)
    }

    fn begin_read(&self) -> Result<()> {
        self.session.begin_read()
    }

    fn next_number(&self, table: &str) -> Result<i64> {
        self.run_beside(table, |session| session.next_number(table))
    }

    fn set_savepoint(&self, name: &str) -> Result<()> {
        self.session.set_savepoint(name)
    }

    fn return_to_savepoint(&self, name: &str) -> Result<()> {
        self.session.return_to_savepoint(name)
    }

    fn release_savepoint(&self, name: &str) -> Result<()> {
        self.session.release_savepoint(name)
    }

    fn commit(&self) -> Result<()> {
        self.session.commit()?;
        self.tell_other(OtherNode::commit)
    }

    fn roll_back(&self) -> Result<()> {
        self.session.roll_back()?;
        self.tell_other(OtherNode::commit)
    }

    fn is_lost(&self) -> bool {
        self.session.is_lost()
    }

    fn is_in_transaction(&self) -> bool {
        self.session.is_in_transaction()
    }
}
