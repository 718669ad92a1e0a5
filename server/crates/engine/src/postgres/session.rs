//! A connection to a cluster of PostgreSQL.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use tokio_postgres::{Client, Error as ClientError, SimpleQueryMessage, Statement};

use super::address::{PostgresAddress, SessionLimits};
use super::client::TimedClient;
use super::cursor::{CursorName, CursorNames, OpenCursor, PostgresCursor};
use super::dialect::translate;
use super::locks;
use super::numbers::TakenNumbers;
use super::pooler_error::explain_refusal;
use super::values::{Kept, is_readable, is_sendable, with_parameters};
use super::wait::{leave_runtime, to_setting};
use crate::{Error, ErrorKind, FromValue as _, OwnedValue, ReadExtent, Result, Rows, Session, ValueRef, WriteScope};

/// Maximum wait for a sign of life.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// Maximum number of compiled statements that a session keeps. There are fewer, unless statements are made of texts.
const KEPT_STATEMENTS: usize = 1024;

/// Maximum number of statements that are sent before their answers are awaited. Their values are kept until then.
const MAX_UNANSWERED: usize = 64;

/// A function of a session: of its arguments to its value.
type SessionFunction = Box<dyn Fn(&[ValueRef<'_>]) -> Result<OwnedValue> + Send>;

/// A connection to a cluster of PostgreSQL. It waits for the network on the calling thread. If that is one of an
/// asynchronous runtime, the runtime has to have several.
pub struct PostgresSession {
    /// `None` while the session is being dropped.
    client: Option<RefCell<TimedClient>>,
    limits: SessionLimits,
    /// Maximum wait for the answer to a statement. `None` for one that may take as long as it needs.
    patience: Cell<Option<Duration>>,
    /// The compiled statements by their text before the translation.
    statements: RefCell<HashMap<String, Statement>>,
    state: Cell<State>,
    /// True once the database could not be reached, or has become one that takes no writes.
    is_lost: Cell<bool>,
    cursors: RefCell<CursorNames>,
    functions: HashMap<&'static str, SessionFunction>,
    /// Maximum wait for a lock. `None` for a session that waits as long as it has to.
    lock_timeout: Cell<Option<Duration>>,
    numbers: TakenNumbers,
}

/// A session's own view of its transaction, which the database does not tell with each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Each statement is a transaction of its own.
    Idle,
    /// In a transaction.
    Open,
    /// In a transaction in which a statement has failed: the database refuses all others until the end, or until the
    /// return to a savepoint.
    Failed,
}

impl PostgresSession {
    /// Connects.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if the database cannot be reached or refuses the connection.
    pub fn connect(address: &PostgresAddress) -> Result<Self> {
        let limits = address.limits();
        Ok(Self {
            client: Some(RefCell::new(leave_runtime(|| address.connect()).map_err(explain_refusal)?)),
            limits,
            patience: Cell::new(Some(limits.answer)),
            statements: RefCell::default(),
            state: Cell::new(State::Idle),
            is_lost: Cell::new(false),
            cursors: RefCell::default(),
            functions: HashMap::new(),
            lock_timeout: Cell::new(Some(limits.lock)),
            numbers: TakenNumbers::default(),
        })
    }

    /// Gives the session a function. It runs in this process, and the database never sees it.
    pub fn add_function(
        &mut self,
        name: &'static str,
        function: impl Fn(&[ValueRef<'_>]) -> Result<OwnedValue> + Send + 'static,
    ) {
        self.functions.insert(name, Box::new(function));
    }

    /// Asks the database for a sign of life. Returns false if it gives none within a second: an idle session does not
    /// notice by itself that its connection is gone.
    pub fn is_alive(&self) -> bool {
        !self.is_lost() && self.ask_within(Some(SIGN_OF_LIFE), async |client| client.check_connection().await).is_ok()
    }

    /// Returns true if the server has ended the connection, as far as that has arrived here. Asks nothing.
    pub(super) fn has_ended(&self) -> bool {
        self.client.as_ref().is_none_or(|client| leave_runtime(|| client.borrow_mut().has_ended()))
    }

    /// Asks for one value without a compiled statement, which a pooler may not know. Returns an empty text if there is
    /// none.
    pub(super) fn ask_plainly(&self, query: &str) -> Result<String> {
        let messages = self.ask(async |client| client.simple_query(query).await)?;
        let value = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        Ok(value.unwrap_or_default().to_owned())
    }

    /// Lets statements take as long as they need.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn lift_statement_limit(&self) -> Result<()> {
        self.run_script("SET statement_timeout = 0")?;
        self.patience.set(None);
        Ok(())
    }

    /// Sets the maximum wait for a lock. `None` to wait as long as the session has to.
    ///
    /// # Errors
    /// If the database does not answer.
    pub fn set_lock_timeout(&self, timeout: Option<Duration>) -> Result<()> {
        self.run_script(&format!("SET lock_timeout = {}", to_setting(timeout)))?;
        self.lock_timeout.set(timeout);
        Ok(())
    }

    /// Brings the limits of the address back for statements and locks.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) fn restore_limits(&self) -> Result<()> {
        self.run_script("RESET statement_timeout; RESET lock_timeout")?;
        self.patience.set(Some(self.limits.answer));
        self.lock_timeout.set(Some(self.limits.lock));
        Ok(())
    }

    /// Returns the maximum wait for a lock.
    pub(super) fn lock_timeout(&self) -> Option<Duration> {
        self.lock_timeout.get()
    }

    /// Compiles a statement without running it, and checks the types of its parameters and columns.
    ///
    /// # Errors
    /// If the database does not take it, or takes or gives a type that no value has, such as the sum of a column of
    /// integers, which is none.
    pub fn check_statement(&self, statement: &str) -> Result<()> {
        let compiled = self.prepare(statement)?;
        let parameter = compiled.params().iter().find(|kind| !is_sendable(kind));
        let column = compiled.columns().iter().map(tokio_postgres::Column::type_).find(|kind| !is_readable(kind));
        match parameter.or(column) {
            Some(kind) => Err(Error::new(ErrorKind::Other, format!("no value has the type {kind}"))),
            None => Ok(()),
        }
    }

    /// Returns the compiled statement. Compiles it if it is new.
    fn prepare(&self, statement: &str) -> Result<Statement> {
        if let Some(kept) = self.statements.borrow().get(statement) {
            return Ok(kept.clone());
        }
        let translated = translate(statement);
        let compiled = self.ask(async |client| client.prepare(&translated).await)?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= KEPT_STATEMENTS {
            statements.clear();
        }
        statements.insert(statement.to_owned(), compiled.clone());
        Ok(compiled)
    }

    /// Runs a statement, and returns all its rows.
    pub(super) fn fetch_rows(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<Vec<tokio_postgres::Row>> {
        let statement = self.prepare(statement)?;
        with_parameters(values, |parameters| self.ask(async |client| client.query(&statement, parameters).await))
    }

    /// Closes a cursor.
    pub(super) fn close_cursor(&self, name: CursorName) {
        // The end of a transaction closes its cursors, and a failed one takes no statements.
        if self.state.get() == State::Open {
            let _ = self.execute_values(&format!("CLOSE {name}"), &[]);
        }
        self.cursors.borrow_mut().open.remove(&name);
    }

    /// Declares a cursor for a query.
    fn declare_cursor(&self, query: &str, values: &[ValueRef<'_>]) -> Result<OpenCursor<'_>> {
        let name = self.cursors.borrow_mut().choose_name(query);
        self.execute_values(&format!("DECLARE {name} NO SCROLL CURSOR FOR {query}"), values)?;
        self.cursors.borrow_mut().open.insert(name);
        Ok(OpenCursor::new(self, name))
    }

    /// Asks the database. A statement whose answer does not come in time is cancelled.
    fn ask<T>(&self, question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>) -> Result<T> {
        self.ask_within(self.patience.get(), question).inspect_err(|_| {
            if let Some(client) = &self.client {
                leave_runtime(|| client.borrow().cancel_timed_out());
            }
        })
    }

    /// Asks the database, and waits for the answer within a limit.
    fn ask_within<T>(
        &self,
        limit: Option<Duration>,
        question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T> {
        let Some(client) = &self.client else {
            return Err(Error::new(ErrorKind::Unavailable, "the session has ended"));
        };
        let answer = leave_runtime(|| client.borrow_mut().ask(limit, question)).map_err(|error| self.note(error))?;
        // Outside of a transaction, a statement is a commit as well.
        if self.state.get() == State::Idle && client.borrow().is_unconfirmed() {
            let text = "the wait for a standby was cancelled, so the commit is lost if the standby becomes the primary";
            return Err(Error::new(ErrorKind::UnknownCommit, text));
        }
        Ok(answer)
    }

    /// Notes a failure, after which the database refuses the statements of an open transaction.
    fn note(&self, error: Error) -> Error {
        if self.state.get() == State::Open {
            self.state.set(State::Failed);
        }
        if error.kind() == ErrorKind::Unavailable {
            self.is_lost.set(true);
        }
        error
    }

    /// Begins a transaction with the locks that a script takes.
    pub(super) fn begin_locked(&self, locks: &str) -> Result<()> {
        self.numbers.clear();
        // Set before, so that a lock that comes too late leaves no transaction behind.
        self.state.set(State::Open);
        self.run_script(&format!("BEGIN ISOLATION LEVEL READ COMMITTED; {locks}")).inspect_err(|_| {
            let _ = self.roll_back();
        })
    }

    /// Refuses to begin a transaction inside of another one, which the database would join silently.
    fn check_idle(&self) -> Result<()> {
        match self.state.get() {
            State::Idle => Ok(()),
            State::Open | State::Failed => {
                Err(Error::new(ErrorKind::Other, "a transaction cannot begin inside of another one"))
            }
        }
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        // The library says goodbye to the database, and so waits for the network.
        leave_runtime(|| drop(self.client.take()));
    }
}

impl Session for PostgresSession {
    fn execute_values(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<usize> {
        let prepared = self.prepare(statement)?;
        let changed =
            with_parameters(values, |parameters| self.ask(async |client| client.execute(&prepared, parameters).await))?;
        usize::try_from(changed).map_err(|error| Error::new(ErrorKind::Other, error.to_string()))
    }

    fn send_values(&self, statement: &str, values: &[ValueRef<'_>]) -> Result<()> {
        // Outside of a transaction, a statement is a commit, whose outcome has to be known.
        if self.state.get() != State::Open {
            return self.execute_values(statement, values).map(drop);
        }
        let prepared = self.prepare(statement)?;
        let values = values.iter().map(|value| OwnedValue::from_value(*value).map(Kept)).collect::<Result<_>>()?;
        let client = self.client.as_ref().ok_or_else(|| Error::new(ErrorKind::Unavailable, "the session has ended"))?;
        let unanswered = client.borrow_mut().send(&prepared, values).map_err(|error| self.note(error))?;
        if unanswered < MAX_UNANSWERED { Ok(()) } else { self.await_sent() }
    }

    fn await_sent(&self) -> Result<()> {
        let has_sent = self.client.as_ref().is_some_and(|client| client.borrow().count_unanswered() > 0);
        if has_sent { self.ask(async |_| Ok(())) } else { Ok(()) }
    }

    fn query_values(&self, statement: &str, values: &[ValueRef<'_>], extent: ReadExtent) -> Result<Rows<'_>> {
        // A cursor takes two answers of the database, so only a query that may end early has one. Outside of a
        // transaction there is none.
        if extent == ReadExtent::Whole || self.state.get() == State::Idle {
            return Ok(Rows::new(PostgresCursor::of_rows(self.fetch_rows(statement, values)?)));
        }
        Ok(Rows::new(PostgresCursor::of_cursor(self.declare_cursor(statement, values)?)))
    }

    fn run_script(&self, script: &str) -> Result<()> {
        self.ask(async |client| client.batch_execute(script).await)
    }

    fn call_function(&self, name: &str, values: &[ValueRef<'_>]) -> Result<Option<OwnedValue>> {
        self.functions.get(name).map(|function| function(values)).transpose()
    }

    fn begin_write(&self) -> Result<()> {
        self.begin_write_within(WriteScope::Everything)
    }

    fn begin_write_within(&self, scope: WriteScope<'_>) -> Result<()> {
        self.check_idle()?;
        locks::begin_within(self, scope)
    }

    fn begin_quiet_read(&self) -> Result<()> {
        self.check_idle()?;
        // A lock of the session, because a transaction would read as of the time before it has waited.
        locks::lock_session(self)?;
        // The first statement fixes what the transaction reads.
        let begun = self.begin_read().and_then(|()| self.run_script("SELECT 1"));
        if begun.is_err() {
            self.roll_back()?;
        }
        locks::unlock_session(self)?;
        begun
    }

    fn next_number(&self, table: &str) -> Result<i64> {
        self.numbers.next(self, table)
    }

    fn begin_read(&self) -> Result<()> {
        self.check_idle()?;
        // A reader holds nobody up, so it may take its time between two statements.
        self.run_script(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = '10min'",
        )?;
        self.state.set(State::Open);
        Ok(())
    }

    fn set_savepoint(&self, name: &str) -> Result<()> {
        self.run_script(&format!("SAVEPOINT {name}"))
    }

    fn return_to_savepoint(&self, name: &str) -> Result<()> {
        self.run_script(&format!("ROLLBACK TO {name}"))?;
        self.state.set(State::Open);
        Ok(())
    }

    fn release_savepoint(&self, name: &str) -> Result<()> {
        self.run_script(&format!("RELEASE {name}"))
    }

    fn commit(&self) -> Result<()> {
        let state = self.state.replace(State::Idle);
        if state == State::Failed {
            // The database would answer that it has ended the transaction, and mean that it has undone it.
            self.run_script("ROLLBACK")?;
            return Err(Error::new(ErrorKind::Other, "a transaction in which a statement failed cannot be committed"));
        }
        // If a statement that was sent before has failed, the database undoes all, and the failure comes here.
        // A commit that waits for a standby is not cancelled: that would show everybody what may be lost. As long as it
        // waits, it keeps its locks, and nobody sees it.
        let committed = self.ask_within(Some(self.limits.commit), async |client| client.batch_execute("COMMIT").await);
        committed.map_err(|error| match error.kind() {
            // The answer is lost, which leaves the commit in doubt.
            ErrorKind::Unavailable | ErrorKind::Busy => Error::new(ErrorKind::UnknownCommit, error.to_string()),
            _ => error,
        })
    }

    fn roll_back(&self) -> Result<()> {
        if self.state.replace(State::Idle) == State::Idle {
            return Ok(());
        }
        if let Some(client) = &self.client {
            client.borrow_mut().forget_sent();
        }
        self.run_script("ROLLBACK")
    }

    fn is_lost(&self) -> bool {
        self.is_lost.get() || self.client.as_ref().is_none_or(|client| client.borrow().is_closed())
    }

    fn is_in_transaction(&self) -> bool {
        self.state.get() != State::Idle
    }
}
